"""An appendix for a paper: every verdict of a report as a proposition with its proof.

A rendering of one `verifier.certify.Report`, or of several about one dataset; nothing is decided
here. docs/appendix.md says how to use it.
"""

from __future__ import annotations

from verifier.report.latex.document import File, file_of, render

__all__ = ["File", "file_of", "render"]
