"""Certificates that a stock proof assistant checks end to end (docs/formal.md).

`export` turns a certificate file into Coq files: the dataset, the claims about it, and a proof
for each from the theorems of ``theories/``. `check_export` runs Coq over them. `covered` says of
which verdicts there are formal statements.
"""

from verifier.formal.checking import CheckedExport, check_export
from verifier.formal.exporting import Export, export, write
from verifier.formal.table import covered

__all__ = ["CheckedExport", "Export", "check_export", "covered", "export", "write"]
