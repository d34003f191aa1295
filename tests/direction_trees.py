"""Brute force over all selections, and a replay of `direction_tree` by its specification.

Independent of the walk: exceptional selections come from `solve_exactly`, and the replay of
multipliers and of Farkas vectors uses fractions alone.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import oracle

from conditions import AttentionDataset
from conditions.selection import features, optimal_selection
from conditions.separation.frobenius import Infeasible, solve_exactly


def float_datasets(n, T, d, count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield (rng.standard_normal((n, T, d)).tolist(), rng.choice([-1, 1], n).tolist(),
               rng.standard_normal((n, d)).tolist(), rng.standard_normal(d).tolist())


def integer_datasets(n, T, d, count, seed):
    return oracle.integer_datasets(n, T, d, (-2, -1, 0, 1, 2), count, seed=seed)


def tested_rows(dataset: AttentionDataset, alpha, about: str):
    """The rows that may not be support indices if α is to be exceptional."""
    if about == "assumption_d":
        return [(i, t) for i, t in enumerate(optimal_selection(dataset)) if alpha[i] != t]
    return [(i, t) for i, scores in enumerate(dataset.scores) for t in range(len(scores))
            if t != alpha[i] and scores[t] >= scores[alpha[i]]]


def exceptional(dataset: AttentionDataset, alpha, about: str) -> bool:
    solution = solve_exactly(features(dataset, alpha))
    return (not isinstance(solution, Infeasible)
            and not set(solution.support) & set(tested_rows(dataset, alpha, about)))


def brute_force(dataset: AttentionDataset, about: str) -> list[tuple[int, ...]]:
    return [alpha for alpha in itertools.product(*map(range, dataset.lengths))
            if exceptional(dataset, alpha, about)]


def replay(data, certificate, about: str) -> dict[str, int]:
    """Walk the tree of a certificate and check every entry; counts the entries by kind."""
    dataset = AttentionDataset.build(*data)
    lengths, best = dataset.lengths, optimal_selection(dataset)
    nodes, stack = iter(certificate["nodes"]), [()]
    counts: dict[str, int] = {}
    shown = []
    while stack:
        prefix = stack.pop()
        node = next(nodes)
        leaf = len(prefix) == len(lengths)
        if node == "+":
            assert not leaf
            stack.extend((*prefix, t) for t in reversed(range(lengths[len(prefix)])))
            kind = "+"
        elif node == "=":
            assert leaf and prefix == best and about == "assumption_d"
            kind = "="
        elif isinstance(node, str):
            assert leaf and closes(data, prefix, tested_rows(dataset, prefix, about), node)
            kind = "multipliers"
        elif node["kind"] == "obstruction":
            assert not leaf
            kind = "infeasible" if obstructs(data, dataset, prefix, node["multipliers"], about) \
                else "obstructed"
        else:
            # Certificates of one selection have tests of their own; here the answer counts.
            assert leaf
            if exceptional(dataset, prefix, about):
                shown.append(prefix)
            kind = node["kind"]
        counts[kind] = counts.get(kind, 0) + 1
    assert next(nodes, None) is None
    assert [tuple(s) for s in certificate["selections"]] == shown
    return counts


def feature(data, alpha, row):
    X, _, z, _ = data
    i, t = row
    delta = [Fraction(a) - Fraction(b) for a, b in zip(X[i][alpha[i]], X[i][t], strict=True)]
    return [a * Fraction(b) for a in delta for b in z[i]]


def closes(data, alpha, tested, text: str) -> bool:
    """Whether a text of multipliers closes the leaf α."""
    X = data[0]
    kept = [(i, t) for i, tokens in enumerate(X) for t in range(len(tokens))
            if t != alpha[i] and (i, t) not in tested]
    width = int(text[0], 16)
    if len(text) != 1 + width * len(kept) or width < 1:
        return False
    if not kept:
        return bool(tested)
    mu = [int(text[1 + k * width:1 + (k + 1) * width], 16) for k in range(len(kept))]
    phi = [feature(data, alpha, row) for row in kept]
    V = [sum(m * f[a] for m, f in zip(mu, phi, strict=True)) for a in range(len(phi[0]))]
    q, L = oracle.dot(V, V), sum(mu)
    m = min(oracle.dot(f, V) for f in phi)
    if m <= 0:
        return False
    for row in tested:
        f = feature(data, alpha, row)
        p = oracle.dot(f, V)
        if p < m and (m - p) ** 2 * q >= oracle.dot(f, f) * (q * q - L * L * m * m):
            return True
    return False


def obstructs(data, dataset, prefix, multipliers, about: str) -> bool:
    """Check an obstruction; whether V = 0, that is, whether the fixed tokens are infeasible."""
    rows = [(i, t) for i, t, _ in multipliers]
    assert rows == sorted(set(rows))
    assert rows
    assert all(i < len(prefix) and t != prefix[i] for i, t in rows)
    weights = [Fraction(number) if isinstance(number, int) else oracle_number(number)
               for _, _, number in multipliers]
    assert min(weights) > 0
    phi = [feature(data, prefix, row) for row in rows]
    V = [sum(w * f[a] for w, f in zip(weights, phi, strict=True)) for a in range(len(phi[0]))]
    for j, T in enumerate(dataset.lengths):
        for a in range(T) if j >= len(prefix) else [prefix[j]]:
            alpha = [0] * j + [a] + [0] * (dataset.n - j - 1)
            tested = tested_rows(dataset, alpha, about)
            assert all(oracle.dot(feature(data, alpha, (j, t)), V) <= 0
                       for t in range(T) if t != a and (j, t) not in tested)
    return not any(V)


def oracle_number(text: str) -> Fraction:
    return Fraction(float.fromhex(text)) if "x" in text else Fraction(text)
