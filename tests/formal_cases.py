"""Verdicts of every kind that is exported to Coq, at (2,3,2) and (6,8,10), integers and floats."""

from __future__ import annotations

import itertools

import numpy as np
from flint import fmpq

from conditions import (
    AttentionDataset,
    equal_scores,
    feasibility,
    full_rank,
    low_norm_limit,
    low_rank_feasibility,
    no_flat_sample,
    selection_trap,
    unique_optimum,
)
from conditions.certificates import (
    IndependentFactors,
    IndependentRows,
    InjectiveFeatures,
    KKTEnclosure,
    ScaledInverse,
    TooManyRows,
)
from conditions.exact.numbers import round_dyadic
from conditions.graphs import cycle_certificate, order_certificate
from conditions.local_optimality import primal_dual, rivals
from conditions.losses import LOSSES
from conditions.selection import features, optimal_selection
from conditions.separation.frobenius import ExactSolution, solve_exactly
from conditions.smoothness import smoothness
from conditions.stationary import monotone_direction, separable_queries
from conditions.verdict import Status, proved
from verifier.formal.inverses import Inverse

SMALL, LARGE = (2, 3, 2), (6, 8, 10)
SHAPES = {(shape, floats): f"{'float' if floats else 'integer'} {shape}"
          for shape in (SMALL, LARGE) for floats in (False, True)}
PRIME = (1 << 61) - 1


class Drawn:
    """Random numbers of one sort: standard normal, or integers up to 5.

    Large datasets have floats of 24 bits: exact solutions in doubles take Coq a quarter minute.
    """

    def __init__(self, shape, floats, seed):
        self.shape, self.floats = shape, floats
        self.rng = np.random.default_rng(seed)

    def block(self, *size):
        if not self.floats:
            return self.rng.integers(-5, 6, size).astype(float)
        sort = np.float64 if self.shape == SMALL else np.float32
        return self.rng.standard_normal(size).astype(sort).astype(float)

    def noise(self, *size):
        return self.block(*size) / 64 if self.floats else np.zeros(size)

    def generic(self):
        """X, z and v without structure."""
        n, T, d = self.shape
        return self.block(n, T, d), self.block(n, d), self.block(d)

    def levels(self):
        """Two score levels a sample, the upper one at token i mod T alone."""
        (n, T, d), (X, z, _) = self.shape, self.generic()
        X[:, :, 0] = [[1.0 if t == i % T else 0.0 for t in range(T)] for i in range(n)]
        return X, z, np.eye(d)[0]

    def flat(self):
        """All scores of sample 0 are equal."""
        X, z, v = self.levels()
        X[0, :, 0] = 1
        return X, z, v

    def orthogonal(self):
        """Token 0 is 0, the other tokens of a sample and the queries are nearly orthogonal."""
        n, T, d = self.shape
        X = np.zeros((n, T, d))
        X[:, 1:] = -np.eye(d)[:T - 1] + self.noise(n, T - 1, d)
        return X, np.eye(d)[:n] + self.noise(n, d), np.ones(d)

    def one_query(self):
        """All samples share a query."""
        X, z, v = self.generic()
        z[:] = np.abs(z[0]) + 1
        return X, z, v

    def opposed(self):
        """Samples 0 and 1 are the same."""
        X, z, v = self.one_query()
        X[1] = X[0]
        return X, z, v

    def independent_tokens(self):
        """The distinct tokens are independent, and the distinct queries."""
        n, T, d = self.shape
        tokens = np.eye(d) * (3 + np.abs(self.block(d)))
        X = np.array([[tokens[min((i + t) % T, d - 1)] for t in range(T)] for i in range(n)])
        if d < T:
            X[:] = tokens[[0, *[1] * (T - 1)]]
        return X, (np.eye(d) + self.noise(d, d))[:n], np.ones(d)

    def build(self, name, labels=None):
        X, z, v = getattr(self, name)()
        n = self.shape[0]
        return AttentionDataset.build(X, labels or [1, -1] * (n // 2) + [1] * (n % 2), z, v)


def enclosure(solution: ExactSolution) -> KKTEnclosure:
    """The `kkt_enclosure` of an exact solution."""
    phi = solution.features
    positions = sorted(k for k, x in solution.multipliers.items() if x > 0)
    inverse = Inverse.rounded(phi.gram(positions), int(phi.scale) ** 2)
    exponent = inverse.factor.bit_length() - inverse.over.bit_length()
    total = solution.norm_squared[0]
    return KKTEnclosure(
        tuple(phi.rows[k] for k in positions),
        tuple(round_dyadic(solution.multipliers[k], 80) for k in positions),
        ScaledInverse(exponent, tuple(map(tuple, inverse.entries))), solution.support,
        (total * (1 - fmpq(1, 1 << 30)), total * (1 + fmpq(1, 1 << 30))))


def about_solution(dataset, alpha, certificate, solution):
    """What a certificate of the solution says of its support."""
    violating = set(rivals(solution.features)) & set(solution.support)
    everything = len(solution.support) == len(solution.features)
    yield proved("support_indices", Status.HOLDS, certificate, "", selection=alpha)
    yield proved("all_support", Status.HOLDS if everything else Status.FAILS, certificate, "",
                 selection=alpha)
    yield proved("local_optimality", Status.FAILS if violating else Status.HOLDS, certificate, "",
                 selection=alpha)


def about_support(dataset, alpha, only=None):
    """What both kinds of certificate say; with *only* but one of them, of that condition."""
    solution = solve_exactly(features(dataset, alpha))
    for certificate in (solution.certificate, enclosure(solution)):
        for verdict in about_solution(dataset, alpha, certificate, solution):
            if only is None or (certificate.kind == "kkt_enclosure"
                                and verdict.condition == only):
                yield verdict


def about_selection(dataset, alpha, only):
    """Also the exact solution in any case, and primal-dual pairs."""
    solution = solve_exactly(features(dataset, alpha))
    if only is not None:
        yield next(about_solution(dataset, alpha, solution.certificate, solution))
    yield from about_support(dataset, alpha, only)
    phi = features(dataset, alpha)
    outside = tuple(row for row in phi.rows if row not in solution.support)
    for condition, rows, status in (("all_support", outside[:1], Status.FAILS),
                                    ("local_optimality", rivals(phi), Status.HOLDS)):
        if rows or condition == "local_optimality":
            pair = primal_dual(solution, rows)
            if pair is not None:
                yield proved(condition, status, pair, "", selection=alpha)


def of_small_loss(dataset, losses):
    """Limits from multiples of a separator, with a step of about 1/beta."""
    direction = low_norm_limit.separator(dataset).W
    for loss in losses:
        step = fmpq(1, int(smoothness(dataset, loss).ceil()))
        for condition in (low_norm_limit, selection_trap):
            yield next(verdict for k in itertools.count() if (verdict := condition.decide(
                dataset, [[x * 2**k for x in row] for row in direction], "plain", step,
                loss)).holds)


def drawn(shape, floats, name, wanted, labels=None):
    """The first dataset of the sort *name* that *wanted* accepts."""
    for seed in itertools.count():
        dataset = Drawn(shape, floats, seed).build(name, labels)
        if wanted(dataset):
            return dataset
    raise AssertionError


def verdicts(shape, floats):
    """Datasets, each with verdicts, by every kind."""
    def solvable(dataset):
        solution = solve_exactly(features(dataset, optimal_selection(dataset)))
        return (unique_optimum.decide(dataset).holds and full_rank.decide(dataset).holds
                and isinstance(solution, ExactSolution)
                and len(solution.multipliers) == len(solution.support) < len(solution.features))

    # Long numbers take Coq seconds, so each theorem is put to the test once.
    long = shape == LARGE and floats
    dataset = drawn(shape, floats, "generic", solvable)
    alpha = optimal_selection(dataset)
    yield dataset, [
        unique_optimum.decide(dataset), equal_scores.decide(dataset),
        no_flat_sample.decide(dataset), feasibility.decide(dataset, alpha),
        low_rank_feasibility.decide(dataset, alpha, shape[2]),
        *about_selection(dataset, alpha, "support_indices" if long else None),
        *(proved("full_rank", Status.HOLDS, kind(PRIME), "")
          for kind in (IndependentFactors, IndependentRows)),
        *(proved("no_stationary_point", Status.HOLDS, InjectiveFeatures(kind(PRIME), 0), "",
                 loss="logistic") for kind in (IndependentFactors, IndependentRows)[:2 - long]),
        proved("no_stationary_point", Status.HOLDS, monotone_direction.proof(dataset), "",
               loss="logistic")]

    # The worst tokens: not locally optimal.
    alpha = next(chosen for chosen in (tuple(scores.index(sorted(scores)[k])
                                             for scores in dataset.scores) for k in (0, 1))
                 if solvable_not_local(dataset, chosen))
    yield dataset, list(about_support(dataset, alpha, "local_optimality" if long else None))

    dataset = drawn(shape, floats, "orthogonal", lambda _: True)
    yield dataset, list(about_support(dataset, (0,) * shape[0], "all_support" if long else None))

    dataset = drawn(shape, floats, "levels", lambda _: True, [1] * shape[0])
    yield dataset, [unique_optimum.decide(dataset), equal_scores.decide(dataset)]

    dataset = drawn(shape, floats, "levels",
                    lambda data: low_norm_limit.separator(data) is not None, [1] * shape[0])
    yield dataset, list(of_small_loss(dataset, LOSSES if shape == SMALL else ["logistic"]))

    dataset = drawn(shape, floats, "flat", lambda _: True, [1] * shape[0])
    yield dataset, [unique_optimum.decide(dataset), no_flat_sample.decide(dataset)]

    dataset = drawn(shape, floats, "opposed",
                    lambda data: separable_queries.proof(data) is not None, [1] * shape[0])
    alpha = (0, 1, *[0] * (shape[0] - 2))
    by_farkas = feasibility.infeasible("feasibility", solve_exactly(features(dataset, alpha)))
    yield dataset, [
        *(proved(condition, Status.FAILS, by_farkas.certificate, "", selection=alpha)
          for condition in ("feasibility", "support_indices", "all_support", "local_optimality",
                            "rank_bound", "nuclear_margin", "unique_nuclear_optimum",
                            "low_rank_feasibility")),
        proved("feasibility", Status.FAILS, cycle_certificate(dataset, alpha), "",
               selection=alpha),
        proved("full_rank", Status.FAILS, full_rank.dependency(dataset), ""),
        proved("no_stationary_point", Status.HOLDS, separable_queries.proof(dataset), "",
               loss="logistic")]

    dataset = drawn(shape, floats, "independent_tokens", lambda _: True)
    alpha = tuple(0 if shape[1] > shape[2] else (-i) % shape[1] for i in range(shape[0]))
    yield dataset, [proved("feasibility", Status.HOLDS, order_certificate(dataset, alpha), "",
                           selection=alpha)]

    if shape == SMALL:
        # More than d² rows, here and at (13,9,10); there the numbers of floats are too long.
        dataset = drawn((3, 3, 2), floats, "generic", lambda _: True)
        yield dataset, [proved("full_rank", Status.FAILS, TooManyRows(), "")]
    elif not floats:
        dataset = drawn((13, 9, 10), floats, "generic", lambda _: True)
        yield dataset, [proved("full_rank", Status.FAILS, TooManyRows(), "")]


def solvable_not_local(dataset, alpha):
    solution = solve_exactly(features(dataset, alpha))
    return (isinstance(solution, ExactSolution)
            and len(solution.multipliers) == len(solution.support)
            and bool(set(rivals(solution.features)) & set(solution.support)))
