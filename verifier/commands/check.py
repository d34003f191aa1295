"""``attsvm check``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conditions.dataset import AttentionDataset
from verifier import io
from verifier.commands.options import Trial
from verifier.kernel.__main__ import main as check_files


def check_command(
        files: Annotated[list[Path], typer.Argument(help="Certificate files.",
                                                    show_default=False)],
        data: Annotated[Path | None, typer.Option(
            help="Also demand that the certificates are about this dataset.")] = None,
        trial: Trial = None) -> None:
    """Re-verify certificates from their files alone, with the standard library."""
    named = None if data is None else io.load_dataset(data, trial)
    code = check_files([str(f) if not str(f).startswith("-") else f"./{f}" for f in files])
    if named is not None and code != 2:
        code = max(code, _same_dataset(files, named))
    raise typer.Exit(code)


def _same_dataset(files: list[Path], dataset: AttentionDataset) -> int:
    code = 0
    for file in files:
        same = io.load_dataset(file).fingerprint == dataset.fingerprint
        print(f"{file}: {'is' if same else 'is NOT'} about the dataset {dataset.fingerprint}")
        code = code if same else 1
    return code
