"""Figures 9 and 12: descent with the head v·x − λ‖x‖², whose best mixture takes several tokens."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from conditions.exact.numbers import to_float
from verifier.experiments.figures.drawing import (
    BLUE,
    COLOURS,
    NUMERIC,
    mean_and_spread,
    mean_curves,
    panels,
)
from verifier.experiments.figures.figure import Figure, Records, Settings, Summary, apart, proof
from verifier.experiments.multi_token import QuadraticRecord, lemma_6_trials, quadratic_trials
from verifier.experiments.workers import Coordinate, Record

_LAMBDAS = (0.0, 0.1, *(round(0.2 * k, 1) for k in range(1, 16)))
_COMMON = {"T": 10, "d": 10, "iterations": 5000}


def quadratic_heads(coordinate: Coordinate, *, seed: int, settings: Settings) -> Record:
    """The records of a block of Figure 9. Coordinate: (λ, first, count)."""
    lam, first, count = coordinate
    found = quadratic_trials([float(lam)], int(count), seed, T=settings["T"], d=settings["d"],
                             iterations=settings["iterations"], threads=1, first=int(first))
    return {"records": [_record(record) for record in found]}


def lemma_6(coordinate: Coordinate, *, seed: int, settings: Settings) -> Record:
    """The records of a block of Figure 12. Coordinate: (τ, first draw, count)."""
    tau, first, count = (int(c) for c in coordinate)
    found = lemma_6_trials(tau, count, seed, T=settings["T"], d=settings["d"],
                           iterations=settings["iterations"], threads=1, first=first)
    return {"records": [{"tau": tau, **_record(record)} for record in found]}


def _record(record: QuadraticRecord) -> Record:
    return {"lambda": to_float(record.lam), "trial": record.trial,
            "selected": record.selected, "between": record.between, "best": record.best,
            "orthonormal": record.orthonormal, **proof(record.verdict, "best_mixture"),
            "steps": list(record.steps),
            "equivalent": None if record.equivalent is None else list(record.equivalent),
            "direction": None if record.direction is None else list(record.direction)}


def _counts(records: Records) -> Summary:
    """The selected tokens of all runs, and of the best mixtures."""
    mean, spread = mean_and_spread([r["selected"] for r in records])
    best, best_spread = mean_and_spread([r["best"] for r in records if r["best"]])
    return {"trials": len(records), "selected": mean, "selected_spread": spread, "best": best,
            "best_spread": best_spread, "decided": sum(r["best"] > 0 for r in records),
            "agree": sum(r["selected"] == r["best"] for r in records),
            "kept": sum(r["between"] == 0 for r in records)}


def _pair(records: Records, length: int) -> Summary:
    """Mean curves of 1 − correlation over the runs that have one."""
    kept = [r for r in records if r["equivalent"] is not None]
    if not kept:
        return {"runs": 0, "equivalent": None, "direction": None}
    return {"runs": len(kept),
            **{name: (1 - np.array(mean_curves([r[name] for r in kept], length)[0])).tolist()
               for name in ("equivalent", "direction")}}


class Figure9(Figure):
    """(a) how many tokens over λ; (b, c) correlations by λ and by how many."""

    number = 9
    title = "How many tokens descent selects with the head v·x − λ‖x‖²"
    trials = 100
    settings: ClassVar[Settings] = {"lambdas": _LAMBDAS, "shown_lambdas": (0.0, 0.1, 0.2, 1.0),
                                    "shown_counts": (1, 2, 5, 9), **_COMMON}
    size = (9.6, 3.2)
    compute = staticmethod(quadratic_heads)
    block = 50

    def cells(self, settings: Settings) -> list[Coordinate]:
        """(λ,)."""
        return [(lam,) for lam in settings["lambdas"]]

    def coordinate(self, record: Record) -> Coordinate:
        """(λ, trial, 1)."""
        return record["lambda"], record["trial"], 1

    def summary(self, records: Records, settings: Settings) -> Summary:
        """Counts by λ; curves by λ and by the number of selected tokens."""
        steps = max((r["steps"] for r in records), key=len)
        return {
            "steps": steps,
            "counts": [{"lambda": lam, **_counts([r for r in records if r["lambda"] == lam])}
                       for lam in settings["lambdas"]],
            "by_lambda": [{"lambda": lam, **_pair([r for r in records if r["lambda"] == lam],
                                                  len(steps))}
                          for lam in settings["shown_lambdas"]],
            "by_count": [{"tokens": k, **_pair([r for r in records if r["best"] == k],
                                               len(steps))}
                         for k in settings["shown_counts"]]}

    def draw(self, canvas: Canvas, records: Records, summary: Summary, settings: Settings) -> None:
        """Three panels."""
        ((left, middle, right),) = panels(canvas, 1, 3)
        _mean_counts(left, [c["lambda"] for c in summary["counts"]], summary["counts"])
        left.set(title="(a) selected tokens", xlabel="λ", ylabel="tokens")
        left.legend(loc="lower right")
        for axes, pairs, title in ((middle, "by_lambda", "(b) correlation by λ"),
                                   (right, "by_count", "(c) by tokens of the best mixture")):
            for k, pair in enumerate(summary[pairs]):
                if pair["runs"]:
                    name = f"λ = {pair['lambda']:g}" if "lambda" in pair else f"{pair['tokens']}"
                    axes.plot(summary["steps"], pair["equivalent"], color=COLOURS[k],
                              label=f"{name} ({pair['runs']} runs)")
                    axes.plot(summary["steps"], pair["direction"], ":", color=COLOURS[k])
            axes.set(title=title, xlabel="iterations", yscale="log",
                     ylabel="mean 1 − correlation")
            axes.legend(loc="upper right")

    def caption(self, summary: Summary, settings: Settings) -> str:
        """See `Figure`."""
        counts = summary["counts"]
        return (
            f"n = 1, T = {settings['T']}, d = {settings['d']}, orthonormal tokens, "
            f"{counts[0]['trials']} datasets, the same for each λ, {settings['iterations']} steps "
            "of normalized descent, η = 0.1, loss −u. (a) Observed: weights > 1e-3, mean ± one "
            "standard deviation; exact: tokens of the best mixture on the simplex, decided for "
            f"{sum(c['decided'] for c in counts)} of {sum(c['trials'] for c in counts)} trials; "
            f"both numbers agree in {sum(c['agree'] for c in counts)}. (b, c) Observed: "
            "correlation with W^fin + ρW^mm (solid) and with W^mm of Gen-SVM (dotted) for the "
            "tokens of the best mixture, unless it takes all. v1 keeps only runs without a weight "
            f"in [1e-8, 1e-3]: here these are {sum(c['kept'] for c in counts)}, so all are shown.")


class Figure12(Figure):
    """Lemma 6 over τ: λ, the number of tokens, its distribution."""

    number = 12
    title = "Lemma 6 over τ: λ and the number of selected tokens"
    trials = 100
    settings: ClassVar[Settings] = {"taus": (2, 3, 4, 5, 6, 7, 8, 9), "shown_taus": (3, 5, 7, 9),
                                    **_COMMON}
    size = (9.6, 3.2)
    compute = staticmethod(lemma_6)

    def cells(self, settings: Settings) -> list[Coordinate]:
        """(τ,)."""
        return [(tau,) for tau in settings["taus"]]

    def blocks(self, settings: Settings, trials: int) -> list[Coordinate]:
        """Each block has its own range of draws, as how many are rejected is not known before."""
        return apart(super().blocks(settings, trials), self.block)

    def coordinate(self, record: Record) -> Coordinate:
        """(τ, draw, 1)."""
        return record["tau"], record["trial"], 1

    def summary(self, records: Records, settings: Settings) -> Summary:
        """By τ: λ, counts, and the distribution of both numbers of tokens."""
        cells = []
        for (tau,) in self.cells(settings):
            own = [r for r in records if r["tau"] == tau]
            lam, spread = mean_and_spread([r["lambda"] for r in own])
            cells.append({
                "tau": tau, "lambda": lam, "lambda_spread": spread, **_counts(own),
                **{f"{name}_histogram": [sum(r[name] == k for r in own)
                                         for k in range(settings["T"] + 1)]
                   for name in ("selected", "best")},
                "within": sum(2 <= r["best"] <= tau for r in own)})
        return {"cells": cells}

    def draw(self, canvas: Canvas, records: Records, summary: Summary, settings: Settings) -> None:
        """(a) λ, (b) tokens, (c) their distribution."""
        ((left, middle, right),) = panels(canvas, 1, 3)
        cells = summary["cells"]
        taus = [c["tau"] for c in cells]
        left.errorbar(taus, [c["lambda"] for c in cells], [c["lambda_spread"] for c in cells],
                      color=BLUE, marker="o", capsize=2.5, linewidth=1.2)
        left.set(title="(a) λ with which Lemma 6 speaks", xlabel="τ", ylabel="λ", xticks=taus)
        _mean_counts(middle, taus, cells)
        middle.plot(taus, taus, ":", color="#808080", label="τ, the bound of Lemma 6")
        middle.set(title="(b) selected tokens", xlabel="τ", ylabel="tokens", xticks=taus)
        middle.legend(loc="upper left")
        shown = [c for c in cells if c["tau"] in settings["shown_taus"]]
        _histograms(right, shown, settings["T"])

    def caption(self, summary: Summary, settings: Settings) -> str:
        """See `Figure`."""
        cells = summary["cells"]
        trials = sum(c["trials"] for c in cells)
        return (
            f"n = 1, T = {settings['T']}, d = {settings['d']}, orthonormal tokens, "
            f"{cells[0]['trials']} pairs of data and λ for each τ, λ uniform in (0, 3τ/4), kept "
            "if Lemma 6 speaks for them, γ₁^gap < λ < τγ_τ^gap/2; "
            f"{settings['iterations']} steps of "
            "normalized descent, η = 0.1, loss −u. Observed: weights > 1e-3; mean ± one standard "
            "deviation, shares. Exact: the tokens of the best mixture on the simplex, decided for "
            f"{sum(c['decided'] for c in cells)} of {trials} draws, between 2 and τ in "
            f"{sum(c['within'] for c in cells)}; the run selects as many in "
            f"{sum(c['agree'] for c in cells)}.")


def _mean_counts(axes: Axes, x: list[float], counts: list[Summary]) -> None:
    axes.errorbar(x, [c["selected"] for c in counts], [c["selected_spread"] for c in counts],
                  color=BLUE, marker="o", capsize=2.5, linewidth=1.2, label="descent (observed)")
    axes.plot(x, [np.nan if c["best"] is None else c["best"] for c in counts], "x",
              color=NUMERIC, markersize=5, markeredgewidth=1.2, zorder=5,
              label="best mixture (exact)")


def _histograms(axes: Axes, cells: list[Summary], T: int) -> None:
    counts = np.arange(2, T)
    width = 0.8 / max(len(cells), 1)
    for k, c in enumerate(cells):
        at = counts + width * (k - (len(cells) - 1) / 2)
        axes.bar(at, [c["selected_histogram"][j] / c["trials"] for j in counts], width * 0.92,
                 color=COLOURS[k])
        axes.plot(at, [c["best_histogram"][j] / c["trials"] for j in counts], "x", color=NUMERIC,
                  markersize=3.5, markeredgewidth=1)
    axes.set(title="(c) distribution", xlabel="tokens", ylabel="share of draws", xticks=counts)
    axes.grid(visible=False, axis="x")
    handles: list[Any] = [Line2D([], [], color=COLOURS[k], marker="s", linestyle="none",
                                 markersize=6, label=f"τ = {c['tau']} (observed)")
                          for k, c in enumerate(cells)]
    handles.append(Line2D([], [], color=NUMERIC, marker="x", linestyle="none", label="exact"))
    axes.legend(handles=handles, loc="upper right")
