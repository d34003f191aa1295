"""Every locally optimal selection: equal to brute force, complete, and replayable."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import direction_trees
import numpy as np
import pytest

from conditions import AttentionDataset, local_optimality
from conditions.certificates import Certificate
from conditions.directions import decide, enumerate_directions, verdict
from conditions.enumeration.batch import batch
from conditions.enumeration.problem import local_optimality_problem, optimal_support_problem
from conditions.enumeration.tree import Progress, Search, run

ABOUT = "directions"
FLOATS = list(direction_trees.float_datasets(3, 3, 3, 20, seed=1))
INTEGERS = list(direction_trees.integer_datasets(3, 3, 3, 20, seed=2))
FLAT = [*direction_trees.float_datasets(3, 4, 2, 3, seed=3),
        *direction_trees.float_datasets(4, 3, 2, 3, seed=4)]
RAGGED = [([[[1, 0], [0, 1], [-1, 0]], [[0, 0], [2, 1]]], [1, -1], [[1, 0], [1, 1]], [1, 2]),
          ([[[3], [2], [1]], [[0], [1]]], [1, 1], [[1], [-1]], [1])]
TRIALS = Path(__file__).parents[1] / "examples" / "data" / "local_convergence.npz"


def trial(k: int, n: int = 6, T: int = 8) -> tuple[AttentionDataset, tuple[int, ...]]:
    with np.load(TRIALS) as f:
        data = AttentionDataset.build(f["X"][k, :n, :T], f["Y"][k, :n], f["z"][k, :n], f["v"][k])
        return data, tuple(f["selected_W"][k].tolist())


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("data", FLOATS + INTEGERS + FLAT + RAGGED)
def test_equals_brute_force_and_replays(data, compiled):
    dataset = AttentionDataset.build(*data)
    search = Search(local_optimality_problem(dataset), compiled=compiled)
    run(search)
    assert search.complete
    expected = direction_trees.brute_force(dataset, ABOUT)
    assert [each.selection for each in search.found] == expected
    spelled = json.loads(json.dumps(search.certificate.to_json()))
    assert Certificate.from_json(spelled) == search.certificate
    direction_trees.replay(data, spelled, ABOUT)


def counted(datasets, compiled):
    total: dict[str, int] = {}
    for data in datasets:
        search = Search(local_optimality_problem(AttentionDataset.build(*data)), compiled=compiled)
        run(search)
        counts = direction_trees.replay(data, search.certificate.to_json(), ABOUT)
        for kind, count in counts.items():
            total[kind] = total.get(kind, 0) + count
    return total


def test_every_way_to_close_a_vertex_occurs():
    fast = counted([*FLOATS[:6], *INTEGERS[:6], *FLAT], True)
    # Compiled code closes nearly all feasible leaves that are not locally optimal.
    assert fast["multipliers"] > 200
    assert fast["infeasible"] > 2
    assert fast["obstructed"] > 20
    slow = counted([*FLOATS[:6], *INTEGERS[:6]], False)
    assert "multipliers" not in slow
    assert min(slow["exact_kkt"], slow["kkt_enclosure"], slow["primal_dual"]) > 5


def test_the_replay_refuses_wrong_multipliers():
    data = FLOATS[0]
    dataset = AttentionDataset.build(*data)
    best = direction_trees.optimal_selection(dataset)
    # opt has no tested row, whatever the multipliers.
    assert not direction_trees.closes(data, best, [], "1" + "1" * 6)
    tables = batch(dataset, sorted(local_optimality_problem(dataset).tested))
    selections = list(itertools.product(range(3), repeat=3))
    closed = [(s, text) for s, text in zip(selections, tables.close(selections), strict=True)
              if text is not None and len(text) > 1]
    for selection, text in closed:
        tested = direction_trees.tested_rows(dataset, selection, ABOUT)
        assert direction_trees.closes(data, selection, tested, text)
        assert not direction_trees.closes(data, selection, tested, text[0] + "0" * (len(text) - 1))
        assert not direction_trees.closes(data, selection, tested, text + "0")


def test_the_worst_tokens_everywhere_leave_no_constraint():
    dataset = AttentionDataset.build(*FLOATS[0])
    worst = tuple(int(np.argmin(scores)) for scores in
                  [[float(s.p) / float(s.q) for s in row] for row in dataset.scores])
    tables = batch(dataset, sorted(local_optimality_problem(dataset).tested))
    assert tables.close([worst]) == ["1"]


@pytest.mark.parametrize("data", FLOATS[:6])
def test_directions_carry_their_solution(data):
    dataset = AttentionDataset.build(*data)
    met = []
    enumeration = enumerate_directions(dataset, found=met.append)
    assert enumeration.complete
    assert sorted(d.selection for d in met) == sorted(d.selection for d in enumeration.directions)
    margins = [d.margin for d in enumeration.directions]
    assert margins == sorted(margins, reverse=True)
    for direction in enumeration.directions:
        assert local_optimality.decide(dataset, direction.selection).holds
        scores = dataset.scores
        assert all(scores[i][t] < scores[i][direction.selection[i]] for i, t in direction.support)
        assert direction.margin == pytest.approx(1 / np.linalg.norm(direction.solution.float_W))
    proof = verdict(enumeration)
    assert proof.holds
    assert proof.certificate == decide(dataset).certificate


def test_a_budget_ends_the_walk_and_says_how_far_it_got():
    dataset = AttentionDataset.build(*FLOATS[1])
    reached: list[Progress] = []
    enumeration = enumerate_directions(dataset, seconds=0, progress=reached.append)
    assert not enumeration.complete
    assert enumeration.certificate is None
    assert enumeration.reached.total == 27
    assert enumeration.reached.closed < 27
    assert enumeration.reached.share < 1
    assert len(reached) == 1
    answer = decide(dataset, seconds=0)
    assert answer.undecided
    assert "of 27 selections" in answer.reason


def test_progress_never_decreases_and_ends_complete():
    reached: list[Progress] = []
    enumerate_directions(AttentionDataset.build(*INTEGERS[3]), progress=reached.append)
    closed = [p.closed for p in reached]
    assert closed == sorted(closed)
    assert closed[-1] == reached[-1].total == 27
    assert Progress(10**9 - 1, 10**9, 0).share < 1


def test_extreme_scales_go_to_exact_arithmetic():
    X = [[["1e-200", 0], [0, "1e-200"]], [[1, 0], [0, 1]]]
    data = (X, [1, 1], [[1, 0], [0, 1]], [1, 2])
    dataset = AttentionDataset.build(*data)
    problem = local_optimality_problem(dataset)
    assert batch(dataset, sorted(problem.tested)) is None
    search = Search(problem, compiled=True)
    run(search)
    assert [e.selection for e in search.found] == direction_trees.brute_force(dataset, ABOUT)


def test_part_of_a_recorded_trial_against_exact_solutions():
    dataset, _ = trial(2, n=3, T=5)
    search = Search(local_optimality_problem(dataset), compiled=True)
    run(search)
    assert [each.selection for each in search.found] == direction_trees.brute_force(dataset, ABOUT)


@pytest.mark.parametrize("power", [-30, 30])
def test_scales_do_not_matter(power):
    X, Y, z, v = FLAT[0]
    scaled = (np.ldexp(X, power).tolist(), Y, np.ldexp(z, power).tolist(), v)
    proofs = []
    for data in (FLAT[0], scaled):
        search = Search(local_optimality_problem(AttentionDataset.build(*data)), compiled=True)
        run(search)
        proofs.append(search.certificate)
        direction_trees.replay(data, search.certificate.to_json(), ABOUT)
    assert proofs[0].selections == proofs[1].selections


@pytest.mark.slow
def test_all_selections_of_a_recorded_trial():
    dataset, selected = trial(0)
    enumeration = enumerate_directions(dataset, seconds=300)
    assert enumeration.complete
    assert enumeration.reached.total == 8**6
    assert selected in [d.selection for d in enumeration.directions]
    assert local_optimality.decide(dataset, selected).holds


def test_only_the_asked_selection_is_exempt():
    dataset = AttentionDataset.build(*FLOATS[0])
    assert local_optimality_problem(dataset).exempt is None
    assert optimal_support_problem(dataset).exempt == direction_trees.optimal_selection(dataset)
