"""A second reading of docs/certificates.md for the kinds that a search finds.

Fractions, and mpmath's intervals for exponentials; nothing of the packages under test. Certificates
are taken in their JSON form. Every function raises AssertionError where a demand is not met.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import oracle
from mpmath import iv, mpf

INFINITE = float("inf")


def number(value):
    if isinstance(value, int):
        return Fraction(value)
    return Fraction(float.fromhex(value)) if "x" in value else Fraction(value)


def interval(x):
    """An interval around a rational."""
    return iv.mpf(x.numerator) / iv.mpf(x.denominator)


def logit(D, x, z):
    return sum(D[a][b] * x[a] * z[b] for a in range(len(x)) for b in range(len(z)))


# --- decision_tree --------------------------------------------------------------------------------


def decision_tree(data, certificate):
    X, _, z, _ = data
    gamma = oracle.scores(data)
    directions = [[list(map(number, row)) for row in D] for D in certificate["directions"]]
    nodes = iter(certificate["nodes"])

    def subtree(cells):
        node = next(nodes)
        if len(node) == 1:
            (i,) = node
            levels = sorted(set(gamma[i]))
            assert len(levels) > 1 and i not in cells
            for k in range(len(levels) - 1):
                subtree({**cells, i: (levels[k], levels[k + 1])})
                if k < len(levels) - 2:
                    subtree({**cells, i: (levels[k + 1], levels[k + 1])})
            return
        k, i, t, s = node
        h = [[logit(directions[k], x, z[j]) for x in tokens] for j, tokens in enumerate(X)]
        for j, scores in enumerate(gamma):
            for a, b in combinations(range(len(scores)), 2):
                a, b = (a, b) if scores[a] > scores[b] else (b, a)
                if scores[a] > scores[b] and (j not in cells or separates(cells[j], scores, a, b)):
                    assert h[j][a] >= h[j][b]
        assert gamma[i][t] != gamma[i][s]
        if i in cells:
            assert separates(cells[i], gamma[i], t, s) and h[i][t] > h[i][s]
        else:
            assert (gamma[i][t] - gamma[i][s]) * (h[i][t] - h[i][s]) > 0

    subtree({})
    assert next(nodes, None) is None


def separates(cell, scores, above, below):
    """The score of *above* lies above the cell (low, high), that of *below* below it."""
    low, high = cell
    if low == high:
        return scores[above] > low > scores[below]
    return scores[above] >= high and scores[below] <= low


# --- Coordinates ----------------------------------------------------------------------------------


def coordinates(data, basis):
    """F[i][t][s], a vector of r numbers, after the checks of the basis."""
    X, _, z, _ = data
    phi = oracle.features(data, [0] * len(X))
    rows = [tuple(row) for row in basis]
    assert rows and rows == sorted(set(rows))
    B = [phi[row] for row in rows]
    assert oracle.rank(B) == len(B) == oracle.rank(list(phi.values()))
    return [[[[oracle.dot(oracle.outer(oracle.minus(x, y), z[i]), b) for b in B]
              for y in tokens] for x in tokens] for i, tokens in enumerate(X)]


def slopes(loss, f):
    if loss == "correlation":
        return iv.mpf(1), iv.mpf(0)
    if loss == "exponential":
        return iv.exp(-f), iv.exp(-f)
    return 1 / (1 + iv.exp(f)), 1 / ((1 + iv.exp(f)) * (1 + iv.exp(-f)))


# --- krawczyk -------------------------------------------------------------------------------------


def gradient(data, loss, F, y):
    """G and J over a box of intervals y."""
    r = len(y)
    G = [iv.mpf(0)] * r
    J = [[iv.mpf(0)] * r for _ in range(r)]
    for scores, rows in zip(oracle.scores(data), F, strict=True):
        T = range(len(scores))
        a = [sum((interval(x) * v for x, v in zip(rows[t][0], y, strict=True)), iv.mpf(0))
             for t in T]
        s = [1 / sum(iv.exp(a[u] - a[t]) for u in T) for t in T]
        f = sum(s[t] * interval(scores[t]) for t in T)
        slope, curve = slopes(loss, f)
        h = [[interval(rows[t][0][k]) for t in T] for k in range(r)]
        mean = [sum(s[t] * h[k][t] for t in T) for k in range(r)]
        pull = [s[t] * (interval(scores[t]) - f) for t in T]
        cov = [sum(pull[t] * (h[k][t] - mean[k]) for t in T) for k in range(r)]
        for k in range(r):
            G[k] += slope * cov[k]
            for m in range(r):
                third = sum(pull[t] * (h[k][t] - mean[k]) * (h[m][t] - mean[m]) for t in T)
                J[k][m] += slope * third - curve * cov[k] * cov[m]
    return G, J


def krawczyk(data, loss, certificate):
    F = coordinates(data, certificate["basis"])
    iv.prec = certificate["precision"] + 16
    c = [interval(number(a)) for a in certificate["center"]]
    C = [[interval(number(a)) for a in row] for row in certificate["preconditioner"]]
    rho = number(certificate["radius"])
    assert rho > 0
    r = range(len(c))
    box = [a + interval(rho) * iv.mpf([-1, 1]) for a in c]
    G, _ = gradient(data, loss, F, c)
    _, J = gradient(data, loss, F, box)
    for k in r:
        defect = abs(sum(C[k][m] * G[m] for m in r)).b
        row = sum(abs((k == m) - sum(C[k][p] * J[p][m] for p in r)).b for m in r)
        assert defect + interval(rho).b * row < interval(rho).a
    if certificate["inertia"] is not None:
        P = [[interval(number(a)) for a in row] for row in certificate["inertia"]["congruence"]]
        A = [[-sum(P[p][k] * J[p][q] * P[q][m] for p in r for q in r) for m in r] for k in r]
        for k in r:
            assert abs(A[k][k]).a > sum((abs(A[k][m]).b for m in r if m != k), mpf(0))
        assert sum(A[k][k].b < 0 for k in r) == certificate["inertia"]["negative"]


# --- simplex_cover --------------------------------------------------------------------------------


def simplex_cover(data, loss, certificate):
    F = coordinates(data, certificate["basis"])
    r = len(certificate["basis"])
    iv.prec = certificate["precision"] + 16
    directions = [list(map(number, c)) for c in certificate["directions"]]
    gamma = oracle.scores(data)
    nodes = iter(certificate["nodes"])
    for b in range(2**r):
        rays = [[0, *((-1 if b >> k & 1 else 1) * int(m == k) for m in range(r))]
                for k in range(r)]
        pending = [[[1] + [0] * r, *rays]]
        while pending:
            cell = pending.pop()
            node = next(nodes)
            if len(node) == 4:
                p, q, alpha, beta = node
                assert p != q and min(p, q) >= 0 and min(alpha, beta) > 0
                g = [alpha * x + beta * y for x, y in zip(cell[p], cell[q], strict=True)]
                pending.append([g if k == q else old for k, old in enumerate(cell)])
                pending.append([g if k == p else old for k, old in enumerate(cell)])
            else:
                leaf(gamma, loss, F, cell, directions[node[0]], node[1:4], node[4:])
    assert next(nodes, None) is None


def extent(cell, function):
    values = [(w, sum((x * y for x, y in zip(function, q, strict=True)), Fraction(0)))
              for w, *q in cell]
    points = [v / w for w, v in values if w]
    rays = [v for w, v in values if not w]
    return (-INFINITE if any(v < 0 for v in rays) else min(points),
            INFINITE if any(v > 0 for v in rays) else max(points))


def exp(value, upward):
    if value == -INFINITE:
        return mpf(0)
    if value == INFINITE:
        return mpf("inf")
    e = iv.exp(interval(value))
    return e.b if upward else e.a


def leaf(gamma, loss, F, cell, c, reference, bases):
    assert len(bases) == len(gamma)
    j, t0, s0 = reference
    assert t0 != s0
    E0 = plus(F[j][t0][bases[j]], F[j][s0][bases[j]])
    total = iv.mpf(0)
    for i, a in enumerate(bases):
        T = range(len(gamma[i]))
        p = {(t, s): (gamma[i][t] - gamma[i][s]) * oracle.dot(F[i][t][s], c)
             for t, s in combinations(T, 2)}
        if not any(p.values()):
            continue
        S = iv.mpf(0)
        for (t, s), value in p.items():
            E = oracle.minus(plus(F[i][t][a], F[i][s][a]), E0)
            low, high = extent(cell, E)
            assert value >= 0 or high < INFINITE
            if value:
                S += interval(value) * iv.mpf(exp(low, False) if value > 0 else exp(high, True))
        below, above = weight(gamma[i], loss, F[i], cell, a)
        total += iv.mpf(min((below * S).a, (above * S).a))
    assert total.a > 0


def plus(x, y):
    return [a + b for a, b in zip(x, y, strict=True)]


def weight(scores, loss, F, cell, a):
    """Bounds of |ℓ'(f)| s_a² over a cell."""
    T = range(len(scores))
    s = []
    for t in T:
        ranges = [extent(cell, F[u][t]) for u in T]
        most = sum((iv.mpf(exp(high, True)) for _, high in ranges), iv.mpf(0)).b
        least = sum((iv.mpf(exp(low, False)) for low, _ in ranges), iv.mpf(0)).a
        s.append(iv.mpf([0 if most == INFINITE else (1 / iv.mpf(most)).a, (1 / iv.mpf(least)).b]))
    f = interval(scores[a]) + sum(interval(scores[t] - scores[a]) * s[t] for t in T)
    f_low = max(f.a, interval(min(scores)).a)
    f_high = min(f.b, interval(max(scores)).b)
    low, high = slopes(loss, iv.mpf(f_high))[0], slopes(loss, iv.mpf(f_low))[0]
    return (low * s[a] ** 2).a, (high * s[a] ** 2).b
