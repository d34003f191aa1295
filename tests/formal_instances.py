"""Claims of `formal_cases` as Coq text: with their proofs, or as calls of their checkers."""

from __future__ import annotations

import shutil

import formal_cases
import formal_library
import pytest

from verifier.formal.claims import Subject
from verifier.formal.spelling import dataset_literal, naturals
from verifier.formal.table import maker

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="needs Coq")

MODULES = ("Dataset Statements Gram Feasibility Optimum PrimalDual Enclosure Ranks Scores "
           "Stationary Monotone Loss TrapConditions TrapCheck TrapSound")
HEADER = f"""From Coq Require Import ZArith List Reals.
From AttSVM Require Import {MODULES}.
Import ListNotations.
Local Open Scope Z_scope.
"""
# The checker of a theorem, where it is not named after it.
CHECKERS = dict.fromkeys(
    ("infeasible_no_support", "infeasible_not_all_support", "infeasible_not_locally_optimal",
     "low_rank_infeasible"), "check_infeasible")


def coq(folder, text):
    """What Coq prints of *text*, which may use the theories."""
    file = folder / "Scratch.v"
    file.write_text(text, encoding="utf-8")
    return formal_library.run(file)


class Instance:
    """A claim with all that it is about, as Coq text whose integers can be tampered with."""

    def __init__(self, dataset, verdict):
        make = maker(verdict)
        assert make is not None, verdict
        self.dataset, self.verdict = dataset, verdict
        self.alpha = verdict.selection
        self.claim = make(Subject(dataset, verdict, 0, "" if self.alpha is None else "alpha_0"))
        self.data = dataset_literal(dataset)
        self.definitions = [(part.name, part.type, part.literal)
                            for part in (*self.claim.definitions, *self.claim.certificate)]
        self.arguments = list(self.claim.arguments)

    @property
    def kind(self):
        return self.verdict.condition, str(self.verdict.status), self.verdict.certificate.kind

    def bound(self):
        """All definitions, each as (name, type, literal)."""
        alpha = [] if self.alpha is None else [("alpha_0", "selection", naturals(self.alpha))]
        return [("data", "dataset", self.data), *alpha, *self.definitions]

    def module(self, number):
        """The claim and its proof as a module."""
        lines = [f"Module C{number}.", *(f"Definition {name} : {type_} := {literal}."
                                         for name, type_, literal in self.bound())]
        selection = "" if self.alpha is None else "alpha_0"
        return "\n".join([*lines, f"Theorem proof : {self.claim.statement}.", "Proof.",
                          f"  refine ({self.claim.theorem} data {selection} "
                          f"{' '.join(self.arguments)} _).",
                          "  vm_cast_no_check (eq_refl true).", "Qed.", f"End C{number}.\n"])

    def check(self):
        """The checker applied to all this, as a term."""
        checker = CHECKERS.get(self.claim.theorem,
                               "check_" + self.claim.theorem.removesuffix("_sound"))
        lets = "".join(f"let {name} : {type_} := {literal} in\n"
                       for name, type_, literal in self.bound())
        selection = "" if self.alpha is None else "alpha_0"
        return f"({lets}{checker} data {selection} {' '.join(self.arguments)})"


def instances(shape, floats):
    return [Instance(dataset, verdict) for dataset, verdicts in formal_cases.verdicts(shape, floats)
            for verdict in verdicts]
