"""The claims of arXiv 2308.16898, version 1, as printed and repaired; numbers are version 1's.

"As printed" is read literally, with two charities: where a statement names W^mm it supposes that
Att-SVM is feasible, and the constants of its O(·) are 1.
"""

from __future__ import annotations

from verifier.claims import predicates as p
from verifier.claims.claim import Claim, Form, Hypothesis, Standing

_GEOMETRY, _GLOBAL = "docs/theory/geometry.md", "docs/theory/global_limits.md"

PLAIN = Hypothesis("plain_descent", p.plain_descent, "descent is plain: W ← W − η∇L(W)")
CONSTANT = Hypothesis("constant_step", p.constant_step, "the step size is constant")
LEMMA4_STEP = Hypothesis("step", p.step_within_lemma4, "η ≤ O(1/L_W), read as η ≤ 1/L_W")
FROM_ZERO = Hypothesis("starts_at_zero", p.starts_at_zero, "W(0) = 0")
UNIQUE = Hypothesis("unique_optimum", p.unique_optimum, "the optimal tokens are unique")
FEASIBLE = Hypothesis("feasible", p.feasible("opt"), "Att-SVM is feasible")
EXISTS = Hypothesis("feasible", p.feasible("opt"),
                    "Att-SVM is feasible (not printed; but W^mm is named, so it exists)")
DIMENSION = Hypothesis("dimension", p.overparameterized_dimension, "d ≥ max(T − 1, n)")

_B2 = Hypothesis("equal_scores", p.equal_scores,
                 "Assumption B.2: in every sample all scores but the largest are equal")
_B = Hypothesis("assumption_b", p.all_support("opt") | p.equal_scores,
                "Assumption B.1 (all rejected tokens are support indices of W^mm) or B.2 (all "
                "scores but the largest are equal)")
_C = Hypothesis("first_step_separates", p.first_step_separates,
                "Assumption C: (x_it − x_iopt)ᵀ∇L(0) z_i > 0 for all t ≠ opt_i")
_DECREASING = Hypothesis("decreasing_loss", p.decreasing_loss,
                         "ℓ' < 0 on the range of the scores; that ℓ decreases strictly is not "
                         "enough (−u³)")
_BELOW = Hypothesis("step", p.step_below_smoothness,
                    "η < 2/β, β ≤ L_W/4 the certified smoothness constant of L")
_SMALL_FIRST = Hypothesis("first_step", p.first_step_within_theorem6,
                          "η(0) ≤ O(1/‖W^mm‖), read as η(0) ≤ 1/‖W^mm‖_F")
_LOCAL = Hypothesis("local_optimal", p.local_optimal, "α is locally optimal (Definition 2)")
_RANK = Hypothesis("low_rank_feasible", p.low_rank_feasible("opt"),
                   "some K, Q ∈ R^{d×m} separate the optimal tokens")
_GD = (PLAIN, CONSTANT, LEMMA4_STEP)

_GEOMETRIC = (
    Claim("thm1", "Theorem 1", "Att-SVM is feasible for almost all datasets with d ≥ max(T − 1, n)",
          (DIMENSION,), p.feasible("opt"), Standing.PROVED, proof=_GEOMETRY, almost_all=True,
          counterpart="thm8_repaired"),
    Claim("thm8", "Theorem 8", "Att-SVM(α) is feasible for every selection α, for almost all "
          "datasets with d ≥ max(T − 1, n)", (DIMENSION,), p.every_selection_feasible,
          Standing.PROVED, proof=_GEOMETRY, almost_all=True, counterpart="thm8_repaired"),
    Claim("thm8_repaired", "Theorems 1, 8", "if the features are linearly independent, Att-SVM(α) "
          "is feasible for every α and, unless all scores are equal, L has no stationary point",
          (Hypothesis("full_rank", p.full_rank, "the features φ_it are linearly independent, as "
                      "for almost all datasets with d ≥ max(T − 1, n)"),
           Hypothesis("not_all_optimal", p.not_all_optimal, "not all tokens are optimal"),
           _DECREASING),
          p.every_selection_feasible & p.no_stationary_point, Standing.PROVED, Form.REPAIRED,
          proof=_GEOMETRY, counterpart="thm8"),
    Claim("lemma1", "Lemma 1", "W^mm, and every W^mm_⋆ of least nuclear norm, has rank at most n, "
          "hence at most min(n, d) (where a caption of v1 says max)",
          (Hypothesis("feasible", p.feasible, "Att-SVM(α) is feasible"),),
          p.rank_bound & p.nuclear_rank_bound, Standing.PROVED, proof=_GEOMETRY),
    Claim("lemma2", "Lemma 2", "L(W) > L_⋆ = (1/n) Σ ℓ(γ_iopt) for every W, and L(RW) → L_⋆ as "
          "R → ∞ along a W that separates the optimal tokens",
          (Hypothesis("not_all_optimal", p.not_all_optimal, "not all tokens are optimal"),
           FEASIBLE), None, Standing.PROVED, proof="docs/claims.md", observed_by="loss"),
    Claim("thm2", "Theorem 2", "the regularization path of W tends to W^mm/‖W^mm‖_F in direction, "
          "that of (K, Q) to the set of W^mm_⋆/C_⋆", (UNIQUE, FEASIBLE), None,
          observed_by="regularization path", counterpart="thm2_repaired"),
    Claim("thm2_repaired", "Theorem 2", "the same for K, Q ∈ R^{d×m} with m < d, where the problem "
          "of rank m is feasible itself", (UNIQUE, FEASIBLE, _RANK), None, form=Form.REPAIRED,
          observed_by="path of K and Q", counterpart="thm2"),
    Claim("lemma4", "Lemma 4", "∇L is L_W-Lipschitz, L_W = (1/n) Σ ‖v‖ ‖z_i‖² ‖X_i‖³ (M₀ ‖v‖ ‖X_i‖ "
          "+ 3 M₁)", (), p.lipschitz_with_lemma4, Standing.PROVED, proof=_GLOBAL),
)

_GLOBAL_CONVERGENCE = (
    Claim("thm3", "Theorem 3", "L has no stationary point, and plain descent from any W(0) has "
          "∇L(W(k)) → 0 and ‖W(k)‖ → ∞", (UNIQUE, _B, *_GD),
          p.no_stationary_point & p.norm_diverges, counterpart="thm3_repaired"),
    Claim("thm3_repaired", "Theorem 3", "L has no stationary point, and plain descent from any "
          "W(0) has ∇L(W(k)) → 0 and ‖W(k)‖ → ∞",
          (UNIQUE, _B, FEASIBLE, _DECREASING, PLAIN, CONSTANT, _BELOW),
          p.no_stationary_point & p.norm_diverges, Standing.PROVED, Form.REPAIRED,
          proof="docs/claims.md", counterpart="thm3"),
    Claim("thm4", "Theorem 4", "plain descent from any W(0) converges in direction to W^mm",
          (UNIQUE, _B2, EXISTS, *_GD), p.limit_is_opt, counterpart="thm4_repaired"),
    Claim("thm4_zero", "Theorem 4", "plain descent from W(0) = 0 converges in direction to W^mm",
          (UNIQUE, _B2, EXISTS, *_GD, FROM_ZERO), p.limit_is_opt, counterpart="thm4_repaired"),
    Claim("thm4_some_selection", "Theorem 4", "plain descent converges in direction to W^mm_α for "
          "some locally optimal α", (UNIQUE, _B2, EXISTS, *_GD), p.limit_is_locally_optimal,
          Standing.QUESTION, Form.HERE, counterpart="thm4"),
    Claim("thm4_repaired", "Theorem 4", "plain descent from any W(0) converges in direction to "
          "W^mm",
          (UNIQUE, _B2,
           Hypothesis("no_zero_feature", p.no_zero_feature, "no feature φ_it is 0"),
           Hypothesis("nonnegative_products", p.nonnegative_products,
                      "⟨φ_it, φ_jτ⟩ ≥ 0 for all rejected tokens"),
           _DECREASING, PLAIN, CONSTANT, _BELOW),
          p.limit_is_opt, Standing.PROVED, Form.REPAIRED, proof=_GLOBAL, counterpart="thm4"),
    Claim("thm5", "Theorem 5", "for every W(0) there is a δ > 0 such that plain descent converges "
          "in direction to W^mm where the non-optimal scores of a sample differ by at most δ",
          (UNIQUE,
           Hypothesis("scores_within_delta", p.equal_scores, "the non-optimal scores of a sample "
                      "differ by at most δ; whatever δ is, equal scores do (and T = 2 leaves "
                      "nothing to differ)"), EXISTS, *_GD), p.limit_is_opt,
          counterpart="thm4_repaired"),
    Claim("thm6", "Theorem 6", "plain descent from 0 converges in direction to W^mm",
          (_C, FROM_ZERO, PLAIN, _SMALL_FIRST, LEMMA4_STEP), p.limit_is_opt,
          counterpart="thm6_repaired"),
    Claim("thm6_repaired", "Theorem 6", "plain descent from 0 with a long first step converges in "
          "direction to W^mm",
          (_C, FROM_ZERO, PLAIN, _DECREASING,
           Hypothesis("first_step", p.first_step_sufficient, "η(0) is at least the bound at which, "
                      "by C, the loss of W(1) meets the low-norm inequality"), _BELOW),
          p.limit_is_opt, Standing.PROVED, Form.REPAIRED, proof=_GLOBAL, counterpart="thm6"),
)

_LOCAL_CONVERGENCE = (
    Claim("thm7", "Theorem 7", "some cone {corr(W, W^mm_α) ≥ 1 − μ, ‖W‖_F ≥ R} has no stationary "
          "point, and descent from it converges in direction to W^mm_α", (_LOCAL, _DECREASING),
          p.basin_cone,
          Standing.PROVED, proof="docs/theory/basin.md"),
    Claim("assumption_d_unique", "section 5.2", "under Assumption D opt is the only locally "
          "optimal selection",
          (UNIQUE, EXISTS,
           Hypothesis("assumption_d", p.assumption_d, "Assumption D: every feasible α ≠ opt has an "
                      "optimal token among its support indices")),
          p.only_local_optimum, Standing.PROVED, proof="docs/theory/directions.md"),
    Claim("conjecture_5_2", "section 5.2", "descent with a proper constant step converges in "
          "direction to W^mm, for almost all datasets",
          (UNIQUE,
           Hypothesis("all_support", p.all_support("opt"), "Assumption B.1: all rejected tokens "
                      "are support indices of W^mm"),
           Hypothesis("assumption_d", p.assumption_d, "Assumption D"), *_GD), p.limit_is_opt,
          Standing.CONJECTURE, almost_all=True),
    Claim("thm9", "Theorems 9, 10", "the local regularization path in cone_ε(α) tends to the set "
          "of W^mm_α in direction", (_LOCAL, Hypothesis("assumption_e", p.assumption_e,
                                                 "Assumption E on the head")), None,
          observed_by="local path"),
)

_BEYOND = (
    Claim("lemma6", "Lemma 6", "for one sample of orthonormal tokens and the head vᵀx − λ‖x‖² with "
          "τγ^gap_τ/2 > λ > γ^gap_1, τ ≥ 2, the minimizer over the simplex has 2 to τ nonzeros",
          (Hypothesis("orthonormal_tokens", p.orthonormal_tokens, "n = 1, Y = 1 and the tokens are "
                      "orthonormal"),
           Hypothesis("lambda", p.lambda_of_lemma6, "τγ^gap_τ/2 > λ > γ^gap_1 for some τ ≥ 2")),
          p.count_of_lemma6, Standing.PROVED, proof="docs/theory/general.md"),
    Claim("gen_svm", "section 6", "descent that selects sets O_i has W ≈ W^fin + ‖W‖ W^mm/‖W^mm‖ "
          "with W^mm of Gen-SVM",
          (Hypothesis("gen_feasible", p.gen_feasible, "Gen-SVM of the sets O_i is feasible"),),
          None, observed_by="token sets"),
    Claim("next_token", "–", "on next-token data with log-loss, the part of W in S_fin tends to "
          "W^fin, and the direction of W to Graph-SVM",
          (), None, source="arXiv 2403.08081, Theorem 2", observed_by="examples/zen.py"),
)

THEOREMS = (*_GEOMETRIC, *_GLOBAL_CONVERGENCE, *_LOCAL_CONVERGENCE, *_BEYOND)
