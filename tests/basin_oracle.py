"""The three basin certificates re-checked in mpmath, written from docs/certificates.md alone.

Support and multipliers come from solving the Gram system of the stated rows; 60 digits stand in
for enclosures.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath as mp

mp.mp.dps = 60


def number(value: Any) -> mp.mpf:
    if isinstance(value, str) and "x" in value:
        value = Fraction(*float.fromhex(value).as_integer_ratio())
    value = Fraction(value)
    return mp.mpf(value.numerator) / value.denominator


class Problem:
    """φ, M, λ and the derived row quantities of a dataset, a selection and a `solution`."""

    def __init__(self, dataset, selection, loss, solution):
        self.n, self.d, self.loss = dataset.n, dataset.d, loss
        tokens = [[[number(Fraction(int(a.p), int(a.q))) for a in x] for x in X]
                  for X in dataset.tokens]
        queries = [[number(Fraction(int(a.p), int(a.q))) for a in z] for z in dataset.queries]
        head = [number(Fraction(int(a.p), int(a.q))) for a in dataset.head]
        score = [[y * sum(a * b for a, b in zip(x, head, strict=True)) for x in X]
                 for X, y in zip(tokens, dataset.labels, strict=True)]
        self.selected = [score[i][a] for i, a in enumerate(selection)]
        self.rows = [(i, t) for i, X in enumerate(tokens) for t in range(len(X))
                     if t != selection[i]]
        self.phi = {(i, t): [(tokens[i][selection[i]][a] - tokens[i][t][a]) * queries[i][b]
                             for a in range(self.d) for b in range(self.d)]
                    for i, t in self.rows}
        self.gap = {(i, t): score[i][selection[i]] - score[i][t] for i, t in self.rows}
        stated = (solution["rows"] if solution["kind"] == "kkt_enclosure"
                  else [x[:2] for x in solution["multipliers"]])
        self.S = [tuple(row) for row in stated]
        self.support = {tuple(row) for row in solution["support"]}
        self.gram = mp.matrix([[self.dot(self.phi[p], self.phi[q]) for q in self.S]
                               for p in self.S])
        self.lam = dict(zip(
            self.S, mp.lu_solve(self.gram, mp.matrix([1] * len(self.S))), strict=True))
        self.M = [sum(self.lam[r] * self.phi[r][k] for r in self.S) for k in range(self.d**2)]
        self.nsq = sum(self.lam.values())
        self.a = {r: mp.mpf(1) if r in self.support else self.dot(self.phi[r], self.M)
                  for r in self.rows}
        self.u = {r: mp.sqrt(self.dot(self.phi[r], self.phi[r])) for r in self.rows}
        self.v = {r: mp.sqrt(max(self.u[r] ** 2 - self.a[r] ** 2 / self.nsq, mp.mpf(0)))
                  for r in self.rows}

    @staticmethod
    def dot(p, q):
        return mp.fsum(a * b for a, b in zip(p, q, strict=True))

    def solved(self) -> bool:
        return all(x > 0 for x in self.lam.values()) and all(
            self.a[r] > 1 + mp.mpf(10) ** -30 for r in self.rows if r not in self.support)

    def slope(self, f):
        return {"logistic": 1 / (1 + mp.exp(f)), "exponential": mp.exp(-f),
                "correlation": mp.mpf(1)}[self.loss]

    def weights(self, lower):
        e = {r: mp.exp(-lower[r]) for r in self.rows}
        D = [mp.fsum(abs(self.gap[r]) * e[r] for r in self.rows if r[0] == i)
             for i in range(self.n)]
        S = [1 / (1 + mp.fsum(e[r] for r in self.rows if r[0] == i)) for i in range(self.n)]
        most = [self.slope(f - x) for f, x in zip(self.selected, D, strict=True)]
        least = [self.slope(f + x) for f, x in zip(self.selected, D, strict=True)]
        return e, D, S, least, most


def cone(p: Problem, rule, eta, s, tau):
    """C, or the name of the condition that fails."""
    if any(p.a[r] - tau * p.v[r] <= 0 for r in p.rows):
        return "i"
    e, D, S, least, most = p.weights({r: s * (p.a[r] - tau * p.v[r]) for r in p.rows})
    worse = [r for r in p.rows if p.gap[r] > 0]
    rivals = [r for r in p.rows if p.gap[r] <= 0]
    if any(s * (p.a[r] - 1 - tau * p.v[r]) <= 1 for r in rivals):
        return "ii"
    if any(D[r[0]] >= p.gap[r] for r in worse) or not set(p.S) <= set(worse):
        return "iii"
    pi = {r: p.lam[r] / p.nsq for r in p.S}
    log_Z = mp.fsum(pi[r] * mp.log(least[r[0]] * S[r[0]] * (p.gap[r] - D[r[0]]) / pi[r])
                    for r in p.S)
    E = mp.log(mp.fsum(most[r[0]] * (p.gap[r] + D[r[0]]) * mp.exp(-s * (p.a[r] - 1))
                       for r in worse)) - log_Z
    A = {r: most[r[0]] * (abs(p.gap[r]) + D[r[0]]) / mp.exp(log_Z)
         * mp.exp(-s * (p.a[r] - 1 - tau * p.v[r])) for r in rivals}
    eps_a = mp.fsum(A[r] * p.a[r] for r in rivals)
    eps_v = mp.fsum(A[r] * p.v[r] for r in rivals)
    if eps_a >= 1:
        return "iv"
    sigma = {"normalized": eta, "flow": mp.mpf(0), "plain": eta / p.n * mp.fsum(
        most[r[0]] * (abs(p.gap[r]) + D[r[0]]) * p.v[r] * e[r] for r in p.rows)}[rule]
    v_bar = max(p.v[r] for r in worse)
    return p.nsq * (E + s * tau * eps_v + sigma * (v_bar + eps_v) / 2) / (1 - eps_a)


def start(p: Problem, data):
    W = [number(x) for row in data["iterate"] for x in row]
    return W, {r: p.dot(p.phi[r], W) for r in p.rows}


def accepts(dataset, selection, loss, data) -> bool:
    """Whether the certificate (in JSON form) passes."""
    p = Problem(dataset, selection, loss, data["solution"])
    if not p.solved():
        return False
    s, eta, rule = number(data["clock"]), number(data["step"]), data["rule"]
    if data["kind"] == "basin_residual":
        return residual(p, rule, eta, data)
    tau = number(data["slope"])
    C = cone(p, rule, eta, s, tau)
    if isinstance(C, str):
        return False
    if data["kind"] == "basin_cone":
        mu, R = number(data["aperture"]), number(data["radius"])
        return (s * mp.sqrt(p.nsq) <= (1 - mu) * R and tau**2 * s > C
                and tau * (1 - mu) >= mp.sqrt(p.nsq * mu * (2 - mu)))
    W, _ = start(p, data)
    rho = number(data["radius"])
    clock = p.dot(W, p.M) / p.nsq
    rest = [x - clock * y for x, y in zip(W, p.M, strict=True)]
    across = mp.sqrt(p.dot(rest, rest)) + rho
    return (clock - rho / mp.sqrt(p.nsq) >= s and across < tau * s
            and (tau**2 * s > C or tau**2 * (2 * C * s - across**2) > C**2))


def residual(p: Problem, rule, eta, data) -> bool:
    s, B, Z, rho = (number(data[k]) for k in ("clock", "ball", "drift", "radius"))
    low, high = (number(x) for x in data["eigenvalues"])
    same = {r: next((q for q in p.S if p.phi[q] == p.phi[r]), None) for r in p.rows}
    if {r for r in p.rows if same[r]} != p.support or any(p.gap[r] <= 0 for r in p.support):
        return False
    off = [r for r in p.rows if not same[r]]
    k = len(p.S)
    for sign, mu, shift in ((1, low, low / p.nsq), (-1, high, 1 / p.nsq)):
        A = mp.matrix(k, k)
        for i in range(k):
            for j in range(k):
                A[i, j] = sign * p.gram[i, j] + shift
            A[i, i] -= sign * mu / p.lam[p.S[i]]
        if min(mp.eigsy(A, eigvals_only=True)) <= 0:
            return False
    limit = [p.slope(f) for f in p.selected]
    offset = {q: mp.log(mp.fsum(limit[r[0]] * p.gap[r] for r in p.support if same[r] == q)
                   / p.n / p.lam[q]) for q in p.S}
    _, m = start(p, data)
    star = mp.fsum(p.lam[q] * (m[q] - offset[q]) for q in p.S) / p.nsq
    e = mp.matrix([m[q] - star - offset[q] for q in p.S])
    y = mp.lu_solve(p.gram, e)
    size = mp.sqrt(max((e.T * y)[0], mp.mpf(0)))
    t = {r: m[r] - mp.fsum(p.dot(p.phi[r], p.phi[q]) * y[j] for j, q in enumerate(p.S)) - star
         - p.u[r] * rho - p.v[r] * (B + Z) for r in off}
    lower = {r: s + t[r] if r in t else s + offset[same[r]] - p.v[same[r]] * B for r in p.rows}
    _, D, S, least, most = p.weights(lower)
    up = {q: max(most[r[0]] * (p.gap[r] + D[r[0]]) / (limit[r[0]] * p.gap[r]) - 1
                 for r in p.support if same[r] == q) for q in p.S}
    down = {q: max(1 - least[r[0]] * S[r[0]] * (p.gap[r] - D[r[0]]) / (limit[r[0]] * p.gap[r])
                   for r in p.support if same[r] == q) for q in p.S}
    mid = (max(up.values()) - max(down.values())) / 2
    A = {r: most[r[0]] * (abs(p.gap[r]) + D[r[0]]) / p.n * mp.exp(-t[r]) for r in off}
    pace = 1 - max(down.values()) - mp.fsum(A[r] * p.a[r] for r in off) / p.nsq
    if pace <= 0 or mid <= -1:
        return False
    P = mp.fsum(p.lam[q] * mp.exp(p.v[q] * B) * max(up[q] - mid, down[q] + mid) * p.v[q]
                for q in p.S) + mp.fsum(A[r] * p.v[r] for r in off)
    h = {"normalized": eta / (mp.sqrt(p.nsq) * pace), "plain": eta * mp.exp(-s),
         "flow": mp.mpf(0)}[rule]
    top = max(p.v[q] for q in p.S)
    low_B, high_B = low * mp.exp(-top * B / 2), high * (1 + mp.exp(top * B)) / 2
    return (s <= star - rho / mp.sqrt(p.nsq) and size + rho <= B and (1 + mid) * low_B * B > P
            and mp.fsum(A[r] * p.v[r] * (1 / (pace * (p.a[r] - 1)) + h) for r in off) < Z
            and h * (1 + mid) * (low_B + high_B) < 2)
