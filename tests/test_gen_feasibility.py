"""Feasibility of Gen-SVM: both answers carry certificates that the checker accepts."""

from __future__ import annotations

import json
import random

import general_oracle
import oracle
import pytest

from conditions import AttentionDataset, Evidence, InvalidInput, feasibility, gen_feasibility
from verifier.certify import dataset_to_json, verdict_to_json
from verifier.kernel import check_text

# With z = e1 the first column w of W counts; O = {0, 1} asks for w_1 = w_2.
FOUR = AttentionDataset.build([[[1, 0], [0, 1], [0, 0], [-1, 0]]], [1], [[1, 0]], [1, 1])


def checked(dataset, verdict):
    """The line of the checker for the only verdict of a file, which it must accept."""
    result = check_text(json.dumps({
        "format": "attsvm-certificate", "version": 1, "dataset": dataset_to_json(dataset),
        "run": None, "verdicts": [verdict_to_json(verdict)]}))
    assert result.refusals == ()
    return result.lines()[1]


def test_feasible_set():
    verdict = gen_feasibility.decide(FOUR, [[1, 0]])
    assert verdict.holds and verdict.evidence is Evidence.EXACT
    assert verdict.certificate.kind == "gen_separator"
    assert verdict.certificate.W == ((1, 0), (1, 0))
    assert verdict.reason == "W has all 2 margins at least 1 and meets all 1 equalities"
    assert "O = ({0, 1}); 2 rejected tokens" in checked(FOUR, verdict)


def test_infeasible_set():
    verdict = gen_feasibility.decide(FOUR, [[0, 3]])
    assert verdict.fails and verdict.certificate.kind == "motzkin"
    assert verdict.certificate.multipliers == ((0, 2, 2),)
    assert verdict.certificate.equality_multipliers == ((0, 3, -1),)
    assert "O = ({0, 3}); Gen-SVM is infeasible" in checked(FOUR, verdict)


def test_infeasible_without_ties():
    verdict = gen_feasibility.decide(FOUR, [[2]])
    assert verdict.fails and verdict.certificate.equality_multipliers == ()
    assert verdict.reason == ("Gen-SVM is infeasible: "
                              "a combination of 2 features with positive weights is 0")
    checked(FOUR, verdict)


def test_no_token_rejected():
    verdict = gen_feasibility.decide(FOUR, [range(4)])
    assert verdict.holds
    assert verdict.certificate.W == ((0, 0), (0, 0))
    assert verdict.reason == "no token is rejected: W = 0 is a solution, there is no direction"
    assert "O = ({0, 1, 2, 3}); 0 rejected tokens" in checked(FOUR, verdict)


def test_copies_of_a_selected_token_must_be_in_the_set():
    dataset = AttentionDataset.build([[[1], [1], [0]]], [1], [[1]], [1])
    assert gen_feasibility.decide(dataset, [[0]]).fails
    assert gen_feasibility.decide(dataset, [[0, 1]]).holds
    assert gen_feasibility.decide(dataset, [[1, 2]]).fails


def test_zero_query():
    dataset = AttentionDataset.build([[[1], [0]], [[1], [0]]], [1, 1], [[1], [0]], [1])
    assert gen_feasibility.decide(dataset, [[0], [0]]).fails
    verdict = gen_feasibility.decide(dataset, [[0], [0, 1]])
    assert verdict.holds
    checked(dataset, verdict)


def test_agrees_with_elimination_and_is_accepted():
    counts = {"gen_separator": 0, "motzkin": 0}
    rng = random.Random(11)
    for shape in ((1, 3, 2), (2, 3, 1), (2, 2, 2), (2, 3, 2)):
        for data in oracle.integer_datasets(*shape, (-1, 0, 1), 14, seed=41):
            dataset, sets = AttentionDataset.build(*data), general_oracle.draw_sets(data, rng)
            verdict = gen_feasibility.decide(dataset, sets)
            assert verdict.holds == general_oracle.feasible(data, sets)
            assert not verdict.undecided
            counts[verdict.certificate.kind] += 1
            checked(dataset, verdict)
    assert min(counts.values()) >= 10, counts


def test_single_tokens_are_feasibility():
    for data in oracle.integer_datasets(2, 3, 2, (-1, 0, 1), 28, seed=4):
        dataset = AttentionDataset.build(*data)
        for alpha in oracle.selections(data):
            general = gen_feasibility.decide(dataset, [[a] for a in alpha])
            assert general.status is feasibility.decide(dataset, alpha).status


def test_labels_and_head_do_not_matter():
    for data in oracle.integer_datasets(2, 3, 2, (-1, 0, 1), 14, seed=6):
        X, Y, z, v = data
        sets = [[0, 2], [1]]
        other = AttentionDataset.build(X, [-y for y in Y], z, [a + 1 for a in v])
        assert (gen_feasibility.decide(AttentionDataset.build(*data), sets)
                == gen_feasibility.decide(other, sets))


def test_bad_sets_are_refused():
    with pytest.raises(InvalidInput, match=r"sets\[0\]"):
        gen_feasibility.decide(FOUR, [[4]])
