"""Figure 1: the paths of descent in the plane, mapped to the queries."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from conditions import basin, local_optimality, nuclear_margin, unique_nuclear_optimum
from conditions.dataset import AttentionDataset, FloatArray
from conditions.errors import InvalidInput
from conditions.predicted_direction import correlation
from conditions.selection import optimal_selection
from conditions.separation import frobenius, nuclear
from conditions.separation.frobenius import Infeasible
from conditions.separation.nuclear import NuclearSolution
from verifier.descent import Run, descend
from verifier.experiments.figures.drawing import BLUE, GREEN, ORANGE, VERMILLION, Dashes, panels
from verifier.experiments.figures.figure import Figure, Records, Settings, Summary, proof
from verifier.experiments.figures.runs import DESCENT, PARAMETERIZATIONS
from verifier.experiments.samples import generator
from verifier.experiments.workers import Coordinate, Record

_CENTRES = ((-1.0, 0.0), (1.0, 0.0))
_COLOURS = (VERMILLION, BLUE)
_TOKENS = (GREEN, ORANGE)
_DASHES: dict[str, Dashes] = {"W": "-", "KQ": "--"}
_LABELS = {"W": "W, W$^{mm}$", "KQ": "(K, Q), W$^{mm}_⋆$"}
_REACH, _ARROWS = 60.0, 4

_ALIKE = 0.99
"""Above this correlation W^mm and W^mm_⋆ could not be told apart in the picture."""


def trajectories(coordinate: Coordinate, *, seed: int, settings: Settings) -> Record:
    """Two records, of descent on W and on K and Q. Coordinate: (first, 1).

    They are of the first draw from *first* on whose optimal tokens are feasible and selected by
    both runs, and whose directions can be told apart: W^mm z_1 and W^mm z_2 lie on different
    sides, and W^mm and W^mm_⋆ differ.
    """
    first, _ = (int(c) for c in coordinate)
    for draw in itertools.count(first):
        dataset, start_K = planar_trial(seed, draw, settings)
        if _apart(dataset):
            found = _runs(dataset, start_K, settings)
            if all(run.selected == optimal_selection(dataset) for run in found.values()):
                break
    return {"records": [{"draw": draw, "parameterization": name, **_record(dataset, run)}
                        for name, run in found.items()]}


def _apart(dataset: AttentionDataset) -> bool:
    """Whether opt is feasible, with directions that can be told apart."""
    opt = optimal_selection(dataset)
    whole, low = frobenius.solve(dataset, opt), nuclear.solve(dataset, opt)
    if isinstance(whole, Infeasible) or not isinstance(low, NuclearSolution):
        return False
    first, second = (whole.float_W @ z for z in dataset.floats.queries)
    return float(first @ second) < 0 and correlation(whole.float_W, low.float_W) < _ALIKE


def planar_trial(seed: int, draw: int, settings: Settings) -> tuple[AttentionDataset, FloatArray]:
    """Two samples of the plane with tokens around −e₁ and e₁, unit queries, labels 1; and K(0)."""
    rng = generator((1, seed, draw))
    spread, T = float(settings["spread"]), int(settings["T"])
    tokens = np.array(_CENTRES)[:, None] + spread * rng.normal(size=(2, T, 2))
    queries, head = rng.normal(size=(2, 2)), rng.normal(size=2)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    dataset = AttentionDataset.build(tokens, [1, 1], queries, head / np.linalg.norm(head))
    return dataset, 0.1 * rng.normal(size=(2, 2))


def _runs(dataset: AttentionDataset, start_K: FloatArray, settings: Settings) -> dict[str, Run]:
    """From W(0) = 0, and from a small K(0) with Q(0) = 0, as in the published code."""
    steps = sorted({round(k) for k in np.geomspace(1, settings["iterations"], 80)} | {0})
    common: dict[str, Any] = {"step": settings["step"], "iterations": settings["iterations"],
                              "keep": steps, "threads": 1}
    return {"W": descend(dataset, **common),
            "KQ": descend(dataset, parameterization="KQ", penalty=settings["penalty"],
                          start=(start_K, np.zeros((2, 2))), **common)}


def _record(dataset: AttentionDataset, run: Run) -> Record:
    alpha, view = run.selected, dataset.floats
    if run.parameterization == "W":
        whole = frobenius.solve(dataset, alpha)
        assert not isinstance(whole, Infeasible), "opt is feasible"
        direction = whole.float_W
        verdicts = [local_optimality.decide(dataset, alpha),
                    basin.decide(dataset, alpha, run.final, run.rule, run.step, run.loss)]
    else:
        low = nuclear.solve(dataset, alpha)
        assert isinstance(low, NuclearSolution), "opt is feasible, and two dimensions are few"
        direction = low.float_W
        verdicts = [nuclear_margin.decide(dataset, alpha),
                    unique_nuclear_optimum.decide(dataset, alpha)]
    record: Record = {
        "selected": list(alpha), "norm": float(np.linalg.norm(run.final)),
        "correlation": correlation(run.final, direction)}
    for verdict in verdicts:
        record |= proof(verdict, verdict.condition)
    for i, (X, z) in enumerate(zip(view.tokens, view.queries, strict=True), 1):
        record |= {f"tokens_{i}": X.tolist(), f"query_{i}": z.tolist(),
                   f"direction_{i}": (direction @ z).tolist(),
                   f"path_{i}": [(W @ z).tolist() for _, W in run.kept]}
    return {**record, "head": view.head.tolist(), "steps": [k for k, _ in run.kept]}


class Figure1(Figure):
    """One dataset; W z_i and KQᵀ z_i along the runs, with W^mm z_i and W^mm_⋆ z_i."""

    number = 1
    title = "Paths of descent and the attention SVM directions in the plane"
    trials = 1
    settings: ClassVar[Settings] = {"T": 3, "spread": 0.3, **DESCENT}
    size = (6.4, 5.0)
    quick = True
    compute = staticmethod(trajectories)

    def cells(self, settings: Settings) -> list[Coordinate]:
        """One."""
        return [()]

    def blocks(self, settings: Settings, trials: int) -> list[Coordinate]:
        """The one dataset. Raises ``InvalidInput`` for more."""
        if trials != 1:
            raise InvalidInput("trials", trials, "must be 1 for figure 1, which shows one dataset",
                               "choose another dataset by the seed")
        return super().blocks(settings, trials)

    def coordinate(self, record: Record) -> Coordinate:
        """(draw, 1)."""
        return record["draw"], 1

    def summary(self, records: Records, settings: Settings) -> Summary:
        """By parameterization: how far it came, and what is proved."""
        kept = ("draw", "selected", "norm", "correlation", "local_optimality", "basin",
                "unique_nuclear_optimum")
        return {record["parameterization"]: {name: record[name] for name in kept if name in record}
                for record in records}

    def draw(self, canvas: Canvas, records: Records, summary: Summary, settings: Settings) -> None:
        """The paths, and the tokens in an inset."""
        ((axes,),) = panels(canvas, 1, 1)
        inset = axes.inset_axes(_corner(records))
        for panel, reach in ((axes, _REACH), (inset, 2.0)):
            for record in records:
                for i, colour in enumerate(_COLOURS, 1):
                    _path(panel, record, i, colour, reach)
            panel.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        _tokens(inset, records[0])
        inset.tick_params(labelsize=6)
        inset.set_title("tokens", fontsize=7, pad=2)
        axes.set(xlabel="first coordinate", ylabel="second coordinate",
                 title="W z$_i$ and KQ$^⊤$z$_i$ along the runs, rays of the predicted directions")
        handles: list[Any] = [
            *(Line2D([], [], color=colour, label=f"z$_{i}$") for i, colour in
              enumerate(_COLOURS, 1)),
            *(Line2D([], [], color="#404040", linestyle=_DASHES[name], label=_LABELS[name])
              for name in PARAMETERIZATIONS),
            *(Line2D([], [], color=colour, marker="o", linestyle="none", label=f"tokens of X$_{i}$")
              for i, colour in enumerate(_TOKENS, 1)),
            Line2D([], [], color="#808080", marker="*", markersize=9, linestyle="none",
                   label="optimal token")]
        canvas.legend(handles=handles, loc="outside right upper")

    def caption(self, summary: Summary, settings: Settings) -> str:
        """See `Figure`."""
        W, KQ = summary["W"], summary["KQ"]
        unique = {"holds": "proved to be the only one", "fails": "proved not to be the only one"}
        return (
            f"n = d = 2, T = {settings['T']}, draw {W['draw']}: tokens around ∓e₁, deviation "
            f"{settings['spread']}. Thick: {settings['iterations']} steps of normalized descent, "
            f"η = {settings['step']}, logistic loss, from W(0) = 0 and from a small K(0), Q(0) = 0 "
            "(penalty 2^-52); observed, correlations at the end "
            f"{W['correlation']:.5f} and {KQ['correlation']:.5f}. Thin rays: W^mm z_i, exact, and "
            "W^mm_⋆ z_i, within 1e-6 of the least nuclear norm, proved, this optimum "
            f"{unique.get(KQ['unique_nuclear_optimum'], 'neither proved unique nor several')}. "
            f"Both runs select opt, which is feasible and locally optimal: exact. Exact descent "
            f"from the last W at norm {W['norm']:.3g} "
            + ("converges to W^mm: proved (basin)." if W["basin"] == "holds"
               else "is not proved to converge to W^mm: no basin was certified."))


def _path(axes: Axes, record: Record, i: int, colour: str, reach: float) -> None:
    dashes = _DASHES[record["parameterization"]]
    ray = np.array(record[f"direction_{i}"])
    end = 2 * reach * ray / np.linalg.norm(ray)
    axes.plot([0, end[0]], [0, end[1]], color=colour, linestyle=dashes, linewidth=0.8, alpha=0.7)
    path = np.array(record[f"path_{i}"])
    axes.plot(*path.T, color=colour, linestyle=dashes, linewidth=1.9)
    # Arrows where the path has come a given share of the way to the frame.
    sizes = np.abs(path).max(axis=1)
    for share in np.linspace(0, 0.9, _ARROWS + 1)[1:]:
        k = int(np.argmax(sizes > share * reach))
        if k:
            axes.annotate("", path[k], path[k - 1], arrowprops={
                "arrowstyle": "-|>", "color": colour, "mutation_scale": 13, "shrinkA": 0,
                "shrinkB": 0, "linewidth": 0})


def _corner(records: Records) -> tuple[float, float, float, float]:
    """Where the inset goes: the corner that the paths leave free."""
    ends = np.array([record[f"direction_{i}"] for record in records for i in (1, 2)])
    ends /= np.abs(ends).max(axis=1, keepdims=True)
    corners = [(a, b) for a in (-1, 1) for b in (-1, 1)]
    a, b = max(corners, key=lambda corner: float(np.abs(ends - corner).max(axis=1).min()))
    return (0.06 if a < 0 else 0.70, 0.06 if b < 0 else 0.68, 0.29, 0.29)


def _tokens(axes: Axes, record: Record) -> None:
    for i, (colour, best) in enumerate(zip(_TOKENS, record["selected"], strict=True), 1):
        for t, x in enumerate(record[f"tokens_{i}"]):
            axes.plot(*x, color=colour, marker="*" if t == best else "o", linestyle="none",
                      markersize=9 if t == best else 4.5, markeredgecolor="black",
                      markeredgewidth=0.6)
