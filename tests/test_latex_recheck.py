"""The appendix of the two-sample dataset: every number in it, parsed and computed again."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from latex_claims import MATRIX, NUMBER, Claims, Data, dot, given, near, number, real, table

from verifier import io
from verifier.certify import certify
from verifier.report.latex import render

DATA = Path(__file__).parent.parent / "examples" / "data" / "two_samples.json"
FAR = np.array([[20.0, 0.0], [0.0, 0.0]])
GIVEN = json.loads(DATA.read_text())
REFERENCE = r"Proposition~\\ref\{[^}]*\}|\\cite(\[[^\]]*\])?\{[^}]*\}|Facts?~\d+|B\.[12]"
STRUCTURE = [
    REFERENCE, r"\\(varphi|gamma|lambda|Delta|epsilon|nu|mu|phi|tfrac|frac)[_{}\d,]*",
    r"\\begin\{[^}]*\}|\\label\{[^}]*\}", r"\\(ge|le|ne|succeq)(1|0)\b", r"\$(=1|>0|0|1|x)\$",
    r"(=|<|>|\\le ?|\\ge ?)[012](?![\d.])", r"x_\{i,0\}",
    r"W_0|\([012]\)|c\(1-s",
    r"\^2|_[01]|\(1\+e\^\{f\}\)|1/|\(1,0\), which", r"=0\$", r"h\(1\+"]


def logistic(u):
    return 1 / (1 + mp.e**u)


def loss(u):
    return mp.log(1 + mp.e**-u)


@pytest.fixture(scope="module")
def appendix():
    dataset = io.load_dataset(DATA)
    reports = [certify(dataset, source="two_samples.json", from_start=True),
               certify(dataset, source="two_samples.json", start=FAR, from_start=True)]
    return render(*reports), [json.loads(r.certificate_text()) for r in reports]


@pytest.fixture(scope="module")
def parts(appendix):
    """(selection or None, outcome) → its statement and proof, as one text."""
    tex, _ = appendix
    found = {}
    blocks = re.findall(r"\\begin\{attsvmproposition\}(.*?)\\end\{attsvmproposition\}\s*"
                        r"\\begin\{attsvmproof\}(.*?)\\end\{attsvmproof\}", tex, re.DOTALL)
    for statement, proof in blocks:
        said = re.split(r"\\attsvmpart\{\(\w\)\}\{(.*?)\}", statement)
        proofs = re.split(r"\\textbf\{\(\w\)\} ", proof)[1:]
        alpha = re.search(r"\\alpha=(?:\\mathrm\{opt\}=)?\((\d),\\,(\d)\)", said[0])
        key = None if alpha is None else tuple(map(int, alpha.groups()))
        assert len(proofs) == len(said) // 2
        for outcome, text, proved in zip(said[1::2], said[2::2], proofs, strict=True):
            name, status = outcome.split("; ")[0].rsplit(" ", 1)
            found[key, name.replace(" ", "_").lower()] = status, f"{text} {proved}"
    return found


def certificate(appendix, condition, selection=None):
    for document in appendix[1]:
        for verdict in document["verdicts"]:
            if verdict["condition"] == condition and (
                    selection is None or verdict["selection"] == list(selection)):
                return verdict["certificate"]
    raise KeyError(condition)


def test_every_proved_verdict_is_there(appendix, parts):
    proved = {(None if v["selection"] is None else tuple(v["selection"]), v["condition"],
               v["status"]) for document in appendix[1] for v in document["verdicts"]
              if v["status"] != "undecided"}
    assert {(key[0], key[1], status) for key, (status, _) in parts.items()} == proved
    assert len(proved) >= 19


def test_the_dataset_is_the_dataset(appendix):
    tex, _ = appendix
    text = tex[tex.index(r"\attsvmlead{Dataset.}"):tex.index(r"\attsvmlead{Theorems used,}")]
    data = Data(GIVEN, (0, 0))
    assert f"$n={data.n}$ samples of $T=2$ tokens in $\\mathbf R^{{2}}$, 2 of label" in text
    for i in range(2):
        assert table(re.search(rf"X_\{{{i}\}}=({MATRIX})", text)[1]) == data.X[i]
        for name, row in (("z", data.z[i]), (r"\\gamma", data.scores[i])):
            shown = re.search(rf"{name}_\{{{i}\}}=\((.*?)\)", text)[1].split(r",\,")
            assert list(map(number, shown)) == row
        assert f"$Y_{{{i}}}=1$" in text
    assert r"$v=(1,\,3)$" in text
    digest = io.load_dataset(DATA).fingerprint
    assert digest in text.replace(r"\allowbreak ", "")


def margins(claims, data, W):
    claims.take(rf"m_\{{(\d),(\d)\}}= ({NUMBER})", lambda m: number(m[3]) == data.margin(
        W, int(m[1]), int(m[2])))


@pytest.mark.parametrize("alpha", [(0, 0), (0, 1)])
def test_geometry(appendix, parts, alpha):
    data = Data(GIVEN, alpha)
    claims = Claims(parts[alpha, "feasibility"][1])
    W = table(re.search(f"W=({MATRIX})", claims.left)[1])
    assert [[given(x) for x in row]
                 for row in certificate(appendix, "feasibility", alpha)["W"]] == W
    assert all(data.margin(W, *row) >= 1 for row in data.rows)
    margins(claims, data, W)
    claims.take(f"W={MATRIX}", lambda m: True)
    claims.finish(STRUCTURE)

    solved = "support_indices" if alpha == (0, 0) else "local_optimality"
    claims = Claims(parts[alpha, solved][1])
    weights = {(int(i), int(t)): number(x) for i, t, x in re.findall(
        rf"\\lambda_\{{(\d),(\d)\}}= ({NUMBER})", claims.left)}
    W = data.combined(weights)
    assert table(re.search(f"W=({MATRIX})", claims.left)[1]) == W
    assert all(x > 0 and data.margin(W, *row) == 1 for row, x in weights.items())
    assert all(data.margin(W, *row) >= 1 for row in data.rows)
    margins(claims, data, W)
    claims.take(rf"\\lambda_\{{\d,\d\}}= {NUMBER}|W={MATRIX}", lambda m: True)
    support = [row for row in data.rows if data.margin(W, *row) == 1]
    if alpha == (0, 0):
        claims.bound(r"\\\|\{W\}\^\{\\mathrm\{mm\}\}_\{\\alpha\}\\\|_F\^2", sum(weights.values()))
        claims.take(r"exactly \$\((\d),(\d)\)\$ and \$\((\d),(\d)\)\$ \((\d) of (\d) rows\)",
                    lambda m: list(map(int, m.groups())) == [
                        *support[0], *support[1], len(support), len(data.rows)])
        claims.finish(STRUCTURE)
        text = " ".join(parts[alpha, name][1] for name in ("all_support", "rank_bound",
                                                           "assumption_e", "local_optimality"))
        claims = Claims(text)
        claims.take(r"All (\d) rows", lambda m: int(m[1]) == len(data.rows) == len(support))
        claims.take(r"rank \$?(\d)(\\le\\min\(n,d\)=(\d))?", lambda m: int(m[1]) == rank(W) and
                    m[3] in (None, "2"))
        claims.bound("c", min(data.gap(*row) for row in data.rows))
    claims.take(rf"\\Delta_\{{(\d),(\d)\}}= ({NUMBER})",
                lambda m: number(m[3]) == data.gap(int(m[1]), int(m[2])) > 0)
    claims.take(r"\(1,0\)\$, which has \$\\Delta\\le0", lambda m: data.gap(1, 0) <= 0
                and data.margin(W, 1, 0) > 1, some=alpha == (0, 1))
    claims.finish(STRUCTURE)


def rank(W):
    (a, b), (c, d) = W
    return 2 if a * d != b * c else int(any((a, b, c, d)))


def test_scores_and_features(parts):
    data = Data(GIVEN, (0, 0))
    assert all(row == [1, 0] for row in data.scores)
    claims = Claims(parts[None, "unique_optimum"][1])
    claims.take(r"\\mathrm\{opt\}=\((\d),\\,(\d)\)", lambda m: (m[1], m[2]) == ("0", "0"))
    claims.finish(STRUCTURE)
    for name in ("equal_scores", "no_flat_sample"):
        Claims(parts[None, name][1]).finish(STRUCTURE)
    claims = Claims(parts[None, "nonnegative_features"][1])
    inner = data.inner(data.phi(0, 1), data.phi(1, 1))
    claims.bound(r"\\langle\\varphi_\{0,1\},\\varphi_\{1,1\}\\rangle", inner)
    assert inner < 0
    claims.finish(STRUCTURE)
    claims = Claims(parts[None, "full_rank"][1])
    (a, _), (b, _) = data.phi(0, 1)
    (c, _), (d, _) = data.phi(1, 1)
    claims.take(r"modulo \$p=(\d+)\$", lambda m: (a * d - b * c) % int(m[1]) != 0)
    claims.take(r"(\d) (features|pivots)", lambda m: m[1] == "2")
    claims.finish(STRUCTURE)


def test_first_step_and_stationary_points(parts):
    data = Data(GIVEN, (0, 0))
    claims = Claims(parts[None, "first_step_separates"][1])
    means = {sum(row) / 2 for row in data.scores}
    assert means == {Fraction(1, 2)}
    A = [[sum((s - Fraction(1, 2)) / 2 * x[a] * q[b] for X, q, row in zip(
        data.X, data.z, data.scores, strict=True) for x, s in zip(X, row, strict=True))
        for b in range(2)] for a in range(2)]
    claims.take(rf"A_\{{1/2\}}=({MATRIX})", lambda m: table(m[1]) == A)
    claims.bound(r"\\langle\\varphi_\{0,1\},G\\rangle",
                 logistic(mp.mpf(1) / 2) * real(data.inner(data.phi(0, 1), A)))
    claims.finish(STRUCTURE)
    claims = Claims(parts[None, "no_stationary_point"][1])
    claims.bound(r"\\gamma_\{0,0\}-\\gamma_\{0,1\}", data.scores[0][0] - data.scores[0][1])
    claims.finish(STRUCTURE)


def start(claims, name, filed):
    """The matrix of a start is that of the certificate, and so is its norm."""
    W = [[given(x) for x in row] for row in filed]
    size = mp.sqrt(real(sum(dot(row, row) for row in W)))
    claims.take(rf"{name}=({MATRIX})", lambda m: table(m[1]) == W, some=False)
    claims.bound(r"\\\|W_0\\\|_F", size, some=False)
    return W


@pytest.mark.parametrize(("name", "share"), [("low_norm_limit", 1), ("selection_trap", 2)])
def test_limits_without_a_cone(appendix, parts, name, share):
    data, filed = Data(GIVEN, (0, 0)), certificate(appendix, name)
    claims = Claims(parts[None, name][1])
    W = start(claims, "W_0", filed["W"])
    eta, beta = given(filed["step"]), given(filed["beta"])
    claims.take(rf"\\eta= ({NUMBER})", lambda m: number(m[1]) == eta)
    # Scores (1, 0): R = 1, M = |ℓ'(0)| = 1/2, N = ℓ''(0) = 1/4; exactly rational here.
    B = sum(dot(q, q) * max(dot(x, x) for x in X) / 4 * (Fraction(1, 2) + Fraction(1, 16))
            for X, q in zip(data.X, data.z, strict=True)) / 2
    claims.take(rf"\\beta= ({NUMBER})", lambda m: B <= number(m[1]) == beta, some=share == 1)
    claims.take(rf"\\eta\\beta\\le ({NUMBER})", lambda m: eta * beta <= number(m[1]) < 2,
                some=share == 1)
    m = {row: real(data.margin(W, *row)) for row in data.rows}
    for row in data.rows:
        claims.bound(rf"m_\{{{row[0]},{row[1]}\}}", m[row], some=share == 1)
    deficits = [mp.e**-m[i, 1] / (1 + mp.e**-m[i, 1]) for i in range(2)]
    for i, D in enumerate(deficits):
        claims.bound(rf"D_\{{{i}\}}", D, some=share == 1)
    total = sum(loss(1 - D) - loss(mp.mpf(1)) for D in deficits)
    least = loss(mp.mpf(1) - mp.mpf(1) / share) - loss(mp.mpf(1))

    def below(match):
        near(number(match[1]), total, up=True)
        near(number(match[2]), least, up=False)
        return number(match[1]) < number(match[2])

    claims.take(rf"n\(L\(W_0\)-L_\*\)\\le ({NUMBER})<.*?which is \$\\ge ({NUMBER})\$", below)
    claims.finish(STRUCTURE)


class Cone:
    """The cone conditions at 60 digits, from docs/theory/basin.md."""

    def __init__(self, data, weights, s, tau, eta):
        norm = real(sum(weights.values()))
        M = data.combined(weights)
        a = {r: real(data.margin(M, *r)) for r in data.rows}
        u2 = {r: real(data.inner(data.phi(*r), data.phi(*r))) for r in data.rows}
        v = {r: mp.sqrt(max(u2[r] - a[r] ** 2 / norm, mp.mpf(0))) for r in data.rows}
        gap = {r: real(data.gap(*r)) for r in data.rows}
        worse = [r for r in data.rows if gap[r] > 0]
        rivals = [r for r in data.rows if gap[r] <= 0]
        e = {r: mp.e ** (-s * (a[r] - tau * v[r])) for r in data.rows}
        D, S, least, most = [], [], [], []
        for i in range(data.n):
            mine = [r for r in data.rows if r[0] == i]
            D.append(sum(abs(gap[r]) * e[r] for r in mine))
            S.append(1 / (1 + sum(e[r] for r in mine)))
            top = real(data.scores[i][data.alpha[i]])
            least.append(logistic(top + D[i]))
            most.append(logistic(top - D[i]))
        pi = {r: real(x) / norm for r, x in weights.items()}
        log_Z = sum(p * mp.log(least[r[0]] * S[r[0]] * (gap[r] - D[r[0]]) / p)
                    for r, p in pi.items())
        self.E = mp.log(sum(most[r[0]] * (gap[r] + D[r[0]]) * mp.e ** (-s * (a[r] - 1))
                            for r in worse)) - log_Z
        A = {r: most[r[0]] * (abs(gap[r]) + D[r[0]]) * mp.e ** (-s * (a[r] - 1 - tau * v[r])
                                                               - log_Z) for r in rivals}
        self.eps_a = sum((A[r] * a[r] for r in rivals), mp.mpf(0))
        self.eps_v = sum((A[r] * v[r] for r in rivals), mp.mpf(0))
        self.v = max(v[r] for r in worse)
        self.C = norm * (self.E + s * tau * self.eps_v + eta * (self.v + self.eps_v) / 2) / (
            1 - self.eps_a)
        self.margin = min(s * (a[r] - tau * v[r]) for r in data.rows)
        self.lead = min((s * (a[r] - 1 - tau * v[r]) for r in rivals), default=None)
        self.deviation = max(D[r[0]] / gap[r] for r in worse)
        self.norm, self.M = norm, M


def parameters(claims, filed, names):
    for symbol, name in names.items():
        claims.take(rf"(?<![\\\w]){symbol}= ({NUMBER})",
                    lambda m, name=name: number(m[1]) == given(filed[name]))


def check_cone(claims, data, filed):
    """All figures of a `basin_isotropic`."""
    parameters(claims, filed, {"s": "clock", r"\\tau": "slope"})
    s, tau, radius = (given(filed[k]) for k in ("clock", "slope", "radius"))
    weights = {(i, t): given(x) for i, t, x in filed["solution"]["multipliers"]}
    c = Cone(data, weights, real(s), real(tau), real(given(filed["step"])))
    W = start(claims, "W_0", filed["iterate"])
    clock = sum(x * data.margin(W, *r) for r, x in weights.items()) / sum(weights.values())
    true = real(clock) - real(radius) / mp.sqrt(c.norm)

    def shown(match):
        near(number(match[1]), true, up=False)
        return number(match[1]) >= s

    claims.take(rf"is \$\\ge ({NUMBER})\\ge s", shown)
    square = sum(dot(row, row) for row in W) - clock**2 * sum(weights.values())
    across = mp.sqrt(real(square)) + real(radius)

    def inside(match):
        near(number(match[1]), across, up=True)
        near(number(match[2]), real(s * tau), up=False)
        return number(match[1]) < number(match[2])

    claims.take(rf"p\\le ({NUMBER})<\\tau s\$, which is \$\\ge ({NUMBER})", inside)
    claims.bound(r"s\(a-\\tau v\)", c.margin)
    claims.bound(r"D_i/\\Delta_\{i,t\}", c.deviation)
    rivals = c.lead is not None
    if rivals:
        claims.bound(r"s\(\\kappa-\\tau v\)", c.lead)
        claims.bound(r"\\epsilon_a", c.eps_a)
        claims.bound(r"\\epsilon_v", c.eps_v)
    claims.bound("E", c.E)
    claims.bound(r"\\sigma", given(filed["step"]))
    claims.bound(r"\\bar v", c.v)

    def kept(match):
        near(number(match[1]), c.C, up=True)
        near(number(match[2]), real(tau * tau * s), up=False)
        return number(match[1]) < number(match[2])

    claims.take(rf"C\\le ({NUMBER})<\\tau\^2s\$, which is \$\\ge ({NUMBER})", kept)


def check_residual(claims, data, filed):
    """All figures of a `basin_residual` without rows off the support."""
    parameters(claims, filed, {"s": "clock", "B": "ball", "Z": "drift"})
    low, high = map(given, filed["eigenvalues"])
    claims.take(rf"\\mu= ({NUMBER})", lambda m: number(m[1]) == low)
    claims.take(rf"\\mu'= ({NUMBER})", lambda m: number(m[1]) == high)
    weights = {(i, t): given(x) for i, t, x in filed["solution"]["multipliers"]}
    assert sorted(weights) == data.rows
    s, B, eta, radius = (real(given(filed[k])) for k in ("clock", "ball", "step", "radius"))
    norm, M = real(sum(weights.values())), data.combined(weights)
    W = start(claims, "W_0", filed["iterate"])
    lam = {r: real(x) for r, x in weights.items()}
    v = {r: mp.sqrt(max(real(data.inner(data.phi(*r), data.phi(*r))) - real(
        data.margin(M, *r)) ** 2 / norm, mp.mpf(0))) for r in data.rows}
    final = [logistic(real(row[a])) for row, a in zip(data.scores, data.alpha, strict=True)]
    gap = {r: real(data.gap(*r)) for r in data.rows}
    offset = {r: mp.log(final[r[0]] * gap[r] / data.n / lam[r]) for r in data.rows}
    m = {r: real(data.margin(W, *r)) for r in data.rows}
    star = sum(lam[r] * (m[r] - offset[r]) for r in data.rows) / norm
    e = mp.matrix([m[r] - star - offset[r] for r in data.rows])
    gram = mp.matrix([[real(data.inner(data.phi(*p), data.phi(*q))) for q in data.rows]
                      for p in data.rows])
    size = mp.sqrt((e.T * mp.lu_solve(gram, e))[0])
    lower = {r: s + offset[r] - v[r] * B for r in data.rows}
    D = {r: gap[r] * mp.e ** -lower[r] for r in data.rows}
    share = {r: 1 / (1 + mp.e ** -lower[r]) for r in data.rows}
    top = {r: real(data.scores[r[0]][data.alpha[r[0]]]) for r in data.rows}
    up = {r: logistic(top[r] - D[r]) * (gap[r] + D[r]) / (final[r[0]] * gap[r]) - 1
          for r in data.rows}
    down = {r: 1 - logistic(top[r] + D[r]) * share[r] * (gap[r] - D[r]) / (final[r[0]] * gap[r])
            for r in data.rows}
    above, below = max(up.values()), max(down.values())
    middle, pace = (above - below) / 2, 1 - below
    push = sum(lam[r] * mp.e ** (v[r] * B) * max(up[r] - middle, down[r] + middle) * v[r]
               for r in data.rows)
    h = eta / (mp.sqrt(norm) * pace)
    widest = max(v.values())
    least = real(low) * mp.e ** (-widest * B / 2)
    most = real(high) * (1 + mp.e ** (widest * B)) / 2
    clock = star - radius / mp.sqrt(norm)

    def clocks(match):
        near(number(match[1]), clock, up=False)
        return number(match[1]) >= given(filed["clock"])

    def pushed(match):
        near(number(match[1]), push, up=True)
        near(number(match[2]), (1 + middle) * least * B, up=False)
        return number(match[1]) < number(match[2])

    claims.take(rf"a clock \$\\ge ({NUMBER})\\ge s", clocks)
    claims.bound(r"\\\|E_\\parallel\\\|", size + radius)
    claims.bound(r"\\bar\\nu", middle)
    claims.bound(r"\\nu\^\+", above)
    claims.bound(r"\\nu\^-", below)
    claims.bound(r"\\vartheta", pace)
    claims.take(rf"P\\le ({NUMBER})<.*?which is \$\\ge ({NUMBER})", pushed)
    claims.take(r"the drift is \$\\le 0<Z", lambda m: True)
    claims.bound(r"\(\\mu_B\+\\mu'_B\)", h * (1 + middle) * (least + most))
    claims.bound("h", h)


@pytest.mark.parametrize(("alpha", "condition"), [
    ((0, 0), "basin"), ((0, 1), "basin"), ((0, 0), "limit_from_start"),
    ((0, 1), "limit_from_start")])
def test_basins_and_verified_runs(appendix, parts, alpha, condition):
    data, filed = Data(GIVEN, alpha), certificate(appendix, condition, alpha)
    claims = Claims(parts[alpha, condition][1])
    claims.take(rf"\\eta= ({NUMBER})", lambda m: number(m[1]) == given(filed["step"])
                == Fraction(0.1))
    if condition == "limit_from_start":
        start(claims, r"W\(0\)", filed["start"])
        claims.take(r"Repeat (\d+) steps in ball arithmetic of (\d+) bits",
                    lambda m: (int(m[1]), int(m[2])) == (filed["steps"], filed["precision"]))
        claims.take(r"W\((\d+)\)\$ of exact descent", lambda m: int(m[1]) == filed["steps"])
        filed = filed["basin"]
        claims.take(rf"\\varrho= ({NUMBER})", lambda m: number(m[1]) == given(filed["radius"]))
    check = check_cone if filed["kind"] == "basin_isotropic" else check_residual
    check(claims, data, filed)
    claims.finish(STRUCTURE)


def test_a_wrong_number_is_found(parts):
    data = Data(GIVEN, (0, 0))
    text = parts[(0, 0), "feasibility"][1].replace("= 7/4", "= 9/4")
    W = table(re.search(f"W=({MATRIX})", text)[1])
    with pytest.raises(AssertionError):
        margins(Claims(text), data, W)
    with pytest.raises(AssertionError, match=r"12\.5"):
        Claims("a gap of 12.5").finish(STRUCTURE)
