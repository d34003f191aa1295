"""Forged exports: axioms, shadowed words, weakened checks, another dataset."""

from __future__ import annotations

import re
import shutil
import subprocess

import formal_library
import pytest
from formal_instances import needs_coq

from conditions import AttentionDataset
from verifier import formal
from verifier.certify import certify
from verifier.formal import grammar
from verifier.formal.checking import CoqError, assumption_faults, coqc, run_proofs
from verifier.formal.library import compilation_order


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
