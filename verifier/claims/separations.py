"""Implications that look plausible, each a question of its own; most have counterexamples.

None is a claim of the paper. Beside those that fail stands what is true instead.
"""

from __future__ import annotations

from verifier.claims import predicates as p
from verifier.claims.claim import Claim, Form, Hypothesis, Standing
from verifier.claims.expression import Expression
from verifier.claims.theorems import FEASIBLE, FROM_ZERO, UNIQUE

_SEPARABLE = Hypothesis("feasible", p.feasible, "Att-SVM(α) is feasible")
_HERE = "docs/claims.md"


def _question(name: str, statement: str, hypotheses: tuple[Hypothesis, ...],
              conclusion: Expression, counterpart: str) -> Claim:
    return Claim(name, "–", statement, hypotheses, conclusion, Standing.QUESTION, Form.HERE, _HERE,
                 counterpart=counterpart)


SEPARATIONS = (
    _question("feasible_implies_no_stationary_point",
              "a feasible dataset with a unique optimum has no stationary point",
              (FEASIBLE, UNIQUE), p.no_stationary_point, "thm3_repaired"),
    _question("feasible_implies_gd_selects_opt",
              "on a feasible dataset with a unique optimum descent from 0 converges to W^mm",
              (FEASIBLE, UNIQUE, FROM_ZERO), p.limit_is_opt, "thm4_repaired"),
    _question("overparameterized_implies_locally_optimal",
              "where the features are linearly independent, every α is locally optimal",
              (Hypothesis("dimension", p.overparameterized_dimension, "d ≥ max(T − 1, n)"),
               Hypothesis("full_rank", p.full_rank, "the features are linearly independent"),
               UNIQUE), p.local_optimal, "thm7"),
    _question("small_d_feasible", "Att-SVM is feasible also where d < max(T − 1, n)",
              (Hypothesis("small_dimension", ~p.overparameterized_dimension, "d < max(T − 1, n)"),
               UNIQUE), p.feasible("opt"), "thm1"),
    _question("feasible_implies_rank_m_feasible",
              "where Att-SVM(α) is feasible, some K, Q of m columns separate α",
              (_SEPARABLE,), p.low_rank_feasible, "rank_m_feasible"),
    Claim("rank_m_feasible", "Lemma 1",
          "where Att-SVM(α) is feasible and m ≥ min(n, d), some K, Q of m columns separate α",
          (_SEPARABLE, Hypothesis("rank", p.rank_suffices, "m ≥ min(n, d)")), p.low_rank_feasible,
          Standing.PROVED, Form.HERE, proof="docs/theory/nuclear.md",
          counterpart="feasible_implies_rank_m_feasible"),
)
