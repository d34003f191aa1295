"""The first gradient step: signs by hand, and by brute force."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from acceptance import accepted
from flint import fmpq

from conditions import AttentionDataset, Evidence, InvalidInput, first_step_separates
from conditions.losses import LOSSES
from verifier.certify import dataset_to_json
from verifier.kernel.claim import Claim
from verifier.kernel.data import Dataset
from verifier.kernel.kinds.first_step import FirstStep, optimal_features
from verifier.kernel.reading import Node

# -∇L(0) is a positive multiple of Σ_t (γ_t - f) x_t zᵀ for one sample, f the mean score.


def one(*tokens):
    """With v = (3, 0) and z = e1 the first token scores 3, those with x_1 = 0 score 0."""
    return AttentionDataset.build([[[1, 0], *tokens]], [1], [[1, 0]], [3, 0])


def opposite(shift):
    """Two steps e1 of score 1, at mean scores 1/2 and 1/2 + shift, with z = e1 and -e1 + e2.

    With weights w_i = |ℓ'(f_i)| the margins are (w_0 - w_1)/4 and (2 w_1 - w_0)/4.
    """
    tokens = [[[1, 0], [0, 0]], [[1 + shift, 0], [shift, 0]]]
    return AttentionDataset.build(tokens, [1, 1], [[1, 0], [-1, 1]], [1, 0])


@pytest.mark.parametrize("loss", LOSSES)
def test_two_tokens_always_separate(loss):
    # (γ_0 - γ_1)/4 (x_0 - x_1) zᵀ is parallel to the only feature.
    dataset = one([0, 5])
    verdict = first_step_separates.decide(dataset, loss)
    assert verdict.holds and verdict.number == "1 margins > 0"
    assert verdict.evidence is (Evidence.EXACT if loss == "correlation" else Evidence.ENCLOSED)
    accepted(dataset, verdict)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("low", "sign"), [(-2, -1), (-1, 0)])
def test_a_far_token_pulls_the_step_away(loss, low, sign):
    # Tokens (1, 0), (0, b), (0, -s), f = 1: the pull is 2(1, 0) - (0, b) - (0, -s) = (2, s - b).
    # Row 2 is (1, s), its margin 2 + s(s - b): b = 10, s = 2 gives -14; b = 3, s = 1 gives 0.
    # Row 1 is (1, -b), its margin 2 + b(b - s) > 0.
    dataset = one([0, 10 if sign else 3], [0, low])
    verdict = first_step_separates.decide(dataset, loss)
    assert verdict.fails
    assert (verdict.certificate.row, verdict.certificate.sign) == ((0, 2), sign)
    exact = loss == "correlation" or sign == 0
    assert verdict.evidence is (Evidence.EXACT if exact else Evidence.ENCLOSED)
    accepted(dataset, verdict)


def test_the_loss_decides():
    # shift 1/2: the exponential weights have w_1/w_0 = e^(-1/2) = 0.607 in (1/2, 1), the logistic
    # ones 0.2689/0.3775 = 0.712; for the correlation loss w_0 = w_1, the first margin is 0.
    dataset = opposite(fmpq(1, 2))
    assert first_step_separates.decide(dataset, "exponential").holds
    assert first_step_separates.decide(dataset, "logistic").holds
    verdict = first_step_separates.decide(dataset, "correlation")
    assert verdict.fails
    assert (verdict.certificate.row, verdict.certificate.sign) == ((0, 1), 0)
    accepted(dataset, *(first_step_separates.decide(dataset, loss) for loss in LOSSES))


def test_a_loss_that_falls_too_fast():
    # shift 1: e^(-1) = 0.368 < 1/2 makes the second margin negative; the logistic weights
    # 0.1824/0.3775 = 0.483 do so too.
    dataset = opposite(1)
    for loss in ("exponential", "logistic"):
        verdict = first_step_separates.decide(dataset, loss)
        assert verdict.fails
        assert (verdict.certificate.row, verdict.certificate.sign) == ((1, 1), -1)
        accepted(dataset, verdict)


def test_a_tied_optimum_has_nothing_to_separate():
    dataset = one([1, 1])
    verdict = first_step_separates.decide(dataset, "logistic")
    assert verdict.fails and verdict.certificate.tokens == (0, 1)
    assert verdict.evidence is Evidence.EXACT
    accepted(dataset, verdict)


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_a_sign_beyond_all_precision_stays_undecided(loss):
    # w_0 - w_1 is about 2^-70000: not 0, and below what 65,536 bits show.
    dataset = opposite(fmpq(1, 1 << 70_000))
    verdict = first_step_separates.decide(dataset, loss)
    assert verdict.undecided and verdict.evidence is None
    assert verdict.reason.startswith("1 margins are not 0")
    accepted(dataset, verdict)


def test_close_calls_take_more_precision():
    # w_0 - w_1 is about 2^-300 of w_0: shown with 512 bits, not with 256.
    dataset = opposite(fmpq(1, 1 << 300))
    verdict = first_step_separates.decide(dataset, "logistic")
    assert verdict.holds and verdict.certificate.precision == 512
    accepted(dataset, verdict)


def test_unknown_losses_are_refused():
    with pytest.raises(InvalidInput, match="loss"):
        first_step_separates.decide(one([0, 1]), "hinge")


@pytest.mark.parametrize("loss", LOSSES)
def test_agrees_with_brute_force(loss):
    counts = {True: 0, False: 0}
    for data in oracle.integer_datasets(2, 3, 2, range(-2, 3), 42, seed=10):
        dataset = AttentionDataset.build(*data)
        verdict = first_step_separates.decide(dataset, loss)
        assert verdict.holds == oracle.first_step_separates(data, loss) == (not verdict.fails)
        counts[verdict.holds] += 1
        accepted(dataset, verdict)
    assert min(counts.values()) > 3


@pytest.mark.parametrize("loss", ["logistic", "exponential", "correlation"])
def test_one_matrix_for_all_margins_shows_only_true_signs(loss):
    # Some rows at most precisions, the others one by one; never a row that is not positive.
    shown = {8: 0, 64: 0}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        dataset = AttentionDataset.build(rng.normal(size=(4, 3, 3)), [1, -1, 1, -1],
                                         rng.normal(size=(4, 3)), rng.normal(size=3))
        claim = Claim(Dataset.read(Node(dataset_to_json(dataset))), "first_step_separates",
                      "holds", None, loss)
        step, phi = FirstStep(claim), optimal_features(claim, Node({}))
        positive = {row for row in phi.rows if step.sign(step.margin(phi, row), 512) > 0}
        for bits in shown:
            found = FirstStep(claim).shown_positive(phi, bits)
            assert found <= positive
            shown[bits] += len(found)
    assert 0 < shown[8] <= shown[64]
