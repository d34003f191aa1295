"""Options that several commands share, and what their texts mean."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conditions.dataset import FloatArray
from conditions.errors import InvalidInput
from conditions.losses import LOSSES
from conditions.selection import Selection
from conditions.setting import require
from verifier import io
from verifier.descent import HEADS, PARAMETERIZATIONS, STEP_RULES, FactoredRun, Head

Data = Annotated[Path, typer.Argument(help="Dataset, .npz or .json.", show_default=False)]
Trial = Annotated[int | None, typer.Option(help="Which dataset of a stack, from 0.")]
Chosen = Annotated[str, typer.Option(
    "--selection", help="opt, gd (what the run selects) or token indices I,J,… from 0.")]
Loss = Annotated[str, typer.Option(help=f"One of {', '.join(LOSSES)}.")]
Rule = Annotated[str, typer.Option(help=f"One of {', '.join(STEP_RULES)}.")]
Step = Annotated[float, typer.Option(help="η > 0, constant.")]
Iterations = Annotated[int, typer.Option(help="Steps of the run; 0 for none.")]
Start = Annotated[str, typer.Option(
    help="zero, data (W0 of the data file; K0 and Q0 for KQ) or a .npy file.")]
Headed = Annotated[str | None, typer.Option(
    "--head", help=f"One of {', '.join(HEADS)}, its parameters from the data file: lambda; V and "
    "a; class_heads and class_labels. Left out: the head that the file carries.")]
Parameterized = Annotated[str, typer.Option(
    help=f"{' or '.join(PARAMETERIZATIONS)}: descent on W, or on K and Q with W = K Qᵀ.")]


def check_seconds(seconds: float) -> None:
    """Refuse a budget that is not a finite number of seconds ≥ 0. Raises ``InvalidInput``."""
    if not 0 <= seconds < float("inf"):
        raise InvalidInput("--seconds", seconds, "must be a finite number of seconds ≥ 0",
                           "give a budget")


def check_output(out: Path | None, name: str, *inputs: Path | str) -> None:
    """Refuse a file that is read, or that no folder could hold. Raises ``InvalidInput``."""
    if out is None:
        return
    if out.is_dir() or not out.parent.is_dir():
        raise InvalidInput(name, str(out), "must be a file in a folder that exists",
                           "make the folder, or choose another name")
    if any(Path(given).exists() and out.exists() and out.samefile(given) for given in inputs):
        raise InvalidInput(name, str(out), "must not be a file that is read",
                           "choose another name")


def check_distinct(**outputs: Path | None) -> None:
    """Refuse one file for two outputs, given by option name. Raises ``InvalidInput``."""
    taken: dict[Path, str] = {}
    for name, out in outputs.items():
        if out is not None and (other := taken.setdefault(out.resolve(), name)) != name:
            raise InvalidInput(f"--{name}", str(out), f"must not be the file of --{other}",
                               "choose another name")


def source_name(data: Path, trial: int | None) -> str:
    """How reports name the dataset."""
    return data.name if trial is None else f"{data.name}, trial {trial}"


def parse_selection(text: str) -> str | Selection:
    """``opt``, ``gd`` or the indices that *text* lists."""
    if text in ("opt", "gd"):
        return text
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InvalidInput("--selection", text, "must be opt, gd or token indices I,J,…",
                           "give one index per sample, from 0") from None


def require_linear(what: str, head: Head) -> None:
    """Refuse *what* for a head that has no scores. Raises ``InvalidInput``."""
    require(what, head.name)


def parse_start(text: str, data: Path, trial: int | None, parameterization: str
           ) -> FloatArray | tuple[FloatArray, FloatArray] | None:
    """W(0): None for zero, W0 of the data file, or the array of a .npy file; or K0 and Q0."""
    if parameterization == FactoredRun.parameterization:
        if text != "data":
            raise InvalidInput("--start", text, "must be data for --parameterization KQ",
                               "put K0 and Q0 into the data file: K = Q = 0 is stationary")
        return io.load_factored_start(data, trial)
    if text == "zero":
        return None
    if text == "data":
        return io.load_start(data, trial)
    if text.endswith(".npy"):
        return io.load_npy(text, "--start")
    raise InvalidInput("--start", text, "must be zero, data or a .npy file", "choose one")
