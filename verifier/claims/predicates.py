"""The predicates that expressions are built from, by name; each is an attribute of this module.

A predicate about a selection is about α, the selection of the case, unless called with another:
``feasible("opt")``, ``local_optimal(0, 1)``.

>>> from verifier.claims import predicates as p
>>> str((p.feasible & p.unique_optimum) >> p.no_stationary_point)
'(feasible & unique_optimum) >> no_stationary_point'
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import conditions.all_support
import conditions.assumption_d
import conditions.assumption_e
import conditions.basin.cone
import conditions.equal_scores
import conditions.feasibility
import conditions.first_step_separates
import conditions.full_rank
import conditions.gen_feasibility
import conditions.large_first_step
import conditions.local_optimality
import conditions.low_norm_limit
import conditions.low_rank_feasibility
import conditions.multi_token_support
import conditions.no_flat_sample
import conditions.no_stationary_point
import conditions.nonnegative_features
import conditions.nuclear_margin
import conditions.only_local_optimum
import conditions.rank_bound
import conditions.selection_trap
import conditions.support_indices
import conditions.unique_nuclear_optimum
import conditions.unique_optimum
from conditions.losses import LOSSES
from conditions.selection import Selection
from conditions.verdict import Verdict
from verifier.claims import limits, settings, simplex, steps
from verifier.claims.case import Case
from verifier.claims.expression import Atom, Cost, Predicate
from verifier.claims.outcome import Fact, Outcome, undecided

Decide = Callable[[Case, Selection], Verdict | Outcome]

PREDICATES: dict[str, Atom] = {}
"""Every predicate by its name."""


def register(name: str, statement: str, decide: Decide, cost: Cost, about: str = "", *,
             selective: bool = False) -> Atom:
    """A new predicate, entered into `PREDICATES` (see `Predicate` for the parameters)."""
    atom = Atom(Predicate(name, statement, decide, cost, about, selective))
    PREDICATES[name] = atom
    return atom


def _data(name: str, statement: str, module: ModuleType) -> Atom:
    return register(name, statement, lambda case, _: module.decide(case.dataset), Cost.EXACT)


def _selection(name: str, statement: str, module: ModuleType, cost: Cost = Cost.EXACT) -> Atom:
    return register(name, statement, lambda case, alpha: module.decide(case.dataset, alpha), cost,
                    "α", selective=True)


# Scores and features ------------------------------------------------------------------------

unique_optimum = _data(
    "unique_optimum", "in every sample one token has the largest score",
    conditions.unique_optimum)
equal_scores = _data(
    "equal_scores", "in every sample all scores below the largest are equal (Assumption B.2)",
    conditions.equal_scores)
no_flat_sample = _data(
    "no_flat_sample", "in every sample two scores differ", conditions.no_flat_sample)
full_rank = _data(
    "full_rank", "the features are linearly independent, so every selection is feasible",
    conditions.full_rank)
nonnegative_features = _data(
    "nonnegative_features", "unique optimum, B.2, and under opt no feature is 0 and no two "
    "features have a negative inner product", conditions.nonnegative_features)
not_all_optimal = register(
    "not_all_optimal", "some sample has two different scores", settings.not_all_optimal,
    Cost.ARITHMETIC)
no_zero_feature = register(
    "no_zero_feature", "under opt no feature φ_it is 0", settings.no_zero_feature,
    Cost.ARITHMETIC)
nonnegative_products = register(
    "nonnegative_products", "under opt ⟨φ_it, φ_jτ⟩ ≥ 0 for all rejected tokens",
    settings.nonnegative_products, Cost.ARITHMETIC)
every_selection_feasible = register(
    "every_selection_feasible", "Att-SVM(α) is feasible for every α",
    settings.every_selection_feasible, Cost.SEARCH)

# Sizes and choices, by arithmetic ------------------------------------------------------------

overparameterized_dimension = register(
    "overparameterized_dimension", "d ≥ max(T − 1, n)", settings.overparameterized_dimension,
    Cost.ARITHMETIC)
two_tokens = register(
    "two_tokens", "every sample has two tokens", settings.two_tokens, Cost.ARITHMETIC)
rank_suffices = register(
    "rank_suffices", "m ≥ min(n, d)", settings.rank_suffices, Cost.ARITHMETIC, "m")
selects_opt = register(
    "selects_opt", "α = opt", settings.selects_opt, Cost.ARITHMETIC, "α", selective=True)
decreasing_loss = register(
    "decreasing_loss", "ℓ' < 0 on the range of the scores", settings.decreasing_loss,
    Cost.ARITHMETIC, "ℓ")
plain_descent = register(
    "plain_descent", "descent is plain: W ← W − η∇L(W)", settings.plain_descent,
    Cost.ARITHMETIC, "rule")
starts_at_zero = register(
    "starts_at_zero", "W(0) = 0", settings.starts_at_zero, Cost.ARITHMETIC, "W(0)")
constant_step = register(
    "constant_step", "all steps have the same length η", settings.constant_step,
    Cost.ARITHMETIC, "η, η₀")
step_within_lemma4 = register(
    "step_within_lemma4", "η ≤ 1/L_W, L_W that of Lemma 4", steps.within_lemma4,
    Cost.ARITHMETIC, "ℓ, η")
step_below_smoothness = register(
    "step_below_smoothness", "η < 2/β, β the certified smoothness constant of L",
    steps.below_smoothness, Cost.ARITHMETIC, "ℓ, η")
first_step_within_theorem6 = register(
    "first_step_within_theorem6", "η₀ ≤ 1/‖W^mm_opt‖_F", steps.first_step_within_theorem6,
    Cost.EXACT, "η₀")
first_step_sufficient = register(
    "first_step_sufficient", "−∇L(0) separates, and η₀ is so long that every longer one meets the "
    "low-norm inequality", steps.first_step_sufficient, Cost.EXACT, "ℓ, η₀")
lipschitz_with_lemma4 = register(
    "lipschitz_with_lemma4", "∇L is L_W-Lipschitz, L_W that of Lemma 4",
    steps.smooth_as_lemma4_says, Cost.ARITHMETIC, "ℓ")

# Selections ---------------------------------------------------------------------------------

feasible = _selection(
    "feasible", "Att-SVM(α) is feasible", conditions.feasibility)
support_exists = _selection(
    "support_exists", "W^mm_α exists, with stated support indices and norm",
    conditions.support_indices)
all_support = _selection(
    "all_support", "all rejected tokens are support indices of α (Assumption B.1 for opt)",
    conditions.all_support)
local_optimal = _selection(
    "local_optimal", "α is locally optimal (Definition 2)", conditions.local_optimality)
assumption_e = _selection(
    "assumption_e", "the head preserves the score of α over mixtures with lower tokens "
    "(Assumption E)", conditions.assumption_e)
rank_bound = _selection(
    "rank_bound", "W^mm_α exists and its rank is at most min(n, d)", conditions.rank_bound)
nuclear_rank_bound = _selection(
    "nuclear_rank_bound", "some W of least nuclear norm, up to a stated gap, has rank at most "
    "min(n, d)", conditions.nuclear_margin, Cost.SEARCH)
unique_nuclear_optimum = _selection(
    "unique_nuclear_optimum", "one separating W alone has the least nuclear norm",
    conditions.unique_nuclear_optimum, Cost.SEARCH)


def _low_rank(case: Case, alpha: Selection) -> Verdict | Outcome:
    if case.rank is None:
        return undecided("no rank m is given")
    return conditions.low_rank_feasibility.decide(case.dataset, alpha, case.rank)


def _sets(module: ModuleType) -> Decide:
    def decide(case: Case, _: Selection) -> Verdict | Outcome:
        if case.token_sets is None:
            return undecided("no token sets O_i are given")
        decided: Verdict = module.decide(case.dataset, case.token_sets)
        return decided
    return decide


low_rank_feasible = register(
    "low_rank_feasible", "some K, Q of m columns separate α", _low_rank, Cost.SEARCH, "α, m",
    selective=True)
gen_feasible = register(
    "gen_feasible", "Gen-SVM of the token sets O_i is feasible",
    _sets(conditions.gen_feasibility), Cost.EXACT, "O_i")
multi_token_support = register(
    "multi_token_support", "W^mm of Gen-SVM exists, with stated support indices and norm",
    _sets(conditions.multi_token_support), Cost.EXACT, "O_i")

# The head v·x − λ‖x‖² ------------------------------------------------------------------------

orthonormal_tokens = register(
    "orthonormal_tokens", "there is one sample, of label 1, with orthonormal tokens",
    simplex.orthonormal_tokens, Cost.ARITHMETIC)
simplex_support = register(
    "simplex_support", "every sample has exactly one best mixture of its tokens",
    simplex.best_mixture, Cost.EXACT, "λ")
lambda_of_lemma6 = register(
    "lambda_of_lemma6", "γ^gap_1 < λ < τγ^gap_τ/2 for some 2 ≤ τ < T in sample 0",
    simplex.lambda_of_lemma6, Cost.ARITHMETIC, "λ")
count_of_lemma6 = register(
    "count_of_lemma6", "the best mixture of sample 0 is unique and takes 2 to τ tokens, τ the "
    "least whose interval has λ, or T if none has", simplex.count_of_lemma6, Cost.EXACT, "λ")

# All selections ------------------------------------------------------------------------------

only_local_optimum = register(
    "only_local_optimum", "opt is unique and the only locally optimal selection",
    lambda case, _: conditions.only_local_optimum.decide(case.dataset, case.seconds), Cost.SEARCH)
assumption_d = register(
    "assumption_d", "opt is unique, and every feasible α ≠ opt has an optimal token among its "
    "support indices (Assumption D)",
    lambda case, _: conditions.assumption_d.decide(case.dataset, case.seconds), Cost.SEARCH)

# The loss ------------------------------------------------------------------------------------

first_step_separates = register(
    "first_step_separates", "−∇L(0) separates the optimal tokens (Assumption C)",
    lambda case, _: conditions.first_step_separates.decide(case.dataset, case.loss), Cost.EXACT,
    "ℓ")
no_stationary_point = register(
    "no_stationary_point", "∇L(W) ≠ 0 for every W", settings.no_stationary_point, Cost.SEARCH,
    "ℓ")

# Descent -------------------------------------------------------------------------------------


def _of_decreasing(decide: Decide) -> Decide:
    """*decide* where it is known to be right: for losses with ℓ' < 0 everywhere."""
    def decided(case: Case, alpha: Selection) -> Verdict | Outcome:
        if case.loss not in LOSSES:
            return undecided(f"the condition is about losses with ℓ' < 0, not the {case.loss} loss")
        return decide(case, alpha)
    return decided


def _basin(case: Case, alpha: Selection) -> Verdict | Outcome:
    if case.step is None:
        return undecided("no step size is given")
    return conditions.basin.decide(case.dataset, alpha, case.start_matrix(), case.rule, case.step,
                                   case.loss)


def _cone(case: Case, alpha: Selection) -> Verdict | Outcome:
    if case.step is None:
        return undecided("no step size is given")
    verdict = conditions.basin.cone.decide(case.dataset, alpha, case.rule, case.step, case.loss)
    refuted = None if verdict.holds else _no_cone(case, alpha)
    return verdict if refuted is None else refuted


def _no_cone(case: Case, alpha: Selection) -> Outcome | None:
    """That no cone will do, where descent from every W(0) is known to go to W^mm_opt instead."""
    everywhere = limits.nonnegative(case) if alpha != case.opt else ""
    feasible = conditions.feasibility.decide(case.dataset, alpha)
    if not isinstance(everywhere, limits.Limit) or not feasible.holds:
        return None
    return everywhere.outcome(False, feasible, Fact(
        "no_cone", f"descent from every W(0), so from every W of any cone around W^mm of "
        f"{list(alpha)}, converges to W^mm of opt = {list(case.opt)}, which selects other tokens"))


def _from_iterate(module: ModuleType) -> Decide:
    def decide(case: Case, _: Selection) -> Verdict | Outcome:
        if case.step is None:
            return undecided("no step size is given")
        if not case.constant_step:
            return undecided("the condition is about one constant step")
        decided: Verdict = module.decide(case.dataset, case.start_matrix(), case.rule, case.step,
                                         case.loss)
        return decided
    return decide


def _large_first_step(case: Case, _: Selection) -> Verdict | Outcome:
    if case.step is None or case.opening_step is None:
        return undecided("no step size is given")
    if case.rule != "plain" or not case.starts_at_zero:
        return undecided("the condition is about plain descent from W(0) = 0")
    return conditions.large_first_step.decide(case.dataset, case.opening_step, case.step,
                                              case.loss)


low_norm_limit = register(
    "low_norm_limit", "L(W(0)) is so low that plain descent must converge to W^mm_opt",
    _of_decreasing(_from_iterate(conditions.low_norm_limit)), Cost.EXACT, "ℓ, rule, η, W(0)")
selection_trap = register(
    "selection_trap", "L(W(0)) is so low that every optimal token keeps softmax weight > 1/2",
    _of_decreasing(_from_iterate(conditions.selection_trap)), Cost.EXACT, "ℓ, rule, η, W(0)")
large_first_step = register(
    "large_first_step", "after the first step from 0 the low-norm inequality is met",
    _of_decreasing(_large_first_step), Cost.EXACT, "ℓ, η, η₀")
basin = register(
    "basin", "W(0) lies in a certified basin of W^mm_α", _of_decreasing(_basin), Cost.EXACT,
    "α, ℓ, rule, η, W(0)", selective=True)
basin_cone = register(
    "basin_cone", "a stated cone around W^mm_α has no stationary point, and descent from it "
    "converges to W^mm_α", _of_decreasing(_cone), Cost.EXACT, "α, ℓ, rule, η", selective=True)
limit_is = register(
    "limit_is", "W(k)/‖W(k)‖ → W^mm_α/‖W^mm_α‖", limits.limit_is, Cost.DESCENT,
    "α, ℓ, rule, η, W(0)", selective=True)
limit_is_opt = register(
    "limit_is_opt", "W(k)/‖W(k)‖ → W^mm_opt/‖W^mm_opt‖",
    lambda case, _: limits.limit_is(case, case.opt), Cost.DESCENT, "ℓ, rule, η, W(0)")
limit_is_locally_optimal = register(
    "limit_is_locally_optimal", "W(k)/‖W(k)‖ converges to W^mm_α/‖W^mm_α‖ of a locally optimal α",
    limits.limit_is_locally_optimal, Cost.DESCENT, "ℓ, rule, η, W(0)")
norm_diverges = register(
    "norm_diverges", "‖W(k)‖ → ∞", limits.norm_diverges, Cost.DESCENT, "ℓ, rule, η, W(0)")
