"""Figure 6: how often descent selects the optimal tokens, over n, T and d."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from conditions import feasibility, full_rank
from conditions.selection import optimal_selection
from verifier.experiments.figures.drawing import COLOURS, MARKERS, Dashes, panels, share_interval
from verifier.experiments.figures.figure import Figure, Records, Settings, Summary, proof
from verifier.experiments.figures.runs import DESCENT, PARAMETERIZATIONS, runs
from verifier.experiments.samples import gapped_dataset
from verifier.experiments.workers import Coordinate, Record

_DASHES: dict[str, Dashes] = {"W": "-", "KQ": "--"}


def global_share(coordinate: Coordinate, *, seed: int, settings: Settings) -> Record:
    """The records of a block, one a trial. Coordinate: (n, T, d, first, count)."""
    n, T, d, first, count = (int(c) for c in coordinate)
    numbers = range(first, first + count)
    places = [(seed, n, T, d, trial) for trial in numbers]
    datasets = [gapped_dataset(n, T, d, settings["gap"], place) for place in places]
    found = {name: runs(datasets, places, name, settings) for name in PARAMETERIZATIONS}
    records = []
    for k, (trial, dataset) in enumerate(zip(numbers, datasets, strict=True)):
        opt = optimal_selection(dataset)
        records.append({
            "n": n, "T": T, "d": d, "trial": trial, "optimal": list(opt),
            **{f"selected_{name}": list(found[name][k].selected) for name in PARAMETERIZATIONS},
            **{f"global_{name}": found[name][k].selected == opt for name in PARAMETERIZATIONS},
            **proof(feasibility.decide(dataset, opt), "feasibility"),
            **proof(full_rank.decide(dataset), "full_rank")})
    return {"records": records}


class Figure6(Figure):
    """Shares of α = opt, with the certified feasibility of opt."""

    number = 6
    title = "Global convergence of descent over n, T and d"
    trials = 500
    settings: ClassVar[Settings] = {
        "dimensions": (5, 10, 15, 20, 25, 30), "samples": (5, 10, 20), "tokens": (5, 10, 20),
        "fixed": 5, "gap": 0.1, **DESCENT}
    size = (9.6, 3.2)
    compute = staticmethod(global_share)
    block = 50

    def cells(self, settings: Settings) -> list[Coordinate]:
        """(n, T, d): n varies at T fixed, T at n fixed."""
        return list(dict.fromkeys((n, T, d) for panel in _panels(settings) for n, T in panel
                                  for d in settings["dimensions"]))

    def coordinate(self, record: Record) -> Coordinate:
        """(n, T, d, trial, 1)."""
        return record["n"], record["T"], record["d"], record["trial"], 1

    def summary(self, records: Records, settings: Settings) -> Summary:
        """Counts by cell."""
        cells = []
        for n, T, d in self.cells(settings):
            own = [r for r in records if (r["n"], r["T"], r["d"]) == (n, T, d)]
            cells.append({
                "n": n, "T": T, "d": d, "trials": len(own),
                **{f"global_{name}": sum(r[f"global_{name}"] for r in own)
                   for name in PARAMETERIZATIONS},
                "feasible": sum(r["feasibility"] == "holds" for r in own),
                "full_rank": sum(r["full_rank"] == "holds" for r in own)})
        return {"cells": cells}

    def draw(self, canvas: Canvas, records: Records, summary: Summary, settings: Settings) -> None:
        """(a) over n, (b) over T."""
        (axes,) = panels(canvas, 1, 2, sharey=True)
        for each, sizes, title in zip(axes, _panels(settings), (
                f"(a) T = {settings['fixed']}", f"(b) n = {settings['fixed']}"), strict=True):
            for k, (n, T) in enumerate(sizes):
                cells = [c for c in summary["cells"] if (c["n"], c["T"]) == (n, T)]
                _curves(each, cells, k)
            each.set(title=title, xlabel="dimension d", ylim=(0, 1.03),
                     xticks=settings["dimensions"])
            each.legend(handles=[Line2D([], [], color=COLOURS[k], marker=MARKERS[k],
                                        label=f"n = {n}, T = {T}")
                                 for k, (n, T) in enumerate(sizes)], loc="lower right")
        axes[0].set_ylabel("share of trials")
        canvas.legend(handles=[
            Line2D([], [], color="#404040", linestyle="-", label="descent on W selects opt"),
            Line2D([], [], color="#404040", linestyle="--", label="descent on K and Q selects opt"),
            Line2D([], [], color="#404040", linestyle=":", label="opt feasible (proved)")],
            loc="outside upper center", ncols=3)

    def caption(self, summary: Summary, settings: Settings) -> str:
        """See `Figure`."""
        cells = summary["cells"]
        return (
            f"{cells[0]['trials']} trials a point, unit sphere, score gap ≥ {settings['gap']}, "
            f"{settings['iterations']} steps of normalized descent, η = {settings['step']}, "
            "logistic loss; (K, Q) with the penalty 2^-52. Bands: 95% intervals. What a run "
            "selects is observed, whether that is opt is decided exactly. Proved in every trial: "
            "whether Att-SVM(opt) is feasible (dotted), and whether the features have full row "
            f"rank, which excludes stationary points: they have in "
            f"{sum(c['full_rank'] for c in cells)} of {sum(c['trials'] for c in cells)}.")


def _panels(settings: Settings) -> list[list[tuple[int, int]]]:
    """(n, T) of the curves of each panel."""
    fixed = settings["fixed"]
    return [[(n, fixed) for n in settings["samples"]], [(fixed, T) for T in settings["tokens"]]]


def _curves(axes: Axes, cells: list[Summary], k: int) -> None:
    d = [c["d"] for c in cells]
    for name, dashes in _DASHES.items():
        count = [c[f"global_{name}"] for c in cells]
        low, high = zip(*(share_interval(hits, c["trials"])
                          for hits, c in zip(count, cells, strict=True)), strict=True)
        axes.fill_between(d, low, high, color=COLOURS[k], alpha=0.12, linewidth=0)
        axes.plot(d, np.divide(count, [c["trials"] for c in cells]), color=COLOURS[k],
                  linestyle=dashes, marker=MARKERS[k])
    axes.plot(d, [c["feasible"] / c["trials"] for c in cells], ":", color=COLOURS[k],
              linewidth=1.1)
