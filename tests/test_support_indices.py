"""The support of W^mm: by hand, and by brute force."""

from __future__ import annotations

import oracle
import pytest
from acceptance import accepted
from flint import fmpq

from conditions import AttentionDataset, Evidence, support_indices
from conditions.selection import features
from conditions.separation.frobenius import solve

# z = e1 and 0 selected: only the first column w of W counts, and the row of a token x is -x.
PLANE = [[0, 0], [-1, 0], [0, -1]]


def one(*tokens):
    return AttentionDataset.build([[*PLANE, *tokens]], [1], [[1, 0]], [1, 1])


@pytest.mark.parametrize(("tokens", "support"), [
    # w = (1, 1) = φ1 + φ2.
    ([], [1, 2]),
    # The margin of (-2, 0) is 2.
    ([[-2, 0]], [1, 2]),
    # The row (1/2, 1/2) has margin exactly 1, whatever its multiplier.
    ([["-1/2", "-1/2"]], [1, 2, 3]),
    # The row (3, -1) has margin 2, the row (2, -1) margin 1.
    ([[-3, 1], [-2, 1]], [1, 2, 4]),
])
def test_in_the_plane(tokens, support):
    dataset = one(*tokens)
    verdict = support_indices.decide(dataset, (0,))
    assert verdict.holds and verdict.evidence is Evidence.EXACT
    certificate = verdict.certificate
    assert certificate.kind == "exact_kkt"
    assert certificate.support == tuple((0, t) for t in support)
    assert certificate.norm_squared == 2
    phi = features(dataset, (0,))
    W = phi.combination([phi.index[i, t] for i, t, _ in certificate.multipliers],
                        [x for _, _, x in certificate.multipliers])
    assert W.tolist() == [[1, 0], [1, 0]]
    assert verdict.number == f"{len(support)} of {2 + len(tokens)}"
    assert "‖W^mm‖² = 2" in accepted(dataset, verdict)[0]


def test_a_sharper_row_moves_the_solution():
    # The row (1/3, 0) needs w_1 ≥ 3, which leaves (1, 0) with margin 3: w = (3, 1) = 9·φ3 + φ2.
    verdict = support_indices.decide(one(["-1/3", 0]), (0,))
    assert verdict.certificate.multipliers == ((0, 2, 1), (0, 3, 9))
    assert verdict.certificate.norm_squared == 10
    assert "0.316228" in verdict.reason  # 1/√10


def test_orthogonal_samples_add_up():
    # z = e1, 2·e2: W = e1 e1ᵀ + (1/2) e1 e2ᵀ, multipliers 1 and 1/4.
    dataset = AttentionDataset.build([[[1, 0], [0, 0]]] * 2, [1, 1], [[1, 0], [0, 2]], [1, 0])
    verdict = support_indices.decide(dataset, (0, 0))
    assert verdict.certificate.multipliers == ((0, 1, 1), (1, 1, fmpq(1, 4)))
    assert verdict.certificate.norm_squared == fmpq(5, 4)
    accepted(dataset, verdict)


def test_no_support_without_a_solution():
    dataset = AttentionDataset.build([[[1], [0], [-1]]], [1], [[1]], [1])
    verdict = support_indices.decide(dataset, (1,))
    assert verdict.fails and verdict.certificate.kind == "farkas"
    assert verdict.certificate.multipliers == ((0, 0, 1), (0, 2, 1))
    accepted(dataset, verdict)


def test_the_margin_survives_the_range_of_floats():
    # w = 2^600: ‖W‖² = 2^1200 is beyond float64, 1/‖W‖ = 2^-600 is not.
    dataset = AttentionDataset.build([[[2.0**-600], [0]]], [1], [[1]], [1])
    assert support_indices.margin(solve(dataset, (0,))) == 2.0**-600
    verdict = support_indices.decide(dataset, (0,))
    assert verdict.certificate.norm_squared == 2**1200
    accepted(dataset, verdict)


def test_agrees_with_brute_force():
    counts = {True: 0, False: 0}
    for data in oracle.integer_datasets(2, 3, 2, count=28, seed=5):
        dataset = AttentionDataset.build(*data)
        for alpha in oracle.selections(data)[::3]:
            verdict = support_indices.decide(dataset, alpha)
            expected = oracle.max_margin(data, alpha)
            assert verdict.holds == (expected is not None) == (not verdict.fails)
            counts[verdict.holds] += 1
            if expected is not None:
                assert list(verdict.certificate.support) == expected.support_rows
            accepted(dataset, verdict)
    assert min(counts.values()) > 10
