"""Figures 8 and 11: descent with a ReLU head, which selects several tokens."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from matplotlib.figure import Figure as Canvas

from verifier.experiments.figures.drawing import COLOURS, MARKERS, mean_and_spread, panels
from verifier.experiments.figures.figure import Figure, Records, Settings, Summary, apart, proof
from verifier.experiments.multi_token import DIMENSIONS, MultiTokenRecord, multi_token_trials
from verifier.experiments.workers import Coordinate, Record

_TARGETS = ("equivalent", "direction", "single")
_LOOKS: dict[str, tuple[str, Any]] = {
    "equivalent": ("W$^{fin}$ + ρW$^{mm}$", "-"), "direction": ("W$^{mm}$ (Gen-SVM)", ":"),
    "single": ("W$^{mm}$ of single tokens", "--")}
_THRESHOLDS = tuple(10.0**k for k in range(-16, -5))


def relu_heads(coordinate: Coordinate, *, seed: int, settings: Settings) -> Record:
    """The records of a block. Coordinate: (d, first draw, count): the next *count* that pass."""
    d, first, count = (int(c) for c in coordinate)
    found = multi_token_trials(d, count, seed, n=settings["n"], T=settings["T"],
                               iterations=settings["iterations"], threads=1, first=first)
    return {"records": [_record(record) for record in found.records],
            "rejected": dict(sorted(found.rejected.items()))}


def _record(record: MultiTokenRecord) -> Record:
    return {"d": record.d, "draw": record.candidate,
            "sets": [list(chosen) for chosen in record.sets],
            **proof(record.verdict, "multi_token_support"), "masked": record.masked,
            "steps": list(record.steps),
            **{name: list(getattr(record, name)) for name in _TARGETS}}


class ReluHeads(Figure):
    """Trials over d that pass v1's filter: no softmax weight between 1e-6 and 1e-3."""

    trials = 500
    settings: ClassVar[Settings] = {"n": 3, "T": 4, "dimensions": DIMENSIONS, "iterations": 2000}
    compute = staticmethod(relu_heads)

    def cells(self, settings: Settings) -> list[Coordinate]:
        """(d,)."""
        return [(d,) for d in settings["dimensions"]]

    def blocks(self, settings: Settings, trials: int) -> list[Coordinate]:
        """Each block has its own range of draws, as how many are rejected is not known before."""
        return apart(super().blocks(settings, trials), self.block)

    def coordinate(self, record: Record) -> Coordinate:
        """(d, draw, 1)."""
        return record["d"], record["draw"], 1

    def summary(self, records: Records, settings: Settings) -> Summary:
        """By d: mean curves of 1 − correlation, and final ones by the largest masked weight."""
        cells = []
        for (d,) in self.cells(settings):
            own = [r for r in records if r["d"] == d]
            length = max(len(r["steps"]) for r in own)
            curves = {name: np.mean([[*r[name], *[r[name][-1]] * (length - len(r[name]))]
                                     for r in own], axis=0) for name in _TARGETS}
            below = [[1 - r["equivalent"][-1] for r in own if r["masked"] < limit]
                     for limit in _THRESHOLDS]
            cells.append({
                "d": d, "trials": len(own),
                "steps": max((r["steps"] for r in own), key=len),
                **{name: (1 - curve).tolist() for name, curve in curves.items()},
                "thresholds": list(_THRESHOLDS), "below": [len(each) for each in below],
                "mean_below": [mean_and_spread(each)[0] for each in below],
                "proved": sum(r["multi_token_support"] == "holds" for r in own),
                "several": sum(any(len(chosen) > 1 for chosen in r["sets"]) for r in own)})
        return {"cells": cells}

    def _setting(self, summary: Summary, settings: Settings) -> str:
        cells = summary["cells"]
        return (
            f"n = {settings['n']}, T = {settings['T']}, head 1ᵀReLU(V·), {cells[0]['trials']} "
            f"trials for each d, unit sphere, {settings['iterations']} steps of normalized "
            "descent, η = 0.1, logistic loss; with a label −1, no softmax weight in [1e-6, 1e-3]. "
            "The selected tokens, weight > 1e-3, and all correlations are observed. Proved in "
            f"{sum(c['proved'] for c in cells)} of {sum(c['trials'] for c in cells)} trials: "
            "Gen-SVM of these tokens is feasible, with W^mm and its support; several tokens of a "
            f"sample in {sum(c['several'] for c in cells)}.")


class Figure8(ReluHeads):
    """Curves along the runs above, final values against the largest masked weight below."""

    number = 8
    title = "Descent with a ReLU head selects several tokens"
    size = (9.6, 5.0)

    def draw(self, canvas: Canvas, records: Records, summary: Summary, settings: Settings) -> None:
        """A column a dimension."""
        cells = summary["cells"]
        axes = panels(canvas, 2, len(cells), sharey="row")
        for k, (cell, top, bottom) in enumerate(zip(cells, *axes, strict=True)):
            for name, (label, dashes) in _LOOKS.items():
                top.plot(cell["steps"], cell[name], color=COLOURS[k], linestyle=dashes, label=label)
            own = [r for r in records if r["d"] == cell["d"]]
            bottom.plot([r["masked"] for r in own], [1 - r["equivalent"][-1] for r in own],
                        linestyle="none", marker=MARKERS[k], markersize=2.2, alpha=0.6,
                        color=COLOURS[k], markeredgewidth=0)
            top.set(title=f"d = {cell['d']}", xlabel="iterations", yscale="log")
            bottom.set(xlabel="largest masked softmax weight", xscale="log", yscale="log",
                       xlim=(1e-17, 1e-6))
            bottom.set_xticks([1e-15, 1e-12, 1e-9, 1e-6])
        axes[0][-1].legend(loc="upper right")
        axes[0][0].set_ylabel("mean 1 − correlation")
        axes[1][0].set_ylabel("1 − correlation at the end")

    def caption(self, summary: Summary, settings: Settings) -> str:
        """See `Figure`."""
        return (f"{self._setting(summary, settings)} Top: mean of 1 − correlation of W with the "
                "best W^fin + ρW^mm (solid, W^SVMeq of v1), with W^mm of Gen-SVM, and with that of "
                "the single most likely tokens. Bottom: the first of these for each trial.")


class Figure11(ReluHeads):
    """The solid curves of Figure 8 in one panel, and means by a threshold on masked weights."""

    number = 11
    title = "Descent with a ReLU head: dimension and masked weights"
    size = (9.6, 3.3)

    def draw(self, canvas: Canvas, records: Records, summary: Summary, settings: Settings) -> None:
        """(a) curves, (b) thresholds."""
        ((left, right),) = panels(canvas, 1, 2)
        for k, cell in enumerate(summary["cells"]):
            look: dict[str, Any] = {"color": COLOURS[k], "marker": MARKERS[k],
                                    "label": f"d = {cell['d']}"}
            left.plot(cell["steps"], cell["equivalent"], **look)
            known = [(limit, mean) for limit, mean in
                     zip(cell["thresholds"], cell["mean_below"], strict=True) if mean is not None]
            if known:
                right.plot(*zip(*known, strict=True), **look)
        left.set(title="(a) along the runs", xlabel="iterations", yscale="log",
                 ylabel="mean 1 − correlation with W$^{fin}$ + ρW$^{mm}$")
        right.set(title="(b) trials whose masked weights are all below Γ", xlabel="Γ",
                  xscale="log", yscale="log", ylabel="mean 1 − correlation at the end")
        left.legend(loc="upper right")
        right.legend(loc="upper left")

    def caption(self, summary: Summary, settings: Settings) -> str:
        """See `Figure`."""
        return (f"{self._setting(summary, settings)} The trials are those of Figure 8 with the "
                "same seed.")
