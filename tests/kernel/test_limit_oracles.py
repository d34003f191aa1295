"""Limits of descent against second computations: mpmath for basins, floats for excess and B."""

import copy
import random
from fractions import Fraction

import basin_oracle
import numpy as np
import pytest
from basin_cases import locally_optimal

from conditions import AttentionDataset, basin
from conditions.separation.frobenius import solve
from verifier.certify import dataset_to_json
from verifier.kernel import check_text

from .builders import document, text, verdict
from .limit_builders import LIMIT_CASES

BASINS = {name: case for name, case in LIMIT_CASES.items()
          if case.verdict["condition"] in ("basin", "basin_cone")}
PARAMETERS = ("clock", "slope", "step", "radius", "ball", "drift", "aperture")


def accepted(dataset, *verdicts):
    return check_text(text(document(dataset, *verdicts))).accepted


def _fraction(x):
    return Fraction(float.fromhex(x)) if isinstance(x, str) and "x" in x else Fraction(x)


def _moved(certificate, generator):
    """One or two parameters, or an entry of the iterate, changed by a random factor."""
    result = copy.deepcopy(certificate)
    for _ in range(generator.choice([1, 1, 2])):
        name = generator.choice([*(p for p in PARAMETERS if p in result), "eigenvalues", "iterate"])
        factor = Fraction(2)**generator.randint(-6, 6) * Fraction(generator.randint(20, 40), 29)
        if name == "eigenvalues" and name in result:
            k = generator.randrange(2)
            result[name][k] = str(_fraction(result[name][k]) * factor)
        elif name == "iterate" and name in result:
            row = generator.choice(result[name])
            k = generator.randrange(len(row))
            row[k] = str(_fraction(row[k]) + generator.randint(-9, 9))
        elif name in result:
            result[name] = str(_fraction(result[name]) * factor)
    return result


def _compare(dataset, base, generator, count, found):
    problem = AttentionDataset.build(dataset["X"], dataset["Y"], dataset["z"], dataset["v"])
    for k in range(count):
        certificate = _moved(base["certificate"], generator) if k else base["certificate"]
        clock = _fraction(certificate["clock"])
        expected = clock <= 2**40 and basin_oracle.accepts(
            problem, base["selection"], base["loss"], certificate)
        assert accepted(dataset, {**base, "certificate": certificate}) == expected, certificate
        found[certificate["kind"], expected] = found.get((certificate["kind"], expected), 0) + 1


def test_basins_of_the_builders_against_mpmath():
    generator, found = random.Random(21), {}
    for case in BASINS.values():
        _compare(case.dataset, case.verdict, generator, 16, found)
    assert len(found) == 6 and min(found.values()) >= 10


@pytest.mark.parametrize("rule", ["normalized", "plain", "flow"])
def test_basins_of_random_data_against_mpmath(rule):
    generator, found = random.Random(22), {}
    for k, (dataset, alpha) in enumerate(locally_optimal(4)):
        W = 2.0**11 * np.array(solve(dataset, alpha).float_W)
        decided = basin.decide(dataset, alpha, W, rule, 0 if rule == "flow" else 0.125,
                               ["logistic", "exponential", "correlation"][k % 3])
        base = verdict("basin", "holds", decided.certificate.to_json(), evidence="enclosed",
                       selection=list(alpha), loss=decided.loss)
        _compare(dataset_to_json(dataset), base, generator, 6, found)
    assert {expected for _, expected in found} == {True, False}


def _losses(loss):
    return {"logistic": lambda u: np.logaddexp(0, -u), "exponential": lambda u: np.exp(-u),
            "correlation": lambda u: -u}[loss]


def _excess_slack(X, Y, z, v, W, loss, share):
    """min_j e_j(G_j) - Σ e_i, in floats; None if the optimum is not unique."""
    ell, excess, limits = _losses(loss), 0.0, []
    for tokens, y, query in zip(X, Y, z, strict=True):
        score = y * (tokens @ v)
        first, second = np.sort(score)[:-3:-1]
        if first == second:
            return None
        logits = tokens @ W @ query
        weights = np.exp(logits - logits.max())
        excess += ell(score @ weights / weights.sum()) - ell(first)
        limits.append(ell(first - share * (first - second)) - ell(first))
    return min(limits) - excess


def _largest_beta(X, Y, z, v, loss):
    """B in floats."""
    total = 0.0
    for tokens, y, query in zip(X, Y, z, strict=True):
        score = y * (tokens @ v)
        a, b = score.min(), score.max()
        M = {"logistic": 1 / (1 + np.exp(a)), "exponential": np.exp(-a), "correlation": 1}[loss]
        sigma = 1 / (1 + np.exp(0 if a <= 0 <= b else min(abs(a), abs(b))))
        N = {"logistic": sigma * (1 - sigma), "exponential": np.exp(-a), "correlation": 0}[loss]
        width = max(np.linalg.norm(p - q) for p in tokens for q in tokens)
        total += (query @ query) * width**2 / 4 * ((b - a) * M + (b - a)**2 * N / 4)
    return total / len(X)


@pytest.mark.parametrize("loss", ["logistic", "exponential", "correlation"])
def test_traps_and_smoothness_against_floats(loss):
    generator = np.random.default_rng(23)
    found = {True: 0, False: 0}
    while min(found.values()) < 25:
        X, z = generator.integers(-2, 3, (2, 3, 2)), generator.integers(-2, 3, (2, 2))
        v, Y = generator.integers(-2, 3, 2), generator.choice([-1, 1], 2)
        W = generator.integers(-3, 4, (2, 2))
        slack = _excess_slack(X, Y, z, v, W, loss, 0.5)
        if slack is None or abs(slack) < 1e-9:
            continue
        dataset = {"X": X.tolist(), "Y": Y.tolist(), "z": z.tolist(), "v": v.tolist()}
        beta = _largest_beta(X, Y, z, v, loss)
        for factor in (1 + 1e-9, 1 - 1e-9):
            certificate = {"kind": "selection_trap", "W": W.tolist(), "step": 0,
                           "beta": (beta * factor).hex(), "precision": 8}
            holds = verdict("selection_trap", "holds", certificate, evidence="enclosed", loss=loss)
            expected = bool(slack > 0 and (factor > 1 or beta == 0))
            assert accepted(dataset, holds) == expected
        found[bool(slack > 0)] += 1


def test_first_steps_against_floats():
    generator = np.random.default_rng(24)
    found = {True: 0, False: 0}
    slopes = {"logistic": lambda u: 1 / (1 + np.exp(u)), "exponential": lambda u: np.exp(-u),
              "correlation": lambda u: 1.0}
    while min(found.values()) < 30:
        X, z = generator.integers(-2, 3, (2, 2, 2)), generator.integers(-2, 3, (2, 2))
        v, Y = generator.integers(-2, 3, 2), generator.choice([-1, 1], 2)
        loss = generator.choice(list(slopes))
        eta = int(generator.choice([1, 4, 64]))
        W = np.zeros((2, 2))
        for tokens, y, query in zip(X, Y, z, strict=True):
            score = y * (tokens @ v)
            pull = slopes[loss](score.mean()) * (score - score.mean()) @ tokens / 2
            W += eta / 2 * np.outer(pull, query)
        slack = _excess_slack(X, Y, z, v, W, loss, 1)
        separator = _separator(X, Y, z, v)
        if slack is None or separator is None or abs(slack) < 1e-9:
            continue
        certificate = {"kind": "large_first_step", "first_step": eta, "step": "0x1p-40",
                       "beta": (2 * _largest_beta(X, Y, z, v, loss)).hex(),
                       "separator": separator, "precision": 16}
        dataset = {"X": X.tolist(), "Y": Y.tolist(), "z": z.tolist(), "v": v.tolist()}
        holds = verdict("large_first_step", "holds", certificate, evidence="enclosed",
                        loss=str(loss))
        assert accepted(dataset, holds) == (slack > 0)
        found[bool(slack > 0)] += 1


def _separator(X, Y, z, v):
    """A small integer matrix with margins ≥ 1 for the optimal tokens, or None."""
    features = []
    for tokens, y, query in zip(X, Y, z, strict=True):
        best = np.argmax(y * (tokens @ v))
        features += [np.outer(tokens[best] - x, query) for t, x in enumerate(tokens) if t != best]
    candidates = np.array(list(np.ndindex(7, 7, 7, 7))) - 3
    margins = candidates @ np.array(features).reshape(-1, 4).T
    found = candidates[margins.min(axis=1) >= 1]
    return found[0].reshape(2, 2).tolist() if len(found) else None


def test_products_against_matrices():
    generator = np.random.default_rng(25)
    found = {True: 0, False: 0}
    while min(found.values()) < 12:
        X, z = generator.integers(-1, 2, (2, 3, 2)), generator.integers(-1, 2, (2, 2))
        v, Y = generator.integers(-1, 2, 2), generator.choice([-1, 1], 2)
        scores = [y * (tokens @ v) for tokens, y in zip(X, Y, strict=True)]
        rows = [(i, t) for i, s in enumerate(scores) for t in range(3) if s[t] < s.max()]
        unique = all((s == s.max()).sum() == 1 for s in scores)
        phi = {(i, t): np.outer(X[i][scores[i].argmax()] - X[i][t], z[i]) for i, t in rows}
        expected = bool(unique and all(len(set(s.tolist())) == 2 for s in scores)
                        and all(p.any() for p in phi.values())
                        and all((p * q).sum() >= 0 for p in phi.values() for q in phi.values()))
        dataset = {"X": X.tolist(), "Y": Y.tolist(), "z": z.tolist(), "v": v.tolist()}
        holds = verdict("nonnegative_features", "holds", {"kind": "nonnegative_products"})
        assert accepted(dataset, holds) == expected
        for a in phi:
            fails = verdict("nonnegative_features", "fails",
                            {"kind": "zero_feature", "row": list(a)})
            assert accepted(dataset, fails) == (unique and not phi[a].any())
            for b in phi:
                fails = verdict("nonnegative_features", "fails",
                                {"kind": "negative_product", "rows": [list(a), list(b)]})
                assert accepted(dataset, fails) == bool(
                    unique and a < b and (phi[a] * phi[b]).sum() < 0)
        found[expected] += 1
