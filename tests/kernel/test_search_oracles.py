"""Trees, covers and boxes against other means: the provers, exact fractions, floats."""

import itertools
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from conditions import (
    AttentionDataset,
    assumption_d,
    directions,
    no_stationary_point,
    only_local_optimum,
)
from conditions.stationary import decision_tree, simplex_cover
from conditions.stationary.outcome import NotExcluded
from conditions.verdict import Evidence, Status
from verifier.certify import dataset_to_json, verdict_to_json
from verifier.kernel import check_text
from verifier.kernel.bounds import inverse_down, inverse_up, mean_score, sum_down
from verifier.kernel.claim import Claim
from verifier.kernel.data import Dataset
from verifier.kernel.kinds.direction_tree import _Multipliers
from verifier.kernel.kinds.exceptional_selection import Splitting
from verifier.kernel.kinds.krawczyk import _Box
from verifier.kernel.reading import Node
from verifier.kernel.refusals import Refusal
from verifier.kernel.row_space import read_basis

from .builders import changed, document, text

LOSSES = ("logistic", "exponential", "correlation")


def random_data(generator, n, T, d, size=2):
    def vector():
        return [generator.randint(-size, size) for _ in range(d)]
    shared = vector()
    return {"X": [[vector() for _ in range(T)] for _ in range(n)],
            "Y": [generator.choice([1, -1]) for _ in range(n)], "z": [shared] * n, "v": vector()}


def build(data):
    return AttentionDataset.build(data["X"], data["Y"], data["z"], data["v"])


def checked(dataset, verdict):
    return check_text(text(document(dataset_to_json(dataset), verdict_to_json(verdict))))


def stationary(loss, seed, count, shape):
    """Random datasets with the prover's verdict on stationary points."""
    generator = random.Random(seed)
    for _ in range(count):
        dataset = build(random_data(generator, *shape))
        yield dataset, no_stationary_point.decide(dataset, loss, 400)


@pytest.mark.parametrize(("loss", "shape"), [
    ("logistic", (2, 3, 2)), ("exponential", (3, 3, 2)), ("correlation", (2, 4, 2))])
def test_stationary_certificates_are_accepted_and_do_not_fit_the_opposite(loss, shape):
    proofs, zeros = [], []
    for dataset, verdict in stationary(loss, 17, 40, shape):
        if verdict.certificate is None:
            continue
        assert checked(dataset, verdict).refusals == ()
        if verdict.certificate.kind == "krawczyk":
            zeros.append(dataset_to_json(dataset))
        elif verdict.status is Status.HOLDS:
            # The slower proofs, also where a plain one was enough.
            for found in (simplex_cover.proof(dataset, loss, 200),
                          decision_tree.proof(dataset, 50)):
                if not isinstance(found, NotExcluded):
                    again = replace(verdict, certificate=found, evidence=Evidence(found.evidence))
                    assert checked(dataset, again).refusals == ()
                    proofs.append(verdict_to_json(again))
    kinds = [spelled["certificate"]["kind"] for spelled in proofs]
    assert min(len(zeros), kinds.count("simplex_cover"), kinds.count("decision_tree")) > 2
    # Where the gradient has a zero no proof that it has none may pass.
    for data, proof in itertools.product(zeros, proofs):
        assert not check_text(text(document(data, proof))).accepted


def test_a_box_holds_the_zero_or_is_refused():
    generator = random.Random(3)
    accepted = refused = 0
    for dataset, verdict in stationary("logistic", 5, 40, (2, 3, 2)):
        if verdict.certificate is None or verdict.certificate.kind != "krawczyk":
            continue
        spelled = verdict_to_json(verdict)
        certificate = spelled["certificate"]
        center = [Fraction(float.fromhex(c)) if isinstance(c, str) else Fraction(c)
                  for c in certificate["center"]]
        for _ in range(6):
            radius = Fraction(1, 2**generator.randint(4, 24))
            k, by = generator.randrange(len(center)), Fraction(1, 2**generator.randint(4, 24))
            moved = [c + by * (j == k) for j, c in enumerate(center)]
            new = changed(changed(spelled, ("certificate", "radius"), str(radius)),
                          ("certificate", "center"), [str(c) for c in moved])
            if check_text(text(document(dataset_to_json(dataset), new))).accepted:
                accepted += 1
                # The zero lies within the prover's radius of its center, about 2^-20 or less.
                assert by < radius + Fraction(1, 2**10)
            else:
                refused += 1
                assert by > radius / 4 or radius > Fraction(1, 2**14)
    assert accepted > 10 and refused > 10


@pytest.mark.parametrize("loss", LOSSES)
def test_gradient_and_jacobian_against_differences(loss):
    rng = np.random.default_rng(2)
    X, Y = rng.integers(-2, 3, (3, 3, 2)), [1, -1, 1]
    Z, v = rng.integers(-2, 3, (3, 2)), rng.integers(-2, 3, 2)
    data = {"X": X.tolist(), "Y": Y, "z": Z.tolist(), "v": v.tolist()}
    claim = Claim(Dataset.read(Node(data)), "no_stationary_point", "fails", None, loss)
    rows = [[i, t] for i in range(3) for t in (1, 2)]
    basis = next(list(chosen) for size in range(6, 0, -1)
                 for chosen in itertools.combinations(rows, size) if spans(claim, chosen))
    space = read_basis(Node(basis), claim)
    B = [np.outer(X[i, 0] - X[i, t], Z[i]) for i, t in basis]

    def G(y):
        W = sum(a * b for a, b in zip(y, B, strict=True))
        total = np.zeros(len(B))
        for i in range(3):
            logits = X[i] @ W @ Z[i]
            s = np.exp(logits - logits.max())
            s /= s.sum()
            gamma = Y[i] * X[i] @ v
            f = gamma @ s
            slope = {"logistic": 1 / (1 + np.exp(f)), "exponential": np.exp(-f),
                     "correlation": 1.0}[loss]
            for k, b in enumerate(B):
                h = X[i] @ b @ Z[i]
                total[k] += slope * (s @ (h * gamma) - (s @ h) * f)
        return total

    y = [Fraction(k - 2, 8) for k in range(len(B))]
    at = np.array([float(c) for c in y])
    for radius in (Fraction(0), Fraction(1, 256)):
        box = _Box(claim, space, y, radius, 128)
        point = at + float(radius) * rng.uniform(-1, 1, len(B))
        jacobian = np.array([(G(point + e) - G(point - e)) / 2e-5
                             for e in 1e-5 * np.eye(len(B))]).T
        for enclosed, true in zip(box.gradient(), G(point), strict=True):
            assert inside(enclosed, true)
        for row, trues in zip(box.jacobian(), jacobian, strict=True):
            for enclosed, true in zip(row, trues, strict=True):
                assert inside(enclosed, true)
                assert radius or width(enclosed) < 1e-30


def spans(claim, chosen):
    try:
        return bool(read_basis(Node(list(chosen)), claim))
    except Refusal:
        return False


def inside(x, value):
    unit = Fraction(2)**x.exponent
    return x.lo * unit - Fraction(1, 10**6) <= Fraction(value) <= x.hi * unit + Fraction(1, 10**6)


def width(x):
    return float((x.hi - x.lo) * Fraction(2)**x.exponent)


@pytest.mark.parametrize("decide", [directions, only_local_optimum, assumption_d])
def test_selection_certificates_are_accepted(decide):
    generator = random.Random(23)
    kinds = set()
    for n, T, d in ((2, 3, 2), (3, 3, 3), (3, 2, 2), (2, 4, 3)):
        for _ in range(12):
            dataset = build(random_data(generator, n, T, d))
            verdict = decide.decide(dataset)
            assert checked(dataset, verdict).refusals == ()
            kinds.add(verdict.certificate.kind)
    assert "direction_tree" in kinds


def test_bounds_are_bounds():
    generator = random.Random(9)
    for _ in range(400):
        bits = generator.randint(8, 40)
        size = 10**generator.randint(1, 12)
        ends = [(generator.randint(-size, size), generator.randint(-80, 80))
                for _ in range(generator.randint(1, 6))]
        exact = sum((m * Fraction(2)**e for m, e in ends), Fraction(0))
        m, e = sum_down(ends, bits)
        largest = max(abs(m * Fraction(2)**e) for m, e in ends)
        assert 0 <= exact - m * Fraction(2)**e <= 4 * largest / 2**bits * len(ends)
        positive = abs(ends[0][0]) + 1, ends[0][1]
        inverse = 1 / (positive[0] * Fraction(2)**positive[1])
        (a, e), (b, f) = inverse_down(positive, bits), inverse_up(positive, bits)
        assert a * Fraction(2)**e <= inverse <= b * Fraction(2)**f
        assert b * Fraction(2)**f - a * Fraction(2)**e <= inverse / 2**(bits - 2)
        assert m.bit_length() <= max(bits, 1)
    # Far apart, and nothing at all.
    assert sum_down([(1, 10**12), (-1, -10**12)], 16)[0] > 0
    assert sum_down([], 16)[0] == 0


def test_mean_scores_are_between():
    generator = random.Random(4)
    for _ in range(200):
        T = generator.randint(2, 5)
        scores = [Fraction(generator.randint(-9, 9), generator.randint(1, 5)) for _ in range(T)]
        parts = [generator.randint(1, 100) for _ in range(T)]
        weights = [Fraction(x, sum(parts)) for x in parts]
        slack = generator.choice([0, 3])
        ends = [((int(w * 2**30) - slack, -30), (int(w * 2**30) + 1 + slack, -30))
                for w in weights]
        mean = sum(w * x for w, x in zip(weights, scores, strict=True))
        low, high = mean_score(scores, generator.randrange(T), ends, 40)
        assert min(scores) <= low <= mean <= high <= max(scores)
        assert high - low <= Fraction(T * 20 * (2 * slack + 2), 2**30)


@pytest.mark.parametrize("floats", [False, True])
def test_multipliers_decide_as_fractions_do(floats):
    rng = np.random.default_rng(6)
    generator = random.Random(6)
    counts = {True: 0, False: 0}
    for _ in range(12):
        X = rng.standard_normal((2, 3, 2)) if floats else rng.integers(-2, 3, (2, 3, 2))
        Z = rng.standard_normal((2, 2)) if floats else rng.integers(-2, 3, (2, 2))
        v = rng.integers(-2, 3, 2)
        spell = (lambda x: float(x).hex()) if floats else int
        data = {"X": [[[spell(x) for x in t] for t in s] for s in X], "Y": [1, -1],
                "z": [[spell(x) for x in q] for q in Z], "v": v.tolist()}
        claim = Claim(Dataset.read(Node(data)), "directions", "holds", None, None)
        multipliers = _Multipliers(Splitting(claim, None))
        for alpha in itertools.product(range(3), repeat=2):
            for _ in range(4):
                width = generator.choice([1, 2, 6])
                closes, entry = by_fractions(claim.dataset, alpha, width, generator)
                try:
                    multipliers.check(alpha, entry, Node(entry))
                    found = True
                except Refusal as refusal:
                    found = False
                    assert refusal.code.name == "NOT_CLOSED"
                assert found == closes
                counts[found] += 1
    assert min(counts.values()) > 30


def by_fractions(dataset, alpha, width, generator):
    """A random entry for a selection, and whether it closes it."""
    scores = dataset.scores
    rows = [(i, t) for i in range(dataset.n) for t in range(3) if t != alpha[i]]
    phi = {(i, t): [(a - b) * q for a, b in zip(dataset.tokens[i][alpha[i]], dataset.tokens[i][t],
                                                strict=True) for q in dataset.queries[i]]
           for i, t in rows}
    kept = [(i, t) for i, t in rows if scores[i][t] < scores[i][alpha[i]]]
    if not kept:
        return True, "1"
    mu = [generator.randrange(16**width) for _ in kept]
    entry = f"{width:x}" + "".join(f"{x:0{width}x}" for x in mu)
    V = [sum(x * phi[row][c] for x, row in zip(mu, kept, strict=True)) for c in range(4)]
    margin = {row: sum(a * b for a, b in zip(V, phi[row], strict=True)) for row in rows}
    q, L, m = sum(x * x for x in V), sum(mu), min(margin[row] for row in kept)
    return m > 0 and any(
        margin[row] < m and (m - margin[row])**2 * q
        >= sum(x * x for x in phi[row]) * (q * q - L * L * m * m)
        for row in rows if row not in kept), entry
