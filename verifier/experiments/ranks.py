"""Ranks of W^mm and of the least nuclear norm at the optimal tokens (v1's Figure 4), certified.

A trial whose problem is infeasible is counted as that, with a Farkas certificate, and has no
rank. In the others the rank of W^mm is proved, or, for the nuclear norm, a bound of the rank of a
W within 1e-6 of the optimum. Every trial is a pure function of its coordinates, so they may be
computed in any order, by any number of processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from conditions import nuclear_margin, rank_bound
from conditions.certificates import ExactRank, ModularRank, NuclearInterval
from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput, counted, unknown
from conditions.selection import Selection, optimal_selection
from conditions.verdict import Status, Verdict
from verifier.experiments.samples import unit_sphere_dataset

SIZES = (5, 10, 15)
DIMENSIONS = (1, 2, 3, 4, 5, 10, 15, 20)
CELLS = tuple(dict.fromkeys([(n, 5, d) for n in SIZES for d in DIMENSIONS]
                            + [(5, T, d) for T in SIZES for d in DIMENSIONS]))
"""(n, T, d) of Figure 4: n varies at T = 5, and T at n = 5."""

TRIALS = 100
"""Trials of each cell in Figure 4."""

_DECIDE: dict[str, Callable[[AttentionDataset, Selection], Verdict]] = {
    "frobenius": rank_bound.decide, "nuclear": nuclear_margin.decide}
NORMS = tuple(_DECIDE)


@dataclass(frozen=True)
class RankRecord:
    """One trial: `rank_bound` or `nuclear_margin`, with its certificate, at the optimal tokens.

    The dataset is ``unit_sphere_dataset(n, T, d, (seed, n, T, d, trial))``, for either norm.
    """

    n: int
    T: int
    d: int
    trial: int
    seed: int
    norm: str
    verdict: Verdict

    @property
    def dataset(self) -> AttentionDataset:
        """The data, drawn again."""
        return _dataset(self.n, self.T, self.d, self.trial, self.seed)

    @property
    def infeasible(self) -> bool:
        """Whether no W separates the optimal tokens: proved, no rank exists."""
        return self.verdict.status is Status.FAILS

    @property
    def rank(self) -> int | None:
        """That of W^mm, or a bound at the least nuclear norm; None where not certified."""
        certificate = self.verdict.certificate
        if isinstance(certificate, ExactRank | ModularRank | NuclearInterval):
            return certificate.rank
        return None


@dataclass(frozen=True)
class RankSummary:
    """The trials of one cell and norm. ``ranks``: those certified, each at most ``bound``."""

    trials: int
    infeasible: int
    ranks: tuple[int, ...]
    bound: int

    @property
    def mean(self) -> float | None:
        """The mean rank over the trials that have one."""
        return sum(self.ranks) / len(self.ranks) if self.ranks else None

    @property
    def largest(self) -> int | None:
        """The largest rank."""
        return max(self.ranks, default=None)

    @property
    def undecided(self) -> int:
        """Trials that are neither infeasible nor have a certified rank."""
        return self.trials - self.infeasible - len(self.ranks)


def _dataset(n: int, T: int, d: int, trial: int, seed: int) -> AttentionDataset:
    return unit_sphere_dataset(n, T, d, (seed, n, T, d, trial))


def rank_trial(n: int, T: int, d: int, trial: int, seed: int, norm: str) -> RankRecord:
    """One trial. *norm*: ``frobenius`` or ``nuclear``. Raises ``InvalidInput``."""
    if norm not in _DECIDE:
        raise unknown("norm", norm, NORMS)
    data = _dataset(n, T, d, trial, seed)
    return RankRecord(n, T, d, trial, seed, norm, _DECIDE[norm](data, optimal_selection(data)))


def rank_trials(n: int, T: int, d: int, trials: int, seed: int,
                norm: str) -> tuple[RankRecord, ...]:
    """Trials 0, …, *trials* − 1 of the cell (n, T, d), in this process."""
    return tuple(rank_trial(n, T, d, trial, seed, norm) for trial in range(trials))


def summary(records: Iterable[RankRecord]) -> RankSummary:
    """Counts and ranks of the *records* of one cell and norm."""
    given = list(records)
    if len({(record.n, record.T, record.d, record.norm) for record in given}) != 1:
        raise InvalidInput("records", counted(len(given), "record"),
                           "must be of one cell and one norm", "group them first")
    first = given[0]
    return RankSummary(len(given), sum(record.infeasible for record in given),
                       tuple(record.rank for record in given if record.rank is not None),
                       min(first.n, first.d))
