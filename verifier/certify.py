"""From a dataset to a `Report`: geometry decided, a descent run, the prediction compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from conditions import (
    all_support,
    assumption_e,
    equal_scores,
    feasibility,
    first_step_separates,
    full_rank,
    gen_feasibility,
    local_optimality,
    low_rank_feasibility,
    multi_token_support,
    no_flat_sample,
    no_stationary_point,
    nonnegative_features,
    nuclear_margin,
    predicted_direction,
    rank_bound,
    robust_feasibility,
    robust_full_rank,
    robust_local_optimality,
    robust_support,
    simplex_support,
    support_indices,
    unique_nuclear_optimum,
    unique_optimum,
    verified_run,
)
from conditions.dataset import AttentionDataset
from conditions.errors import Description, InvalidInput
from conditions.exact.numbers import number_to_json
from conditions.losses import check_loss
from conditions.selection import Selection, check_selection, optimal_selection
from conditions.verdict import Verdict, undecided
from verifier.asked import Asked
from verifier.descent import LINEAR_HEAD, FactoredRun, Head, QuadraticHead, Run, descend
from verifier.kernel.reading import MAX_BYTES
from verifier.limits import LIMITS, limits
from verifier.multi_token import observe, selected_sets

ABOUT_DATASET = (unique_optimum, equal_scores, no_flat_sample, full_rank,
                 nonnegative_features)
ABOUT_SELECTION = (feasibility, support_indices, all_support, local_optimality, rank_bound,
                   assumption_e)
ABOUT_LOSS = (first_step_separates, no_stationary_point)
ABOUT_FACTORS = (nuclear_margin, unique_nuclear_optimum, low_rank_feasibility)
ABOUT_SETS = (gen_feasibility, multi_token_support)
ROBUST = (robust_feasibility, robust_support, robust_local_optimality)
KNOWN = frozenset({*LIMITS, *(each.CONDITION for each in (
    *ABOUT_DATASET, *ABOUT_SELECTION, *ABOUT_LOSS, *ABOUT_FACTORS, *ABOUT_SETS, *ROBUST,
    robust_full_rank, simplex_support, predicted_direction))})
"""The conditions that `certify` decides in some setting."""


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
    head: Head = LINEAR_HEAD

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """The certificate file, as docs/certificates.md specifies it."""
        return {"format": "attsvm-certificate", "version": 1,
                "dataset": dataset_to_json(self.dataset),
                "run": None if self.run is None else self.run.to_json(),
                "verdicts": [verdict_to_json(v) for v in self.verdicts]}

    def _repr_html_(self) -> str:
        """The page of the report in a frame of its own, for notebooks."""
        from html import escape

        # The page renders reports; a report does not depend on it otherwise.
        from verifier.report.html import render
        return (f'<iframe title="{escape(self.source or "report")}" style="width:100%;height:48rem;'
                f'border:0" srcdoc="{escape(render(self))}"></iframe>')

    def certificate_text(self) -> str:
        """The certificate file as text, one verdict a line.

        Raises ``InvalidInput`` if it is longer than a checker reads.
        """
        parts = dict(self.certificate)
        verdicts = parts.pop("verdicts")
        head = json.dumps(parts, separators=(",", ":"), ensure_ascii=False)
        lines = ",\n".join(json.dumps(v, separators=(",", ":"), ensure_ascii=False)
                           for v in verdicts)
        return readable(f'{head[:-1]},"verdicts":[\n{lines}\n]}}\n')


def readable(text: str) -> str:
    """The text of a certificate file, if it is no longer than a checker reads.

    Raises ``InvalidInput``.
    """
    size = len(text.encode())
    if size > MAX_BYTES:
        raise InvalidInput("certificate", Description(f"{size:,} bytes"),
                           f"must have at most {MAX_BYTES:,}, which a checker reads",
                           "split the data, or decide fewer conditions with --only")
    return text


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


def certify(dataset: AttentionDataset, *, source: str = "",
            selection: str | Selection | None = None, head: Head = LINEAR_HEAD,
            parameterization: str = "W", loss: str = "logistic", rule: str = "normalized",
            step: float = 0.1, iterations: int = 2000, start: Any = None, seconds: float = 30.0,
            from_start: bool = False, robust: bool = False, only: Iterable[str] | None = None,
            progress: bool = False) -> Report:
    """Decide every condition of *dataset*, run gradient descent, and compare.

    selection: ``"opt"``, ``"gd"`` (the tokens the run selects) or explicit token indices; the
    conditions about a selection are decided for it. None is ``"opt"`` for the linear head, and
    ``"gd"`` for others, which have no scores. head, parameterization, loss, rule, step,
    iterations, start: those of `verifier.descent.descend`; ``start`` None means W(0) = 0.
    ``iterations`` 0 skips the run. A run on K and Q adds the nuclear norm geometry of the
    tokens it selects; of its limit nothing is proved (`verifier.limits`). With a head that is not
    linear the conditions that need scores are undecided and say so, and a run adds Gen-SVM for
    the sets of tokens that it selects.
    seconds: how long the run may be continued until its limit is proved (`verifier.limits`);
    from_start: also prove the limit of exact descent from the start itself, for small data.
    robust: also find by how much every entry may move before feasibility, the support, local
    optimality or full rank are in doubt, because measured data is rounded.
    only: names among `KNOWN`, to decide no other conditions; a condition asked for in a setting
    where it has no meaning is refused. progress: show a bar on stderr when the run takes more than
    a second. Raises ``InvalidInput``.
    """
    check_loss(loss)
    asked = Asked.of(dataset, head, parameterization, only, KNOWN)
    from_start = from_start or asked.names(verified_run)
    if from_start:
        asked.require(verified_run)
    if selection is None:
        selection = "opt" if asked.linear else "gd"
    if selection == "opt" and not asked.linear:
        raise InvalidInput("selection", selection, "optimal tokens need the scores of the linear "
                           f"head; the {head.name} head has none", "give gd or token indices")
    run = None
    if iterations or selection == "gd":
        run = descend(dataset, parameterization=parameterization, rule=rule, step=step, loss=loss,
                      head=head, iterations=iterations, start=start, progress=progress)
    named: list[tuple[str, Selection]] = []
    if selection == "opt":
        named.append(("optimal", optimal_selection(dataset)))
    elif selection != "gd":
        named.append(("given", check_selection(dataset, selection)))
    if selection == "gd" and run is not None:
        named.append(("selected by the run", run.selected))
    verdicts = [*_decide(asked, named[0][1], loss, run)]
    if robust or asked.names(*ROBUST, robust_full_rank):
        verdicts += _robust(asked, named[0][1])
    if run is not None and asked.wants(*LIMITS):
        verdicts += [verdict for verdict in limits(dataset, run, seconds, from_start)
                     if asked.wants(verdict.condition)]
    asked.all_answered(verdicts)
    if run is not None and run.selected != named[0][1]:
        named.append(("selected by the run", run.selected))
    return Report(dataset, source, tuple(verdicts), tuple(named), run, head)


def _decide(asked: Asked, selection: Selection, loss: str, run: Run | None) -> Iterator[Verdict]:
    for about_dataset in ABOUT_DATASET:
        yield from asked.decided(about_dataset)
    if isinstance(asked.head, QuadraticHead) and asked.head.lam > 0:
        yield from asked.decided(simplex_support, asked.head.lam)
    for about_selection in ABOUT_SELECTION:
        yield from asked.decided(about_selection, selection, selection=selection)
    if run is not None and run.selected != selection:
        # The run's own limit is about the tokens it selects.
        for about_selection in (feasibility, local_optimality):
            yield from asked.decided(about_selection, run.selected, selection=run.selected)
    for about_loss in ABOUT_LOSS:
        yield from asked.decided(about_loss, loss, loss=loss)
    if run is None:
        return
    if not asked.linear or asked.names(*ABOUT_SETS):
        yield from _sets(asked, run)
    if isinstance(run, FactoredRun):
        yield from _factored(asked, run)
    else:
        for verdict in asked.decided(predicted_direction, run.selected, run.final, run.loss):
            yield verdict if asked.linear else _beside_sets(verdict, asked.dataset, run)


def _beside_sets(verdict: Verdict, dataset: AttentionDataset, run: Run) -> Verdict:
    """The observation about single tokens, with that about the sets of tokens selected."""
    sets = selected_sets(dataset, run.final).sets
    value = None if sets is None else observe(dataset, run.final, sets).equivalent
    if value is None:
        return verdict
    return replace(verdict, reason=f"{verdict.reason}; observed: correlation 1 − {1 - value:.3g} "
                   "with W^fin + ρ·W^mm of the sets of tokens it selects")


def _robust(asked: Asked, selection: Selection) -> Iterator[Verdict]:
    """What stays true in a ball of datasets."""
    for about_selection in ROBUST:
        yield from asked.decided(about_selection, selection, selection=selection)
    yield from asked.decided(robust_full_rank)


def _factored(asked: Asked, run: FactoredRun) -> Iterator[Verdict]:
    """The geometry of K and Q for the tokens that the run selects."""
    yield from asked.decided(nuclear_margin, run.selected)
    yield from asked.decided(unique_nuclear_optimum, run.selected)
    yield from asked.decided(low_rank_feasibility, run.selected,
                             min(run.final_K.shape[1], asked.dataset.d))
    if asked.wants(predicted_direction.CONDITION):
        yield predicted_direction.decide_factored(asked.dataset, run.selected, run.final, run.loss)


def _sets(asked: Asked, run: Run) -> Iterator[Verdict]:
    """Gen-SVM for the sets of tokens that the run selects, if it is clear which."""
    found = selected_sets(asked.dataset, run.final)
    for about_sets in ABOUT_SETS:
        if found.sets is not None:
            yield from asked.decided(about_sets, found.sets)
        elif asked.wants(about_sets.CONDITION):
            i, t, weight = found.between[0]
            yield undecided(about_sets.CONDITION, f"observed: the softmax weight {weight:.3g} of "
                            f"token {t} of sample {i} is neither that of a selected nor that of a "
                            "masked one, so the run shows no sets", observed=True,
                            number=f"weight {weight:.2g}")
