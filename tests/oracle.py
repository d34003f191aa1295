"""Brute-force exact oracle for tiny datasets, independent of the packages under test.

Standard library only. Everything is decided by enumerating subsets of rows over the rationals, so
the cost is exponential in the number of rows: meant for n, T, d up to 3. A dataset is a tuple
``(X, Y, z, v)``: n samples of T_i tokens of d numbers, n labels in {-1, 1}, n queries and one head
of d numbers, all integers or fractions. A selection is a sequence of n token indices; a row is a
pair ``(i, t)`` with ``t`` not selected in sample ``i``.
"""

from __future__ import annotations

import decimal
import math
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any, NamedTuple

Vector = list[Fraction]
Row = tuple[int, int]
Data = tuple[Any, Any, Any, Any]

LOSSES = ("logistic", "exponential", "correlation")
KINDS = (
    "plain",
    "duplicate tokens",
    "zero query",
    "shared query",
    "opposite query",
    "flat sample",
    "self-attention",
)


class MaxMargin(NamedTuple):
    """W^mm (d x d), its squared norm, every row of margin exactly 1, one set of multipliers > 0."""

    W: list[Vector]
    norm_squared: Fraction
    support_rows: list[Row]
    multipliers: dict[Row, Fraction]


# --- Linear algebra over the rationals ------------------------------------------------------------


def dot(a: Sequence[Any], b: Sequence[Any]) -> Fraction:
    return sum((Fraction(p) * Fraction(q) for p, q in zip(a, b, strict=True)), Fraction(0))


def reduced(matrix: Sequence[Sequence[Any]]) -> tuple[list[Vector], list[int]]:
    """Reduced row echelon form without zero rows, and its pivot columns."""
    rows = [[Fraction(entry) for entry in row] for row in matrix]
    pivots: list[int] = []
    for column in range(len(rows[0]) if rows else 0):
        top = len(pivots)
        found = next((r for r in range(top, len(rows)) if rows[r][column] != 0), None)
        if found is None:
            continue
        rows[top], rows[found] = rows[found], rows[top]
        rows[top] = [entry / rows[top][column] for entry in rows[top]]
        for r in range(len(rows)):
            if r != top:
                factor = rows[r][column]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[top], strict=True)]
        pivots.append(column)
    return rows[: len(pivots)], pivots


def rank(matrix: Sequence[Sequence[Any]]) -> int:
    return len(reduced(matrix)[1])


def dependencies(rows: Sequence[Sequence[Any]]) -> list[Vector]:
    """Basis of the coefficient vectors c with sum c_k rows[k] = 0."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    echelon, pivots = reduced(columns)
    basis = []
    for free in (k for k in range(len(rows)) if k not in pivots):
        vector = [Fraction(0)] * len(rows)
        vector[free] = Fraction(1)
        for pivot, row in zip(pivots, echelon, strict=True):
            vector[pivot] = -row[free]
        basis.append(vector)
    return basis


def solve(matrix: Sequence[Sequence[Any]], right: Sequence[Any]) -> Vector:
    """Solution of a nonsingular square system."""
    echelon, pivots = reduced([[*row, b] for row, b in zip(matrix, right, strict=True)])
    if pivots != list(range(len(matrix))):
        raise ValueError("singular system")
    return [row[-1] for row in echelon]


# --- Systems of homogeneous inequalities ----------------------------------------------------------


def positive_circuits(rows: Sequence[Sequence[Any]]) -> Iterator[tuple[int, ...]]:
    """Minimal dependent subsets whose dependency can be taken strictly positive.

    Every vector c >= 0 with sum c_k rows[k] = 0 is a sum of nonnegative multiples of these
    (Carathéodory), so they decide Gordan's and Stiemke's alternatives.
    """
    for size in range(1, min(len(rows), rank(rows) + 1) + 1):
        for subset in combinations(range(len(rows)), size):
            basis = dependencies([rows[k] for k in subset])
            # One entry of a basis vector is 1, so a strictly negative one cannot occur.
            if len(basis) == 1 and min(basis[0]) > 0:
                yield subset


def strictly_solvable(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether some x has rows[k]·x > 0 for every k (Gordan: iff no positive circuit exists)."""
    return next(positive_circuits(rows), None) is None


def weakly_solvable(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether some x has rows[k]·x >= 0 for every k and > 0 for one of them.

    Stiemke: iff no strictly positive c has sum c_k rows[k] = 0, that is, iff the positive circuits
    do not cover all rows.
    """
    covered = {k for circuit in positive_circuits(rows) for k in circuit}
    return len(covered) < len(rows)


def eliminate(weak: Sequence[Sequence[Any]], strict: Sequence[Sequence[Any]]) -> bool:
    """Whether some x has a·x >= 0 for a in ``weak`` and a·x > 0 for a in ``strict``.

    Fourier–Motzkin elimination, a second way to the two answers above. A combination that descends
    from more than k + 1 of the given rows after k eliminations is not an extreme one and is dropped
    (Kohler); the parts it is the sum of stay, and one of them is strict if it is.
    """
    given = [(row, False) for row in weak] + [(row, True) for row in strict]
    system = {
        (primitive(row), is_strict, frozenset({k})) for k, (row, is_strict) in enumerate(given)
    }
    for column in range(len(given[0][0]) if given else 0):
        kept = {entry for entry in system if entry[0][column] == 0}
        above = [entry for entry in system if entry[0][column] > 0]
        below = [entry for entry in system if entry[0][column] < 0]
        for (a, a_strict, a_from), (b, b_strict, b_from) in product(above, below):
            ancestors = a_from | b_from
            if len(ancestors) <= column + 2:
                row = [a[column] * q - b[column] * p for p, q in zip(a, b, strict=True)]
                kept.add((primitive(row), a_strict or b_strict, ancestors))
        system = kept
    return not any(is_strict for _, is_strict, _ in system)


def primitive(row: Sequence[Any]) -> tuple[int, ...]:
    """The positive multiple of a rational vector with coprime integer entries."""
    exact = [Fraction(entry) for entry in row]
    scale = math.lcm(*(entry.denominator for entry in exact))
    integers = [int(entry * scale) for entry in exact]
    divisor = math.gcd(*integers) or 1
    return tuple(entry // divisor for entry in integers)


# --- Scores and selections ------------------------------------------------------------------------


def scores(data: Data) -> list[Vector]:
    """γ_it = Y_i v·x_it."""
    X, Y, _, v = data
    return [[label * dot(v, token) for token in tokens] for tokens, label in zip(X, Y, strict=True)]


def unique_optimum(data: Data) -> bool:
    return all(sample.count(max(sample)) == 1 for sample in scores(data))


def equal_scores(data: Data) -> bool:
    """In every sample all tokens below the largest score share one score (B.2)."""
    return all(len(set(sample) - {max(sample)}) <= 1 for sample in scores(data))


def flat_samples(data: Data) -> list[int]:
    return [i for i, sample in enumerate(scores(data)) if len(set(sample)) == 1]


def optimal_selection(data: Data) -> tuple[int, ...]:
    """The token of largest score in every sample, lowest index on ties."""
    return tuple(sample.index(max(sample)) for sample in scores(data))


def selections(data: Data) -> list[tuple[int, ...]]:
    return list(product(*(range(len(tokens)) for tokens in data[0])))


# --- Att-SVM(α) -----------------------------------------------------------------------------------


def rejected(data: Data, alpha: Sequence[int]) -> list[Row]:
    return [(i, t) for i, tokens in enumerate(data[0]) for t in range(len(tokens)) if t != alpha[i]]


def outer(x: Sequence[Any], z: Sequence[Any]) -> Vector:
    return [Fraction(a) * Fraction(b) for a in x for b in z]


def minus(x: Sequence[Any], y: Sequence[Any]) -> Vector:
    return [Fraction(a) - Fraction(b) for a, b in zip(x, y, strict=True)]


def features(data: Data, alpha: Sequence[int]) -> dict[Row, Vector]:
    """vec((x_{iα_i} − x_it) z_iᵀ) for every rejected token."""
    X, _, z, _ = data
    return {(i, t): outer(minus(X[i][alpha[i]], X[i][t]), z[i]) for i, t in rejected(data, alpha)}


def feasible(data: Data, alpha: Sequence[int]) -> bool:
    """Whether some W has every margin > 0."""
    return strictly_solvable(list(features(data, alpha).values()))


def kkt_points(data: Data, alpha: Sequence[int]) -> list[tuple[Vector, dict[Row, Fraction]]]:
    """All (W, λ) with W = Σλφ, margins >= 1, λ >= 0 and margin 1 on an independent set S ⊇ supp λ.

    These λ are the vertices of the set of optimal multipliers, so the list is empty exactly when
    Att-SVM(α) is infeasible, and every W in it is W^mm. λ has an entry for every row of S.
    """
    phi = features(data, alpha)
    points = []
    for size in range(1, len(phi) + 1):
        for S in combinations(phi, size):
            if rank([phi[row] for row in S]) < size:
                continue
            gram = [[dot(phi[a], phi[b]) for b in S] for a in S]
            multipliers = dict(zip(S, solve(gram, [1] * size), strict=True))
            W = [
                dot(multipliers.values(), [phi[row][k] for row in S]) for k in range(len(phi[S[0]]))
            ]
            if min(multipliers.values()) >= 0 and all(dot(f, W) >= 1 for f in phi.values()):
                points.append((W, multipliers))
    return points


def max_margin(data: Data, alpha: Sequence[int]) -> MaxMargin | None:
    """W^mm_α, or None when no W has margins >= 1."""
    points = kkt_points(data, alpha)
    if not points:
        return None
    W, multipliers = points[0]
    if any(other != W for other, _ in points):
        raise AssertionError("the minimizer of a strictly convex function is unique")
    if dot(W, W) != sum(multipliers.values()):
        raise AssertionError("‖W^mm‖² is the sum of the multipliers")
    d = len(data[3])
    return MaxMargin(
        [W[k : k + d] for k in range(0, d * d, d)],
        dot(W, W),
        [row for row, phi in features(data, alpha).items() if dot(phi, W) == 1],
        {row: value for row, value in multipliers.items() if value > 0},
    )


def weak_support(data: Data, alpha: Sequence[int]) -> list[Row]:
    """Support rows whose multiplier is 0 in every optimal set of multipliers."""
    solution = max_margin(data, alpha)
    if solution is None:
        return []
    points = kkt_points(data, alpha)
    return [row for row in solution.support_rows if all(m.get(row, 0) == 0 for _, m in points)]


def all_support(data: Data, alpha: Sequence[int]) -> bool:
    solution = max_margin(data, alpha)
    return solution is not None and solution.support_rows == rejected(data, alpha)


def locally_optimal(data: Data, alpha: Sequence[int]) -> bool:
    """W^mm_α exists and every support row has a score strictly below the selected token's."""
    solution = max_margin(data, alpha)
    gamma = scores(data)
    return solution is not None and all(
        gamma[i][alpha[i]] > gamma[i][t] for i, t in solution.support_rows
    )


def solution_rank(data: Data, alpha: Sequence[int]) -> int | None:
    """Rank of W^mm_α, None when there is none."""
    solution = max_margin(data, alpha)
    return None if solution is None else rank(solution.W)


def full_row_rank(data: Data) -> bool:
    """Whether the features (for one selection, hence for all) are linearly independent."""
    phi = features(data, [0] * len(data[0]))
    return rank(list(phi.values())) == len(phi)


# --- The gradient at W = 0 ------------------------------------------------------------------------


def uniform_score(sample: Sequence[Fraction]) -> Fraction:
    """f_i(0): the softmax of zeros is uniform."""
    return sum(sample, Fraction(0)) / len(sample)


def pull(data: Data, direction: Sequence[Any]) -> list[tuple[Fraction, Fraction]]:
    """Pairs (q_i, f_i) with ⟨−n∇L(0), V⟩ = Σ_i |ℓ'(f_i)| q_i, V given as d² numbers."""
    X, _, z, _ = data
    terms = []
    for tokens, query, sample in zip(X, z, scores(data), strict=True):
        f = uniform_score(sample)
        weighted = [
            (score - f) / len(sample) * dot(outer(token, query), direction)
            for token, score in zip(tokens, sample, strict=True)
        ]
        terms.append((sum(weighted, Fraction(0)), f))
    return terms


def multiply(a: dict[int, Fraction], b: dict[int, Fraction]) -> dict[int, Fraction]:
    """Product of two Laurent polynomials, given as coefficients by exponent."""
    result: dict[int, Fraction] = {}
    for (p, x), (q, y) in product(a.items(), b.items()):
        result[p + q] = result.get(p + q, Fraction(0)) + x * y
    return result


def vanishes(terms: Sequence[tuple[Fraction, Fraction]], loss: str) -> bool:
    """Whether Σ q |ℓ'(f)| over the pairs (q, f) is exactly 0.

    With D a common denominator of the f and x = e^{1/D}, which is transcendental, the sum times
    Π(1 + x^{Df}) for the logistic loss, and the sum itself for the exponential one, is a Laurent
    polynomial in x with rational coefficients: it is 0 iff all its coefficients are.
    """
    if loss == "correlation":
        return sum(q for q, _ in terms) == 0
    D = math.lcm(*(f.denominator for _, f in terms))
    total: dict[int, Fraction] = {}
    for k, (q, f) in enumerate(terms):
        if loss == "exponential":
            summand = {-int(f * D): q}
        else:
            summand = {0: q}
            for j, (_, other) in enumerate(terms):
                if j != k:
                    summand = multiply(summand, one_plus_power(int(other * D)))
        for exponent, coefficient in summand.items():
            total[exponent] = total.get(exponent, Fraction(0)) + coefficient
    return not any(total.values())


def one_plus_power(exponent: int) -> dict[int, Fraction]:
    """1 + x^exponent."""
    return {0: Fraction(2)} if exponent == 0 else {0: Fraction(1), exponent: Fraction(1)}


def sign(terms: Sequence[tuple[Fraction, Fraction]], loss: str) -> int:
    """Sign of Σ q |ℓ'(f)| over the pairs (q, f).

    Raises ArithmeticError if 200 digits leave a sum below 1e-100 of its largest term that
    ``vanishes`` does not prove to be zero.
    """
    if vanishes(terms, loss):
        return 0
    if loss == "correlation":
        return 1 if sum(q for q, _ in terms) > 0 else -1
    if any(abs(f) > 10**6 for _, f in terms):
        raise ArithmeticError("score too large for the oracle")
    with decimal.localcontext(decimal.Context(prec=200)):
        summands = []
        for q, f in terms:
            power = (decimal.Decimal(f.numerator) / decimal.Decimal(f.denominator)).exp()
            slope = 1 / power if loss == "exponential" else 1 / (1 + power)
            summands.append(decimal.Decimal(q.numerator) / decimal.Decimal(q.denominator) * slope)
        total = sum(summands, decimal.Decimal(0))
        if abs(total) < max(abs(s) for s in summands) * decimal.Decimal("1e-100"):
            raise ArithmeticError("a tie that 200 digits do not separate")
        return 1 if total > 0 else -1


def first_step_sign(data: Data, alpha: Sequence[int], loss: str) -> dict[Row, int]:
    """Sign of every margin of −∇L(0) under α."""
    return {row: sign(pull(data, phi), loss) for row, phi in features(data, alpha).items()}


def first_step_separates(data: Data, loss: str) -> bool:
    """The optimum is unique and every margin of −∇L(0) is > 0 under it (C)."""
    signs = first_step_sign(data, optimal_selection(data), loss)
    return unique_optimum(data) and all(s > 0 for s in signs.values())


def gradient_is_zero_at_zero(data: Data, loss: str) -> bool:
    size = len(data[3]) ** 2
    units = [[int(k == m) for m in range(size)] for k in range(size)]
    return all(vanishes(pull(data, unit), loss) for unit in units)


# --- Absence of stationary points -----------------------------------------------------------------


def monotone_rows(data: Data) -> list[Vector]:
    """(γ_it − γ_iτ) vec((x_it − x_iτ) z_iᵀ) for all i and t < τ."""
    X, _, z, _ = data
    gamma = scores(data)
    return [
        [(gamma[i][t] - gamma[i][u]) * entry for entry in outer(minus(X[i][t], X[i][u]), z[i])]
        for i in range(len(X))
        for t, u in combinations(range(len(X[i])), 2)
    ]


def monotone_direction_exists(data: Data) -> bool:
    """Some D has (γ_it − γ_iτ)(h_it − h_iτ) >= 0 for all pairs and > 0 for one (S2)."""
    return weakly_solvable(monotone_rows(data))


def signed_queries(data: Data) -> list[Vector]:
    """Y_i z_i of the samples that are not flat."""
    _, Y, z, _ = data
    flat = flat_samples(data)
    return [[Y[i] * Fraction(c) for c in z[i]] for i in range(len(Y)) if i not in flat]


def separable_queries(data: Data) -> bool:
    """Some u has Y_i u·z_i >= 0 for every sample that is not flat and > 0 for one (S2a)."""
    return weakly_solvable(signed_queries(data))


# --- Datasets -------------------------------------------------------------------------------------


def integer_datasets(
    n: int,
    T: int,
    d: int,
    entries: Sequence[int] = (-1, 0, 1),
    count: int = 70,
    seed: int = 0,
    ragged: bool = False,
) -> Iterator[Data]:
    """``count`` random datasets, one of each of ``KINDS`` in turn; labels ±1.

    ``opposite query`` makes one query the negative of another (of itself if n = 1), so ``entries``
    should be symmetric. With ``ragged`` every sample keeps a random number of tokens from 2 to T.
    """
    draw = random.Random(seed)
    for index in range(count):
        v = [draw.choice(entries) for _ in range(d)]
        Y = [draw.choice((-1, 1)) for _ in range(n)]
        z = [[draw.choice(entries) for _ in range(d)] for _ in range(n)]
        X = [[[draw.choice(entries) for _ in range(d)] for _ in range(T)] for _ in range(n)]
        i, j = draw.sample(range(n), 2) if n > 1 else (0, 0)
        kind = KINDS[index % len(KINDS)]
        if kind == "duplicate tokens":
            t, u = draw.sample(range(T), 2)
            X[i][t] = list(X[i][u])
        elif kind == "zero query":
            z[i] = [0] * d
        elif kind == "shared query":
            z = [list(z[0]) for _ in range(n)]
        elif kind == "opposite query":
            z[i] = [-entry for entry in z[j]]
        elif kind == "flat sample":
            level = dot(v, X[i][0])
            tokens = [x for x in product(entries, repeat=d) if dot(v, x) == level]
            X[i] = [list(draw.choice(tokens)) for _ in range(T)]
        elif kind == "self-attention":
            z = [list(draw.choice(tokens)) for tokens in X]
        if ragged:
            X = [tokens[: draw.randint(2, T)] for tokens in X]
        yield X, Y, z, v
