"""What a search says when it finds no proof."""

from __future__ import annotations

import dataclasses

import pytest
from acceptance import accepted

from conditions import AttentionDataset, no_stationary_point
from conditions.stationary import decision_tree, simplex_cover
from conditions.stationary.outcome import NotExcluded

# d = 1, z = 1 and -1, scores (1, 0) and (3, 2): no zero, no tree, and a cover of several cells.
DATASET = AttentionDataset.build([[[1], [0]], [[3], [2]]], [1, 1], [[1], [-1]], [1])


def test_a_reason_alone():
    outcome = NotExcluded("because")
    assert outcome.suspects == () and outcome == NotExcluded("because", ())
    with pytest.raises(dataclasses.FrozenInstanceError):
        outcome.reason = "why not"


def test_a_tree_that_does_not_apply():
    # Two score levels a sample make one cell, whose rows 1 and -1 cancel.
    assert decision_tree.proof(DATASET) == NotExcluded("a cell of score levels has no direction")


def test_a_cover_that_runs_out_names_where():
    outcome = simplex_cover.proof(DATASET, "logistic", 1)
    assert isinstance(outcome, NotExcluded)
    assert outcome.reason == "node budget 1 used up"
    assert outcome.suspects and all(len(point) == 1 for point in outcome.suspects)


def test_a_row_space_that_is_too_large():
    dataset = AttentionDataset.build([[[1, 0], [0, 0]], [[0, 1], [0, 0]]] * 2, [1] * 4,
                                     [[1, 0], [1, 0], [0, 1], [0, 1]], [1, 1])
    assert simplex_cover.proof(dataset, "logistic") == NotExcluded(
        "row space of dimension 4, not 1 to 3")


def test_the_reasons_are_part_of_an_undecided_verdict():
    verdict = no_stationary_point.decide(DATASET, "logistic", 1)
    assert verdict.undecided and verdict.evidence is None
    assert "S3: a cell of score levels has no direction" in verdict.reason
    assert "S5: node budget 1 used up" in verdict.reason
    accepted(DATASET, verdict)
    verdict = no_stationary_point.decide(DATASET, "logistic")
    assert verdict.holds and verdict.certificate.kind == "simplex_cover"
    accepted(DATASET, verdict)
