"""Certificates that Coq checks: instances of every kind, tampered twins, and forged exports."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict

import formal_cases
import formal_library
import pytest

from conditions import AttentionDataset
from conditions.errors import InvalidInput
from verifier import formal, io
from verifier.certify import Report, certify
from verifier.cli import main
from verifier.formal import grammar
from verifier.formal.checking import CoqError, assumption_faults, coqc, run_proofs
from verifier.formal.claims import NotExportedError, Subject
from verifier.formal.library import AXIOMS, compilation_order, theories
from verifier.formal.spelling import dataset_literal, integer, naturals
from verifier.formal.table import TABLE, maker
from verifier.kernel.statements import CONDITIONS

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
        if self.claim.module == "Monotone":
            other = AttentionDataset.build(self.dataset.tokens, [-y for y in self.dataset.labels],
                                           self.dataset.queries, self.dataset.head)
        elif self.claim.module == "Scores":
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
        k = next((k for k, (name, type_, _) in enumerate(self.definitions)
                  if name[0] in "WKlVE" and ("Z" in type_ or type_ == "enclosure")), None)
        if k is None:
            return False
        name, type_, literal = self.definitions[k]
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
    twins = [Twin(rng.choice(found), rng) for found in by_kind.values() for _ in range(25)]
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


# --------------------------------------------------------------------------- forged exports


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A genuine export: feasible, with no stationary point, in a directory."""
    dataset = AttentionDataset.build([[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], [1, 1],
                                     [[1, 0], [1, 0]], [1, 3])
    report = certify(dataset, source="two samples", iterations=0,
                     only=["feasibility", "local_optimality", "no_stationary_point"])
    export = formal.export(report.certificate_text(), dataset)
    assert len(export.claims) == 3 and not export.omitted
    root = tmp_path_factory.mktemp("export") / "genuine"
    formal.write(export, root)
    return root, export


@pytest.fixture
def forge(exported, tmp_path):
    """A copy of the genuine export with one file changed."""
    def forged(name, change):
        root = tmp_path / "forged"
        shutil.copytree(exported[0], root, ignore=shutil.ignore_patterns("*.vo*", "*.glob"))
        file = root / name
        text = file.read_text(encoding="utf-8")
        other = change(text)
        assert other != text
        file.write_text(other, encoding="utf-8")
        return root
    return forged


@pytest.fixture(scope="module")
def compiled(exported):
    """The genuine export, with data, claims and proofs compiled."""
    run_proofs(exported[0], (0, 1, 2), formal_library.library())
    return exported[0]


@pytest.fixture
def forged_proof(compiled, tmp_path):
    """What Coq prints at the end when the first proof file is changed. May raise CoqError."""
    def forged(change):
        root = tmp_path / "forged"
        shutil.copytree(compiled, root)
        file = root / "Proof_0.v"
        text = file.read_text(encoding="utf-8")
        file.write_text(change(text), encoding="utf-8")
        assert file.read_text(encoding="utf-8") != text
        paths = "-Q", formal_library.library(), "AttSVM", "-Q", root, "Certificate"
        coqc(file, *paths)
        return coqc(root / "Check.v", *paths)
    return forged


@needs_coq
def test_the_three_claims_of_the_two_samples(exported):
    root, export = exported
    result = formal.check_export(root, export, formal_library.library())
    assert result.faults == () and result.accepted and result.claims == (0, 1, 2)


@needs_coq
def test_the_three_commands_of_the_guide(exported, tmp_path):
    # A sceptic's way, from the sources in the directory alone and without this package.
    root = tmp_path / "by hand"
    shutil.copytree(exported[0], root, ignore=shutil.ignore_patterns("*.vo*", "*.glob"))
    guide = (root / "README.txt").read_text(encoding="utf-8")
    commands = [line.strip() for line in guide.splitlines() if "coqc" in line]
    assert len(commands) == 3
    # The first compiles the theories, which other tests have done already.
    names = re.search(r"for f in ([\w ]+);", commands[0])[1].split()
    assert names == compilation_order(requirement for requirement in names)
    for name in names:
        for file in formal_library.library().glob(f"{name}.vo*"):
            shutil.copy(file, root / "theories")
    for command in commands[1:]:
        done = subprocess.run(command, shell=True, cwd=root, capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, done.stderr
    assert assumption_faults(done.stdout, (0, 1, 2)) == []


FORGERIES = {
    # What a proof file may be made to hold, and what gives it away when Coq alone looks.
    "axiom": ("Axiom help : claim_0.\n", "exact help", "assume"),
    "parameter": ("Parameter help : False.\n", "destruct help", "assume"),
    "unguarded recursion": ("Unset Guard Checking.\nFixpoint help (n : nat) : False := help n.\n"
                            "Set Guard Checking.\n", "destruct (help 0%nat)", "assume"),
    "type in type": ("Unset Universe Checking.\nDefinition help : Type := (Type : Type).\n"
                     "Definition loose : help = help := eq_refl.\n",
                     "pose proof loose as unused; split; [vm_cast_no_check (eq_refl true)|]; "
                     "refine (feasible_sound data alpha_0 W 1%positive _); "
                     "vm_cast_no_check (eq_refl true)", "assume"),
}


def with_proof(text, before, tactic):
    """A proof file with more before its theorem and another proof."""
    head, _ = text.split("Theorem proof")
    return f"{head}{before}Theorem proof : claim_0.\nProof. {tactic}. Qed.\n"


@needs_coq
@pytest.mark.parametrize("name", FORGERIES)
def test_forged_proofs_are_caught_by_what_coq_prints(forged_proof, name):
    before, tactic, said = FORGERIES[name]
    output = forged_proof(lambda text: with_proof(text, before, tactic))
    faults = assumption_faults(output, (0, 1, 2))
    assert faults and all(said in fault for fault in faults)


@needs_coq
@pytest.mark.parametrize("change", [
    lambda text: text.replace("Qed.", "Admitted."),
    lambda text: text.replace("claim_0", "claim_1"),
    lambda text: text.replace("Theorem proof : claim_0", "Definition claim_0 := True.\n"
                              "Theorem proof : claim_0").replace("unfold claim_0", "exact I"),
    lambda text: with_proof(text, "Definition feasible (D : dataset) (a : selection) := True.\n",
                            "split; [vm_cast_no_check (eq_refl true)|exact I]"),
    lambda text: with_proof(text, "Notation feasible := (fun _ _ => True).\n",
                            "split; [vm_cast_no_check (eq_refl true)|exact I]"),
    lambda text: with_proof(text, "Module Claims. Definition claim_0 := True. End Claims.\n",
                            "exact I").replace("proof : claim_0", "proof : Claims.claim_0"),
], ids=["admitted", "another claim", "shadowed claim", "shadowed predicate", "notation",
        "shadowed module"])
def test_forged_proofs_do_not_prove_the_claims(forged_proof, change):
    try:
        output = forged_proof(change)
    except CoqError:
        return
    assert assumption_faults(output, (0, 1, 2))


@needs_coq
def test_another_dataset_does_not_pass(forge, exported):
    # The tokens of one sample exchanged: the claims are about other numbers.
    root = forge("Data.v", lambda text: text.replace("[[1; 0];\n  [0; 0]]", "[[0; 0];\n  [1; 0]]")
                 .replace("[1; 0];\n    [0; 0]", "[0; 0];\n    [1; 0]"))
    assert formal.check_export(root, exported[1], formal_library.library()).faults == (
        "Data.v is not that of the certificate",)
    faults = formal.check_export(root, None, formal_library.library()).faults
    assert faults and re.match(r"Proof_\d\.v", faults[0])


@pytest.mark.parametrize(("name", "change", "fault"), [
    ("Proof_0.v", lambda text: f"Axiom help : False.\n{text}", "Axiom help"),
    ("Proof_0.v", lambda text: text.replace("Qed.", "Admitted."), "Admitted"),
    ("Proof_1.v", lambda text: f"Unset Guard Checking.\n{text}", "Unset Guard"),
    ("Proof_1.v", lambda text: f"Unset Universe Checking.\n{text}", "Unset Universe"),
    ("Proof_2.v", lambda text: text.replace("Theorem", "Notation feasible := True.\nTheorem"),
     "Notation"),
    ("Claims.v", lambda text: text.replace("Definition claim_0", "Definition feasible (D : dataset)"
                                           " (a : selection) := True.\nDefinition claim_0"),
     "Definition feasible"),
    ("Claims.v", lambda text: f"{text}Parameter help : False.\n", "Parameter help"),
    ("Claims.v", lambda text: text.replace("feasible data", "true data = True"), "claim_0"),
    ("Claims.v", lambda text: text.replace("feasible data alpha_0",
                                           "feasible data alpha_0 \\/ True"), "claim_0"),
    ("Data.v", lambda text: text.replace("Definition data", "Axiom bad : False.\nDefinition data"),
     "Axiom bad"),
    ("theories/Statements.v", lambda text: text.replace("1 <= margin", "-1 <= margin"),
     "not the theory"),
    ("Check.v", lambda text: text.replace("Print Assumptions certified.", ""), "Check.v"),
    ("Check.v", lambda text: text.replace("Certificate.Claims.claim_1", "True"), "Check.v"),
])
def test_forged_files_are_caught_before_coq_runs(forge, name, change, fault):
    faults = formal.check_export(forge(name, change)).faults
    assert len(faults) == 1 and fault in faults[0]


def test_a_claim_fewer_is_not_what_the_certificate_says(forge, exported):
    def without_last(text):
        return text[:text.index("(* no_stationary_point")]
    root = forge("Claims.v", without_last)
    faults = formal.check_export(root, exported[1]).faults
    assert "Claims.v is not that of the certificate" in faults


def test_genuine_files_are_sentences_of_the_grammar(exported):
    for name, text in exported[1].files.items():
        if "/" not in name and name.endswith(".v") and name != "Check.v":
            assert list(grammar.faults(name.removesuffix(".v"), text)) == []


# -------------------------------------------------------------------------- what is exported


def test_table_lists_kinds_of_the_specification():
    for name, sides in TABLE.items():
        condition = CONDITIONS[name]
        for makers, allowed in zip(sides, (condition.holds_by, condition.fails_by), strict=True):
            assert set(makers) <= set(allowed)


def test_covered_and_omitted_verdicts(exported):
    dataset = io.load_dataset("examples/data/plane_3_tokens.npz")
    report = certify(dataset, source="plane", iterations=0)
    export = formal.export(report.certificate_text(), dataset)
    covered = [k for k, verdict in enumerate(report.verdicts) if formal.covered(verdict)]
    assert list(export.claims) == covered
    assert len(covered) + len(export.omitted) == len(report.verdicts)
    assert any(line.startswith("9 rank_bound holds by exact_rank: no theorem")
               for line in export.omitted)
    assert "9 rank_bound" in export.files["README.txt"]


def test_long_numbers_are_enclosed_or_left_out(monkeypatch):
    # With a lower limit the exact solution is replaced by what short numbers prove of it.
    dataset, verdicts = next(formal_cases.verdicts(formal_cases.SMALL, True))
    by_condition = {v.condition: v for v in verdicts if v.certificate.kind == "exact_kkt"}
    monkeypatch.setattr("verifier.formal.claims.MAX_BITS", 300)
    claim = maker(by_condition["support_indices"])(
        Subject(dataset, by_condition["support_indices"], 0, "alpha_0"))
    assert claim.theorem == "support_enclosed_sound" and "enclosed" in claim.weaker
    monkeypatch.setattr("verifier.formal.claims.MAX_BITS", 20)
    with pytest.raises(NotExportedError, match="too long for Coq"):
        maker(by_condition["local_optimality"])(
            Subject(dataset, by_condition["local_optimality"], 0, "alpha_0"))


@needs_coq
def test_a_tie_in_long_numbers_is_enclosed_by_a_primal_dual_pair(tmp_path, monkeypatch):
    # Margin 1 with multiplier 0: no enclosure decides it, the solution is still bracketed.
    third = 1 / 3
    dataset = AttentionDataset.build([[[0, 0], [-third, 0], [-third, -1]]], [1], [[1, 0]], [1, 1])
    verdicts = formal_cases.about_support(dataset, (0,))
    exact = [v for v in verdicts if v.certificate.kind == "exact_kkt"]
    assert exact[0].condition == "support_indices" and len(exact[0].certificate.support) == 2
    monkeypatch.setattr("verifier.formal.solutions._exact", _too_long)
    found = [Instance(dataset, verdict) for verdict in exact[:1]]
    assert found[0].claim.theorem == "near_sound"
    printed = coq(tmp_path, HEADER + found[0].module(0) + "Check C0.proof.")
    assert "near_optimum" in printed


def _too_long(*_):
    raise NotExportedError("too long")


def test_refused_verdicts_are_not_exported(exported):
    dataset = AttentionDataset.build([[[1, 0], [0, 0]]], [1], [[1, 0]], [1, 0])
    text = certify(dataset, source="one", iterations=0,
                   only=["feasibility", "full_rank"]).certificate_text()
    forged = re.sub(r'("kind":"separator","W":\[\[)\d+', r"\g<1>-1", text)
    export = formal.export(forged, dataset)
    assert len(export.claims) == 1 and "refused" in export.omitted[0]


def test_nothing_to_export_and_used_directories(exported):
    dataset = AttentionDataset.build([[[1], [0]]], [1], [[1]], [1])
    report = Report(dataset, "", (), (), None)
    with pytest.raises(InvalidInput, match="must have a proved verdict"):
        formal.export(report.certificate_text(), dataset)
    with pytest.raises(InvalidInput, match="must be new or empty"):
        formal.write(exported[1], exported[0])


def test_export_command(attsvm, tmp_path):
    target, folder = tmp_path / "c.json", tmp_path / "coq"
    code, out, _ = attsvm("certify", "examples/data/two_samples.json", "--iterations", "0",
                          "--json", target, "--coq", folder)
    assert code == 0 and "verdicts written for Coq to" in out
    assert (folder / "README.txt").is_file()
    again = tmp_path / "again"
    code, out, _ = attsvm("export", "--coq", target, again)
    assert code == 0 and "not exported" in out and "exported      " in out
    for name in ("Data.v", "Claims.v", "Check.v"):
        assert (again / name).read_text() == (folder / name).read_text()
    for arguments in (["export", target, tmp_path / "x"], ["export", "--coq", target, again],
                      ["export", "--coq", "examples/data/two_samples.json", tmp_path / "y"]):
        code, _, err = attsvm(*arguments)
        assert code == 2 and len(err.splitlines()) == 1


@pytest.fixture
def attsvm(capsys, monkeypatch):
    """Run the command in this process: (exit code, stdout, stderr)."""
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["attsvm", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        return code, *capsys.readouterr()
    return run
