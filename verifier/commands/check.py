"""``attsvm check``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from verifier.kernel.__main__ import main as check_files

if TYPE_CHECKING:
    from conditions.dataset import AttentionDataset


def check_command(
        files: Annotated[list[Path], typer.Argument(help="Certificate files.",
                                                    show_default=False)],
        data: Annotated[Path | None, typer.Option(
            help="Also demand that the certificates are about this dataset.")] = None,
        trial: Annotated[int | None, typer.Option(
            help="Which dataset of the stack --data, from 0.")] = None) -> None:
    """Re-verify certificates from their files alone, with the standard library."""
    if trial is not None and data is None:
        raise _misused(trial)
    named = None if data is None else _load(data, trial)
    code = check_files([str(f) if not str(f).startswith("-") else f"./{f}" for f in files])
    if named is not None and code != 2:
        code = max(code, _same_dataset(files, named))
    raise typer.Exit(code)


def _misused(trial: int) -> ValueError:
    from conditions.errors import InvalidInput
    return InvalidInput("--trial", trial, "must not be given without --data",
                        "name the stack that it picks from")


def _load(data: Path, trial: int | None = None) -> AttentionDataset:
    # The files alone need no more than the standard library.
    from verifier import io
    return io.load_dataset(data, trial)


def _same_dataset(files: list[Path], dataset: AttentionDataset) -> int:
    code = 0
    for file in files:
        same = _load(file).fingerprint == dataset.fingerprint
        print(f"{file}: {'is' if same else 'is NOT'} about the dataset {dataset.fingerprint}")
        code = code if same else 1
    return code
