"""Figures 8, 9 and 12: records are functions of their coordinates, and show what is claimed."""

import numpy as np
import pytest
from acceptance import accepted

from conditions.errors import InvalidInput
from conditions.exact.numbers import to_float
from verifier.descent import descend
from verifier.experiments import multi_token
from verifier.experiments.multi_token import (
    by_lam,
    lemma_6_trials,
    multi_token_trials,
    orthonormal_trial,
    quadratic_trials,
    relu_trial,
)
from verifier.multi_token import observed_sets, softmax_weights


@pytest.fixture(scope="module")
def trials():
    return multi_token_trials(10, 8, 1)


def test_records_pass_the_filter_and_are_replayed(trials):
    assert len(trials.records) == 8
    assert [r.candidate for r in trials.records] == sorted({r.candidate for r in trials.records})
    drawn = trials.records[-1].candidate + 1
    assert sum(trials.rejected.values()) == drawn - 8
    assert {"no label −1", "a softmax weight between selected and masked"} <= set(trials.rejected)
    for record in trials.records:
        dataset, head, start = relu_trial(3, 4, 10, 1, record.candidate)
        assert -1 in dataset.labels
        run = descend(dataset, head=head, start=start, resolution=multi_token.RESOLUTION)
        assert observed_sets(dataset, run.final).sets == record.sets
        masked = [w for s, chosen in zip(softmax_weights(dataset, run.final), record.sets,
                                         strict=True)
                  for t, w in enumerate(s) if t not in chosen]
        assert 0 < max(masked) < 1e-6 and record.masked == pytest.approx(max(masked))
        assert record.verdict.holds and record.verdict.certificate.sets == record.sets
        accepted(dataset, record.verdict)


def test_several_tokens_are_predicted_better_than_one(trials):
    assert trials.misalignment("equivalent") < 0.03
    assert trials.misalignment("equivalent") < trials.misalignment("direction")
    assert trials.misalignment("direction") < trials.misalignment("single")
    for record in trials.records:
        assert record.steps[0] == 0 and record.steps[-1] == 2000
        assert record.equivalent[-1] >= record.direction[-1] - 1e-12
        if all(len(chosen) == 1 for chosen in record.sets):
            assert record.single == pytest.approx(record.direction)


def test_the_first_records_do_not_depend_on_how_many_are_asked_for(trials):
    (first,) = multi_token_trials(10, 1, 1).records
    assert first.candidate == trials.records[0].candidate
    assert first.equivalent == trials.records[0].equivalent


def test_the_number_of_tokens_is_that_of_the_best_mixture():
    records = quadratic_trials([0.02, 0.5, 3.0], 12, 0)
    assert len(records) == 36
    assert all(record.verdict.holds for record in records)
    assert all(record.best == record.orthonormal for record in records)
    assert sum(record.selected == record.best for record in records) >= 33
    means = by_lam(records, lambda record: float(record.selected))
    assert list(means) == [0.02, 0.5, 3.0]
    assert 1 <= means[0.02] < 2 < means[0.5] < 8 < means[3.0] <= 10
    kept = [record for record in records if not record.between]
    assert kept and all(record.selected == record.best for record in kept)
    for record in kept:
        assert (record.equivalent is None) == (record.selected == 10)
    dataset, *_ = orthonormal_trial(10, 10, (9, 0, 10, 10, 3))
    assert np.allclose(np.array(dataset.floats.tokens[0]) @ dataset.floats.tokens[0].T, np.eye(10))
    accepted(dataset, records[3].verdict)


@pytest.mark.parametrize("tau", [2, 5])
def test_draws_for_lemma_6_take_2_to_tau_tokens(tau):
    records = lemma_6_trials(tau, 10, 0)
    assert len(records) == 10
    for record in records:
        assert 2 <= record.best <= tau and record.best == record.orthonormal
        assert to_float(record.lam) > 0
    assert sum(record.selected == record.best for record in records) >= 7


def test_bad_settings_are_refused():
    with pytest.raises(InvalidInput, match="tau"):
        lemma_6_trials(10, 1, 0)
    with pytest.raises(InvalidInput, match="lambda"):
        quadratic_trials([-1.0], 1, 0)
