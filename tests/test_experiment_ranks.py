"""The rank experiment: certified, infeasible trials apart, every trial its own function."""

import numpy as np
import pytest
from acceptance import accepted
from scipy.optimize import linprog

from conditions import InvalidInput
from conditions.certificates import Farkas
from conditions.selection import features, optimal_selection
from conditions.separation.frobenius import solve
from verifier.experiments.ranks import CELLS, NORMS, rank_trial, rank_trials, summary
from verifier.experiments.samples import unit_sphere_dataset

SAMPLE = [(5, 5, 1), (5, 5, 2), (10, 5, 3), (5, 15, 4), (5, 10, 10), (15, 5, 5)]


def separable(dataset):
    """Whether some W has all margins ≥ 1, by an LP in floats."""
    phi = features(dataset, optimal_selection(dataset))
    rows = (phi.float_differences[:, :, None] * phi.float_queries[:, None, :]).reshape(
        len(phi), -1)
    found = linprog(np.zeros(rows.shape[1]), A_ub=-rows, b_ub=-np.ones(len(rows)),
                    bounds=(None, None), method="highs")
    return found.status == 0


@pytest.mark.parametrize("cell", SAMPLE)
def test_ranks_and_infeasibility_are_certified(cell):
    n, _, d = cell
    found = {norm: rank_trials(*cell, 5, 3, norm) for norm in NORMS}
    for whole, low in zip(found["frobenius"], found["nuclear"], strict=True):
        dataset = whole.dataset
        assert dataset.fingerprint == low.dataset.fingerprint
        assert whole.infeasible == low.infeasible == (not separable(dataset))
        accepted(dataset, whole.verdict, low.verdict)
        if whole.infeasible:
            assert isinstance(whole.verdict.certificate, Farkas)
            assert whole.rank is None is low.rank
            continue
        sizes = np.linalg.svd(solve(dataset, optimal_selection(dataset)).float_W,
                              compute_uv=False)
        assert whole.rank == np.count_nonzero(sizes > 1e-7 * sizes[0]) <= min(n, d)
        assert 1 <= low.rank <= min(n, d)
    for records in found.values():
        counted = summary(records)
        assert counted.trials == 5 == counted.infeasible + len(counted.ranks)
        assert counted.undecided == 0 and counted.bound == min(n, d)
        assert (counted.mean is None) == (counted.infeasible == 5) == (counted.largest is None)


def test_both_kinds_of_trial_occur():
    counted = summary(rank_trials(5, 5, 2, 12, 0, "frobenius"))
    assert 0 < counted.infeasible < 12 and set(counted.ranks) <= {1, 2}


def test_a_trial_does_not_depend_on_others():
    alone = rank_trial(5, 5, 4, 3, 7, "frobenius")
    among = rank_trials(5, 5, 4, 5, 7, "frobenius")[3]
    assert alone.dataset.fingerprint == among.dataset.fingerprint and alone.rank == among.rank
    others = {unit_sphere_dataset(5, 5, 4, c).fingerprint
              for c in [(7, 5, 5, 4, 3), (7, 5, 5, 4, 2), (8, 5, 5, 4, 3)]}
    assert len(others) == 3 and alone.dataset.fingerprint in others


def test_samples_lie_on_the_sphere():
    data = unit_sphere_dataset(4, 3, 6, (1,))
    view = data.floats
    assert (data.n, data.lengths, data.d) == (4, (3,) * 4, 6)
    for part in (*view.tokens, view.queries, view.head):
        assert np.allclose(np.linalg.norm(part, axis=-1), 1)


def test_the_cells_of_figure_4():
    assert len(CELLS) == len(set(CELLS)) == 40
    assert {(n, T) for n, T, _ in CELLS} == {(5, 5), (10, 5), (15, 5), (5, 10), (5, 15)}


def test_bad_settings_are_refused():
    with pytest.raises(InvalidInput, match="norm"):
        rank_trial(5, 5, 2, 0, 0, "spectral")
    with pytest.raises(InvalidInput, match="coordinates"):
        rank_trial(5, 5, 2, 0, -1, "nuclear")
    with pytest.raises(InvalidInput, match="records"):
        summary([*rank_trials(5, 5, 2, 1, 0, "nuclear"), *rank_trials(5, 5, 3, 1, 0, "nuclear")])
