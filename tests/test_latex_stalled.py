"""The appendix of a stalled descent: every number in it, parsed and computed again."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from latex_claims import MATRIX, Claims, Data, dot, number, real, table
from test_latex_recheck import STRUCTURE

from conditions import (
    AttentionDataset,
    first_step_separates,
    no_stationary_point,
    stalled_descent,
)
from verifier.certify import Report
from verifier.formal.table import covered
from verifier.report.latex import render

GIVEN = {"X": [[[1, 0], [-4, 1], [-4, 0]]], "Y": [1], "z": [[1, 0]], "v": [1, 0]}
FIRST, STEP = Fraction(37, 8192), Fraction(1, 2048)


@pytest.fixture(scope="module")
def text():
    dataset = AttentionDataset.build(GIVEN["X"], GIVEN["Y"], GIVEN["z"], GIVEN["v"])
    verdicts = (first_step_separates.decide(dataset, "cubic"),
                stalled_descent.decide(dataset, str(FIRST), str(STEP), "cubic"))
    return render(Report(dataset, "stalled", verdicts, (), None)), verdicts[1].certificate


def test_the_loss_is_named_with_its_formula(text):
    tex, _ = text
    assert r"\ell(u)=-u^3" in tex and r"|\ell'(f)|=3f^2" in tex


def test_every_number_of_the_proof(text):
    tex, certificate = text
    data = Data(GIVEN, (0,))
    gamma, mean = data.scores[0], sum(data.scores[0]) / 3
    pull = [sum((s - mean) * x[a] for s, x in zip(gamma, data.X[0], strict=True)) / 3
            for a in range(2)]
    G = [3 * mean**2 * p for p in pull]  # in the first column
    first = [FIRST * g for g in G]
    weights = [mp.e**real(dot(first, x)) for x in data.X[0]]
    s = [w / sum(weights) for w in weights]
    f = sum(a * real(b) for a, b in zip(s, gamma, strict=True))
    slope = mp.sqrt(sum(sum(a * (real(g) - f) * real(x[k]) for a, g, x in zip(
        s, gamma, data.X[0], strict=True))**2 for k in range(2)))
    H = Fraction(26 * 5, 4)
    proof = tex[tex.index(r"\textbf{(b)}"):]
    proof = proof[:proof.index(r"\end{attsvmproof}")]
    claims = Claims(proof)
    claims.bound("f", f)
    claims.bound(r"\\\|\\nabla f\\\|_F", slope)
    claims.bound("H", H)

    def rational(x):
        return Fraction(int(x.p), int(x.q))

    g, largest, r = (rational(x) for x in (certificate.least_slope, certificate.largest_slope,
                                           certificate.radius))
    for name, value in (("g_-", g), (r"g_\+", largest), ("r", r)):
        claims.take(rf"\${name}= ([^$]*)\$", lambda m, value=value: number(m[1]) == value)
    assert real(g + H * r) <= slope <= real(largest - H * r) and f < 0
    assert -2 * f <= real(g * r) and -9 * real(STEP) * f * real(largest)**2 < 2
    # W^mm = (1/5, 0), and its line is the first axis.
    claims.take(rf"W=({MATRIX})", lambda m: table(m[1]) == [[Fraction(1, 5), 0], [0, 0]])
    claims.take(r"\\lambda_\{0,2\}= 1/25", lambda m: True)
    distance = first[1]**2
    assert distance > r**2
    claims.bound(r"\\\|\^2", distance)
    claims.take(r"m_\{0,[12]\}= 1", lambda m: True)
    claims.finish(STRUCTURE)


def test_the_statement_has_the_steps(text):
    tex, _ = text
    assert r"$\eta_0= 37\cdot 2^{-13}$" in tex and r"$\eta= 2^{-11}$" in tex
    assert "does not converge in direction" in tex


def test_proofs_that_need_a_slope_say_that_there_is_one():
    steep = AttentionDataset.build([[[2], [1]]], [1], [[1]], [1])
    for loss, said in (("cubic", True), ("logistic", False)):
        verdict = no_stationary_point.decide(steep, loss)
        tex = render(Report(steep, "steep", (verdict,), (), None))
        assert ("where alone $\\ell'$ vanishes" in tex) is said
        assert "Let $\\ell'<0$ on the range" in tex
        # Coq knows the losses whose slope is negative everywhere.
        assert ("exact; Coq" in tex) is not said and covered(verdict) is not said
