"""The registered claims: complete, cross-linked, evaluable, refuted where they are known to be."""

from __future__ import annotations

import contextlib
import io
import itertools
import re

import claims_tables
import numpy as np
import oracle
import pytest
from acceptance import accepted
from test_predicates import CROSSED, OPPOSED, ORTHONORMAL, TIED, TWO, case

from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.verdict import Status
from verifier.claims import Case, parse
from verifier.claims import predicates as p
from verifier.claims.assessment import MEANING, Finding, assess, refutes
from verifier.claims.claim import Claim, Form, Standing, claim_of
from verifier.claims.observations import OBSERVERS, observe
from verifier.claims.registry import CLAIMS, find
from verifier.claims.steps import longest_lemma4_step

FROM_20 = case(TWO, start=[[20, 0], [0, 0]], rank=1, token_sets=((0, 1), (0,)), lam=1)


# The rows -------------------------------------------------------------------------------------


def test_the_page_has_the_tables_of_the_registries():
    text = claims_tables.PAGE.read_text(encoding="utf-8")
    assert claims_tables.page_with_tables(text) == text, "cd tests && python -m claims_tables"
    for name in (*CLAIMS, *p.PREDICATES):
        assert f"\n| `{name}` |" in text


def test_the_example_of_the_page_runs():
    (block,) = re.findall(r"```python\n(.*?)```", claims_tables.PAGE.read_text(encoding="utf-8"),
                          re.DOTALL)
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        exec(block, {})
    assert shown.getvalue() == "holds ['no_stationary_point']\n"


def test_every_row_of_the_theory_is_there():
    numbers = {claim.number for claim in CLAIMS.values()}
    assert {f"Theorem {k}" for k in range(1, 9)} <= numbers
    assert {"Lemma 1", "Lemma 2", "Lemma 4", "Lemma 6", "Theorems 9, 10", "section 5.2",
            "section 6"} <= numbers
    assert len(CLAIMS) == len({claim.name for claim in CLAIMS.values()}) >= 28


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=list(CLAIMS))
def test_rows_are_sound_as_data(claim):
    names = [hypothesis.name for hypothesis in claim.hypotheses]
    assert len(set(names)) == len(names)
    assert claim.statement and all(hypothesis.text for hypothesis in claim.hypotheses)
    assert (claim.standing is Standing.PROVED) == bool(claim.proof)
    if claim.proof:
        assert (claims_tables.PAGE.parent.parent / claim.proof).is_file()
    assert (claim.conclusion is None) == bool(claim.observed_by)
    assert claim.counterpart is None or claim.counterpart in CLAIMS
    if claim.form is Form.REPAIRED:
        assert CLAIMS[claim.counterpart or ""].form is Form.PRINTED
    for part in (*(h.expression for h in claim.hypotheses), claim.conclusion):
        assert part is None or parse(str(part)) == part


def test_observers_are_known_or_files():
    root = claims_tables.PAGE.parent.parent
    for claim in CLAIMS.values():
        if claim.observed_by and claim.observed_by not in OBSERVERS:
            assert (root / claim.observed_by).is_file()


def test_a_hypothesis_is_a_switch():
    claim = find("thm4_repaired")
    dropped = claim.without("nonnegative_products", "decreasing_loss")
    assert {h.name for h in claim.hypotheses} - {h.name for h in dropped.hypotheses} == {
        "nonnegative_products", "decreasing_loss"}
    assert (dropped.standing, dropped.proof) == (Standing.QUESTION, "")
    assert dropped.conclusion == claim.conclusion
    assert find("lemma4").premise is None
    assert find("lemma4").expression == p.lipschitz_with_lemma4
    assert find("thm2").expression is None
    with pytest.raises(InvalidInput, match="did you mean nonnegative_products"):
        claim.without("nonnegative_product")
    with pytest.raises(InvalidInput, match="did you mean thm4"):
        find("thm4_repair")


def test_a_claim_of_ones_own():
    claim = claim_of(parse("feasible & (unique_optimum | full_rank) & feasible >> ~basin(0, 0)"))
    assert [h.name for h in claim.hypotheses] == ["feasible", "unique_optimum | full_rank"]
    assert claim.conclusion == ~p.basin(0, 0)
    assert claim.standing is Standing.QUESTION
    bare = claim_of(parse("feasible | full_rank"))
    assert bare.hypotheses == () and bare.expression == p.feasible | p.full_rank


# On cases -------------------------------------------------------------------------------------


@pytest.mark.parametrize("found", [
    FROM_20, case(TIED, rank=2), case(OPPOSED, loss="correlation"),
    case(CROSSED, loss="correlation"), case(ORTHONORMAL, rank=1, lam="7/4", seconds=0.3),
    Case(TWO), case(TWO, rule="normalized", step="1/10")], ids=range(7))
def test_every_claim_comes_to_something_that_the_checker_accepts(found):
    for claim in CLAIMS.values():
        seen = assess(claim, found)
        assert seen.finding in MEANING
        if seen.verdicts:
            accepted(found.dataset, *seen.verdicts)
        assert (refutes(claim, found) is not None) == (
            seen.finding in (Finding.REFUTED, Finding.EXCEPTION))
        if claim.standing is Standing.PROVED:
            assert seen.finding is not Finding.REFUTED


def test_theorems_that_are_proved_here_are_never_refuted():
    """On random small datasets; and each of them is confirmed on some."""
    confirmed = set()
    proved = [claim for claim in CLAIMS.values()
              if claim.standing is Standing.PROVED and claim.conclusion is not None
              and claim.name != "lemma6"]
    entries = (-2, -1, 0, 1, 2)
    datasets = [*oracle.integer_datasets(2, 2, 2, entries, count=28, seed=5),
                *oracle.integer_datasets(1, 3, 2, entries, count=7, seed=6)]
    for k, data in enumerate(datasets):
        dataset = AttentionDataset.build(*data)
        found = Case(dataset, loss=("logistic", "correlation", "cubic")[k % 3], rank=1, seconds=1)
        found = found.with_step(longest_lemma4_step(found))
        for alpha in itertools.islice(itertools.product(range(2), repeat=dataset.n), 2):
            for claim in proved:
                seen = assess(claim, found.with_selection(alpha))
                assert seen.finding is not Finding.REFUTED, (claim.name, data)
                confirmed |= {claim.name} if seen.finding is Finding.CONFIRMED else set()
    assert confirmed >= {"thm1", "thm8", "thm8_repaired", "lemma1", "lemma4", "thm3_repaired",
                         "thm4_repaired", "thm7", "rank_m_feasible"}


@pytest.mark.parametrize(("name", "found", "because"), [
    ("thm4", FROM_20, {"limit_from_start"}),
    ("thm5", FROM_20, {"limit_from_start"}),
    ("thm4_zero", case(CROSSED, loss="correlation"), {"invariant_ray"}),
    ("thm4_some_selection", case(CROSSED, loss="correlation"), {"invariant_ray"}),
    ("feasible_implies_gd_selects_opt", case(CROSSED, loss="correlation"), {"invariant_ray"}),
    ("thm3", case(OPPOSED, loss="correlation"), {"no_stationary_point"}),
    ("feasible_implies_rank_m_feasible", case(AttentionDataset.build(
        [[[1, 1], [0, 1], [1, 0]], [[1, 1], [0, 1], [1, 2]]], [1, 1], [[1, 0], [0, 1]], [1, 0]),
        rank=1), {"low_rank_feasibility"}),
    ("overparameterized_implies_locally_optimal", case(TWO).with_selection([1, 1]),
     {"local_optimality"}),
])
def test_refuted_with_a_bundle_that_the_checker_accepts(name, found, because):
    claim = find(name)
    seen = assess(claim, found)
    assert seen.finding is Finding.REFUTED
    assert seen.conclusion is not None and seen.conclusion.fails
    assert because <= {verdict.condition for verdict in seen.conclusion.verdicts}
    accepted(found.dataset, *seen.verdicts)
    proof = refutes(claim, found)
    assert proof is not None
    assert {v.condition for v in proof.verdicts} <= {v.condition for v in seen.verdicts}


def test_what_else_a_case_can_say():
    zero = case(TWO)
    assert assess(find("thm4"), zero).finding is Finding.CONFIRMED
    assert assess(find("thm4"), Case(TWO)).finding is Finding.OPEN
    assert assess(find("thm4_zero"), FROM_20).finding is Finding.NOT_APPLICABLE
    assert assess(find("lemma2"), zero).finding is Finding.CONCLUDED
    assert assess(find("thm2"), zero).finding is Finding.PREDICTED
    degenerate = AttentionDataset.build([[[1], [0], [0]]], [1], [[0]], [1])
    assert assess(find("thm1"), case(degenerate, step=1)).finding is Finding.NOT_APPLICABLE
    flat = AttentionDataset.build([[[1, 0], [0, 0]]], [1], [[0, 0]], [1, 0])
    assert assess(find("thm1"), case(flat, step=1)).finding is Finding.EXCEPTION


def test_a_dear_conclusion_is_left_out_where_a_hypothesis_fails():
    seen = assess(find("thm4_zero"), FROM_20)
    assert seen.conclusion is not None and seen.conclusion.undecided
    assert "starts_at_zero" in seen.conclusion.reasons[0]
    cheap = assess(find("small_d_feasible"), FROM_20)
    assert cheap.conclusion is not None and cheap.conclusion.holds


def test_theorem_7_is_about_losses_of_negative_slope():
    """For −u³ descent near W^mm = (1, 1) goes to (1/3, 1): one token saturates at the score 0."""
    data = AttentionDataset.build([[[0, 0], [-1, 0]], [[0, 2], [0, 1]]], [1, 1],
                                  [[1, 0], [1, 0]], [1, 1])
    assert assess(find("thm7"), case(data, loss="cubic")).finding is Finding.NOT_APPLICABLE
    assert assess(find("thm7"), case(data)).finding is Finding.CONFIRMED


def test_no_proved_claim_concludes_for_the_cubic_loss_what_it_needs_a_slope_for():
    """Claims about ℓ that are proved here ask for ℓ' < 0, or are about bounds of |ℓ'| alone."""
    for claim in CLAIMS.values():
        about = {word for atom in (() if claim.conclusion is None else claim.conclusion.atoms())
                 for word in atom.predicate.about.split(", ")}
        if claim.standing is Standing.PROVED and "ℓ" in about and claim.name != "lemma4":
            assert "decreasing_loss" in {h.name for h in claim.hypotheses}, claim.name


# Observations ---------------------------------------------------------------------------------


def test_what_is_observed_says_so():
    for name in ("lemma2", "thm2", "thm2_repaired", "thm9", "gen_svm"):
        lines = observe(assess(find(name), FROM_20), iterations=200)
        assert lines and all(line.startswith("observed: ") for line in lines), name
    assert observe(assess(find("next_token"), FROM_20)) == ("observed by: examples/zen.py",)
    assert observe(assess(find("thm4"), FROM_20)) == ()
    assert observe(assess(find("thm2"), case(TIED))) == ()


def test_nothing_is_run_with_the_cubic_loss():
    for name in ("lemma2", "thm2", "thm2_repaired", "thm9", "thm4"):
        lines = observe(assess(find(name), case(TWO, loss="cubic")))
        assert all("cubic loss" in line for line in lines), name


def test_a_run_is_shown_where_the_limit_is_not_proved():
    plane = AttentionDataset.build([[[1, 0], [0, 1], [-1, 1]]], [1], [[1, 1]], [1, "1/2"])
    found = case(plane).with_budget(0)
    claim = claim_of(p.feasible >> p.limit_is_opt)
    lines = observe(assess(claim, found), iterations=300)
    assert lines[0].startswith("observed: plain descent selects [0] after 300 steps")
    assert "correlation 1 − " in lines[1]
    flow = Case(plane, rule="flow")
    assert observe(assess(claim, flow)) == ("gradient flow is not run",)


def test_the_path_of_the_loss_falls_to_its_infimum():
    (line,) = observe(assess(find("lemma2"), case(TWO)))
    figures = [float(part.split(" at ")[0].split()[-1]) for part in line.split(", ")]
    assert figures == sorted(figures, reverse=True)
    assert figures[0] > 0 and figures[-1] < 1e-12
    W = np.array([[1.0, 0], [3, 0]])  # W^mm by hand: margins 1 and −2 + 3
    expected = np.mean([np.log1p(np.exp(-1 / (1 + np.exp(-m)))) for m in
                        (W[0, 0], -2 * W[0, 0] + W[1, 0])]) - np.log1p(np.exp(-1))
    assert figures[0] == pytest.approx(expected, rel=1e-2)


def test_an_undecided_outcome_gives_no_certificate():
    claim = Claim("c", "–", "c", (), p.low_rank_feasible)
    seen = assess(claim, Case(TWO))
    assert seen.verdicts == ()
    assert seen.conclusion is not None and seen.conclusion.status is Status.UNDECIDED
