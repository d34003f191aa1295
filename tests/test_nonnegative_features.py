"""Pairwise nonnegative features: decided exactly, and what follows from every start."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import oracle
import pytest

from conditions import AttentionDataset, Evidence, nonnegative_features
from conditions.certificates import Certificate
from conditions.losses import LOSSES
from conditions.selection import features, optimal_selection
from conditions.separation.frobenius import solve
from conditions.smoothness import smoothness
from verifier.descent import descend


def brute(data):
    """The condition from its definition, over the rationals: (holds, opt, features)."""
    X, _, z, _ = data
    if not oracle.unique_optimum(data) or not oracle.equal_scores(data):
        return False, None, None
    opt = oracle.optimal_selection(data)
    phi = {}
    for i, a in enumerate(opt):
        for t, x in enumerate(X[i]):
            if t != a:
                phi[i, t] = [Fraction(p - q) * b for p, q in zip(X[i][a], x, strict=True)
                             for b in z[i]]
    good = all(any(row) for row in phi.values()) and all(
        oracle.dot(a, b) >= 0 for a in phi.values() for b in phi.values())
    return good, opt, phi


def test_agrees_with_the_definition():
    counts = {"nonnegative_products": 0, "negative_product": 0, "zero_feature": 0,
              "unequal_scores": 0, "optimum_tie": 0}
    for n, T, d in ((1, 2, 1), (2, 2, 2), (1, 3, 2), (2, 3, 2), (3, 2, 2)):
        for data in oracle.integer_datasets(n, T, d, (-1, 0, 1), 40, seed=n + 10 * T + 100 * d):
            verdict = nonnegative_features.decide(AttentionDataset.build(*data))
            assert not verdict.undecided and verdict.evidence is Evidence.EXACT
            good, _, phi = brute(data)
            assert verdict.holds == good
            certificate = verdict.certificate
            counts[certificate.kind] += 1
            assert Certificate.from_json(certificate.to_json()) == certificate
            if certificate.kind == "negative_product":
                first, second = certificate.rows
                assert first < second
                assert oracle.dot(phi[first], phi[second]) < 0
            if certificate.kind == "zero_feature":
                assert not any(phi[certificate.row])
    assert min(counts.values()) >= 3, counts


def build(X, z, v, Y=None):
    return AttentionDataset.build(X, Y or [1] * len(X), z, v)


def test_by_hand():
    # Orthogonal differences (products exactly 0), then a slight obtuse angle.
    tokens = [[[1, 1], [0, 1], [1, 0]]]
    assert nonnegative_features.decide(build(tokens, [[1, 0]], [1, 1])).holds
    obtuse = build([[[1, 1], [0, 1], ["1000001/1000000", 0]]], [[1, 0]],
                   [1, "1000001/1000000"])
    verdict = nonnegative_features.decide(obtuse)
    assert verdict.fails and verdict.certificate.rows == ((0, 1), (0, 2))
    # Queries of opposite sign turn acute differences obtuse.
    twice = build([[[1], [0]], [[1], [0]]], [[1], [-1]], [1])
    verdict = nonnegative_features.decide(twice)
    assert verdict.fails and verdict.certificate.rows == ((0, 1), (1, 1))
    # Orthogonal queries do not care.
    apart = build([[[1, 0], [0, 0]], [[0, 0], [-1, 0]]], [[1, 0], [0, -1]], [1, 0])
    assert nonnegative_features.decide(apart).holds


def test_each_part_of_the_condition_can_fail():
    good = [[[2], [0]], [[1], [0]]]
    assert nonnegative_features.decide(build(good, [[1], [1]], [1])).holds
    cases = {
        "optimum_tie": build([[[1, 0], [1, 1]]], [[1, 0]], [1, 0]),
        "unequal_scores": build([[[2], [1], [0]]], [[1]], [1]),
        "zero_feature": build(good, [[1], [0]], [1]),
        "negative_product": build(good, [[1], [-1]], [1]),
    }
    for kind, data in cases.items():
        verdict = nonnegative_features.decide(data)
        assert verdict.fails and verdict.certificate.kind == kind


def test_orders_of_tokens_and_samples_do_not_matter():
    for data in oracle.integer_datasets(2, 3, 2, (-1, 0, 1), 60, seed=9):
        X, Y, z, v = data
        moved = ([X[1][::-1], X[0][1:] + X[0][:1]], [Y[1], Y[0]], [z[1], z[0]], v)
        assert (nonnegative_features.decide(AttentionDataset.build(*data)).status
                == nonnegative_features.decide(AttentionDataset.build(*moved)).status)


def satisfying(count):
    """Random datasets that meet the condition: equal low scores, acute features."""
    rng = np.random.default_rng(4)
    found = []
    while len(found) < count:
        X = rng.integers(-3, 4, size=(2, 3, 3)).astype(float)
        # The head reads the last coordinate: 1 for the best token, 0 for the others.
        X[:, :, 2] = [1, 0, 0]
        data = build(X, rng.integers(-3, 4, size=(2, 3)), [0, 0, 1])
        if nonnegative_features.decide(data).holds:
            found.append(data)
    return found


@pytest.mark.parametrize("loss", LOSSES)
def test_runs_from_any_start(loss):
    rng = np.random.default_rng(5)
    for data in satisfying(4):
        opt = optimal_selection(data)
        phi = features(data, opt)
        beta = smoothness(data, loss)
        step = 1.99 / (int(beta.p) / int(beta.q))
        solution = solve(data, opt)
        target = solution.float_W / np.linalg.norm(solution.float_W)
        start = 0.3 * rng.standard_normal((3, 3)) - 0.1 * target
        run = descend(data, rule="plain", step=step, loss=loss, start=start, iterations=300,
                      keep=range(0, 301, 20))
        margins = [np.einsum("ra,ab,rb->r", phi.float_differences, W, phi.float_queries)
                   for _, W in run.kept]
        assert np.diff(margins, axis=0).min() > -1e-12
        # The flow's path, followed far: short normalized steps.
        run = descend(data, rule="normalized", step=0.02, loss=loss, start=start,
                      iterations=20_000)
        assert run.selected == opt
        assert (run.final * target).sum() / np.linalg.norm(run.final) > 0.999
