"""Selecting several tokens (v1's Figures 8, 9, 11 and 12): runs with heads that are not linear.

What a run selects is observed; the geometry of what it selects is exact (Gen-SVM), and so is the
number of tokens that Lemma 6 and the best mixture predict. A trial is a pure function of its
coordinates. Settings are those of the published experiments: steps 0.1·∇L/(‖∇L‖ + 2⁻⁵²), a start
with entries uniform in ±1/√d, data on the unit sphere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from conditions import multi_token_support, simplex_support, unique_optimum
from conditions.certificates import SimplexMaximizer
from conditions.dataset import AttentionDataset, FloatArray
from conditions.exact.numbers import rational, to_float
from conditions.predicted_direction import correlation
from conditions.selection import optimal_selection
from conditions.separation.frobenius import Infeasible
from conditions.separation.frobenius import solve as solve_single
from conditions.separation.token_sets import Sets
from conditions.simplex_support import lemma_6_interval, orthonormal_count
from conditions.verdict import Verdict
from verifier.descent import LINEAR_HEAD, Head, QuadraticHead, ReluHead, Run, descend
from verifier.multi_token import equivalent_matrices, observed_sets, softmax_weights

DIMENSIONS = (4, 6, 8, 10)
"""d of Figure 8."""

RESOLUTION = 2.0**-52
"""That of the published loop, whose runs come to rest where ‖∇L‖ is below it.

It matters for ReLU heads. Where all units of a sample are off its gradient is 0, so that it has no
part in the limit: a run that goes on (resolution 0) leaves W^fin + ρ·W^mm of the tokens that it
happened to hold there.
"""

_BATCH = 64
_CURVE = 20
# Tells the random numbers of one experiment from those of another.
_RELU, _QUADRATIC, _LEMMA = 8, 9, 12


def _unit(rng: np.random.Generator, *shape: int) -> FloatArray:
    x = rng.normal(size=shape)
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


def _start(rng: np.random.Generator, d: int) -> FloatArray:
    return np.asarray(rng.uniform(-1, 1, (d, d)) / np.sqrt(d))


# Figure 8: a ReLU head ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MultiTokenRecord:
    """One trial that passed the paper's filter.

    ``candidate`` counts all draws, so ``relu_trial(n, T, d, seed, candidate)`` gives its data.
    ``sets`` are the selected tokens and ``verdict`` decides their Gen-SVM; ``masked`` is the
    largest softmax weight of the others. At each of ``steps`` the correlation of W with
    W^fin + ρ·W^mm (``equivalent``), with W^mm (``direction``), and with W^mm of the selection of
    the single most likely tokens (``single``).
    """

    d: int
    seed: int
    candidate: int
    sets: Sets
    verdict: Verdict
    masked: float
    steps: tuple[int, ...]
    equivalent: tuple[float, ...]
    direction: tuple[float, ...]
    single: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class MultiTokenTrials:
    """The records, and why other draws were rejected: reason ↦ how many."""

    records: tuple[MultiTokenRecord, ...]
    rejected: dict[str, int]

    def misalignment(self, name: str) -> float:
        """The mean of 1 − corr at the last step; *name*: equivalent, direction or single."""
        return float(np.mean([1 - getattr(record, name)[-1] for record in self.records]))


def relu_trial(n: int, T: int, d: int, seed: int,
               candidate: int) -> tuple[AttentionDataset, Head, FloatArray]:
    """The data, the head 1ᵀReLU(V·) with V on the unit sphere of R^{d×d}, and W(0)."""
    rng = np.random.default_rng([_RELU, seed, n, T, d, candidate])
    V = rng.normal(size=(d, d))
    # The head v of the dataset has no part in the run.
    dataset = AttentionDataset.build(_unit(rng, n, T, d), rng.choice([-1.0, 1.0], n),
                                     _unit(rng, n, d), np.ones(d))
    return dataset, ReluHead.of(V / np.linalg.norm(V)), _start(rng, d)


def multi_token_trials(d: int, trials: int, seed: int, *, n: int = 3, T: int = 4,
                       iterations: int = 2000, resolution: float = RESOLUTION,
                       threads: int | None = None, first: int = 0) -> MultiTokenTrials:
    """*trials* records of Figure 8's setting at dimension *d*, from draw number *first* on.

    Draws are rejected, and replaced by the next, as in the paper and its published code: without
    a label −1; with a softmax weight in [1e-6, 1e-3]; if no token is masked; if Gen-SVM or the
    Att-SVM of the most likely tokens is infeasible.
    """
    records: list[MultiTokenRecord] = []
    rejected: Counter[str] = Counter()
    for candidate, outcome in _candidates(n, T, d, seed, iterations, resolution, threads, first):
        if isinstance(outcome, str):
            rejected[outcome] += 1
            continue
        found = _record(*outcome, d, seed, candidate)
        if isinstance(found, str):
            rejected[found] += 1
            continue
        records.append(found)
        if len(records) == trials:
            break
    return MultiTokenTrials(tuple(records), dict(rejected))


def _curve_steps(iterations: int) -> list[int]:
    """The steps of a curve, 0 and *iterations* among them."""
    return sorted({round(k) for k in np.linspace(0, iterations, _CURVE + 1)})


def _candidates(n: int, T: int, d: int, seed: int, iterations: int, resolution: float,
                threads: int | None, first: int
                ) -> Iterator[tuple[int, str | tuple[AttentionDataset, Run]]]:
    """The draws from *first* on, each with its run, or with the reason why there is none."""
    keep = _curve_steps(iterations)
    while True:
        drawn = {k: relu_trial(n, T, d, seed, k) for k in range(first, first + _BATCH)}
        used = {k: trial for k, trial in drawn.items() if -1 in trial[0].labels}
        runs = descend([data for data, _, _ in used.values()],
                       head=[head for _, head, _ in used.values()],
                       start=[W for _, _, W in used.values()],
                       iterations=iterations, keep=keep, resolution=resolution, threads=threads)
        ran = dict(zip(used, runs, strict=True))
        for k, (data, _, _) in drawn.items():
            yield k, (data, ran[k]) if k in ran else "no label −1"
        first += _BATCH


def _record(dataset: AttentionDataset, run: Run, d: int, seed: int,
            candidate: int) -> MultiTokenRecord | str:
    """The record of a run, or why it is rejected."""
    sets = observed_sets(dataset, run.final).sets
    if sets is None:
        return "a softmax weight between selected and masked"
    weights = softmax_weights(dataset, run.final)
    masked = [float(s[t]) for s, chosen in zip(weights, sets, strict=True)
              for t in range(len(s)) if t not in chosen]
    if not masked:
        return "no masked token"
    matrices = equivalent_matrices(dataset, run.final, sets)
    single = solve_single(dataset, run.selected)
    if matrices is None or isinstance(single, Infeasible):
        return "infeasible"
    equivalent, direction = matrices

    def curve(target: FloatArray) -> tuple[float, ...]:
        return tuple(correlation(W, target) for _, W in run.kept)

    return MultiTokenRecord(d, seed, candidate, sets, multi_token_support.decide(dataset, sets),
                            max(masked), tuple(k for k, _ in run.kept), curve(equivalent),
                            curve(direction), curve(single.float_W))


# Figures 9 and 12: a quadratic head ---------------------------------------------------------


@dataclass(frozen=True, eq=False)
class QuadraticRecord:
    """One run with the head v·x − λ‖x‖² on one sample of orthonormal tokens (to rounding).

    ``selected`` counts the softmax weights above 1e-3, ``between`` those from 1e-8 to 1e-3: the
    paper keeps the runs that have none. ``best`` counts the tokens of the best mixture, exact for
    the tokens as they are (``verdict``, `simplex_support`; 0 for a tie), ``orthonormal`` those
    for exactly orthonormal tokens of these scores (Lemma 6). Where λ = 0 the head is linear and
    ``verdict`` is `unique_optimum`. ``steps``, ``equivalent`` and ``direction`` are as in
    `MultiTokenRecord`, for the tokens of the best mixture, which leaves no run out; the last two
    are None where that is a tie or takes all tokens.
    """

    lam: fmpq
    seed: int
    trial: int
    selected: int
    between: int
    best: int
    orthonormal: int
    verdict: Verdict
    steps: tuple[int, ...]
    equivalent: tuple[float, ...] | None
    direction: tuple[float, ...] | None


def orthonormal_trial(T: int, d: int, coordinates: Sequence[int]
                      ) -> tuple[AttentionDataset, FloatArray, np.random.Generator]:
    """One sample of T ≤ d orthonormal tokens, label 1, unit query and head; W(0); the generator."""
    rng = np.random.default_rng(list(coordinates))
    tokens = np.linalg.qr(rng.normal(size=(d, T)))[0].T
    dataset = AttentionDataset.build(tokens[None], [1], _unit(rng, 1, d), _unit(rng, d))
    return dataset, _start(rng, d), rng


def quadratic_trials(lams: Sequence[float], trials: int, seed: int, *, T: int = 10, d: int = 10,
                     iterations: int = 5000, threads: int | None = None, first: int = 0
                     ) -> tuple[QuadraticRecord, ...]:
    """Figure 9: for each λ ≥ 0 of *lams* the same *trials* datasets, from number *first* on.

    Raises ``InvalidInput``.
    """
    drawn = {k: orthonormal_trial(T, d, (_QUADRATIC, seed, T, d, k))[:2]
             for k in range(first, first + trials)}
    asked = [(rational(lam, f"lams[{j}]"), k) for j, lam in enumerate(lams) for k in drawn]
    return _quadratic_records([(lam, k, *drawn[k]) for lam, k in asked], seed, iterations, threads)


def lemma_6_trials(tau: int, trials: int, seed: int, *, T: int = 10, d: int = 10,
                   iterations: int = 5000, threads: int | None = None, first: int = 0
                   ) -> tuple[QuadraticRecord, ...]:
    """Figure 12: *trials* draws of (λ, X) for which Lemma 6 speaks for *tau*.

    λ is uniform in (0, 3τ/4), which holds every interval of the Lemma, as unit tokens that are
    orthogonal differ by √2 at most in score. Draws count from *first*; those with λ outside of the
    interval are replaced by the next ones. Raises ``InvalidInput``.
    """
    asked: list[tuple[fmpq, int, AttentionDataset, FloatArray]] = []
    k = first
    while len(asked) < trials:
        dataset, start, rng = orthonormal_trial(T, d, (_LEMMA, seed, T, d, tau, k))
        interval = lemma_6_interval(dataset.scores[0], tau)
        lam = rational(float(rng.uniform(0, 0.75 * tau)), "lambda")
        if interval is not None and interval[0] < lam < interval[1]:
            asked.append((lam, k, dataset, start))
        k += 1
    return _quadratic_records(asked, seed, iterations, threads)


def _quadratic_records(asked: Sequence[tuple[fmpq, int, AttentionDataset, FloatArray]], seed: int,
                       iterations: int, threads: int | None) -> tuple[QuadraticRecord, ...]:
    runs = descend([data for _, _, data, _ in asked], loss="correlation",
                   head=[QuadraticHead.of(lam) if lam else LINEAR_HEAD for lam, *_ in asked],
                   start=[W for *_, W in asked], iterations=iterations,
                   keep=_curve_steps(iterations), resolution=RESOLUTION, threads=threads)
    return tuple(_quadratic_record(lam, seed, k, data, run)
                 for (lam, k, data, _), run in zip(asked, runs, strict=True))


def _quadratic_record(lam: fmpq, seed: int, trial: int, dataset: AttentionDataset,
                      run: Run) -> QuadraticRecord:
    found = observed_sets(dataset, run.final, masked=1e-8)
    tokens: tuple[int, ...] = ()
    if lam:
        verdict = simplex_support.decide(dataset, lam)
        orthonormal = orthonormal_count(dataset.scores[0], lam)
        if isinstance(verdict.certificate, SimplexMaximizer):
            tokens = tuple(t for t, s in enumerate(verdict.certificate.weights[0]) if s != 0)
    else:
        # The largest output of a linear head is that of the optimal token.
        verdict = unique_optimum.decide(dataset)
        orthonormal = int(verdict.holds)
        if verdict.holds:
            tokens = optimal_selection(dataset)
    matrices = equivalent_matrices(dataset, run.final, (tokens,)) if tokens else None
    equivalent, direction = ((None, None) if matrices is None else
                             (tuple(correlation(W, A) for _, W in run.kept) for A in matrices))
    return QuadraticRecord(lam, seed, trial, len(found.selected[0]), len(found.between),
                           len(tokens), orthonormal, verdict, tuple(k for k, _ in run.kept),
                           equivalent, direction)


def by_lam(records: Sequence[QuadraticRecord],
           figure: Callable[[QuadraticRecord], float | None]) -> dict[float, float]:
    """λ ↦ the mean of *figure* over its records that have one."""
    values: dict[float, list[float]] = {}
    for record in records:
        value = figure(record)
        if value is not None:
            values.setdefault(to_float(record.lam), []).append(value)
    return {lam: float(np.mean(found)) for lam, found in sorted(values.items())}
