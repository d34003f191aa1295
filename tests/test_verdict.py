"""A verdict states no more than its certificate and evidence carry."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
from acceptance import accepted
from flint import fmpq, fmpz

from conditions import AttentionDataset, Evidence, Status, Verdict
from conditions.certificates import (
    ExceptionalSelection,
    Farkas,
    Krawczyk,
    OptimalTokens,
    OptimumTie,
    Separator,
)
from conditions.verdict import proved, undecided, weakest
from verifier.certify import Report
from verifier.kernel import check_text

DATASET = AttentionDataset.build([[[1], [0]]], [1], [[1]], [1])
PROOF = OptimalTokens((0,))


@pytest.mark.parametrize(("status", "evidence", "certificate"),
                         [*itertools.product(Status, [None, *Evidence], [None, PROOF])])
def test_only_these_combinations_exist(status, evidence, certificate):
    if status is Status.UNDECIDED:
        legal = certificate is None and evidence in (None, Evidence.OBSERVED)
    else:
        legal = certificate is not None and evidence in (Evidence.EXACT, Evidence.ENCLOSED)
    if legal:
        Verdict("unique_optimum", status, evidence, certificate, "")
    else:
        with pytest.raises(ValueError, match="unique_optimum"):
            Verdict("unique_optimum", status, evidence, certificate, "")


def test_exactly_one_status_is_true():
    verdicts = {Status.HOLDS: proved("c", Status.HOLDS, PROOF, ""),
                Status.FAILS: proved("c", Status.FAILS, PROOF, ""),
                Status.UNDECIDED: undecided("c", "")}
    for status, verdict in verdicts.items():
        assert [verdict.holds, verdict.fails, verdict.undecided] == [
            status is Status.HOLDS, status is Status.FAILS, status is Status.UNDECIDED]


def test_a_verdict_has_no_truth_value():
    with pytest.raises(TypeError, match="'c'"):
        bool(undecided("c", ""))
    with pytest.raises(TypeError):
        assert not proved("c", Status.FAILS, PROOF, "")


def test_a_verdict_cannot_be_changed():
    verdict = undecided("c", "")
    with pytest.raises(dataclasses.FrozenInstanceError):
        verdict.status = Status.HOLDS


def test_evidence_is_that_of_the_kind_unless_given():
    assert proved("c", Status.HOLDS, PROOF, "").evidence is Evidence.EXACT
    assert Krawczyk.evidence == "enclosed"
    given = proved("c", Status.HOLDS, PROOF, "", evidence=Evidence.ENCLOSED)
    assert given.evidence is Evidence.ENCLOSED


def test_nothing_is_claimed_that_a_checker_cannot_read():
    # 1/3^210,000 has 100,196 digits; the second certificate holds it in a part of a part.
    long = fmpq(1, fmpz(3)**210_000)
    for certificate in (Separator(((fmpq(1), long),)),
                        ExceptionalSelection((0,), Farkas(((0, 1, long),)))):
        verdict = proved("feasibility", Status.HOLDS, certificate, "", selection=(0,))
        assert verdict.undecided and verdict.certificate is None
        assert verdict.selection == (0,)
        assert "100,198 characters" in verdict.reason
    assert proved("feasibility", Status.HOLDS, Separator(((fmpq(long.q),),)), "").undecided
    short = fmpq(1, fmpz(3)**200_000)
    assert proved("feasibility", Status.HOLDS, Separator(((short,),)), "").holds


def test_observation_is_said():
    assert undecided("c", "").evidence is None
    assert undecided("c", "", observed=True).evidence is Evidence.OBSERVED


def test_the_weakest_evidence_counts():
    # exact > enclosed > observed.
    order = [Evidence.OBSERVED, Evidence.ENCLOSED, Evidence.EXACT]
    for chosen in itertools.product(range(3), repeat=2):
        assert weakest(*(order[k] for k in chosen)) is order[min(chosen)]


def test_the_checker_accepts_a_true_verdict_and_no_other():
    # The score of token 0 is 1 > 0: it is the strict maximum, and there is no tie.
    accepted(DATASET, proved("unique_optimum", Status.HOLDS, PROOF, ""))
    accepted(DATASET, undecided("predicted_direction", "", observed=True, selection=(0,),
                                loss="logistic"))
    for false in (proved("unique_optimum", Status.HOLDS, OptimalTokens((1,)), ""),
                  proved("unique_optimum", Status.FAILS, PROOF, ""),
                  proved("unique_optimum", Status.FAILS, OptimumTie(0, (0, 1)), ""),
                  proved("unique_optimum", Status.HOLDS, PROOF, "", evidence=Evidence.ENCLOSED)):
        text = Report(DATASET, "", (false,), (), None).certificate_text()
        assert len(check_text(text).refusals) == 1
