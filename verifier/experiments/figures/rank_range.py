"""Figure 4: the rank of W^mm and of W^mm_⋆ at the optimal tokens."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from conditions.dataset import AttentionDataset, FloatArray
from conditions.selection import features, optimal_selection
from conditions.separation import frobenius
from conditions.separation.frobenius import Infeasible
from verifier.experiments.figures.drawing import COLOURS, MARKERS, Dashes, mean_and_spread, panels
from verifier.experiments.figures.figure import Figure, Records, Settings, Summary, proof
from verifier.experiments.ranks import DIMENSIONS, NORMS, SIZES, TRIALS, rank_trial
from verifier.experiments.workers import Coordinate, Record

_NAMES = {"frobenius": "W$^{mm}$", "nuclear": "W$^{mm}_⋆$"}
_DASHES: dict[str, Dashes] = {"frobenius": "-", "nuclear": "--"}


def rank_range(coordinate: Coordinate, *, seed: int, settings: Settings) -> Record:
    """The records of a block, two a trial. Coordinate: (n, T, d, first, count)."""
    n, T, d, first, count = (int(c) for c in coordinate)
    return {"records": [_record(n, T, d, trial, seed, norm, settings["tolerance"])
                        for trial in range(first, first + count) for norm in NORMS]}


def _record(n: int, T: int, d: int, trial: int, seed: int, norm: str, tolerance: float) -> Record:
    found = rank_trial(n, T, d, trial, seed, norm)
    numeric = 1 if found.infeasible else numeric_rank(found.dataset, norm, tolerance)
    return {"n": n, "T": T, "d": d, "trial": trial, "norm": norm,
            "infeasible": found.infeasible, "rank": found.rank,
            **proof(found.verdict, "verdict"), "numeric_rank": numeric}


def numeric_rank(dataset: AttentionDataset, norm: str, tolerance: float) -> int:
    """What the published code counts: singular values above *tolerance* of a solver's matrix.

    For the Frobenius norm the matrix is W^mm to float accuracy; for the nuclear norm that of SCS
    at its default accuracy. 1 where the solver returns none, as numpy counts its absence; so it
    is, too, for an infeasible problem.
    """
    alpha = optimal_selection(dataset)
    if norm == "frobenius":
        outcome = frobenius.solve(dataset, alpha)
        W = None if isinstance(outcome, Infeasible) else outcome.float_W
    else:
        W = _scs(dataset, alpha)
    return 1 if W is None else int(np.linalg.matrix_rank(W, tol=tolerance))


def _scs(dataset: AttentionDataset, alpha: tuple[int, ...]) -> FloatArray | None:
    # Half a second to import, and needed here alone.
    import cvxpy

    phi = features(dataset, alpha)
    rows = (phi.float_differences[:, :, None] * phi.float_queries[:, None, :]).reshape(
        len(phi), -1)
    W: Any = cvxpy.Variable((dataset.d, dataset.d))
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.normNuc(W)),
                            [rows @ cvxpy.vec(W, order="C") >= 1])
    with warnings.catch_warnings():
        # That its accuracy is low is what is shown.
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        try:
            problem.solve(solver="SCS")
        except cvxpy.SolverError:
            return None
    return None if W.value is None else np.asarray(W.value)


class Figure4(Figure):
    """Certified ranks, the published way to count them, and the infeasible trials."""

    number = 4
    title = "Ranks of the solutions of Att-SVM for both norms"
    trials = TRIALS
    settings: ClassVar[Settings] = {"dimensions": DIMENSIONS, "samples": SIZES, "tokens": SIZES,
                                    "fixed": 5, "tolerance": 1e-7}
    size = (9.6, 7.2)
    compute = staticmethod(rank_range)
    block = 10

    def cells(self, settings: Settings) -> list[Coordinate]:
        """(n, T, d): n varies at T fixed, T at n fixed."""
        return list(dict.fromkeys((n, T, d) for panel in _panels(settings) for n, T in panel
                                  for d in settings["dimensions"]))

    def coordinate(self, record: Record) -> Coordinate:
        """(n, T, d, trial, 1)."""
        return record["n"], record["T"], record["d"], record["trial"], 1

    def summary(self, records: Records, settings: Settings) -> Summary:
        """By norm and cell."""
        return {norm: [_cell(cell, [r for r in records if r["norm"] == norm
                                    and (r["n"], r["T"], r["d"]) == cell])
                       for cell in self.cells(settings)] for norm in NORMS}

    def draw(self, canvas: Canvas, records: Records, summary: Summary, settings: Settings) -> None:
        """Left: n varies; right: T. Rows: certified, as published, infeasible."""
        axes = panels(canvas, 3, 2, sharex=True, height_ratios=(3, 3, 1.6))
        columns = zip(_panels(settings), (f"T = {settings['fixed']}", f"n = {settings['fixed']}"),
                      strict=True)
        for column, (sizes, title) in enumerate(columns):
            top, middle, bottom = (row[column] for row in axes)
            for k, (n, T) in enumerate(sizes):
                for norm in NORMS:
                    cells = [c for c in summary[norm] if (c["n"], c["T"]) == (n, T)]
                    _ranks(top, cells, k, norm, "mean_rank", "rank_spread")
                    _ranks(middle, cells, k, norm, "mean_numeric", None)
                bottom.plot([c["d"] for c in cells],
                            [100 * c["infeasible"] / c["trials"] for c in cells],
                            color=COLOURS[k], marker=MARKERS[k])
            top.set_title(f"{title}: certified rank, feasible trials")
            middle.set_title(f"{title}: as published, all trials")
            bottom.set_title(f"{title}: proved infeasible")
            bottom.set(xlabel="dimension d", ylim=(-4, 104), xticks=settings["dimensions"])
            highest = max(n for n, _ in sizes) + 0.6
            for each in (top, middle):
                each.set(ylim=(0, highest), ylabel="mean rank")
            bottom.set_ylabel("share (%)")
            bottom.legend(handles=_handles(sizes), loc="upper right", ncols=2)

    def caption(self, summary: Summary, settings: Settings) -> str:
        """See `Figure`."""
        counted = [c for norm in NORMS for c in summary[norm]]
        feasible = sum(c["trials"] - c["infeasible"] for c in counted)
        certified = sum(c["certified"] for c in counted)
        return (
            f"{counted[0]['trials']} trials a point, unit sphere, α = opt. Top: the exact rank of "
            "W^mm, and the rank of a W within 1e-6 of the least nuclear norm, each proved; mean "
            f"over feasible trials, ± one standard deviation; {certified} of {feasible} are "
            f"certified, the largest excess over min(n, d) is "
            f"{max(c['largest_excess'] for c in counted if c['certified'])}. Middle, observed: "
            f"singular values above {settings['tolerance']:g}, for the nuclear norm of SCS at its "
            "default accuracy; as in the published code an infeasible trial counts as rank 1, and "
            f"{sum(c['numeric_above_bound'] for c in summary['nuclear'])} trials exceed the bound "
            "min(n, d). Bottom: trials proved infeasible by Farkas multipliers, which have no rank "
            f"({sum(c['infeasible'] for c in summary['frobenius'])} of "
            f"{sum(c['trials'] for c in summary['frobenius'])}).")


def _cell(cell: Coordinate, records: Records) -> Summary:
    n, T, d = (int(c) for c in cell)
    ranks = [r["rank"] for r in records if r["rank"] is not None]
    numeric = [r["numeric_rank"] for r in records]
    mean, spread = mean_and_spread(ranks)
    return {"n": n, "T": T, "d": d, "trials": len(records),
            "infeasible": sum(r["infeasible"] for r in records), "certified": len(ranks),
            "mean_rank": mean, "rank_spread": spread,
            "largest_excess": max(ranks) - min(n, d) if ranks else None,
            "mean_numeric": mean_and_spread(numeric)[0],
            "numeric_above_bound": sum(rank > min(n, d) for rank in numeric)}


def _panels(settings: Settings) -> list[list[tuple[int, int]]]:
    """(n, T) of the curves of each column."""
    fixed = settings["fixed"]
    return [[(n, fixed) for n in settings["samples"]], [(fixed, T) for T in settings["tokens"]]]


def _ranks(axes: Axes, cells: list[Summary], k: int, norm: str, mean: str,
           spread: str | None) -> None:
    known = [c for c in cells if c[mean] is not None]
    d = [c["d"] for c in known]
    if spread is not None:
        low, high = ([c[mean] + sign * c[spread] for c in known] for sign in (-1, 1))
        axes.fill_between(d, low, high, color=COLOURS[k], alpha=0.12, linewidth=0)
    axes.plot(d, [c[mean] for c in known], color=COLOURS[k], marker=MARKERS[k],
              linestyle=_DASHES[norm])


def _handles(sizes: list[tuple[int, int]]) -> list[Line2D]:
    return [*(Line2D([], [], color=COLOURS[k], marker=MARKERS[k], label=f"n = {n}, T = {T}")
              for k, (n, T) in enumerate(sizes)),
            *(Line2D([], [], color="#404040", linestyle=_DASHES[norm], label=_NAMES[norm])
              for norm in NORMS)]
