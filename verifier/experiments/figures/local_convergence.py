"""Figure 7: where descent goes from random starts, on W and on K and Q."""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from conditions import basin, local_optimality
from conditions.dataset import AttentionDataset, FloatArray
from conditions.predicted_direction import correlation
from conditions.separation import frobenius, nuclear
from conditions.separation.frobenius import Infeasible
from verifier.descent import Run
from verifier.experiments.figures.drawing import COLOURS, band, mean_and_spread, mean_curves, panels
from verifier.experiments.figures.figure import Figure, Records, Settings, Summary, proof
from verifier.experiments.figures.runs import DESCENT, PARAMETERIZATIONS, largest_softmax, runs
from verifier.experiments.samples import unit_sphere_dataset
from verifier.experiments.workers import Coordinate, Record

_STEPS = (*range(0, 100, 5), *range(100, 300, 20), *range(300, 2001, 100))
_CURVES = ("softmax", "frobenius", "nuclear")
_LABELS = {"W": "W", "KQ": "(K, Q)"}


def local_convergence(coordinate: Coordinate, *, seed: int, settings: Settings) -> Record:
    """The records of trials first, …, first + count − 1, two each. Coordinate: (first, count)."""
    first, count = coordinate
    n, T, d = (int(settings[name]) for name in ("n", "T", "d"))
    numbers = range(int(first), int(first) + int(count))
    places = [(7, seed, n, T, d, trial) for trial in numbers]
    datasets = [unit_sphere_dataset(n, T, d, place) for place in places]
    found = {name: runs(datasets, places, name, settings, keep=_steps(settings))
             for name in PARAMETERIZATIONS}
    return {"records": [
        {"trial": trial, "parameterization": name, **_observed(dataset, found[name][k], settings)}
        for k, (trial, dataset) in enumerate(zip(numbers, datasets, strict=True))
        for name in PARAMETERIZATIONS]}


def _steps(settings: Settings) -> list[int]:
    """The steps of the curves."""
    last = int(settings["iterations"])
    return [*(k for k in _STEPS if k < last), last]


def _observed(dataset: AttentionDataset, run: Run, settings: Settings) -> Record:
    alpha = run.selected
    record: Record = {"selected": list(alpha),
                      **proof(local_optimality.decide(dataset, alpha), "local_optimality")}
    if run.parameterization == "W":
        record |= proof(basin.decide(dataset, alpha, run.final, run.rule, run.step, run.loss),
                        "limit")
    else:
        record |= dict.fromkeys(("limit", "limit_evidence", "limit_certificate"))
    record["softmax"] = [largest_softmax(dataset, W) for _, W in run.kept]
    whole, low = frobenius.solve(dataset, alpha), nuclear.solve(dataset, alpha)
    record["frobenius"] = None if isinstance(whole, Infeasible) else _curve(run, whole.float_W)
    record["nuclear"] = (None if low is None or isinstance(low, Infeasible)
                         else _curve(run, low.float_W))
    return record


def _curve(run: Run, direction: FloatArray) -> list[float]:
    return [correlation(W, direction) for _, W in run.kept]


class Figure7(Figure):
    """Softmax weights and correlations with W^mm_α and W^mm_⋆α along the runs."""

    number = 7
    title = "Local convergence of gradient descent"
    trials = 100
    settings: ClassVar[Settings] = {"n": 6, "T": 8, "d": 10, **DESCENT}
    size = (9.6, 2.9)
    quick = True
    compute = staticmethod(local_convergence)

    def cells(self, settings: Settings) -> list[Coordinate]:
        """One."""
        return [()]

    def coordinate(self, record: Record) -> Coordinate:
        """(trial, 1)."""
        return record["trial"], 1

    def summary(self, records: Records, settings: Settings) -> Summary:
        """By parameterization: mean curves with their spread, and what was proved."""
        steps = _steps(settings)
        result: Summary = {"steps": steps}
        for name in PARAMETERIZATIONS:
            own = [record for record in records if record["parameterization"] == name]
            curves: dict[str, Any] = {}
            for curve in _CURVES:
                known = [record[curve] for record in own if record[curve] is not None]
                mean, spread = mean_curves(known, len(steps))
                curves[curve] = {"mean": mean, "spread": spread, "runs": len(known),
                                 "final": mean_and_spread([each[-1] for each in known])[0]}
            result[name] = {
                **curves, "runs": len(own),
                "locally_optimal": sum(r["local_optimality"] == "holds" for r in own),
                "limit_proved": sum(r["limit"] == "holds" for r in own)}
        return result

    def draw(self, canvas: Canvas, records: Records, summary: Summary, settings: Settings) -> None:
        """(a) softmax weight, (b) and (c) correlations."""
        (axes,) = panels(canvas, 1, 3)
        titles = ("(a) largest softmax weight, mean", "(b) correlation with W$^{mm}_α$",
                  "(c) correlation with W$^{mm}_{⋆,α}$")
        for each, curve, title in zip(axes, _CURVES, titles, strict=True):
            for name, colour in zip(PARAMETERIZATIONS, COLOURS, strict=False):
                shown = summary[name][curve]
                band(each, summary["steps"], shown["mean"], shown["spread"], colour,
                     linestyle="-" if name == "W" else "--",
                     label=f"{_LABELS[name]}: {shown['final']:.4f} at the end")
            _square_root(each, int(settings["iterations"]))
            each.set(title=title, xlabel="iterations (square root scale)", ylim=(0, 1.04))
            each.legend(loc="lower right")
        axes[0].set_ylabel("softmax weight")
        axes[1].set_ylabel("correlation coefficient")

    def caption(self, summary: Summary, settings: Settings) -> str:
        """See `Figure`."""
        W, KQ = summary["W"], summary["KQ"]
        return (
            f"n = {settings['n']}, T = {settings['T']}, d = {settings['d']}, {W['runs']} datasets "
            f"on the unit sphere, {settings['iterations']} steps of normalized descent, η = "
            f"{settings['step']}, logistic loss. Curves: mean, band ± one standard deviation; "
            "observed. (K, Q) with the penalty 2^-52 of the published code; W without stalling: "
            "directions are computed in log scale. Directions: W^mm_α and a W^mm_⋆α within 1e-6 of "
            "the least nuclear norm, for the tokens α that the run selects. Proved: α locally "
            f"optimal (v1, Definition 2) in {W['locally_optimal']} of {W['runs']} runs on W and "
            f"{KQ['locally_optimal']} of {KQ['runs']} on (K, Q); the limit W^mm_α of exact "
            f"descent from the last iterate in {W['limit_proved']} runs on W (basin).")


def _square_root(axes: Axes, last: int) -> None:
    axes.set_xscale("function", functions=(lambda x: abs(x) ** 0.5, lambda x: x**2))
    axes.set_xlim(0, last)
    ticks = [k for k in (0, 25, 100, 250, 500, 1000, 2000) if k <= last]
    axes.set_xticks(ticks, [str(k) for k in ticks])
