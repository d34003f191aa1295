"""Certificates that Coq checks: instances of every kind, tampered twins, and forged exports."""

from __future__ import annotations

import os
import random
import re
import shutil
from collections import Counter, defaultdict

import formal_cases
import formal_library
import pytest

from conditions import AttentionDataset
from conditions.errors import InvalidInput
from verifier import formal, io
from verifier.certify import Report, certify
from verifier.formal import grammar
from verifier.formal.checking import CoqError, assumption_faults, run_proofs
from verifier.formal.claims import NotExportedError, Subject
from verifier.formal.library import AXIOMS, compilation_order, theories
from verifier.formal.spelling import dataset_literal, integer, naturals
from verifier.formal.table import TABLE, maker
from verifier.kernel.statements import CONDITIONS

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="needs Coq")

MODULES = ("Dataset Statements Gram Feasibility Optimum PrimalDual Enclosure Ranks Scores "
           "Stationary Monotone")
HEADER = f"""From Coq Require Import ZArith List Reals.
From AttSVM Require Import {MODULES}.
Import ListNotations.
Local Open Scope Z_scope.
"""
# The checker of a theorem, where it is not named after it.
CHECKERS = {name: "check_infeasible" for name in (
    "infeasible_no_support", "infeasible_not_all_support", "infeasible_not_locally_optimal",
    "low_rank_infeasible")}


def test_coq_is_there_in_continuous_integration():
    assert shutil.which("coqc") or os.environ.get("CI", "") in ("", "0", "false")


# ------------------------------------------------------------------------------- the theorems


def coq(folder, text):
    file = folder / "Scratch.v"
    file.write_text(text, encoding="utf-8")
    return formal_library.run(file)


@pytest.mark.parametrize("name", sorted(theories()))
def test_nothing_is_assumed(name):
    text = re.sub(r"\(\*.*?\*\)", "", theories()[name], flags=re.DOTALL)
    assert not re.search(r"\b(Admitted|admit|Axioms?|Parameters?|Conjecture|Abort|Unset|bypass)\b",
                         text)


@needs_coq
def test_theorems_rest_on_the_axioms_of_the_reals(tmp_path):
    names = [name for module in MODULES.split()
             for name in re.findall(r"^Theorem (\w+)", theories()[module], re.MULTILINE)]
    assert len(names) > 40
    printed = coq(tmp_path, f"{HEADER}Definition everything := ({', '.join(names)}).\n"
                            "Print Assumptions everything.")
    found = re.findall(r"^([\w.]+)\s*:", printed, re.MULTILINE)
    assert set(found) - {"Axioms"} <= set(AXIOMS)
    assert "ClassicalDedekindReals.sig_forall_dec" in found


def test_theories_compile_in_an_order_that_requirements_give():
    order = compilation_order(["Stationary"])
    assert order.index("Dataset") < order.index("Statements") < order.index("Ranks")
    assert "Enclosure" not in order and order[-1] == "Stationary"


# -------------------------------------------------------------------- instances of every kind


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


@needs_coq
@pytest.mark.parametrize(("shape", "floats"), formal_cases.SHAPES,
                         ids=list(formal_cases.SHAPES.values()))
def test_instances_of_every_kind(tmp_path, shape, floats):
    found = instances(shape, floats)
    text = HEADER + "".join(instance.module(k) for k, instance in enumerate(found))
    everything = ", ".join(f"C{k}.proof" for k in range(len(found)))
    printed = coq(tmp_path, f"{text}Definition everything := ({everything}).\n"
                            "Print Assumptions everything.")
    assert set(re.findall(r"^([\w.]+)\s*:", printed, re.MULTILINE)) - {"Axioms"} <= set(AXIOMS)
    kinds = {instance.kind for instance in found}
    wanted = {(condition, status, kind) for condition, sides in TABLE.items()
              for status, makers in zip(("holds", "fails"), sides, strict=True) for kind in makers}
    # What else there is differs in nothing but the condition it is about.
    missing = {kind for *_, kind in wanted} - {kind for *_, kind in kinds}
    assert missing <= ({"too_many_rows"} if floats else set())
    conditions = {(condition, status) for condition, status, _ in wanted}
    assert conditions <= {(condition, status) for condition, status, _ in kinds}


# ----------------------------------------------------------------------------- tampered twins

_INTEGER = re.compile(r"(?<![\w%-])-?(?:0x[0-9a-f]+|[0-9]+)(?![\w%])")


def changed_list(rng, text):
    """A vector or a matrix with an entry or a row too many or too few."""
    inner = [found.span() for found in re.finditer(r"\[[^\[\]]*\]", text)]
    start, end = rng.choice(inner)
    entries = text[start + 1:end - 1].split(";")
    shorter = entries[:-1] if len(entries) > 1 and rng.random() < 0.5 else [*entries, entries[0]]
    return f"{text[:start]}[{';'.join(shorter)}]{text[end:]}"


def changed_integer(rng, text, change):
    """The text with one integer, not 0, replaced."""
    found = [entry for entry in _INTEGER.finditer(text) if int(entry[0], 0)]
    if not found:
        return None
    chosen = rng.choice(found)
    return text[:chosen.start()] + integer(change(int(chosen[0], 0))) + text[chosen.end():]


def negated(text):
    return _INTEGER.sub(lambda entry: integer(-int(entry[0], 0)), text)


class Twin(Instance):
    """A copy of an instance that one tampering has made wrong."""

    def __init__(self, instance, rng):
        self.__dict__ |= instance.__dict__
        self.definitions, self.arguments = list(self.definitions), list(self.arguments)
        self.how = rng.choice([self.other_selection, self.other_dataset, self.other_shape,
                               self.other_sign, self.other_number])
        while not self.how(rng):
            self.how = rng.choice([self.other_selection, self.other_dataset, self.other_shape,
                                   self.other_sign, self.other_number])

    def other_selection(self, rng):
        """Another token of a sample, of one that matters; or a selection too short or too long."""
        if self.alpha is None:
            return False
        if rng.random() < 0.3:
            self.alpha = rng.choice([self.alpha[:-1], (*self.alpha, 0),
                                     (self.dataset.lengths[0], *self.alpha[1:])])
            return True
        i = rng.randrange(self.dataset.n)
        if self.verdict.certificate.kind in ("farkas", "query_cycle"):
            i = 0
        other = [t for t in range(self.dataset.lengths[i]) if t != self.alpha[i]
                 and self.dataset.tokens[i][t] != self.dataset.tokens[i][self.alpha[i]]]
        self.alpha = (*self.alpha[:i], rng.choice(other), *self.alpha[i + 1:])
        return True

    def other_dataset(self, rng):
        """The dataset with a shape that is wrong, or the numbers of another one."""
        if rng.random() < 0.4:
            self.data = changed_list(rng, self.data)
            return True
        name = "generic" if "scores" not in self.kind[0] else "levels"
        other = formal_cases.Drawn(
            (self.dataset.n, self.dataset.lengths[0], self.dataset.d), False, rng.randrange(10**6)
        ).build(name)
        if self.claim.module == "Scores":
            # Turned upside down: what was largest is smallest, and no sample is flat any more.
            other = AttentionDataset.build(other.tokens, [-y for y in self.dataset.labels],
                                           other.queries, other.head)
            if self.still_true(other):
                return False
        self.data = dataset_literal(other)
        return True

    def still_true(self, other):
        """Whether the certificate fits the scores of another dataset too."""
        scores, arguments = other.scores, re.findall(r"(\d+)%nat", " ".join(self.arguments))
        numbers = list(map(int, arguments))
        lists = [list(map(int, re.findall(r"\d+", literal)))
                 for *_, literal in self.definitions]
        match self.claim.theorem:
            case "optimal_sound":
                return all(row.count(max(row)) == 1 and row[t] == max(row)
                           for row, t in zip(scores, lists[0], strict=True))
            case "tie_sound":
                row = scores[numbers[0]]
                return row[numbers[1]] == row[numbers[2]] == max(row)
            case "equal_scores_sound":
                return all(row[h] == max(row) and set(row) <= {row[h], row[low]}
                           for row, h, low in zip(scores, *lists, strict=True))
            case "unequal_scores_sound":
                row = scores[numbers[0]]
                t, s, u = (row[k] for k in numbers[1:])
                return t != s and max(t, s) < u
            case "gaps_sound":
                return all(row[a] > row[b] for row, a, b in zip(scores, *lists, strict=True))
        return len(set(scores[numbers[0]])) == 1

    def other_shape(self, rng):
        """A list of the certificate with an entry too many or too few."""
        lists = [k for k, (_, _, literal) in enumerate(self.definitions)
                 if literal.startswith("[") and any(map(str.isdigit, literal))]
        if not lists:
            return False
        k = rng.choice(lists)
        name, type_, literal = self.definitions[k]
        self.definitions[k] = name, type_, changed_list(rng, literal)
        return True

    def other_sign(self, rng):
        """The certificate negated."""
        k = next((k for k, (name, *_) in enumerate(self.definitions)
                  if name.split("_")[0] in ("W", "K", "lambda", "V", "E") and name != "E_rows"), None)
        if k is None:
            return False
        name, type_, literal = self.definitions[k]
        if self.claim.theorem in ("dependent_sound",):
            return False
        self.definitions[k] = name, type_, negated(literal)
        return True

    def other_number(self, rng):
        """One number that must be exact, or one index, replaced."""
        equalities = [k for k, (name, *_) in enumerate(self.definitions)
                      if (name == "lambda" and "pair" not in self.claim.theorem) or name == "c"]
        if equalities:
            name, type_, literal = self.definitions[equalities[0]]
            other = changed_integer(rng, literal, lambda x: x + rng.choice([-1, 1, x]))
            self.definitions[equalities[0]] = name, type_, other
            return True
        inverses = [k for k, (_, type_, _) in enumerate(self.definitions) if type_ == "inverse"]
        if inverses:
            # The bound is the least that is one, and no row may reach `over`.
            k = rng.choice(inverses)
            name, type_, literal = self.definitions[k]
            head, last = literal.rsplit(" ", 1)
            if int(last, 0) == 0:
                return False
            self.definitions[k] = name, type_, f"{head} {integer(int(last, 0) - 1)}"
            return True
        return False


@needs_coq
@pytest.mark.parametrize("floats", [False, True], ids=["integers", "floats"])
def test_tampered_certificates_are_rejected(tmp_path, floats):
    rng = random.Random(20230831 + floats)
    by_kind = defaultdict(list)
    for instance in instances(formal_cases.SMALL, floats):
        by_kind[instance.claim.theorem].append(instance)
    twins = [Twin(rng.choice(found), rng) for found in by_kind.values() for _ in range(50)]
    terms = [instance.check() for found in by_kind.values() for instance in found]
    genuine = len(terms)
    terms += [twin.check() for twin in twins]
    text = HEADER + "".join(f"Definition c{k} : bool := {term}.\n" for k, term in enumerate(terms))
    printed = coq(tmp_path, f"{text}Eval vm_compute in "
                            f"[{'; '.join(f'c{k}' for k in range(len(terms)))}].")
    answers = [word == "true" for word in re.findall(r"\b(true|false)\b", printed)]
    assert len(answers) == len(terms) and all(answers[:genuine])
    accepted = Counter((twin.claim.theorem, twin.how.__name__) for twin, answer in
                       zip(twins, answers[genuine:], strict=True) if answer)
    assert not accepted
