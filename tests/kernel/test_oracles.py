"""Random datasets, decided by other means: the checker must accept what is so and nothing else."""

import itertools
import random
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import nnls

from verifier.kernel import check_text
from verifier.kernel.data import Dataset, Features
from verifier.kernel.reading import Node

from .builders import changed, document, text, verdict


def integer_data(generator, n, T, d, size=2):
    def vector():
        return [generator.randint(-size, size) for _ in range(d)]
    return {"X": [[vector() for _ in range(T)] for _ in range(n)],
            "Y": [generator.choice([1, -1]) for _ in range(n)],
            "z": [vector() for _ in range(n)], "v": vector()}


def accepted(dataset, *verdicts):
    return check_text(text(document(dataset, *verdicts))).accepted


def scores(data):
    return [[y * sum(a * b for a, b in zip(data["v"], x, strict=True)) for x in X]
            for X, y in zip(data["X"], data["Y"], strict=True)]


SLOPES = {"correlation": lambda f, c: Decimal(1),
          "exponential": lambda f, c: c.exp(-f),
          "logistic": lambda f, c: c.divide(1, 1 + c.exp(f))}


def first_step_margins(data, loss):
    """Row → margin of -n∇L(0) in 60 decimal digits, or None if an optimum is tied."""
    context = Context(prec=60)
    gamma = scores(data)
    if any(sorted(g)[-1] == sorted(g)[-2] for g in gamma):
        return None
    d = len(data["v"])
    G = [[Decimal(0)] * d for _ in range(d)]
    for X, z, g in zip(data["X"], data["z"], gamma, strict=True):
        f = context.divide(sum(g), len(g))
        slope = SLOPES[loss](f, context)
        for x, score in zip(X, g, strict=True):
            c = context.divide(slope * (score - f), len(g))
            for a, b in itertools.product(range(d), repeat=2):
                G[a][b] += c * x[a] * z[b]
    margins = {}
    for i, (X, z, g) in enumerate(zip(data["X"], data["z"], gamma, strict=True)):
        best = g.index(max(g))
        for t, x in enumerate(X):
            if t != best:
                margins[i, t] = sum(G[a][b] * (X[best][a] - x[a]) * z[b]
                                    for a, b in itertools.product(range(d), repeat=2))
    return margins


@pytest.mark.parametrize("loss", SLOPES)
def test_first_step_against_decimals(loss):
    generator = random.Random(11)
    proved = {"enclosed": "enclosed", "exact": "exact"}
    sort = "exact" if loss == "correlation" else "enclosed"
    counts = {1: 0, 0: 0, -1: 0}
    for _ in range(250):
        data = integer_data(generator, generator.randint(1, 3), 2, generator.randint(1, 2))
        margins = first_step_margins(data, loss)
        if margins is None:
            continue
        signs = {row: 0 if abs(m) < Decimal("1e-40") else 1 if m > 0 else -1
                 for row, m in margins.items()}
        holds = verdict("first_step_separates", "holds",
                        {"kind": "first_step_margins", "precision": 64},
                        evidence=proved[sort], loss=loss)
        assert accepted(data, holds) == (min(signs.values()) > 0)
        for row, sign in signs.items():
            counts[sign] += 1
            for claimed in (-1, 0):
                fails = verdict("first_step_separates", "fails",
                                {"kind": "first_step_violation", "row": list(row),
                                 "sign": claimed, "precision": 64},
                                evidence="exact" if claimed == 0 else proved[sort], loss=loss)
                assert accepted(data, fails) == (sign == claimed)
    assert min(counts.values()) > 10


def test_monotone_direction_against_all_pairs():
    generator = random.Random(12)
    found = {True: 0, False: 0}
    for _ in range(600):
        data = integer_data(generator, generator.randint(1, 2), 3, 2, 1)
        D = [[generator.randint(-1, 1) for _ in range(2)] for _ in range(2)]
        products = {}
        for i, (X, z, g) in enumerate(zip(data["X"], data["z"], scores(data), strict=True)):
            h = [sum(x[a] * D[a][b] * z[b] for a in range(2) for b in range(2)) for x in X]
            for t, u in itertools.product(range(3), repeat=2):
                products[i, t, u] = (g[t] - g[u]) * (h[t] - h[u])
        witness = max(products, key=products.get)
        expected = min(products.values()) >= 0 and products[witness] > 0
        found[expected] += 1
        certificate = {"kind": "monotone_direction", "D": D, "witness": list(witness)}
        assert accepted(data, verdict("no_stationary_point", "holds", certificate,
                                      loss="logistic")) == expected
    assert min(found.values()) > 40


def test_keys_are_equal_just_for_equal_features():
    generator = random.Random(13)
    equal = 0
    for _ in range(60):
        data = integer_data(generator, 4, 3, 2, 1)
        data["z"] = [[str(Fraction(x, generator.choice([1, 2, 3]))) for x in z]
                     for z in data["z"]]
        dataset = Dataset.read(Node(data))
        features = Features(dataset, tuple(generator.randrange(3) for _ in range(4)))
        matrices = {row: tuple(x * y for x in features.delta(row) for y in features.query(row))
                    for row in features.rows}
        for a, b in itertools.combinations(features.rows, 2):
            assert (features.key(a) == features.key(b)) == (matrices[a] == matrices[b])
            equal += matrices[a] == matrices[b] and any(matrices[a])
    assert equal > 20


def attention_svm(X, z, selection):
    """Support rows, multipliers and inverse Gram matrix of Att-SVM(α), in floats.

    min ‖Φᵀλ‖² + (1 - Σλ)² over λ ≥ 0 (Lawson and Hanson's reduction) has the multipliers'
    support; None if infeasible.
    """
    rows = [(i, t) for i in range(len(X)) for t in range(X.shape[1]) if t != selection[i]]
    phi = np.array([np.outer(X[i, selection[i]] - X[i, t], z[i]).ravel() for i, t in rows])
    weights, residual = nnls(np.vstack([phi.T, np.ones(len(rows))]),
                             np.append(np.zeros(phi.shape[1]), 1.0))
    if residual < 1e-6:
        return None
    keep = np.flatnonzero(weights > 1e-9)
    inverse = np.linalg.inv(phi[keep] @ phi[keep].T)
    return [rows[k] for k in keep], inverse.sum(axis=1), inverse, phi.shape[0]


def enclosure(rows, multipliers, inverse):
    exponent = int(np.floor(np.log2(np.abs(inverse).max()))) - 50
    total, listed = sum(map(Fraction, multipliers.tolist())), [list(row) for row in rows]
    slack = Fraction(1, 2**30)
    return {"kind": "kkt_enclosure", "rows": listed,
            "multipliers": [x.hex() for x in multipliers.tolist()],
            "inverse": {"exponent": exponent, "entries": [
                [int(np.ldexp(x, -exponent)) for x in row] for row in inverse.tolist()]},
            "support": listed, "norm_squared": [str(total * (1 - slack)), str(total * (1 + slack))]}


def float_data(seed, n, T, d):
    generator = np.random.default_rng(seed)
    X, z = generator.standard_normal((n, T, d)), generator.standard_normal((n, d))
    head = generator.standard_normal(d)
    return X, z, {"X": [[[x.hex() for x in token] for token in sample] for sample in X.tolist()],
                  "Y": [1] * n, "z": [[x.hex() for x in q] for q in z.tolist()],
                  "v": [x.hex() for x in head.tolist()]}


def _enclosed(condition, status, certificate, selection):
    return verdict(condition, status, certificate, evidence="enclosed", selection=selection)


def test_enclosures_of_random_data():
    solved = 0
    for seed in range(40):
        X, z, data = float_data(seed, 4, 4, 4)
        selection = [seed % 4] * 4
        if (solution := attention_svm(X, z, selection)) is None:
            continue
        solved += 1
        rows, multipliers, inverse, count = solution
        certificate = enclosure(rows, multipliers, inverse)
        status = "holds" if len(rows) == count else "fails"
        rank = np.linalg.matrix_rank(sum(
            m * np.outer(X[i, selection[i]] - X[i, t], z[i])
            for (i, t), m in zip(rows, multipliers, strict=True)))
        deltas = np.linalg.matrix_rank([X[i, selection[i]] - X[i, t] for i, t in rows])
        modular = {"kind": "modular_rank", "enclosure": certificate, "modulus": 2**61 - 1,
                   "differences": [list(row) for row in rows] if deltas == rank else [],
                   "rank": int(rank)}
        assert accepted(data, _enclosed("support_indices", "holds", certificate, selection),
                        _enclosed("all_support", status, certificate, selection),
                        _enclosed("rank_bound", "holds", modular, selection))
        for r in {int(rank) - 1, int(rank) + 1}:
            assert not accepted(data, _enclosed("rank_bound", "holds", {**modular, "rank": r},
                                                selection))
        # Without its last row the set is no support, whatever the other numbers say.
        if len(rows) > 1:
            fewer = np.linalg.inv(np.linalg.inv(inverse)[:-1, :-1])
            wrong = enclosure(rows[:-1], fewer.sum(axis=1), fewer)
            assert not accepted(data, _enclosed("support_indices", "holds", wrong, selection))
        # Nor is it the support of another selection.
        other = [(seed + 1) % 4, *selection[1:]]
        assert not accepted(data, _enclosed("support_indices", "holds", certificate, other))
    assert solved >= 10


def test_enclosure_of_a_hundred_support_rows():
    X, z, data = float_data(1, 60, 5, 30)
    rows, multipliers, inverse, _ = attention_svm(X, z, [0] * 60)
    assert len(rows) > 100
    good = _enclosed("support_indices", "holds", enclosure(rows, multipliers, inverse), [0] * 60)
    assert accepted(data, good)
    # One part in a thousand at one multiplier is seen.
    worse = changed(good, ("certificate", "multipliers", 7), (multipliers[7] * 1.001).hex())
    assert not accepted(data, worse)
