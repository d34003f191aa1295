"""The paper's figures, each with its settings, its trials and what is proved about them."""

from __future__ import annotations

from conditions.errors import InvalidInput
from verifier.experiments.figures.figure import Figure
from verifier.experiments.figures.global_share import Figure6
from verifier.experiments.figures.inner_dimension import Figure10
from verifier.experiments.figures.local_convergence import Figure7
from verifier.experiments.figures.quadratic_heads import Figure9, Figure12
from verifier.experiments.figures.rank_range import Figure4
from verifier.experiments.figures.relu_heads import Figure8, Figure11
from verifier.experiments.figures.reproduction import (
    Reproduction,
    check_folder,
    recompute,
    reproduce,
    write,
)
from verifier.experiments.figures.shares import Figure2, Figure5
from verifier.experiments.figures.trajectories import Figure1

__all__ = ["FIGURES", "Figure", "Reproduction", "check_folder", "figure_numbered", "recompute",
           "reproduce", "write"]

FIGURES: dict[int, Figure] = {figure.number: figure for figure in (
    Figure1(), Figure2(), Figure4(), Figure5(), Figure6(), Figure7(),
    Figure8(), Figure9(), Figure10(), Figure11(), Figure12())}


def figure_numbered(number: int) -> Figure:
    """The figure. Raises ``InvalidInput`` if there is none of that number."""
    if number not in FIGURES:
        raise InvalidInput("FIGURE", number, "must be one of " + ", ".join(map(str, FIGURES)),
                           "v1's Figure 3 is a drawing without data" if number == 3
                           else "choose one of them")
    return FIGURES[number]
