"""The vocabulary of claims: every predicate against an oracle, and every verdict to the checker."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import oracle
import pytest
from acceptance import accepted
from flint import fmpq

from conditions.dataset import AttentionDataset
from conditions.exact.numbers import to_float
from conditions.selection import optimal_selection
from conditions.smoothness import smoothness
from conditions.verdict import Evidence
from verifier.claims import Case
from verifier.claims import limits as descent_limits
from verifier.claims import predicates as p
from verifier.claims.expression import Cost
from verifier.claims.steps import longest_lemma4_step
from verifier.kernel.statements import CONDITIONS

TWO = AttentionDataset.build([[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], [1, 1], [[1, 0], [1, 0]],
                             [1, 3])
TIED = AttentionDataset.build([[[1, 0], [1, 0]], [[-2, 1], [0, 0]]], [1, -1], [[1, 0], [0, 1]],
                              [1, 3])
OPPOSED = AttentionDataset.build([[[1], [0]], [[1], [0]]], [1, 1], [[1], [-1]], [1])
ORTHONORMAL = AttentionDataset.build([np.eye(4, dtype=int).tolist()], [1], [[1, 2, 3, 4]],
                                     [5, 4, 3, 0])
CROSSED = AttentionDataset.build([[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], [1, 1],
                                 [[1, 0], [1, 0]], [3, 7])


def case(data=TWO, **given):
    chosen = Case(data, **given)
    return chosen if chosen.step is not None else chosen.with_step(longest_lemma4_step(chosen))


CENTRED = AttentionDataset.build([[[1], [-1]]], [1], [[1]], [1])
STALLED = case(AttentionDataset.build([[[1, 0], [-4, 1], [-4, 0]]], [1], [[1, 0]], [1, 0]),
               loss="cubic", first_step="37/8192", step="1/2048")


def random_cases(count, seed, T=3):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n, d = int(rng.integers(1, 3)), int(rng.integers(1, 4))
        X = [rng.integers(-2, 3, size=(int(rng.integers(2, T + 1)), d)).tolist()
             for _ in range(n)]
        yield Case(AttentionDataset.build(
            X, rng.choice([-1, 1], n).tolist(), rng.integers(-2, 3, size=(n, d)).tolist(),
            rng.integers(-2, 3, size=d).tolist()))


# The registry ---------------------------------------------------------------------------------


def test_every_condition_of_a_case_is_reached_by_a_predicate():
    """All but conditions about recorded runs, whole enumerations, and balls of datasets."""
    others = {"predicted_direction", "directions"} | {
        name for name in CONDITIONS if name.startswith("robust")}
    line = AttentionDataset.build([[[1, 0], [0, 0]]], [1], [[1, 0]], [1, 3])
    reached = {
        verdict.condition
        for found in (case(start=[[20, 0], [0, 0]], rank=1, token_sets=((0, 1), (0,)), lam=2),
                      case(line, start=[[40, 0], [0, 0]]), case(line, first_step=1000),
                      case(CROSSED, loss="correlation"), STALLED)
        for atom in p.PREDICATES.values() for verdict in atom.evaluate(found).verdicts}
    assert reached == set(CONDITIONS) - others


def test_each_is_an_attribute_of_its_name_with_a_statement():
    for name, atom in p.PREDICATES.items():
        assert getattr(p, name) is atom
        assert atom.predicate.name == name == str(atom)
        assert atom.predicate.statement and "\n" not in atom.predicate.statement
        assert atom.predicate.selective == ("α" in atom.predicate.about)


@pytest.mark.parametrize("found", [
    case(), case(start=[[20, 0], [0, 0]], rank=1, token_sets=((0, 1), (0,))), case(TIED, rank=1),
    case(OPPOSED, loss="correlation"), case(ORTHONORMAL, rank=1, loss="exponential", lam="7/4",
                                      seconds=0.3),
    case(rule="normalized", step="1/10"), case(rule="flow", start=[[40, 0], [3, 0]]),
    case(CROSSED, loss="correlation"), Case(TWO), STALLED, case(TWO, loss="cubic"),
    case(TWO, loss="cubic", rule="normalized", step="1/10"), case(CENTRED, loss="cubic"),
    case(TWO, loss="cubic", rule="flow", start=[[40, 0], [3, 0]]),
], ids=range(14))
def test_every_predicate_comes_to_something_that_the_checker_accepts(found):
    for name, atom in p.PREDICATES.items():
        outcome = atom.evaluate(found)
        assert outcome.undecided is bool(outcome.reasons), name
        if outcome.verdicts:
            accepted(found.dataset, *outcome.verdicts)
        if atom.predicate.cost is Cost.ARITHMETIC:
            assert outcome.verdicts == ()


def test_of_the_cubic_loss_only_what_is_shown_is_said():
    """Conditions about losses with ℓ' < 0 are undecided, and say why."""
    for name in ("basin", "basin_cone", "low_norm_limit", "selection_trap", "large_first_step"):
        outcome = p.PREDICATES[name].evaluate(STALLED)
        assert outcome.undecided and "ℓ' < 0" in outcome.reasons[0]
    assert p.decreasing_loss.evaluate(STALLED).fails
    assert p.decreasing_loss.evaluate(case(loss="cubic")).fails  # the score 0
    positive = AttentionDataset.build([[[1], [2]]], [1], [[1]], [1])
    assert p.decreasing_loss.evaluate(case(positive, loss="cubic")).holds
    assert p.no_stationary_point.evaluate(case(positive, loss="cubic")).holds
    assert p.norm_diverges.evaluate(case(positive, loss="cubic")).holds
    assert p.no_stationary_point.evaluate(STALLED).undecided
    # β = 4/4 · (2·3 + 4·6/4) = 12.
    assert p.step_below_smoothness.evaluate(case(CENTRED, loss="cubic", step="1/7")).holds
    assert p.step_below_smoothness.evaluate(case(CENTRED, loss="cubic", step="1/6")).fails


def test_a_stalled_descent_has_a_limit_that_is_not_opt():
    for predicate in (p.limit_is_opt, p.norm_diverges):
        outcome = predicate.evaluate(STALLED)
        assert outcome.fails
        assert [v.condition for v in outcome.verdicts] == ["stalled_descent"]
    assert p.first_step_sufficient.evaluate(STALLED).holds
    # Where it ends is not known exactly, so it may be the direction of another selection.
    assert p.limit_is(1).evaluate(STALLED).undecided
    assert p.limit_is_locally_optimal.evaluate(STALLED).undecided
    assert p.limit_is_opt.evaluate(case(CENTRED, loss="cubic")).fails


def test_what_needs_a_choice_that_is_missing_is_undecided_and_says_so():
    bare = Case(TWO)
    for name, missing in (("low_rank_feasible", "rank"), ("rank_suffices", "rank"),
                          ("gen_feasible", "token sets"), ("multi_token_support", "token sets"),
                          ("step_within_lemma4", "step"), ("basin", "step"),
                          ("constant_step", "step"), ("low_norm_limit", "step"),
                          ("large_first_step", "step"), ("simplex_support", "λ")):
        outcome = p.PREDICATES[name].evaluate(bare)
        assert outcome.undecided
        assert missing in outcome.reasons[0]


# Sizes and features ---------------------------------------------------------------------------


def test_counts_and_features_against_brute_force():
    seen = set()
    for found in random_cases(60, 1):
        data = found.dataset
        T = max(data.lengths)
        answers = {"overparameterized_dimension": data.d >= T - 1 and data.d >= data.n,
                   "two_tokens": set(data.lengths) == {2},
                   "not_all_optimal": any(len(set(row)) > 1 for row in data.scores)}
        opt = optimal_selection(data)
        rows = [[[(a - b) * c for a, b in zip(data.tokens[i][opt[i]], x, strict=True)
                  for c in data.queries[i]]] for i in range(data.n)
                for t, x in enumerate(data.tokens[i]) if t != opt[i]]
        flat = [row[0] for row in rows]
        answers["no_zero_feature"] = all(any(row) for row in flat)
        answers["nonnegative_products"] = all(
            sum((a * b for a, b in zip(u, w, strict=True)), fmpq(0)) >= 0
            for u, w in itertools.combinations(flat, 2))
        for name, expected in answers.items():
            outcome = p.PREDICATES[name].evaluate(found)
            assert outcome.holds is expected and outcome.fails is not expected, (name, data)
            seen.add((name, expected))
    assert len(seen) == 10


def test_products_of_fractions():
    data = AttentionDataset.build([[["1/3"], ["0"]], [["1/2"], ["0"]]], [1, 1],
                                  [["1/5"], ["-1/7"]], ["1"])
    outcome = p.nonnegative_products.evaluate(case(data))
    assert outcome.fails and "inner product -1/210 < 0" in outcome.facts[0].statement


def test_every_selection_is_feasible_against_brute_force():
    seen = set()
    for data in itertools.chain(oracle.integer_datasets(2, 3, 2, count=21, seed=3, ragged=True),
                                oracle.integer_datasets(1, 3, 2, count=14, seed=4)):
        expected = all(oracle.feasible(data, alpha) for alpha in oracle.selections(data))
        outcome = p.every_selection_feasible.evaluate(Case(AttentionDataset.build(*data)))
        assert outcome.holds is expected and outcome.fails is not expected
        seen.add(expected)
    assert seen == {True, False}


def test_dependent_features_may_leave_every_selection_feasible():
    square = AttentionDataset.build([[[0, 0], [1, 0], [0, 1], [1, 1]]], [1], [[1, 0]], [1, 2])
    found = Case(square)
    assert p.full_rank.evaluate(found).fails
    outcome = p.every_selection_feasible.evaluate(found)
    assert outcome.holds
    assert {verdict.selection for verdict in outcome.verdicts} == {(0,), (1,), (2,), (3,)}
    accepted(square, *outcome.verdicts)
    many = AttentionDataset.build([[[0], [1], [2]]] * 8, [1] * 8, [[1]] * 8, [1])
    outcome = p.every_selection_feasible.evaluate(Case(many))
    assert outcome.undecided
    assert "6,561" in outcome.reasons[0]


# Steps ----------------------------------------------------------------------------------------


def lemma4(data, slope, curvature):
    """L_W of Lemma 4 in floats, from its formula."""
    v = np.linalg.norm(data.floats.head)
    return np.mean([v * (z @ z) * np.linalg.norm(X, 2)**3
                    * (curvature * v * np.linalg.norm(X, 2) + 3 * slope)
                    for X, z in zip(data.floats.tokens, data.floats.queries, strict=True)])


def test_the_bound_of_lemma_4():
    L = lemma4(TWO, 1, 0)
    for factor, holds in ((0.999999, True), (1.000001, False)):
        outcome = p.step_within_lemma4.evaluate(Case(TWO, loss="correlation", step=factor / L))
        assert outcome.holds is holds and outcome.fails is not holds
        assert outcome.evidence is Evidence.ENCLOSED
    logistic = Case(TWO)
    step = to_float(longest_lemma4_step(logistic))
    L = lemma4(TWO, 1 / (1 + np.exp(0)), 1 / 4)  # all scores are ≥ 0
    assert step <= 1 / L < 2 * step
    assert p.step_within_lemma4.evaluate(case(rule="normalized", step=1)).undecided


def test_the_smoothness_constant():
    beta = smoothness(TWO, "correlation")
    assert p.step_below_smoothness.evaluate(
        Case(TWO, loss="correlation", step=2 / beta)).fails
    below = p.step_below_smoothness.evaluate(
        Case(TWO, loss="correlation", step=fmpq(199, 100) / beta))
    assert below.holds and below.evidence is Evidence.EXACT
    assert p.lipschitz_with_lemma4.evaluate(Case(TWO)).holds


def test_the_first_step_of_theorem_6():
    """‖W^mm‖² = 10 here: W = (1, 0; 3, 0) has margins 1 and −2 + 3."""
    for first, holds in (("3/10", True), ("1/3", False), ("316/1000", True), ("317/1000", False)):
        outcome = p.first_step_within_theorem6.evaluate(Case(TWO, step=first))
        assert outcome.holds is holds
    assert p.first_step_within_theorem6.evaluate(Case(TWO, step=5, first_step="1/5")).holds
    assert p.first_step_within_theorem6.evaluate(Case(OPPOSED, step=1)).fails


def test_a_sufficient_first_step_suffices():
    data = AttentionDataset.build([[[1, 0], [0, 0]], [[1, 1], [0, 0]]], [1, 1],
                                  [[1, 0], [1, 0]], [1, 3])
    step = smoothness(data, "logistic")
    short = Case(data, step=1 / step, first_step="1/100")
    assert p.first_step_sufficient.evaluate(short).fails
    needed = dict(p.first_step_sufficient.evaluate(short).facts[0].values)["sufficient"]
    long = short.with_step(short.step, needed)
    assert p.first_step_sufficient.evaluate(long).holds
    assert p.large_first_step.evaluate(long).holds
    assert p.limit_is_opt.evaluate(long).holds
    assert p.first_step_sufficient.evaluate(case()).fails  # C fails


# Limits ---------------------------------------------------------------------------------------


def test_two_limits_of_one_dataset():
    there = case(start=[[20, 0], [0, 0]])
    for atom, status in ((p.limit_is_opt, "fails"), (p.limit_is(0, 1), "holds"),
                         (p.limit_is(1, 1), "fails"), (p.limit_is_locally_optimal, "holds"),
                         (p.norm_diverges, "holds")):
        outcome = atom.evaluate(there)
        assert outcome.status == status
        accepted(TWO, *outcome.verdicts)
    outcome = p.limit_is_opt.evaluate(there)
    assert [v.condition for v in outcome.verdicts] == ["limit_from_start"]
    assert "sample 1" in outcome.facts[0].statement
    here = case()
    assert p.limit_is_opt.evaluate(here).holds
    assert p.limit_is(0, 1).evaluate(here).fails
    assert p.limit_is("opt").evaluate(here).holds


def test_descent_that_does_not_move():
    for found in (case(OPPOSED, loss="correlation"), case(OPPOSED, step="1/9"),
                  case(OPPOSED, rule="flow")):
        for atom in (p.limit_is_opt, p.norm_diverges, p.limit_is_locally_optimal):
            outcome = atom.evaluate(found)
            assert outcome.fails
            accepted(OPPOSED, *outcome.verdicts)
    moving = case(OPPOSED, step="1/9", start=[[1]])
    assert not isinstance(descent_limits.stays(moving), descent_limits.Limit)
    assert not isinstance(descent_limits.stays(case(OPPOSED, rule="normalized", step=1)),
                          descent_limits.Limit)


def test_the_norm_diverges_where_there_is_no_stationary_point():
    rng = np.random.default_rng(5)
    for _ in range(3):
        found = case(start=rng.normal(size=(2, 2)) * 10)
        outcome = p.norm_diverges.evaluate(found)
        assert outcome.holds
        assert [v.condition for v in outcome.verdicts] == ["no_stationary_point"]
        assert [fact.name for fact in outcome.facts] == ["step_below_smoothness"]


def test_an_invariant_ray_is_no_locally_optimal_direction():
    found = case(CROSSED, loss="correlation")
    for atom in (p.limit_is_opt, p.limit_is_locally_optimal, p.limit_is(0, 1)):
        outcome = atom.evaluate(found)
        assert outcome.fails
        assert "invariant_ray" in {v.condition for v in outcome.verdicts}
        accepted(CROSSED, *outcome.verdicts)


def test_a_larger_budget_of_steps_is_not_a_claim_about_the_limit():
    """No time, no proof: nothing is called false for want of one."""
    plane = AttentionDataset.build([[[1, 0], [0, 1], [-1, 1]]], [1], [[1, 1]], [1, "1/2"])
    outcome = p.limit_is_opt.evaluate(case(plane).with_budget(0))
    assert outcome.undecided
    assert any("seconds" in reason for reason in outcome.reasons)


# Lemma 6 --------------------------------------------------------------------------------------


def projected(scores, lam):
    """The nonzeros of the minimizer of λ‖s‖² − γᵀs over the simplex, from its KKT conditions."""
    T = len(scores)
    for size in range(1, T + 1):
        for chosen in itertools.combinations(range(T), size):
            level = (sum(scores[t] for t in chosen) - 2 * lam) / size
            s = [(scores[t] - level) / (2 * lam) for t in chosen]
            if min(s) > 0 and all(scores[t] <= level for t in range(T) if t not in chosen):
                return size
    raise AssertionError("no KKT point")


def test_lemma_6_on_random_instances():
    rng = np.random.default_rng(8)
    claimed = 0
    for _ in range(40):
        T = int(rng.integers(3, 6))
        gamma = [Fraction(int(a), 4) for a in rng.integers(-8, 9, T)]
        data = AttentionDataset.build([np.eye(T, dtype=int).tolist()], [1], [[1] * T], gamma)
        lam = Fraction(int(rng.integers(1, 30)), 8)
        found = Case(data, lam=lam)
        falling = sorted(gamma, reverse=True)
        allowed = [tau for tau in range(2, T) if falling[0] - falling[1] < lam
                   and lam < tau * (falling[tau - 1] - falling[tau]) / 2]
        assert p.lambda_of_lemma6.evaluate(found).holds is bool(allowed)
        assert p.orthonormal_tokens.evaluate(found).holds
        outcome = p.count_of_lemma6.evaluate(found)
        assert outcome.holds is (2 <= projected(gamma, lam) <= min(allowed, default=T))
        assert outcome.holds or not allowed
        assert f"takes {projected(gamma, lam)} of" in outcome.facts[0].statement
        claimed += bool(allowed)
    assert claimed > 5
    assert p.count_of_lemma6.evaluate(case()).undecided
    skewed = AttentionDataset.build([[[1, 0], [1, 1]]], [1], [[1, 1]], [1, 2])
    assert p.orthonormal_tokens.evaluate(Case(skewed)).fails
