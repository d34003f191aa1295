"""Which hypotheses of a claim are needed: a search without each, and one with all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from verifier.certify import dataset_to_json
from verifier.claims.claim import Claim
from verifier.search.bundle import bundle
from verifier.search.coverage import Coverage
from verifier.search.engine import search
from verifier.search.problem import Counterexample, Problem
from verifier.search.shrink import Shrunk, shrink

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Entry:
    """One search: of *claim* with all hypotheses (``dropped`` None) or without one.

    ``shrunk``: the counterexample, accepted by the checker, or None; then ``coverage`` says what
    was looked at. ``inherited``: it is the counterexample to the whole claim, made smaller.
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
        minimal = "locally minimal" if self.shrunk.minimal else "not shown minimal"
        how = ", ".join(dict.fromkeys(str(v.condition)
                                      for v in self.shrunk.found.conclusion.verdicts))
        return f"counterexample, entries up to {largest}, {minimal} ({how or 'arithmetic'})"

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
              progress: Progress | None = None) -> Iterator[Entry]:
    """Every entry of the matrix, row by row; time that a search leaves over goes to the others.

    Claims without a certified conclusion are left out. A claim that is refuted as it stands is so
    without any of its hypotheses: its counterexample is made smaller under fewer of them, if no
    smaller one is found.
    """
    searched = [claim for claim in claims if claim.conclusion is not None]
    left = sum(1 + len(claim.hypotheses) for claim in searched)
    deadline = time.monotonic() + seconds
    for claim in searched:
        whole: Counterexample | None = None
        for dropped in (None, *(hypothesis.name for hypothesis in claim.hypotheses)):
            share = max(deadline - time.monotonic(), 1.0) / left
            problem = Problem.of(claim) if dropped is None else Problem.of(claim, dropped)
            if progress is not None:
                progress(f"{problem.title}: {share:.0f} seconds")
            entry = _entry(problem, dropped, whole, share, seed, progress)
            if dropped is None and entry.shrunk is not None:
                whole = entry.shrunk.found
            left -= 1
            yield entry


def _entry(problem: Problem, dropped: str | None, whole: Counterexample | None, seconds: float,
           seed: int, progress: Progress | None) -> Entry:
    began = time.monotonic()
    # Of a claim that is refuted already, most of the time is for shrinking.
    looked = search(problem, seconds=seconds * (0.7 if whole is None else 0.3), seed=seed,
                    progress=progress)
    found, inherited = looked.found, False
    if found is None and whole is not None:
        again = problem.check(whole.case)
        inherited = isinstance(again, Counterexample)
        found = again if isinstance(again, Counterexample) else None
    shrunk = None
    if found is not None:
        left = max(seconds - (time.monotonic() - began), 1.0)
        shrunk = shrink(problem, found, seconds=left, progress=progress)
        bundle(problem, shrunk)
    return Entry(problem.claim, dropped, shrunk, inherited, looked.coverage,
                 time.monotonic() - began)


def table(entries: Iterable[Entry]) -> str:
    """The matrix as text: a claim and its hypotheses, one a line."""
    rows = [(e.claim.name if e.dropped is None else f"  without {e.dropped}", e.size, e.text,
             f"{e.seconds:.0f} s") for e in entries]
    widths = [max((len(row[k]) for row in rows), default=0) for k in range(2)]
    return "\n".join(f"{name:<{widths[0]}}  {size:<{widths[1]}}  {text}  [{took}]"
                     for name, size, text, took in rows)
