"""The cone of locally optimal selections: Definition 3, where it fails, and its inner radius."""

import numpy as np
import pytest

from conditions import AttentionDataset, local_optimality
from conditions.selection import features
from conditions.separation.frobenius import Infeasible, solve
from verifier.path.cone import Cone, inner_radius
from verifier.path.objective import Objective

# α = (0, 1) is locally optimal; sample 1 puts no demand and its only other token scores higher.
TWO = AttentionDataset.build([[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], [1, 1], [[1, 0], [1, 0]],
                             [1, 3])


def random_dataset(seed):
    rng = np.random.default_rng(seed)
    return AttentionDataset.build(rng.normal(size=(2, 4, 4)), rng.choice([-1, 1], 2),
                                  rng.normal(size=(2, 4)), rng.normal(size=4))


def margins(dataset, selection, W):
    phi = features(dataset, selection)
    return ((phi.float_differences @ W) * phi.float_queries).sum(axis=1)


def literal(dataset, selection, W):
    """v1's Definition 3: min_i max_{t∈low} min_{τ∈high} (x_it − x_iτ)ᵀ W z_i."""
    worst = np.inf
    for i, (X, z, scores) in enumerate(zip(dataset.floats.tokens, dataset.floats.queries,
                                           dataset.scores, strict=True)):
        a = selection[i]
        low = [t for t in range(len(X)) if scores[t] < scores[a]]
        high = [t for t in range(len(X)) if t != a and scores[t] >= scores[a]]
        if high:
            worst = min(worst, max((min((X[t] - X[s]) @ W @ z for s in high) for t in low),
                                   default=-np.inf))
    return worst


def selections(dataset):
    return [(a, b) for a in range(4) for b in range(4)]


def test_the_printed_cone_is_that_of_the_definition():
    rng = np.random.default_rng(0)
    for seed in range(5):
        dataset = random_dataset(seed)
        for alpha in selections(dataset):
            cone, W = Cone.of(dataset, alpha), rng.normal(size=(4, 4))
            m = margins(dataset, alpha, W)
            assert cone.printed_slack(m) == pytest.approx(literal(dataset, alpha, W), abs=1e-12)
            assert cone.slack(m) >= cone.printed_slack(m)


def test_it_holds_W_mm_exactly_if_the_selection_is_locally_optimal():
    seen = set()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        dataset = AttentionDataset.build(rng.normal(size=(3, 4, 3)), rng.choice([-1, 1], 3),
                                         rng.normal(size=(3, 3)), rng.normal(size=3))
        for alpha in np.ndindex(4, 4, 4):
            outcome = solve(dataset, alpha)
            if isinstance(outcome, Infeasible):
                continue
            m = margins(dataset, alpha, outcome.float_W)
            holds = local_optimality.decide(dataset, alpha).holds
            assert (Cone.of(dataset, alpha).slack(m) > 1e-9) == holds
            seen.add((holds, Cone.of(dataset, alpha).printed_slack(m) > 1e-9))
    # v1's cone may miss it although α is locally optimal, but holds it for no other α.
    assert seen == {(True, True), (True, False), (False, False)}


def test_a_sample_without_demand_empties_the_printed_cone():
    W, cone = solve(TWO, (0, 1)).float_W, Cone.of(TWO, (0, 1))
    m = margins(TWO, (0, 1), W)
    assert local_optimality.decide(TWO, (0, 1)).holds
    assert cone.printed_slack(m) == -np.inf
    # Margins 1 (low) and 2 (high).
    assert cone.slack(m) == pytest.approx(1.0)


def test_ties_are_high():
    dataset = AttentionDataset.build([[[1, 0], [0, 1], [0, 0]]], [1], [[1, 1]], [2, 2])
    cone = Cone.of(dataset, (0,))
    assert cone.high.tolist() == [True, False] and cone.low.tolist() == [False, True]


def test_for_the_optimum_it_is_the_whole_space():
    dataset = random_dataset(1)
    alpha = tuple(max(range(4), key=lambda t, s=scores: s[t]) for scores in dataset.scores)
    assert Cone.of(dataset, alpha).slack(-np.ones(6)) == np.inf
    assert inner_radius(dataset, alpha, 1.0, "logistic") == 0.0


@pytest.mark.parametrize("loss", ["logistic", "exponential", "correlation"])
def test_beyond_the_inner_radius_the_loss_exceeds_its_limit(loss):
    checked = 0
    for seed in range(6):
        dataset, rng = random_dataset(seed), np.random.default_rng(seed)
        for alpha in selections(dataset):
            cone, objective = Cone.of(dataset, alpha), Objective(dataset, alpha, loss)
            if not cone.low.any() or not cone.high.any():
                continue
            best = solve(dataset, alpha).float_W
            best = best / np.linalg.norm(best)
            for share in (0.0, 0.5, 1.0, 2.0):
                W = best + share * rng.normal(size=(4, 4)) / 4
                W /= np.linalg.norm(W)
                epsilon = cone.slack(margins(dataset, alpha, W))
                if not 1e-6 < epsilon < np.inf:
                    continue
                W = W * inner_radius(dataset, alpha, epsilon, loss) * (1 + 2 * rng.random())
                m = margins(dataset, alpha, W)
                T, slopes = 4, dataset.scores
                lows = objective.gaps[cone.low]
                scores = np.array([float(g) for row in slopes for g in row])
                least = {"logistic": 1 / (1 + np.exp(scores)), "exponential": np.exp(-scores),
                         "correlation": np.ones(8)}[loss].min()
                bound = (np.log(lows.min() * least / (8 * (T + 1)))
                         + min(0.0, -float(m[cone.low].min())))
                assert bound <= objective.value(m) < np.inf
                checked += 1
    assert checked > 60
