"""Brute-force oracle for Gen-SVM on tiny datasets, on top of tests/oracle.py."""

from __future__ import annotations

import random
from itertools import chain, combinations

import oracle


def rows(data, sets):
    """vec((x_it − x_iτ) z_iᵀ): {(i, t, τ)} with t, τ in the set of i, and with τ outside it."""
    X, _, z, _ = data
    equal, above = {}, {}
    for i, chosen in enumerate(sets):
        for t in chosen:
            for u in range(len(X[i])):
                if u != t:
                    row = oracle.outer(oracle.minus(X[i][t], X[i][u]), z[i])
                    (equal if u in chosen else above)[i, t, u] = row
    return equal, above


def feasible(data, sets):
    """By Fourier–Motzkin elimination of all constraints of the definition, both ways of each ψ."""
    equal, above = rows(data, sets)
    return oracle.eliminate(list(equal.values()), list(above.values()))


def independent(vectors):
    basis = []
    for vector in vectors:
        if oracle.rank([*basis, vector]) > len(basis):
            basis.append(vector)
    return basis


def max_margin(data, sets):
    """(W as d² numbers, rejected rows (i, τ) of margin 1), or None when there is none.

    W is the least-norm point of a face {⟨ψ, W⟩ = 0, ⟨φ, W⟩ = 1 on S} with nonnegative
    multipliers on S; all subsets S of the definition's rows are tried.
    """
    equal, above = rows(data, sets)
    d = len(data[3])
    basis = independent(equal.values())
    # One row per rejected token; the others of the set give the same margin.
    first = {(i, u): row for (i, t, u), row in above.items() if t == min(sets[i])}
    for S in chain.from_iterable(combinations(first, k) for k in range(len(first) + 1)):
        face = [*basis, *(first[row] for row in S)]
        if oracle.rank(face) < len(face):
            continue
        gram = [[oracle.dot(a, b) for b in face] for a in face]
        weights = oracle.solve(gram, [0] * len(basis) + [1] * len(S)) if face else []
        W = [sum((w * f[k] for w, f in zip(weights, face, strict=True)), start=oracle.Fraction(0))
             for k in range(d * d)]
        if min(weights[len(basis):], default=0) >= 0 and all(
                oracle.dot(row, W) >= 1 for row in above.values()):
            return W, [row for row, phi in first.items() if oracle.dot(phi, W) == 1]
    return None


def draw_sets(data, rng: random.Random):
    """A random nonempty set of tokens per sample, often one or all of them."""
    return tuple(tuple(sorted(rng.sample(range(len(x)), rng.randint(1, len(x)))))
                 for x in data[0])
