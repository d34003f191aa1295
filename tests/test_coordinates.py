"""Coordinates of the row space: by hand, and against logits of W."""

from __future__ import annotations

import math

import oracle
import pytest
from acceptance import accepted
from flint import fmpq, fmpq_mat

from conditions import AttentionDataset, no_stationary_point
from conditions.exact.ranks import PRIMES
from conditions.selection import features
from conditions.stationary.coordinates import row_space


def build(X, z):
    return AttentionDataset.build(X, [1] * len(X), z, [1] * len(z[0]))


def test_tokens_on_a_line():
    # φ_01 = (1, 0)(0, 3)ᵀ spans; with z·z = 9 the tokens 0, 1, 2 are 0, -9 and 9 along it.
    space = row_space(build([[[1, 0], [0, 0], [2, 0]]], [[0, 3]]))
    assert space.rank == 1 and space.basis == ((0, 1),)
    assert space.logits == (((0,), (-9,), (9,)),)
    assert space.difference(0, 2, 1) == (18,) and space.difference(0, 1, 2) == (-18,)


def test_two_queries():
    # φ = e1 e1ᵀ and e1 (e1 + e2)ᵀ: inner products 1, 1, 2.
    space = row_space(build([[[1, 0], [0, 0]]] * 2, [[1, 0], [1, 1]]))
    assert space.basis == ((0, 1), (1, 1))
    assert space.logits == (((0, 0), (-1, -1)), ((0, 0), (-1, -2)))


def test_fractions_stay_exact():
    # φ = (1/3)(1/2) = 1/6, its square 1/36.
    space = row_space(build([[["1/3"], [0]]], [["1/2"]]))
    assert space.logits == (((0,), (fmpq(-1, 36),)),)


def test_nothing_to_span():
    assert row_space(build([[[1, 0], [1, 0]]], [[1, 0]])).rank == 0


def test_a_basis_beyond_the_first_prime():
    # A multiple of the first prime vanishes modulo it, not over Q.
    space = row_space(build([[[0], [PRIMES[0]]]], [[1]]))
    assert space.rank == 1 and space.logits == (((0,), (-(PRIMES[0] ** 2),)),)


def test_padding_of_ragged_samples():
    space = row_space(build([[[1], [0]], [[1], [0], [2]]], [[1], [2]]))
    assert space.present.tolist() == [[True, True, False], [True, True, True]]
    # In the basis φ_01 = 1: sample 1 has z = 2.
    assert space.float_logits[:, :, 0].tolist() == [[0, -1, 0], [0, -2, 2]]
    assert space.float_scores.tolist() == [[1, 0, 0], [1, 0, 2]]


@pytest.mark.parametrize("seed", [19, 20])
def test_logits_are_those_of_the_matrix(seed):
    # W = Σ y_k B_k: x_tᵀWz - x_sᵀWz = F_ts·y, and r is the rank of the features.
    ranks = set()
    for data in oracle.integer_datasets(2, 3, 2, count=28, seed=seed):
        dataset = AttentionDataset.build(*data)
        space = row_space(dataset)
        phi = features(dataset, (0, 0))
        assert space.rank == oracle.rank(list(oracle.features(data, (0, 0)).values()))
        ranks.add(space.rank)
        y = [fmpq(k + 2, k + 1) * (-1) ** k for k in range(space.rank)]
        W = phi.combination([phi.index[row] for row in space.basis], y)
        for i, (tokens, query) in enumerate(zip(dataset.tokens, dataset.queries, strict=True)):
            h = [(fmpq_mat(1, 2, list(x)) * W * fmpq_mat(2, 1, list(query)))[0, 0]
                 for x in tokens]
            for t in range(3):
                expected = sum((a * b for a, b in zip(space.difference(i, t, 1), y, strict=True)),
                               fmpq(0))
                assert h[t] - h[1] == expected
    assert ranks >= {1, 2, 3}


def test_the_checker_uses_the_same_coordinates():
    # d = 1, z = 1 and -1, scores (1, 0) and (3/2, 1/2) as v = 1/2: ∇L = 0 where f_0 = f_1, which
    # is tanh W = 1/2 for token differences 2. In the basis φ_01 = 2, y = W/2 = log(3)/4.
    dataset = AttentionDataset.build([[[2], [0]], [[3], [1]]], [1, 1], [[1], [-1]], ["1/2"])
    verdict = no_stationary_point.decide(dataset, "logistic", 100)
    assert verdict.fails and verdict.certificate.basis == row_space(dataset).basis == ((0, 1),)
    center = verdict.certificate.center[0]
    assert int(center.p) / int(center.q) == pytest.approx(math.log(3) / 4, rel=1e-9)
    accepted(dataset, verdict)
