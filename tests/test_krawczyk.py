"""S4: proved stationary points."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import oracle
import pytest
import stationary_replay
from flint import fmpq

from conditions import AttentionDataset, no_stationary_point
from conditions.certificates import Certificate
from conditions.losses import LOSSES
from conditions.stationary import krawczyk
from conditions.stationary.coordinates import row_space
from conditions.stationary.gradient import float_gradient
from conditions.stationary.newton import random_starts, zeros

# One shared query, opposite labels, optimum unique and feasible: a saddle and a local maximum.
PLANE = ([[[-1, -1], [1, -1], [1, 2]], [[-1, -2], [-1, 0], [0, -2]]], [1, -1],
         [[1, -2], [1, -2]], [1, 2])


def random_data(rng, n=2, T=3, d=2):
    shared = rng.integers(-2, 3, d).tolist()
    return (rng.integers(-2, 3, (n, T, d)).tolist(), [1, -1] * (n // 2), [shared] * n,
            rng.integers(-2, 3, d).tolist())


def replay(data, loss, certificate):
    stationary_replay.krawczyk(data, loss, json.loads(json.dumps(certificate.to_json())))


def loss_at(data, loss, W):
    """N L(W) in extended precision, straight from the definition."""
    X, Y, z, v = (np.array(part, dtype=np.longdouble) for part in data)
    logits = np.einsum("ita,ab,ib->it", X, W, z)
    s = np.exp(logits - logits.max(axis=1, keepdims=True))
    s /= s.sum(axis=1, keepdims=True)
    f = Y * np.einsum("it,ita,a->i", s, X, v)
    return {"logistic": np.log1p(np.exp(-f)), "exponential": np.exp(-f),
            "correlation": -f}[loss].sum()


def found(count=14):
    rng = np.random.default_rng(4)
    while count:
        data = random_data(rng)
        points = krawczyk.stationary_points(AttentionDataset.build(*data), "logistic", starts=40)
        if points:
            count -= 1
            yield data, points


FOUND = list(found())


def test_points_replay_and_round_trip():
    for data, points in FOUND:
        for point in points:
            replay(data, "logistic", point.certificate)
            text = json.dumps(point.certificate.to_json())
            assert Certificate.from_json(json.loads(text)) == point.certificate


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss(loss):
    point = krawczyk.proof(AttentionDataset.build(*PLANE), loss)
    replay(PLANE, loss, point)


def test_kinds_show_in_the_loss():
    kinds = set()
    for data, points in FOUND:
        for point in points:
            # The point to far more than float accuracy, from its centre in long doubles.
            X, z = np.array(data[0]), np.array(data[2])
            B = [np.outer(X[i][0] - X[i][t], z[i]).astype(np.longdouble)
                 for i, t in point.certificate.basis]
            center = [np.longdouble(int(a.p)) / np.longdouble(int(a.q))
                      for a in point.certificate.center]
            W = sum(y * b for y, b in zip(center, B, strict=True))
            here = loss_at(data, "logistic", W)
            P = [[int(a.p) / int(a.q) for a in row]
                 for row in point.certificate.inertia.congruence]
            rises = 0
            for column in zip(*P, strict=True):
                step = sum(a * b for a, b in zip(column, B, strict=True)) * np.longdouble(1e-4)
                change = loss_at(data, "logistic", W + step) - here
                back = loss_at(data, "logistic", W - step) - here
                rises += change + back > 0
            assert rises == len(B) - point.certificate.inertia.negative
            kinds.add(point.kind)
    assert kinds == {"local minimum", "local maximum", "saddle"}


def test_float_gradient_is_the_derivative_of_the_loss():
    rng = np.random.default_rng(1)
    data = random_data(rng, n=4, T=4, d=3)
    space = row_space(AttentionDataset.build(*data))
    y = rng.standard_normal(space.rank) * 0.02
    for loss in LOSSES:
        G, J, _ = float_gradient(space, loss, y[None])
        for k in range(space.rank):
            e = np.zeros(space.rank)
            e[k] = 1e-5
            at = [loss_at(data, loss, krawczyk.matrix_at(space, y + s * e)) for s in (1, -1)]
            slope = -float(at[0] - at[1]) / 2e-5
            assert abs(slope - G[0, k]) < 1e-6 * (1 + abs(G[0]).max())
            ends, _, _ = float_gradient(space, loss, np.array([y + e, y - e]))
            assert np.allclose((ends[0] - ends[1]) / 2e-5, J[0, k],
                               atol=1e-5 * abs(J).max())


def test_boxes_are_disjoint_and_near_their_matrices():
    for data, points in FOUND:
        space = row_space(AttentionDataset.build(*data))
        for a, p in enumerate(points):
            exact = [sum((y * x for y, x in zip(p.certificate.center, row, strict=True)), fmpq(0))
                     for row in space.logits[0]]
            logits = [np.array(x) @ p.W @ np.array(data[2][0]) for x in data[0][0]]
            for t, value in enumerate(exact):
                assert abs(logits[t] - logits[0] - int(value.p) / int(value.q)) < 1e-6
            for q in points[:a]:
                apart = max(abs(x - y) for x, y in zip(p.certificate.center, q.certificate.center,
                                                       strict=True))
                assert apart > p.certificate.radius + q.certificate.radius


@pytest.mark.parametrize("change", ["center", "radius", "preconditioner", "basis", "negative"])
def test_the_replay_refuses_a_changed_box(change):
    data, points = FOUND[0]
    certificate = points[0].certificate
    if change == "center":
        changed = {"center": (certificate.center[0] + fmpq(1, 8), *certificate.center[1:])}
    elif change == "radius":
        changed = {"radius": fmpq(1, 2)}
    elif change == "preconditioner":
        changed = {"preconditioner": tuple(tuple(-a for a in row)
                                           for row in certificate.preconditioner)}
    elif change == "basis":
        changed = {"basis": certificate.basis[:1]}
    else:
        inertia = certificate.inertia
        changed = {"inertia": dataclasses.replace(inertia, negative=inertia.negative + 1)}
    with pytest.raises((AssertionError, ValueError)):
        replay(data, "logistic", dataclasses.replace(certificate, **changed))


def test_a_curve_of_zeros_is_not_proved():
    # Sample 1 is sample 0 with the other label: G = (|ℓ'(f)| − |ℓ'(−f)|) × a vector is 0 where
    # f = 0: on a curve that misses W = 0, where f = 1/3.
    X = [[-1, 0], [0, 1], [2, 0]]
    dataset = AttentionDataset.build([X, X], [1, -1], [[1, 0]] * 2, [1, 0])
    space = row_space(dataset)
    curve = zeros(space, "logistic", random_starts(space, 40, 0))
    assert len(curve) > 5
    assert krawczyk.near(dataset, "logistic", curve) == ()


def test_no_zero_where_a_direction_excludes_it():
    rng = np.random.default_rng(8)
    seen = 0
    while seen < 12:
        data = random_data(rng)
        if oracle.monotone_direction_exists(data):
            seen += 1
            assert krawczyk.proof(AttentionDataset.build(*data), "logistic") is None


def test_the_condition_reports_the_kind():
    verdict = no_stationary_point.decide(AttentionDataset.build(*FOUND[0][0]), "logistic")
    assert verdict.fails and verdict.certificate.kind in ("krawczyk", "stationary_at_zero")
    verdict = no_stationary_point.decide(AttentionDataset.build(*PLANE), "logistic")
    assert verdict.fails and verdict.certificate.kind == "krawczyk"
    assert verdict.number == "S4: saddle"
