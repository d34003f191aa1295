"""``attsvm export``, and what ``attsvm certify --coq`` shares with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conditions.errors import InvalidInput
from verifier import formal, io
from verifier.certify import Report
from verifier.kernel.reading import read_file
from verifier.kernel.refusals import Unreadable


def export_command(
        certificate: Annotated[Path, typer.Argument(help="A certificate file.",
                                                    show_default=False)],
        directory: Annotated[Path, typer.Argument(help="A directory that is new or empty.",
                                                  show_default=False)],
        coq: Annotated[bool, typer.Option(
            "--coq", help="Write files for the proof assistant Coq, 8.16 or later.")] = False,
        check: Annotated[bool, typer.Option(
            "--check", help="Also run Coq over them, if it is installed.")] = False) -> None:
    """Write the verdicts of a certificate file as theorems for a proof assistant."""
    if not coq:
        raise InvalidInput("--coq", None, "must be, as the format to export to",
                           "add --coq")
    dataset = io.load_dataset(certificate)
    try:
        exported = formal.export(read_file(certificate), dataset)
    except Unreadable as error:
        raise InvalidInput("certificate", str(certificate), f"must be a certificate file ({error})",
                           "write one with attsvm certify --json") from None
    formal.write(exported, directory)
    for number, title in exported.claims.items():
        print(f"exported      {number} {title}")
    for line in exported.omitted:
        print(f"not exported  {line}")
    if not check:
        print(_where(exported, directory))
        return
    result = formal.check_export(directory, exported)
    for fault in result.faults:
        print(f"fault: {fault}")
    print(f"Coq accepts {len(result.claims)} claims" if result.accepted
          else "Coq does not accept the export")
    raise typer.Exit(0 if result.accepted else 1)


def write_export(report: Report, directory: Path) -> str:
    """Write the verdicts of *report* for Coq, and say so in one line. Raises ``InvalidInput``."""
    exported = formal.export(report.certificate_text(), report.dataset)
    formal.write(exported, directory)
    return _where(exported, directory)


def _where(exported: formal.Export, directory: Path) -> str:
    return (f"{exported.summary()} to {directory}; the three commands of "
            f"{directory / 'README.txt'} check them")
