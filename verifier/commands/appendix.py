"""What the commands with ``--latex`` share: an appendix, with its certificate beside it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from conditions.errors import InvalidInput
from verifier import io
from verifier.certify import Report


def check_latex(out: Path | None) -> None:
    """Refuse a name that LaTeX would not find. Raises ``InvalidInput``."""
    if out is not None and out.suffix.lower() != ".tex":
        raise InvalidInput("--latex", out.name, "must end in .tex", "choose another name")


def command_line() -> str:
    """The present command, as it was typed."""
    return shlex.join(["attsvm", *sys.argv[1:]])


def write_appendix(out: Path, report: Report, certificate: Path | None) -> str:
    """Write *report* as LaTeX, and say where.

    Its certificate is written beside it, unless it is in the file *certificate*.
    """
    # Only for those who ask for it: this takes a while to import.
    from verifier.report.latex import file_of, render
    if certificate is None:
        certificate = out.with_name(f"{out.stem}.certificate.json")
        io.write_atomically(certificate, report.certificate_text())
    io.write_atomically(out, render(report, files=[file_of(report, certificate.name)],
                                    command=command_line()))
    return f"appendix written to {out}, about the certificate {certificate}"
