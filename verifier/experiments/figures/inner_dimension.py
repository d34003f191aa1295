"""Figure 10: descent on K and Q of m columns, and how near it comes to the least nuclear norm."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from conditions import nuclear_margin
from conditions.dataset import AttentionDataset
from conditions.predicted_direction import nuclear_comparison
from conditions.separation import nuclear
from conditions.separation.nuclear import NuclearSolution
from verifier.descent import Run
from verifier.experiments.figures.drawing import COLOURS, MARKERS, mean_and_spread, panels
from verifier.experiments.figures.figure import Figure, Records, Settings, Summary, proof
from verifier.experiments.figures.runs import DESCENT, runs
from verifier.experiments.samples import unit_sphere_dataset
from verifier.experiments.workers import Coordinate, Record


def inner_dimension(coordinate: Coordinate, *, seed: int, settings: Settings) -> Record:
    """The records of a block, one for each m. Coordinate: (n, T, first, count)."""
    n, T, first, count = (int(c) for c in coordinate)
    d, numbers = int(settings["d"]), range(first, first + count)
    places = [(seed, n, T, d, trial) for trial in numbers]
    datasets = [unit_sphere_dataset(n, T, d, place) for place in places]
    found = {m: runs(datasets, [(*place, m) for place in places], "KQ", settings, m=m)
             for m in settings["columns"]}
    return {"records": [
        {"n": n, "T": T, "d": d, "trial": trial, "m": m, **_observed(dataset, found[m][k])}
        for k, (trial, dataset) in enumerate(zip(numbers, datasets, strict=True))
        for m in found]}


def _observed(dataset: AttentionDataset, run: Run) -> Record:
    alpha = run.selected
    verdict = nuclear_margin.decide(dataset, alpha)
    optimum = nuclear.solve(dataset, alpha)
    record = {"selected": list(alpha), **proof(verdict, "nuclear_margin")}
    if isinstance(optimum, NuclearSolution):
        seen = nuclear_comparison(optimum, run.final)
        return {**record, "rank": optimum.rank, "correlation": seen.correlation}
    return {**record, "rank": None, "correlation": None}


class Figure10(Figure):
    """1 − correlation with W^mm_⋆α over m, with the certified rank of that W^mm_⋆α."""

    number = 10
    title = "Descent on K and Q of m columns against the least nuclear norm"
    trials = 100
    settings: ClassVar[Settings] = {
        "d": 20, "columns": tuple(range(1, 11)), "samples": (5, 10, 15), "tokens": (5, 10, 15),
        "fixed": 5, **DESCENT}
    size = (9.6, 3.4)
    compute = staticmethod(inner_dimension)
    block = 10

    def cells(self, settings: Settings) -> list[Coordinate]:
        """(n, T): n varies at T fixed, T at n fixed."""
        return list(dict.fromkeys(size for panel in _panels(settings) for size in panel))

    def coordinate(self, record: Record) -> Coordinate:
        """(n, T, trial, 1); it has a record for each m."""
        return record["n"], record["T"], record["trial"], 1

    def summary(self, records: Records, settings: Settings) -> Summary:
        """By (n, T) and m: means."""
        cells = []
        for n, T in self.cells(settings):
            for m in settings["columns"]:
                own = [r for r in records if (r["n"], r["T"], r["m"]) == (n, T, m)]
                known = [r for r in own if r["correlation"] is not None]
                off = [1 - r["correlation"] for r in known]
                cells.append({"n": n, "T": T, "m": m, "trials": len(own), "solved": len(known),
                              "misalignment": mean_and_spread(off)[0],
                              "quartiles": np.quantile(off, (0.25, 0.75)).tolist() if off else None,
                              "mean_rank": mean_and_spread([r["rank"] for r in known])[0],
                              "largest_rank": max((r["rank"] for r in known), default=None)})
        return {"cells": cells}

    def draw(self, canvas: Canvas, records: Records, summary: Summary, settings: Settings) -> None:
        """(a) over T, (b) over n."""
        (axes,) = panels(canvas, 1, 2, sharey=True)
        samples, tokens = _panels(settings)
        for each, sizes, title in zip(axes, (tokens, samples), (
                f"(a) n = {settings['fixed']}", f"(b) T = {settings['fixed']}"), strict=True):
            for k, (n, T) in enumerate(sizes):
                _curve(each, [c for c in summary["cells"] if (c["n"], c["T"]) == (n, T)], k)
            each.set(title=title, xlabel="m, columns of K and Q", yscale="log",
                     xticks=settings["columns"])
            each.legend(handles=[
                *(Line2D([], [], color=COLOURS[k], marker=MARKERS[k], label=f"n = {n}, T = {T}")
                  for k, (n, T) in enumerate(sizes)),
                Line2D([], [], color="#404040", linestyle=":",
                       label="mean certified rank of W$^{mm}_{⋆,α}$")], loc="upper right")
        axes[0].set_ylabel("1 − correlation with W$^{mm}_{⋆,α}$")

    def caption(self, summary: Summary, settings: Settings) -> str:
        """See `Figure`."""
        cells = summary["cells"]
        return (
            f"d = {settings['d']}, {cells[0]['trials']} trials a point, unit sphere, "
            f"{settings['iterations']} steps of normalized descent, η = {settings['step']}, "
            "logistic loss, penalty 2^-52. Curves: mean; bands: quartiles; observed. α: the tokens "
            "that the run selects; W^mm_⋆α: a W within 1e-6 of the least nuclear norm, m not "
            f"limited. Proved: that bound, in {sum(c['solved'] for c in cells)} of "
            f"{sum(c['trials'] for c in cells)} runs, and the rank of this W, at most n: no more "
            "columns are needed to reach it. The mean of that rank at the largest m is marked.")


def _panels(settings: Settings) -> list[list[tuple[int, int]]]:
    """(n, T) of the curves: n varies, T varies."""
    fixed = settings["fixed"]
    return [[(n, fixed) for n in settings["samples"]], [(fixed, T) for T in settings["tokens"]]]


def _curve(axes: Axes, cells: list[Summary], k: int) -> None:
    known = [c for c in cells if c["misalignment"] is not None]
    m = [c["m"] for c in known]
    axes.fill_between(m, [c["quartiles"][0] for c in known], [c["quartiles"][1] for c in known],
                      color=COLOURS[k], alpha=0.12, linewidth=0)
    axes.plot(m, [c["misalignment"] for c in known], color=COLOURS[k], marker=MARKERS[k])
    if known:
        axes.axvline(known[-1]["mean_rank"], color=COLOURS[k], linestyle=":", linewidth=1.1)
