"""Which hypotheses of a claim are needed: a search without each, and one with all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from verifier.certify import dataset_to_json
from verifier.claims.case import Case
from verifier.claims.claim import Claim, Standing
from verifier.search.bundle import bundle
from verifier.search.choices import losses
from verifier.search.coverage import Coverage
from verifier.search.engine import search
from verifier.search.problem import Counterexample, Problem
from verifier.search.shrink import Shrunk, shrink

Progress = Callable[[str], None]

_SHORT, _SHRINKING = 4.0, 20.0
"""Seconds of the first search of an entry, and of shrinking at least."""


@dataclass(frozen=True)
class Entry:
    """One search: of *claim* with all hypotheses (``dropped`` None) or without one.

    ``shrunk``: the counterexample, accepted by the checker, or None; then ``coverage`` says what
    was looked at. ``inherited``: it is one of another entry, made smaller.
    """

    claim: Claim
    dropped: str | None
    shrunk: Shrunk | None
    inherited: bool
    coverage: Coverage
    seconds: float

    @property
    def size(self) -> str:
        """(n, T, d) of the counterexample, or a dash."""
        if self.shrunk is None:
            return "–"
        data = self.shrunk.found.case.dataset
        return f"({data.n}, {max(data.lengths)}, {data.d})"

    @property
    def text(self) -> str:
        """What the search came to, in one line."""
        if self.shrunk is None:
            return f"none found in {self.coverage.summary()}"
        case = self.shrunk.found.case
        largest = max(abs(x) for part in (*case.dataset.tokens, case.dataset.queries,
                                          [case.dataset.head]) for row in part for x in row)
        # A claim about almost all datasets stands beside a single one.
        what = ("exception" if self.claim.almost_all and self.dropped is None
                else "counterexample")
        minimal = "locally minimal" if self.shrunk.minimal else "not shown minimal"
        how = ", ".join(dict.fromkeys(str(v.condition)
                                      for v in self.shrunk.found.conclusion.verdicts))
        return f"{what}, entries up to {largest}, {minimal} ({how or 'arithmetic'})"

    def to_json(self) -> dict[str, Any]:
        """The entry as a JSON-able dict, with the dataset where one was found."""
        found = None
        if self.shrunk is not None:
            case = self.shrunk.found.case
            found = {"dataset": dataset_to_json(case.dataset), "selection": list(case.selection),
                     "loss": case.loss, "rule": case.rule, "step": str(case.step),
                     "start": [[str(x) for x in row] for row in case.start], "rank": case.rank,
                     "size": self.size, "minimal": self.shrunk.minimal,
                     "moves": list(self.shrunk.moves), "inherited": self.inherited,
                     "refuted_by": [v.condition for v in self.shrunk.found.conclusion.verdicts]}
        return {"claim": self.claim.name, "dropped": self.dropped, "counterexample": found,
                "coverage": self.coverage.to_json(), "seconds": round(self.seconds, 1)}


def necessity(claims: Iterable[Claim], *, seconds: float, seed: int = 0,
              progress: Progress | None = None, done: Callable[[Entry], None] | None = None
              ) -> list[Entry]:
    """Every entry of the matrix, row by row. *done* is told every entry once it is final.

    First each search has a few seconds. What is left goes to the searches that found nothing, most
    of it to claims that are not proved. A counterexample to one entry is tried on all others: one
    to a whole claim refutes it without any of its hypotheses too, and is made smaller under fewer.
    Claims without a certified conclusion are left out.
    """
    deadline = time.monotonic() + seconds
    tasks = [(claim, dropped) for claim in claims if claim.conclusion is not None
             for dropped in (None, *(hypothesis.name for hypothesis in claim.hypotheses))]
    matrix = _Matrix(seed, progress)
    entries: dict[int, Entry] = {}
    short = min(_SHORT, 0.4 * seconds / max(len(tasks), 1))
    for k, (claim, dropped) in enumerate(tasks):
        entries[k] = matrix.entry(claim, dropped, short)
        if entries[k].shrunk is not None and done is not None:
            done(entries[k])
    open_ = [k for k, entry in entries.items() if entry.shrunk is None]
    # Claims that may be false first: their counterexamples serve others.
    open_.sort(key=lambda k: -_weight(entries[k]))
    for place, k in enumerate(open_):
        total = sum(_weight(entries[j]) for j in open_[place:])
        share = max(deadline - time.monotonic(), 0.0) * _weight(entries[k]) / total
        if share > short:
            entries[k] = matrix.entry(*tasks[k], share)
        if done is not None:
            done(entries[k])
    return [entries[k] for k in range(len(tasks))]


def _weight(entry: Entry) -> int:
    return 10 if entry.dropped is None and entry.claim.standing is not Standing.PROVED else 1


@dataclass(eq=False)
class _Matrix:
    """The searches of one matrix; ``known`` holds the cases found so far."""

    seed: int
    progress: Progress | None
    known: list[Case] = field(default_factory=list)

    def entry(self, claim: Claim, dropped: str | None, seconds: float) -> Entry:
        """Search for *seconds*; with a counterexample, shrink it for as long at most."""
        began = time.monotonic()
        problem = Problem.of(claim) if dropped is None else Problem.of(claim, dropped)
        if self.progress is not None:
            self.progress(f"{problem.title}: {seconds:.0f} seconds")
        inherited = self._among_known(problem)
        # With a counterexample at hand, what is left to find is a smaller one.
        looked = search(problem, seconds=min(seconds, _SHORT) if inherited else seconds,
                        seed=self.seed, progress=self.progress)
        found = looked.found or inherited
        shrunk = None
        if found is not None:
            shrunk = shrink(problem, found, seconds=max(seconds, _SHRINKING),
                            progress=self.progress)
            bundle(problem, shrunk)
            self.known.append(shrunk.found.case)
        return Entry(claim, dropped, shrunk, looked.found is None and found is not None,
                     looked.coverage, time.monotonic() - began)

    def _among_known(self, problem: Problem) -> Counterexample | None:
        for case in reversed(self.known):
            fits = "ℓ" not in problem.about or case.loss in losses(problem)
            if fits and problem.admits(case):
                outcome = problem.check(case)
                if isinstance(outcome, Counterexample):
                    return outcome
        return None


def table(entries: Iterable[Entry]) -> str:
    """The matrix as text: a claim and its hypotheses, one a line."""
    rows = [(e.claim.name if e.dropped is None else f"  without {e.dropped}", e.size, e.text,
             f"{e.seconds:.0f} s") for e in entries]
    widths = [max((len(row[k]) for row in rows), default=0) for k in range(2)]
    return "\n".join(f"{name:<{widths[0]}}  {size:<{widths[1]}}  {text}  [{took}]"
                     for name, size, text, took in rows)
