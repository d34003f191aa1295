"""From a dataset to a `Report`: geometry decided, a descent run, the prediction compared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from conditions import (
    all_support,
    equal_scores,
    feasibility,
    first_step_separates,
    full_rank,
    local_optimality,
    low_rank_feasibility,
    no_flat_sample,
    no_stationary_point,
    nonnegative_features,
    nuclear_margin,
    predicted_direction,
    rank_bound,
    support_indices,
    unique_nuclear_optimum,
    unique_optimum,
)
from conditions.dataset import AttentionDataset
from conditions.exact.numbers import number_to_json
from conditions.selection import Selection, check_selection, optimal_selection
from conditions.verdict import Verdict
from verifier.descent import FactoredRun, Run, descend
from verifier.limits import limits

ABOUT_DATASET = (unique_optimum, equal_scores, no_flat_sample, full_rank,
                 nonnegative_features)
ABOUT_SELECTION = (feasibility, support_indices, all_support, local_optimality, rank_bound)
ABOUT_LOSS = (first_step_separates, no_stationary_point)


@dataclass(frozen=True)
class Report:
    """What was decided about one dataset; renderings take it as it is.

    ``source`` says where the dataset came from, ``selections`` names the selections examined
    ("optimal", "selected by the run", …).
    """

    dataset: AttentionDataset
    source: str
    verdicts: tuple[Verdict, ...]
    selections: tuple[tuple[str, Selection], ...]
    run: Run | None

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """The certificate file, as docs/certificates.md specifies it."""
        return {"format": "attsvm-certificate", "version": 1,
                "dataset": dataset_to_json(self.dataset),
                "run": None if self.run is None else self.run.to_json(),
                "verdicts": [verdict_to_json(v) for v in self.verdicts]}

    def certificate_text(self) -> str:
        """The certificate file as text, one verdict a line."""
        parts = dict(self.certificate)
        verdicts = parts.pop("verdicts")
        head = json.dumps(parts, separators=(",", ":"), ensure_ascii=False)
        lines = ",\n".join(json.dumps(v, separators=(",", ":"), ensure_ascii=False)
                           for v in verdicts)
        return f'{head[:-1]},"verdicts":[\n{lines}\n]}}\n'


def dataset_to_json(dataset: AttentionDataset) -> dict[str, Any]:
    """The ``dataset`` object of a certificate; it is valid data itself."""
    def spell(vector: tuple[Any, ...]) -> list[int | str]:
        return [number_to_json(x) for x in vector]

    return {"X": [[spell(x) for x in sample] for sample in dataset.tokens],
            "Y": list(dataset.labels), "z": [spell(q) for q in dataset.queries],
            "v": spell(dataset.head)}


def verdict_to_json(verdict: Verdict) -> dict[str, Any]:
    """The JSON form of a verdict."""
    certificate = verdict.certificate
    return {"condition": verdict.condition,
            "selection": None if verdict.selection is None else list(verdict.selection),
            "loss": verdict.loss, "status": str(verdict.status),
            "evidence": None if verdict.evidence is None else str(verdict.evidence),
            "certificate": None if certificate is None else certificate.to_json(),
            "reason": verdict.reason}


def certify(dataset: AttentionDataset, *, source: str = "", selection: str | Selection = "opt",
            parameterization: str = "W", loss: str = "logistic", rule: str = "normalized",
            step: float = 0.1, iterations: int = 2000, start: Any = None, seconds: float = 30.0,
            from_start: bool = False, progress: bool = False) -> Report:
    """Decide every condition of *dataset*, run gradient descent, and compare.

    selection: ``"opt"``, ``"gd"`` (the tokens the run selects) or explicit token indices; the
    conditions about a selection are decided for it. parameterization, loss, rule, step,
    iterations, start: those of `verifier.descent.descend`; ``start`` None means W(0) = 0.
    ``iterations`` 0 skips the run. A run on K and Q adds the nuclear norm geometry of the
    tokens it selects; of its limit nothing is proved (`verifier.limits`).
    seconds: how long the run may be continued until its limit is proved (`verifier.limits`);
    from_start: also prove the limit of exact descent from the start itself, for small data.
    progress: show a bar on stderr when the run takes more than a second. Raises ``InvalidInput``.
    """
    run = None
    if iterations or selection == "gd":
        run = descend(dataset, parameterization=parameterization, rule=rule, step=step, loss=loss,
                      iterations=iterations, start=start, progress=progress)
    named: list[tuple[str, Selection]] = []
    if selection == "opt":
        named.append(("optimal", optimal_selection(dataset)))
    elif selection != "gd":
        named.append(("given", check_selection(dataset, selection)))
    if selection == "gd" and run is not None:
        named.append(("selected by the run", run.selected))
    verdicts = (*_decide(dataset, named[0][1], loss, run),
                *(() if run is None else limits(dataset, run, seconds, from_start)))
    if run is not None and run.selected != named[0][1]:
        named.append(("selected by the run", run.selected))
    return Report(dataset, source, verdicts, tuple(named), run)


def _decide(dataset: AttentionDataset, selection: Selection, loss: str,
            run: Run | None) -> Iterator[Verdict]:
    for about_dataset in ABOUT_DATASET:
        yield about_dataset.decide(dataset)
    for about_selection in ABOUT_SELECTION:
        yield about_selection.decide(dataset, selection)
    if run is not None and run.selected != selection:
        # The run's own limit is about the tokens it selects.
        for about_selection in (feasibility, local_optimality):
            yield about_selection.decide(dataset, run.selected)
    for about_loss in ABOUT_LOSS:
        yield about_loss.decide(dataset, loss)
    if isinstance(run, FactoredRun):
        yield from _factored(dataset, run)
    elif run is not None:
        yield predicted_direction.decide(dataset, run.selected, run.final, run.loss)


def _factored(dataset: AttentionDataset, run: FactoredRun) -> Iterator[Verdict]:
    """The geometry of K and Q for the tokens that the run selects."""
    yield nuclear_margin.decide(dataset, run.selected)
    yield unique_nuclear_optimum.decide(dataset, run.selected)
    yield low_rank_feasibility.decide(dataset, run.selected, min(run.final_K.shape[1], dataset.d))
    yield predicted_direction.decide_factored(dataset, run.selected, run.final, run.loss)
