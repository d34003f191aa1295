"""The few sentences that exported files consist of.

Data.v, Claims.v and the proofs define literals and apply one theorem each. Anything else, be it an
axiom, a redefinition, a notation or a command that weakens Coq's checks, is a fault here, before
Coq runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifier.formal.library import theories

_COMMENT = re.compile(r"\(\*((?!\(\*|\*\))[^\"])*\*\)", re.DOTALL)
_SENTENCE_END = re.compile(r"\.(?=\s|$)")
_TYPES = r"dataset|selection|inverse|enclosure|list (?:nat|Z|inverse|\(list Z\)|\(nat \* nat\))"
_LITERAL = re.compile(r"-?(?:0x[0-9a-f]+|[0-9]+)(?:%positive|%nat)?|[\[\]();,]|%nat|[A-Za-z]\w*")
_CONSTRUCTORS = {"Dataset", "Sample", "Inverse", "Enclosure"}
_STATEMENT = re.compile(
    r"-?(?:0x[0-9a-f]+|[0-9]+)(?:%positive|%nat)?|[\[\]();,~=]|/\\|%nat|[A-Za-z]\w*")
_PREDICATES = {
    "well_formed", "selects", "true", "ratio", "rational", "forall", "m", "optimal",
    "unique_optimum", "equal_scores", "no_flat_sample", "feasible", "infeasible", "optimum",
    "solvable", "support", "all_support", "locally_optimal", "norm_between", "near_optimum",
    "low_rank_feasible", "full_rank", "every_selection_feasible", "no_stationary_point",
    "limit_from", "trapped_from", "logistic", "exponential", "correlation"}
_NAMES = {
    "Data": re.compile(r"data"),
    "Claims": re.compile(r"(?:alpha|claim|W|optimum)_\d+"),
    "Proof": re.compile(r"W|K|Q|V|E|E_rows|E_weights|A|As|A_entries|A_\d+|A_\d+_entries|lambda|c"
                        r"|high|low|above|lower"),
}
_HEADER = ("From Coq Require Import ZArith List", "Import ListNotations",
           "Local Open Scope Z_scope")
_TACTICS = (r"Proof", r"unfold claim_\d+", r"split; \[vm_cast_no_check \(eq_refl true\)\|\]",
            r"vm_cast_no_check \(eq_refl true\)", r"Qed",
            r"refine \(\w+_\w+ data(?: alpha_\d+)?(?: -?\w+(?:%positive|%nat)?| \(-\w+\)"
            r"| \[[\d(),; ]*\]%nat)* _\)")


def faults(name: str, text: str) -> Iterator[str]:
    """What is not allowed in the exported file *name*: ``Data``, ``Claims`` or ``Proof_N``."""
    role = name.split("_")[0]
    known = {"data", *_CONSTRUCTORS}
    bare = _COMMENT.sub(" ", text)
    for sentence in _SENTENCE_END.split(bare):
        normal = " ".join(sentence.split())
        if normal and not _allowed(role, normal, known):
            shown = normal if len(normal) <= 60 else normal[:60] + "…"
            yield f"{name}.v: not a sentence of an export: {shown}"


def _allowed(role: str, sentence: str, known: set[str]) -> bool:
    if sentence in _HEADER or sentence == "From Certificate Require Import Data Claims":
        return True
    if sentence == "From Certificate Require Import Data":
        return role == "Claims"
    if required := re.fullmatch(r"From AttSVM Require Import ([\w ]+)", sentence):
        return set(required[1].split()) <= set(theories())
    if defined := re.fullmatch(rf"Definition (\w+) : ({_TYPES}) := (.*)", sentence):
        fine = bool(_NAMES[role].fullmatch(defined[1])) and _made_of(_LITERAL, defined[3], known)
        known.add(defined[1])
        return fine
    if role == "Claims" and (stated := re.fullmatch(r"Definition claim_\d+ : Prop := (.*)",
                                                    sentence)):
        return _made_of(_STATEMENT, stated[1], known | _PREDICATES)
    if role == "Proof":
        return (re.fullmatch(r"Theorem proof : claim_\d+", sentence) is not None
                or any(re.fullmatch(tactic, sentence) for tactic in _TACTICS))
    return False


def _made_of(token: re.Pattern[str], text: str, words: set[str]) -> bool:
    """Whether *text* is made of tokens, all names among *words*."""
    rest = token.sub(lambda found: "" if not found[0][0].isalpha() or found[0] in words
                     else "?", text)
    return not rest.strip()
