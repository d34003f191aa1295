"""Claims about the solution W^mm_α: exactly known, enclosed, or near a primal-dual pair."""

from __future__ import annotations

from math import gcd

from flint import fmpq, fmpq_mat, fmpz_mat

from conditions.certificates import ExactKKT, KKTEnclosure, PrimalDual, Row, Rows
from conditions.exact.numbers import round_dyadic
from conditions.local_optimality import primal_dual as rounded_pair
from conditions.local_optimality import rivals
from conditions.separation.frobenius import (
    ExactSolution,
    Infeasible,
    Solution,
    solve,
    solve_exactly,
)
from verifier.formal.claims import (
    Claim,
    Definition,
    NotExportedError,
    Subject,
    demand_bits,
    matrix_definition,
)
from verifier.formal.inverses import Inverse
from verifier.formal.separation import dense
from verifier.formal.spelling import (
    integer,
    natural,
    pairs,
    positive,
    scaled,
    scaled_matrix,
    vector,
)

# Coq compares longer fractions entry by entry, without multiplying.
_REDUCED_BITS = 500
_MOST_ROWS = 48
_ROUNDINGS = (60, 120, 240, 480, 960)


def exact_kkt(subject: Subject) -> Claim:
    """The solution by its multipliers or, where their numbers are too long, enclosed."""
    certificate = subject.certificate
    assert isinstance(certificate, ExactKKT)
    try:
        return _exact(subject, certificate)
    except NotExportedError:
        return _rounded(subject)


def _exact(subject: Subject, certificate: ExactKKT) -> Claim:
    multipliers, scale = dense(subject, certificate.multipliers)
    demand_bits([[scale]])
    proof = (matrix_definition("lambda", multipliers),)
    arguments = ("lambda", positive(scale))
    if subject.verdict.condition != "support_indices":
        return _conclusion(subject, certificate.support, "Optimum", "", arguments, proof)
    rows, denominator = _combined(subject, multipliers, scale)
    demand_bits([*rows, [denominator]])
    norm = certificate.norm_squared
    name = f"W_{subject.number}"
    listed = pairs(certificate.support)
    p, q = _fraction(norm)
    statement = (f"{subject.says('optimum', f'(rational {name} {positive(denominator)})')}\n"
                 f"  /\\ {subject.says('support', listed)}\n"
                 f"  /\\ {subject.says('norm_between', _ratio(norm), _ratio(norm))}")
    return Claim(statement, "Optimum", "solution_sound",
                 (*arguments, name, positive(denominator), listed, p, q), proof,
                 (matrix_definition(name, rows),))


def _combined(subject: Subject, multipliers: list[list[int]],
              scale: int) -> tuple[list[list[int]], int]:
    """Σ λφ in integers over one denominator, in lowest terms if they are short."""
    phi = subject.features
    rows, factor = phi.integer_combination(
        range(len(phi)), [fmpq(multipliers[i][t]) for i, t in phi.rows])
    entries, denominator = [[int(x) for x in row] for row in rows.tolist()], scale * int(phi.scale)
    assert factor == 1, "the multipliers are integers"
    if denominator.bit_length() > _REDUCED_BITS:
        return entries, denominator
    common = gcd(denominator, *(x for row in entries for x in row))
    return [[x // common for x in row] for row in entries], denominator // common


def _conclusion(subject: Subject, support: Rows, module: str, suffix: str,
                arguments: tuple[str, ...], proof: tuple[Definition, ...]) -> Claim:
    """`all_support` or `local_optimality`, either way, from the support indices."""
    condition = subject.verdict.condition
    predicate, theorem = {"all_support": ("all_support", "all_support"),
                          "local_optimality": ("locally_optimal", "local")}[condition]
    if subject.holds:
        return Claim(subject.says(predicate), module, f"{theorem}{suffix}_sound", arguments, proof)
    i, t = _witness(subject, support)
    return Claim(subject.says(f"~ {predicate}"), module, f"not_{theorem}{suffix}_sound",
                 (*arguments, natural(i), natural(t)), proof)


def _witness(subject: Subject, support: Rows) -> Row:
    """A row that shows why the condition fails."""
    phi, found = subject.features, set(support)
    if subject.verdict.condition == "all_support":
        return next(row for row in phi.rows if row not in found)
    return next(row for row in rivals(phi) if row in found)


def _rounded(subject: Subject) -> Claim:
    """From the exact solution, whose numbers are too long, what an enclosure proves."""
    solution = solve_exactly(subject.features)
    assert isinstance(solution, ExactSolution)
    phi = subject.features
    positions = sorted(k for k, x in solution.multipliers.items() if x > 0)
    inverse = None
    equal = _with_equals(subject, [phi.rows[k] for k in positions])
    if set(solution.support) == set(equal) and len(positions) <= _MOST_ROWS:
        gram = phi.gram(positions)
        if gram.rank() == len(positions):
            inverse = Inverse.rounded(gram, int(phi.scale) ** 2)
    if inverse is not None:
        for bits in _ROUNDINGS:
            weights = [round_dyadic(solution.multipliers[k], bits) for k in positions]
            enclosed = _Enclosed(subject, positions, weights, inverse)
            if enclosed.proves():
                return enclosed.claim(solution.support)
    return _by_pair(subject, solution)


def _with_equals(subject: Subject, rows: list[Row]) -> list[Row]:
    """All rows whose feature equals that of one of *rows*."""
    phi = subject.features
    deltas, queries = phi.differences.tolist(), phi.queries.tolist()

    def key(k: int) -> tuple[int, ...]:
        return tuple(int(a) * int(b) for a in deltas[k] for b in queries[k])
    known = {key(phi.index[row]) for row in rows}
    return [row for k, row in enumerate(phi.rows) if key(k) in known]


def kkt_enclosure(subject: Subject) -> Claim:
    """The support indices by an approximate inverse of their Gram matrix."""
    certificate = subject.certificate
    assert isinstance(certificate, KKTEnclosure)
    phi = subject.features
    if len(certificate.rows) > _MOST_ROWS:
        # Coq would multiply the inverse and the Gram matrix for minutes.
        solution = solve(subject.dataset, subject.selection)
        if isinstance(solution, Infeasible):
            raise NotExportedError("the solver does not find the solution again")
        return _by_pair(subject, solution)
    positions = [phi.index[row] for row in certificate.rows]
    inverse = Inverse.of(certificate.inverse.entries, certificate.inverse.exponent,
                         phi.gram(positions), int(phi.scale) ** 2)
    enclosed = _Enclosed(subject, positions, list(certificate.multipliers), inverse)
    return enclosed.claim(certificate.support)


class _Enclosed:
    """The certificate of theories/Enclosure.v: rows, rounded multipliers, approximate inverse."""

    def __init__(self, subject: Subject, positions: list[int], multipliers: list[fmpq],
                 inverse: Inverse) -> None:
        self.subject, self.inverse, self.positions = subject, inverse, positions
        phi = subject.features
        self.weights, self.scale = scaled(multipliers)
        self.unit = int(phi.scale) ** 2
        gram = phi.gram(positions)
        residual = fmpz_mat(len(positions), 1, [self.unit * self.scale] * len(positions)) \
            - gram * fmpz_mat(len(positions), 1, self.weights)
        errors = fmpz_mat(inverse.entries) * residual
        self.error = max(abs(inverse.factor * int(x)) for x in errors.entries())
        self.clearance = inverse.over * self.unit - inverse.bound

    def proves(self) -> bool:
        """Whether the multipliers are positive and all other margins exceed 1."""
        if self.clearance <= 0 or any(w * self.clearance <= self.error for w in self.weights):
            return False
        phi, s = self.subject.features, len(self.positions)
        inside = set(_with_equals(self.subject, [phi.rows[k] for k in self.positions]))
        others = [k for k, row in enumerate(phi.rows) if row not in inside]
        gram = phi.gram([*self.positions, *others]).tolist()
        for row in gram[s:]:
            products = [int(x) for x in row[:s]]
            sides = (sum(p * w for p, w in zip(products, self.weights, strict=True)),
                     sum(map(abs, products)))
            if (sides[0] * self.clearance - self.error * sides[1]
                    <= self.unit * self.scale * self.clearance):
                return False
        return True

    def bounds(self) -> tuple[fmpq, fmpq]:
        """Short bounds of ‖W^mm‖² = Σ λ."""
        error = fmpq(len(self.weights) * self.error, self.clearance)
        low, high = ((sum(self.weights) + side * error) / self.scale for side in (-1, 1))
        return _outward(low, -1), _outward(high, 1)

    def claim(self, support: Rows) -> Claim:
        """The claim, given the support indices."""
        subject = self.subject
        demand_bits([self.weights, [self.scale, self.error, self.inverse.bound]])
        rows = [subject.features.rows[k] for k in self.positions]
        proof = (*self.inverse.definitions("A"),
                 Definition("E_rows", "list (nat * nat)", pairs(rows)),
                 Definition("E_weights", "list Z", vector(self.weights)),
                 Definition("E", "enclosure", "Enclosure E_rows E_weights "
                            f"{positive(self.scale)} A {integer(self.error)}"))
        if subject.verdict.condition != "support_indices":
            return _conclusion(subject, support, "Enclosure", "_enclosed", ("E",), proof)
        low, high = self.bounds()
        listed = pairs(support)
        statement = (f"{subject.says('support', listed)}\n"
                     f"  /\\ {subject.says('norm_between', _ratio(low), _ratio(high))}")
        weaker = ("" if subject.verdict.certificate is None
                  or subject.verdict.certificate.kind == "kkt_enclosure"
                  else "the squared norm is enclosed, not exact")
        return Claim(statement, "Enclosure", "support_enclosed_sound",
                     ("E", listed, *_fraction(low), *_fraction(high)), proof, (), weaker)


def primal_dual(subject: Subject) -> Claim:
    """Rows that are no support indices, by the gap of a primal-dual pair."""
    certificate = subject.certificate
    assert isinstance(certificate, PrimalDual)
    return _pair(subject, certificate)


def _pair(subject: Subject, pair: PrimalDual) -> Claim:
    arguments, proof = _pair_arguments(subject, pair)
    if subject.verdict.condition == "local_optimality":
        return Claim(subject.says("locally_optimal"), "PrimalDual", "local_pair_sound", arguments,
                     proof)
    i, t = pair.excluded[0]
    return Claim(subject.says("~ all_support"), "PrimalDual", "not_all_support_pair_sound",
                 (*arguments, natural(i), natural(t)), proof)


def _pair_arguments(subject: Subject, pair: PrimalDual,
                    ) -> tuple[tuple[str, ...], tuple[Definition, ...]]:
    W, scale = scaled_matrix(pair.W)
    demand_bits(W)
    multipliers, factor = dense(subject, pair.multipliers)
    return (("W", positive(scale), "lambda", positive(factor)),
            (matrix_definition("W", W), matrix_definition("lambda", multipliers)))


def _by_pair(subject: Subject, solution: Solution) -> Claim:
    """What a rounded primal-dual pair proves of a solution that Coq cannot be given better."""
    condition = subject.verdict.condition
    phi = subject.features
    if (condition, subject.holds) in (("local_optimality", False), ("all_support", True)):
        raise NotExportedError("the solution is too large for Coq, and bounds do not decide this")
    pair = rounded_pair(solution, rivals(phi) if condition == "local_optimality" else ())
    if pair is not None and condition == "all_support":
        margins = phi.margins(fmpq_mat(list(map(list, pair.W))))
        row = phi.rows[max(range(len(phi)), key=margins.__getitem__)]
        pair = rounded_pair(solution, (row,))
    if pair is None:
        raise NotExportedError("no short primal-dual pair excludes the rows")
    return near_optimum(subject, pair) if condition == "support_indices" else _pair(subject, pair)


def near_optimum(subject: Subject, pair: PrimalDual) -> Claim:
    """W^mm is within a distance of a stated matrix, and its squared norm between bounds."""
    phi = subject.features
    (_, q, *rest), proof = _pair_arguments(subject, pair)
    total = sum((x for *_, x in pair.multipliers), fmpq(0))
    primal = sum((x * x for row in pair.W for x in row), fmpq(0))
    dual = phi.combination([phi.index[i, t] for i, t, _ in pair.multipliers],
                           [x for *_, x in pair.multipliers]).entries()
    low = _outward(2 * total - sum((x * x for x in dual), fmpq(0)), -1)
    high = _outward(primal, 1)
    gap = _outward(primal - 2 * total + sum((x * x for x in dual), fmpq(0)), 1)
    name = f"W_{subject.number}"
    statement = (f"{subject.says('near_optimum', f'(rational {name} {q})', _ratio(gap))}\n"
                 f"  /\\ {subject.says('norm_between', _ratio(low), _ratio(high))}")
    return Claim(statement, "PrimalDual", "near_sound",
                 (name, q, *rest, *_fraction(gap), *_fraction(low), *_fraction(high)), proof[1:],
                 (Definition(name, proof[0].type, proof[0].literal),),
                 "the solution is enclosed; which rows are support indices is not said")


def _fraction(x: fmpq) -> tuple[str, str]:
    p, q = int(x.p), int(x.q)
    demand_bits([[p, q]])
    return (integer(p) if p >= 0 else f"({integer(p)})"), positive(q)


def _ratio(x: fmpq) -> str:
    return f"(ratio {' '.join(_fraction(x))})"


def _outward(x: fmpq, side: int) -> fmpq:
    """A dyadic number of about 60 bits at or beyond *x*, on the side of −∞ (−1) or ∞ (1)."""
    if x == 0:
        return x
    near = round_dyadic(x, 60)
    slack = abs(near) / (1 << 58)
    return near if near == x else near + side * slack
