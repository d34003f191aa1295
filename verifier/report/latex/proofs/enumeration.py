"""Proofs about all selections: the tree that closes, and selections that contradict."""

from __future__ import annotations

from collections import Counter

from conditions.certificates import (
    Certificate,
    DirectionTree,
    ExactKKT,
    ExceptionalSelection,
    Farkas,
    KKTEnclosure,
    Obstruction,
    PrimalDual,
)
from conditions.certificates.enumeration import BRANCH, OPTIMAL
from conditions.verdict import Verdict
from verifier.report.latex import text
from verifier.report.latex.context import Context
from verifier.report.latex.proofs.separation import farkas_text, pair_text, solution_text


def direction_tree(ctx: Context, verdict: Verdict, certificate: DirectionTree) -> str:
    """How the leaves of the tree of selections are closed."""
    rule = ctx.fact("exceptional")
    kinds = Counter(_kind(node) for node in certificate.nodes)
    closed = []
    for name, phrase, fact in (
            ("digits", "by integer multipliers", "leaf"),
            ("obstruction", "partial selections by an obstruction", "obstruction"),
            ("farkas", "as infeasible", "gordan"), ("exact_kkt", "by their exact solution", "kkt"),
            ("kkt_enclosure", "by an enclosed solution", "inverse"),
            ("primal_dual", "by a primal--dual pair", "gap"), (OPTIMAL, "opt itself, exempt", "")):
        if kinds[name]:
            cited = f" ({ctx.fact(fact)})" if fact else ""
            closed.append(f"{kinds[name]} {phrase}{cited}")
    tree = text.count(kinds[BRANCH], "branching")
    return (f"{rule} says which rows are tested. Walk the tree of partial "
            f"selections, sample by sample ({tree}, {ctx.filed('nodes')}). Its "
            f"{text.count(sum(kinds.values()) - kinds[BRANCH], 'end')} are closed: "
            f"{text.listed(closed)}. The walk leaves out no selection, and "
            f"{text.count(len(certificate.selections), 'end')} "
            f"{'is' if len(certificate.selections) == 1 else 'are'} shown exceptional"
            f"{_meaning(verdict)}.")


def _meaning(verdict: Verdict) -> str:
    if verdict.condition == "assumption_d":
        return ", that is, none contradicts Assumption D"
    return ", that is, locally optimal"


def _kind(node: object) -> str:
    if isinstance(node, str):
        return node if node in (BRANCH, OPTIMAL) else "digits"
    return "obstruction" if isinstance(node, Obstruction) else _certificate_kind(node)


def _certificate_kind(node: object) -> str:
    assert isinstance(node, Certificate)
    return node.kind


def exceptional_selection(ctx: Context, verdict: Verdict,
                          certificate: ExceptionalSelection) -> str:
    """The selection's own proof."""
    phi, inner = ctx.features(certificate.selection), certificate.certificate
    assumption = verdict.condition == "assumption_d"
    opt = ctx.opt.selection
    tested = [row for row in phi.rows if (
        row[1] == opt[row[0]] if assumption else ctx.gap(phi, row) <= 0)]
    named = ctx.rows(tested, "selection") or "none"
    what = (r"the rows $(i,\mathrm{opt}_i)$ with $\alpha_i\ne\mathrm{opt}_i$" if assumption
            else r"the rejected rows with $\Delta_{i,t}\le0$")
    with ctx.inside("certificate"):
        if isinstance(inner, Farkas):
            return f"{farkas_text(ctx, phi, inner)}. {ctx.fact('gordan')} applies."
        if isinstance(inner, PrimalDual):
            return f"{pair_text(ctx, phi, inner)} These are all of {what}: {named}."
        assert isinstance(inner, ExactKKT | KKTEnclosure)
        shown = (f"The support indices are {ctx.rows(inner.support, 'support')}; {what} are: "
                 f"{named}.")
        return f"{solution_text(ctx, phi, inner)} {shown}"
