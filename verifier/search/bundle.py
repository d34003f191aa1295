"""A counterexample as files: the dataset, the certificate, and a page to follow by hand."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conditions.errors import InvalidInput
from conditions.losses import CUBIC
from conditions.verdict import Verdict
from verifier import io
from verifier.certify import Report, dataset_to_json
from verifier.claims.outcome import Outcome, joined
from verifier.kernel import Result, check_text
from verifier.search.problem import Counterexample, Problem
from verifier.search.shrink import Shrunk
from verifier.search.witness import matrix, vector, witness

NAMES = ("dataset.json", "certificate.json", "explanation.txt")
_WIDTH = 100
_FORMULAS = {"logistic": "log(1 + e^−u)", "exponential": "e^−u", "correlation": "−u", CUBIC: "−u³"}


@dataclass(frozen=True)
class Bundle:
    """The three texts, and what the checker says of the certificate, which it has accepted."""

    dataset: str
    certificate: str
    explanation: str
    checked: Result


def bundle(problem: Problem, shrunk: Shrunk) -> Bundle:
    """The bundle of a counterexample. Raises ``RuntimeError`` if the checker refuses it."""
    found = shrunk.found
    outcomes = [*(outcome for _, outcome in found.hypotheses), found.conclusion]
    verdicts = joined(found.conclusion.status, outcomes).verdicts
    data = found.case.dataset
    text = Report(data, problem.title, verdicts, (("of the claim", found.case.selection),),
                  None).certificate_text()
    checked = check_text(text)
    if not checked.accepted:
        raise RuntimeError(f"the checker refuses this counterexample: {checked.refusals[0]}")
    spelled = json.dumps(dataset_to_json(data), ensure_ascii=False) + "\n"
    return Bundle(spelled, text, explanation(problem, shrunk), checked)


def write(made: Bundle, directory: Path) -> None:
    """Write the three files into *directory*, which may exist. Raises ``InvalidInput``."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput("--out", str(directory), f"cannot be made a directory: {error}",
                           "choose another name") from None
    for name, text in zip(NAMES, (made.dataset, made.certificate, made.explanation), strict=True):
        io.write_atomically(directory / name, text)


def explanation(problem: Problem, shrunk: Shrunk) -> str:
    """One page: the claim, the data, every hypothesis with its witness, the failed conclusion."""
    lines = [line for part in _parts(problem, shrunk) for line in _wrapped(part)]
    return "\n".join(lines) + "\n"


def _parts(problem: Problem, shrunk: Shrunk) -> Iterator[str]:
    claim, found = problem.claim, shrunk.found
    yield f"A counterexample to {problem.title}"
    yield ""
    yield f"Claim ({claim.number}, {claim.form}): {claim.statement}."
    if claim.almost_all:
        yield ("The claim is about almost all datasets: this one is an exception, and refutes it "
               "only with an open set of others around it.")
    for name in problem.dropped:
        yield f"Dropped: {name}: {claim.hypothesis(name).text}."
    yield ""
    yield from _data(problem, found)
    yield ""
    shown: set[tuple[object, ...]] = set()
    for hypothesis, outcome in found.hypotheses:
        yield f"Holds: {hypothesis.text}."
        yield from _proof(found, outcome, shown)
    if not found.hypotheses:
        yield "There are no hypotheses."
    yield ""
    yield f"Fails: {problem.conclusion}, that is: " + "; ".join(
        atom.predicate.statement for atom in problem.conclusion.atoms()) + "."
    yield from _proof(found, found.conclusion, shown)
    yield ""
    if shrunk.minimal:
        yield ("Locally minimal: none of these moves leads to a smaller counterexample: "
               f"{', '.join(shrunk.moves)}.")
    else:
        yield "Not shown to be minimal: shrinking ended when its time was over."


def _data(problem: Problem, found: Counterexample) -> Iterator[str]:
    case = found.case
    data = case.dataset
    yield f"Data: n = {data.n} samples, tokens in R^{data.d}, head v = {vector(data.head)}."
    for i in range(data.n):
        tokens = ", ".join(vector(x) for x in data.tokens[i])
        yield (f"  sample {i}: label {data.labels[i]}, tokens {tokens}, query "
               f"{vector(data.queries[i])}, scores {vector(data.scores[i])}")
    yield f"  optimal tokens: {list(case.opt)}; α = {list(case.selection)}"
    if problem.about_descent:
        first = f", first step {case.first_step}" if case.first_step is not None else ""
        yield (f"  {loss_text(case.loss)}, {case.rule} descent, η = {case.step}{first}, W(0) = "
               f"{matrix(case.start)}")
    elif "ℓ" in problem.about:
        yield f"  {loss_text(case.loss)}"
    if "λ" in problem.about:
        yield f"  head v·x − λ‖x‖², λ = {case.lam}"
    if case.rank is not None:
        yield f"  K and Q of m = {case.rank} columns"


def loss_text(loss: str) -> str:
    """The loss, and its formula."""
    return f"{loss} loss ℓ(u) = {_FORMULAS[loss]}"


def _proof(found: Counterexample, outcome: Outcome, shown: set[tuple[object, ...]]
           ) -> Iterator[str]:
    for fact in outcome.facts:
        yield f"  {fact.statement}"
    for verdict in outcome.verdicts:
        key = verdict.condition, verdict.selection, verdict.loss
        if key in shown:
            yield f"  {_name(verdict)}: see above"
            continue
        shown.add(key)
        yield f"  {_name(verdict)} {verdict.status} ({verdict.evidence}):"
        for line in witness(found.case.dataset, verdict):
            yield f"    {line}"


def _name(verdict: Verdict) -> str:
    return verdict.condition + ("" if verdict.selection is None
                                else f" for α = {list(verdict.selection)}")


def _wrapped(line: str) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line, _WIDTH, subsequent_indent=indent + "  ", break_on_hyphens=False,
                         break_long_words=False) or [""]
