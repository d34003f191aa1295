"""Float rows: how near they are, which are equal, and what scaling does to the targets."""

from itertools import product

import numpy as np
from flint import fmpq

from conditions.dataset import AttentionDataset
from conditions.selection import features
from conditions.separation.rows import balanced_rows, equal_rows, equal_tokens, float_rows


def made(X, z, selection=None):
    data = AttentionDataset.build(X, [1] * len(X), z, [1] * len(z[0]))
    return features(data, selection or (0,) * len(X))


def exact(x):
    return fmpq(*float(x).as_integer_ratio())


def entries(phi, k):
    delta, query = phi.differences.tolist()[k], phi.queries.tolist()[k]
    return [fmpq(a * b, phi.scale) for a, b in product(delta, query)]


def test_dyadic_rows_are_only_rounded_by_one_subtraction():
    phi = made([[[1.5, 2], [0.25, -1]]], [[0.5, 3]])
    rows = float_rows(phi)
    assert rows.deltas.tolist() == [[1.25, 3]]
    assert rows.queries.tolist() == [[0.5, 3]]
    assert rows.exponents.tolist() == [0]


def test_rational_rows_are_near_the_true_ones_at_every_scale():
    for power in (-250, 0, 250):
        unit = fmpq(10) ** power
        phi = made([[[unit / 3, 0], [0, unit / 7], [unit, unit * 11 / 13]]],
                   [[fmpq(1, 3), fmpq(2, 9)]])
        rows = float_rows(phi)
        for k in range(len(phi)):
            # Norm-wise within 2u for δ and 4u for q, so entrywise sums within 8u of ‖φ‖.
            scale = fmpq(2) ** int(rows.exponents[k])
            near = [exact(a) * exact(b) * scale
                    for a, b in product(rows.deltas[k], rows.queries[k])]
            true = entries(phi, k)
            error = sum((a - b) ** 2 for a, b in zip(near, true, strict=True))
            assert error <= fmpq(64, 1 << 106) * sum(a * a for a in true)


def test_balanced_rows_have_norm_one_and_carry_the_scale_in_their_targets():
    phi = made([[[0, 0], [-3, 0], [0, -8]]], [[4, 3]])
    deltas, queries, targets = balanced_rows(phi)
    norms = np.linalg.norm(deltas, axis=1) * np.linalg.norm(queries, axis=1)
    assert np.allclose(norms, 1)
    # Norms of the features are 3·5 and 8·5.
    assert np.allclose(targets, [1 / 15, 1 / 40])


def test_targets_of_zero_rows_are_zero_and_of_far_ranging_ones_all_one():
    assert balanced_rows(made([[[1], [1], [0]]], [[2]]))[2].tolist() == [0.0, 0.5]
    phi = made([[["0"], ["1e-200"], ["1e200"]]], [["1"]])
    assert balanced_rows(phi)[2].tolist() == [1.0, 1.0]


def test_equal_rows_by_hand():
    # In units of (1,0)(1,1)ᵀ the features are −2, −1; −2, 4; −2; 2.
    X = [[[0, 0], [2, 0], [1, 0]], [[0, 0], [1, 0], [-2, 0]], [[0, 0], [-1, 0]], [[0, 0], [2, 0]]]
    phi = made(X, [[1, 1], [2, 2], [-2, -2], [-1, -1]])
    assert equal_rows(phi).tolist() == [0, 1, 0, 3, 0, 5]


def test_equal_rows_agree_with_the_features_themselves():
    rng = np.random.default_rng(0)
    compared = 0
    for _ in range(60):
        phi = made(rng.integers(-1, 2, (3, 3, 2)).tolist(), rng.integers(-2, 3, (3, 2)).tolist())
        table = [entries(phi, k) for k in range(len(phi))]
        if not all(map(any, table)):
            continue
        compared += 1
        assert equal_rows(phi).tolist() == [table.index(row) for row in table]
    assert compared > 5


def test_equal_tokens_see_repeated_samples_only():
    X = [[[0.5], [1], [1]], [[0.5], [1], [2]], [[1.5], [2], [1]]]
    phi = made(X, [[3.0], [3.0], [3.0]])
    assert equal_tokens(phi).tolist() == [0, 0, 0, 3, 4, 5]
    # Row (2, 1) has δ = −1/2 as row (0, 1) has.
    assert equal_rows(phi).tolist() == [0, 0, 0, 3, 0, 5]
