"""Figures 2 and 5: how often descent ends in a globally or locally optimal direction."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from conditions import all_support, local_optimality
from conditions.dataset import AttentionDataset, FloatArray
from conditions.local_optimality import rivals
from conditions.selection import Features, Selection, features, optimal_selection
from conditions.separation import frobenius, nuclear
from conditions.separation.frobenius import Infeasible
from verifier.experiments.figures.drawing import (
    BLUE,
    GREEN,
    NUMERIC,
    SKY,
    VERMILLION,
    panels,
    share_interval,
)
from verifier.experiments.figures.figure import Figure, Records, Settings, Summary, proof
from verifier.experiments.figures.runs import DESCENT, PARAMETERIZATIONS, float_margins, runs
from verifier.experiments.samples import gapped_dataset
from verifier.experiments.workers import Coordinate, Record

SUPPORT_TOLERANCE = 1e-3
"""A float margin up to 1 plus this is that of a support index, where one is asked for."""

MEAN_MARGIN = 1.1
"""Below it, v1 declares Assumption B.1 satisfied."""

_BARS = (("not_local", "not local", SKY), ("global", "global", VERMILLION),
         ("local", "local", BLUE), ("all_support", "Assumption B.1", GREEN))
_WIDTH = 0.2


def convergence(coordinate: Coordinate, *, seed: int, settings: Settings) -> Record:
    """The records of a block. Coordinate: (n, T, d, first, count); one each parameterization."""
    n, T, d, first, count = (int(c) for c in coordinate)
    numbers = range(first, first + count)
    places = [(seed, n, T, d, trial) for trial in numbers]
    datasets = [gapped_dataset(n, T, d, settings["gap"], place) for place in places]
    found = {name: runs(datasets, places, name, settings)
             for name in settings["parameterizations"]}
    return {"records": [
        {"n": n, "T": T, "d": d, "trial": trial, "parameterization": name,
         **_observed(dataset, found[name][k].selected, name)}
        for k, (trial, dataset) in enumerate(zip(numbers, datasets, strict=True))
        for name in found]}


def _observed(dataset: AttentionDataset, alpha: Selection, name: str) -> Record:
    opt = optimal_selection(dataset)
    margins = _margins(dataset, opt, name)
    mean = None if margins is None else float(margins.mean())
    return {"selected": list(alpha), "optimal": list(opt), "global": alpha == opt,
            **proof(local_optimality.decide(dataset, alpha), "local_optimality"),
            "local_in_floats": _local(dataset, alpha, name),
            **proof(all_support.decide(dataset, opt), "all_support"),
            "mean_margin": mean, "mean_margin_small": mean is not None and mean < MEAN_MARGIN}


def _margins(dataset: AttentionDataset, alpha: Selection, name: str) -> FloatArray | None:
    """Those of W^mm_α, or of a W^mm_⋆α for K and Q; None where no W separates α."""
    solve: Any = frobenius.solve if name == "W" else nuclear.solve
    outcome = solve(dataset, alpha)
    if outcome is None or isinstance(outcome, Infeasible):
        return None
    return float_margins(outcome.features, outcome.float_W)


def _local(dataset: AttentionDataset, alpha: Selection, name: str) -> bool:
    """Local optimality (v1, Definition 2) for the norm of the parameterization, by a tolerance."""
    phi: Features = features(dataset, alpha)
    margins = _margins(dataset, alpha, name)
    return margins is not None and all(
        margins[phi.index[row]] > 1 + SUPPORT_TOLERANCE for row in rivals(phi))


class Shares(Figure):
    """Bars of certified shares over d, with what a tolerance says beside them."""

    trials = 500
    compute = staticmethod(convergence)
    block = 50
    bars: ClassVar[tuple[tuple[str, str, str], ...]]

    def cells(self, settings: Settings) -> list[Coordinate]:
        """(n, T, d) for each d."""
        return [(settings["n"], settings["T"], d) for d in settings["dimensions"]]

    def coordinate(self, record: Record) -> Coordinate:
        """(n, T, d, trial, 1)."""
        return record["n"], record["T"], record["d"], record["trial"], 1

    def summary(self, records: Records, settings: Settings) -> Summary:
        """By parameterization and d: counts."""
        return {name: [_counts([r for r in records if r["parameterization"] == name
                                and r["d"] == d], d) for d in settings["dimensions"]]
                for name in settings["parameterizations"]}

    def draw(self, canvas: Canvas, records: Records, summary: Summary, settings: Settings) -> None:
        """A panel a parameterization."""
        names = list(summary)
        (axes,) = panels(canvas, 1, len(names), sharey=True)
        for each, name in zip(axes, names, strict=True):
            self._panel(each, summary[name])
            each.set(xlabel="dimension d", ylim=(0, 104), title=(
                "descent on W" if name == "W" else "descent on K and Q"))
        axes[0].set_ylabel("share of trials (%)")
        handles: list[Any] = [Patch(color=colour, label=label) for _, label, colour in self.bars]
        handles.append(Line2D([], [], color=NUMERIC, marker="x", linestyle="none",
                              label="by a tolerance"))
        handles.append(Line2D([], [], color="#606060", linewidth=0.9, label="95% interval"))
        canvas.legend(handles=handles, loc="outside upper center", ncols=len(handles))

    def _panel(self, axes: Axes, counts: list[Summary]) -> None:
        x = np.arange(len(counts))
        for k, (key, _, colour) in enumerate(self.bars):
            at = x + _WIDTH * (k - (len(self.bars) - 1) / 2)
            share = [100 * c[key] / c["trials"] for c in counts]
            low, high = zip(*(share_interval(c[key], c["trials"]) for c in counts), strict=True)
            axes.bar(at, share, _WIDTH * 0.92, color=colour)
            axes.vlines(at, np.multiply(100, low), np.multiply(100, high), color="#606060",
                        linewidth=0.9)
            numeric = {"local": "local_in_floats", "all_support": "mean_margin_small"}.get(key)
            if numeric:
                axes.plot(at, [100 * c[numeric] / c["trials"] for c in counts], "x", color=NUMERIC,
                          markersize=4.5, markeredgewidth=1.2, clip_on=False)
        axes.set_xticks(x, [str(c["d"]) for c in counts])
        axes.grid(visible=False, axis="x")

    def _setting(self, settings: Settings) -> str:
        return (f"n = {settings['n']}, T = {settings['T']}, unit sphere, score gap ≥ "
                f"{settings['gap']}, {settings['iterations']} steps of normalized descent, η = "
                f"{settings['step']}, logistic loss.")


class Figure2(Shares):
    """Descent on W."""

    number = 2
    title = "Types of convergence of descent on W"
    settings: ClassVar[Settings] = {
        "n": 5, "T": 5, "dimensions": (2, 3, 4, 5, 10, 20), "gap": 0.1,
        "parameterizations": ("W",), **DESCENT}
    size = (7.0, 3.1)
    bars = _BARS[:3]

    def caption(self, summary: Summary, settings: Settings) -> str:
        """See `Figure`."""
        first = summary["W"][0]
        return (
            f"{first['trials']} trials for each d; {self._setting(settings)} The tokens α that the "
            "run selects are observed. Bars: α = opt (global), α locally optimal (v1, Definition "
            "2; includes global), its complement; each decided exactly for its trial. Crosses: "
            f"locally optimal if margins of W^mm_α above 1 + {SUPPORT_TOLERANCE:g} are taken for "
            f"those of other than support indices, in floats; that changes "
            f"{_disagreement(summary)} counts.")


class Figure5(Shares):
    """Descent on W and on K and Q."""

    number = 5
    title = "Types of convergence of descent on W and on (K, Q), and Assumption B.1"
    settings: ClassVar[Settings] = {
        "n": 5, "T": 5, "dimensions": (2, 3, 4, 5, 10, 20, 40), "gap": 0.1,
        "parameterizations": PARAMETERIZATIONS, **DESCENT}
    size = (9.6, 3.2)
    bars = _BARS

    def caption(self, summary: Summary, settings: Settings) -> str:
        """See `Figure`."""
        first = summary["W"][0]
        return (
            f"{first['trials']} trials for each d; {self._setting(settings)} The tokens α that a "
            "run selects are observed. Bars, each decided exactly for its trial: α = opt; α "
            "locally optimal (v1, Definition 2, for W^mm_α); its complement; B.1: all rejected "
            "tokens are support indices of W^mm_opt, all margins exactly 1. Crosses, in floats: "
            f"locally optimal with a tolerance of {SUPPORT_TOLERANCE:g} on margins, of W^mm_α on "
            "the left and of a W^mm_⋆α of least nuclear norm on the right, where no proof is "
            f"known; mean margin < {MEAN_MARGIN}, v1's test of B.1, for W^mm_opt and W^mm_⋆opt. "
            f"For W the tolerance changes {_disagreement(summary)} counts; the mean margin is "
            f"small in {sum(c['mean_margin_small'] for c in summary['W'])} trials, B.1 holds in "
            f"{sum(c['all_support'] for c in summary['W'])}.")


def _disagreement(summary: Summary) -> int:
    """By how much the counts of locally optimal for W differ from those by a tolerance."""
    return sum(abs(c["local"] - c["local_in_floats"]) for c in summary["W"])


def _counts(records: Records, d: int) -> Summary:
    local = sum(r["local_optimality"] == "holds" for r in records)
    return {
        "d": d, "trials": len(records), "global": sum(r["global"] for r in records),
        "local": local, "local_in_floats": sum(r["local_in_floats"] for r in records),
        "not_local": sum(r["local_optimality"] == "fails" for r in records),
        "all_support": sum(r["all_support"] == "holds" for r in records),
        "mean_margin_small": sum(r["mean_margin_small"] for r in records),
        "infeasible": sum(r["mean_margin"] is None for r in records)}
