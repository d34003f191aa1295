"""From a certificate file to a directory of Coq files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conditions.certificates import Certificate
from conditions.dataset import AttentionDataset
from conditions.errors import Description, InvalidInput
from conditions.verdict import Evidence, Status, Verdict
from verifier.formal.claims import Claim, NotExportedError, Subject
from verifier.formal.guide import guide
from verifier.formal.library import compilation_order, theories
from verifier.formal.spelling import dataset_literal, naturals
from verifier.formal.table import maker
from verifier.io import write_atomically
from verifier.kernel.checking import check_text

_HEADER = "From Coq Require Import ZArith List.\n"
_SCOPES = "Import ListNotations.\nLocal Open Scope Z_scope.\n\n"


@dataclass(frozen=True)
class Export:
    """The files of an export by name, and what is in them.

    ``claims`` describes each claim by its number, ``omitted`` each verdict without one and why.
    """

    files: Mapping[str, str]
    claims: Mapping[int, str]
    omitted: tuple[str, ...]

    def summary(self) -> str:
        """How many verdicts are exported."""
        return (f"{len(self.claims)} of {len(self.claims) + len(self.omitted)} verdicts "
                "written for Coq")


def export(text: str, dataset: AttentionDataset) -> Export:
    """The export of a certificate file with this *text*, which is about *dataset*.

    Only verdicts that the independent checker accepts are exported. Raises ``Unreadable``, and
    ``InvalidInput`` for a file that is refused as a whole or has nothing to export.
    """
    outcomes = check_text(text)
    if outcomes.dataset is None:
        raise InvalidInput("certificate", Description(outcomes.refusals[0]), "must be accepted",
                           "see attsvm check")
    made: dict[int, tuple[Subject, Claim]] = {}
    omitted: list[str] = []
    selections: dict[tuple[int, ...], str] = {}
    for number, (entry, outcome) in enumerate(zip(json.loads(text)["verdicts"],
                                                  outcomes.outcomes, strict=True)):
        if outcome.kind != "proved":
            omitted.append(f"{number} {outcome.text}: {outcome.kind}")
            continue
        verdict = _verdict(entry)
        chosen = verdict.selection
        name = "" if chosen is None else f"alpha_{len(selections)}"
        name = selections.get(chosen, name) if chosen is not None else name
        subject = Subject(dataset, verdict, number, name)
        try:
            made[number] = subject, _claim(subject)
        except NotExportedError as reason:
            omitted.append(f"{number} {_title(verdict)}: {reason}")
            continue
        if chosen is not None:
            selections[chosen] = name
    if not made:
        raise InvalidInput("certificate", Description("; ".join(omitted) or "no verdict"),
                           "must have a proved verdict that Coq can check", "see docs/formal.md")
    return _assembled(dataset, made, selections, omitted)


def _claim(subject: Subject) -> Claim:
    make = maker(subject.verdict)
    if make is None:
        raise NotExportedError("no theorem for this kind")
    return make(subject)


def _verdict(entry: Mapping[str, Any]) -> Verdict:
    selection = entry["selection"]
    return Verdict(entry["condition"], Status(entry["status"]), Evidence(entry["evidence"]),
                   Certificate.from_json(entry["certificate"]), entry["reason"],
                   None if selection is None else tuple(selection), entry["loss"])


def _title(verdict: Verdict) -> str:
    certificate = verdict.certificate
    kind = "" if certificate is None else f" by {certificate.kind}"
    return f"{verdict.condition} {verdict.status}{kind}"


def _assembled(dataset: AttentionDataset, made: Mapping[int, tuple[Subject, Claim]],
               selections: Mapping[tuple[int, ...], str], omitted: list[str]) -> Export:
    modules = sorted({claim.module for _, claim in made.values()} | {"Statements"})
    order = compilation_order(modules)
    described = {number: _title(subject.verdict) + (f" (weaker: {claim.weaker})"
                                                    if claim.weaker else "")
                 for number, (subject, claim) in made.items()}
    proofs = {f"Proof_{number}.v": _proof(number, subject, claim)
              for number, (subject, claim) in made.items()}
    files = {f"theories/{name}.v": theories()[name] for name in order}
    files |= {"Data.v": _data(dataset), "Claims.v": _claims(made, selections, described), **proofs,
              "Check.v": check_file(tuple(made)),
              "README.txt": guide(dataset, order, described, omitted)}
    return Export(files, described, tuple(omitted))


def _data(dataset: AttentionDataset) -> str:
    return (f"(* The dataset with the fingerprint sha256 {dataset.fingerprint}\n"
            "   of docs/certificates.md: d, the denominators of tokens, queries and head, then\n"
            "   the samples (tokens, query, label) and the head. *)\n"
            f"{_HEADER}From AttSVM Require Import Dataset.\n{_SCOPES}"
            f"Definition data : dataset :=\n {dataset_literal(dataset)}.\n")


def _claims(made: Mapping[int, tuple[Subject, Claim]], selections: Mapping[tuple[int, ...], str],
            described: Mapping[int, str]) -> str:
    needed = sorted({"Dataset", "Statements"} | (
        {"Monotone"} if any("stationary" in c.statement for _, c in made.values()) else set())
        | ({"Loss", "TrapConditions"} if any("_from" in c.statement for _, c in made.values())
           else set()))
    lines = ["(* What is claimed of the dataset in Data.v. The words are those of\n"
             "   theories/Dataset.v, Statements.v, Loss.v, for no_stationary_point Monotone.v,\n"
             "   and for limit_from and trapped_from TrapConditions.v. *)",
             f"{_HEADER}From AttSVM Require Import {' '.join(needed)}.\n"
             f"From Certificate Require Import Data.\n{_SCOPES}".rstrip(), ""]
    lines += [f"Definition {name} : selection := {naturals(selection)}."
              for selection, name in selections.items()]
    for number, (subject, claim) in made.items():
        lines += ["", f"(* {described[number]} *)"]
        lines += [f"Definition {part.name} : {part.type} :=\n {part.literal}."
                  for part in claim.definitions]
        shape = _premise(subject, claim)
        lines.append(f"Definition claim_{number} : Prop :=\n  {shape} = true\n"
                     f"  /\\ {_argument(claim.statement)}.")
    return "\n".join(lines) + "\n"


def _premise(subject: Subject, claim: Claim) -> str:
    """What makes the statement meaningful: the dataset is one, the selection fits."""
    about = subject.selection_name and claim.statement.count(subject.selection_name)
    return f"selects data {subject.selection_name}" if about else "well_formed data"


def _argument(statement: str) -> str:
    return f"({statement})" if statement.startswith("forall") else statement


def _proof(number: int, subject: Subject, claim: Claim) -> str:
    selection = subject.selection_name if _premise(subject, claim).startswith("selects") else ""
    term = " ".join(word for word in (claim.theorem, "data", selection, *claim.arguments, "_")
                    if word)
    parts = "".join(f"Definition {part.name} : {part.type} :=\n {part.literal}.\n"
                    for part in claim.certificate)
    return (f"{_HEADER}From AttSVM Require Import "
            f"{' '.join(dict.fromkeys(['Dataset', 'Statements', *_literals(claim), claim.module]))}"
            f".\nFrom Certificate Require Import Data Claims.\n{_SCOPES}{parts}\n"
            f"Theorem proof : claim_{number}.\nProof.\n  unfold claim_{number}.\n"
            f"  split; [vm_cast_no_check (eq_refl true)|].\n"
            f"  refine ({term}).\n  vm_cast_no_check (eq_refl true).\nQed.\n")


def _literals(claim: Claim) -> list[str]:
    """The theories whose types the certificate uses."""
    types = " ".join(part.type for part in claim.certificate)
    return ["Gram"] if "inverse" in types else []


def check_file(numbers: Sequence[int]) -> str:
    """Check.v: the proofs prove all claims, and what they assume."""
    names = " ".join(["Data", "Claims", *(f"Proof_{k}" for k in numbers)])
    claims = " /\\\n  ".join(f"Certificate.Claims.claim_{k}" for k in numbers)
    *others, last = (f"Certificate.Proof_{k}.proof" for k in numbers)
    proofs = "".join(f"(conj {proof}\n  " for proof in others) + last + ")" * len(others)
    return (f"From Certificate Require {names}.\n"
            f"Definition certified :\n  {claims} :=\n  {proofs}.\n"
            "Check certified.\nPrint Assumptions certified.\n")


def write(exported: Export, directory: str | os.PathLike[str]) -> None:
    """Write the files into a directory that is new or empty. Raises ``InvalidInput``."""
    root = Path(directory)
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise InvalidInput("directory", str(root), "must be new or empty", "choose another")
    try:
        (root / "theories").mkdir(parents=True)
    except OSError as error:
        raise InvalidInput("directory", str(root), f"must be writable ({error.strerror})",
                           "choose another") from None
    for name, text in exported.files.items():
        write_atomically(root / name, text)
