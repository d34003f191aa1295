"""Questions of a sweep: what they answer, and where they have no meaning."""

import pytest

from conditions import AttentionDataset, InvalidInput
from verifier.claims import Case, parse
from verifier.claims.predicates import PREDICATES
from verifier.experiments.asks import ABOUT_QUADRATIC_HEAD, ABOUT_TOKENS, Ask

DATA = AttentionDataset.build(X=[[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], Y=[1, 1],
                              z=[[1, 0], [1, 0]], v=[1, 3])


def answer(text, case, memo=None):
    return Ask.of(text).answer(case, {} if memo is None else memo)


def test_expressions_have_the_status_of_their_outcome():
    case = Case(DATA)
    for text in ("feasible", "~feasible", "feasible & unique_optimum >> no_stationary_point"):
        outcome = parse(text).evaluate(case)
        assert answer(text, case)[:2] == (str(outcome.status), str(outcome.evidence))
    assert answer("feasible", case) == ("holds", "exact", "2 margins ≥ 1")
    status, evidence, why = answer("low_rank_feasible", case)
    assert (status, evidence) == ("undecided", "") and "rank" in why


def test_claims_say_what_they_found():
    plain = Case(DATA).with_step("1/100")
    status, _, figures = answer("thm4", plain)
    assert status == "holds" and figures.startswith("confirmed here: ")
    status, evidence, figures = answer("thm4", Case(DATA, rule="normalized").with_step("1/10"))
    assert (status, evidence) == ("holds", "exact")
    assert figures.startswith("not applicable: the rule is normalized")
    status, evidence, figures = answer("thm4", Case(DATA))
    assert (status, evidence) == ("undecided", "") and figures.startswith("open: ")


def test_questions_about_one_case_share_what_is_decided():
    case, memo = Case(DATA), {}
    answer("feasible & unique_optimum", case, memo)
    decided = len(memo)
    assert decided == 2
    answer("unique_optimum", case, memo)
    assert len(memo) == decided


def test_meaning_by_head_and_parameterization():
    assert Ask.of("feasible >> gen_feasible").about("O_i") and not Ask.of("feasible").about("O_i")
    Ask.of("feasible & rank_bound").require("relu", "W")
    Ask.of("simplex_support & orthonormal_tokens").require("quadratic", "W")
    Ask.of("local_optimal & no_stationary_point").require("linear", "KQ")
    for text, head, parameterization in [
            ("feasible(opt)", "relu", "W"), ("feasible & unique_optimum", "quadratic", "W"),
            ("thm8_repaired", "multiclass", "W"), ("simplex_support", "linear", "W"),
            ("simplex_support", "relu", "W"), ("basin", "linear", "KQ"), ("thm4", "linear", "KQ"),
            ("starts_at_zero", "linear", "KQ")]:
        with pytest.raises(InvalidInput, match="ask") as caught:
            Ask.of(text).require(head, parameterization)
        assert "\n" not in str(caught.value)


def test_the_lists_are_of_predicates():
    assert PREDICATES.keys() >= ABOUT_TOKENS | ABOUT_QUADRATIC_HEAD
    # No predicate that compares scores or needs the optimal tokens is among those about tokens.
    assert not ABOUT_TOKENS & {name for name, atom in PREDICATES.items()
                               if "opt" in atom.predicate.statement.split()}
    with pytest.raises(InvalidInput, match="is only observed"):
        Ask.of(" lemma2 ")
    with pytest.raises(InvalidInput, match="did you mean feasible"):
        Ask.of("feasibel")
