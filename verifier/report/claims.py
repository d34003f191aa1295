"""Renderings of claims: the table of all, one in full, and what a case says about it."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from conditions.certificates import VerifiedRun
from conditions.selection import Selection
from conditions.verdict import Status
from verifier.claims.assessment import MEANING, Assessment, Finding
from verifier.claims.case import Case
from verifier.claims.claim import Claim
from verifier.claims.expression import Predicate
from verifier.claims.outcome import Outcome
from verifier.claims.steps import shown
from verifier.report.terminal import dataset_line, shown_selection

_STYLE = {Status.HOLDS: "bold green", Status.FAILS: "bold red", Status.UNDECIDED: "yellow"}
_FINDING_STYLE = {Finding.REFUTED: "bold red", Finding.EXCEPTION: "red",
                  Finding.CONFIRMED: "bold green", Finding.CONCLUDED: "green"}
_MANY = 6


def print_claims(claims: Iterable[Claim], console: Console | None = None) -> None:
    """Two lines per claim: name, number, form and who vouches for it; then its statement."""
    lines: list[RenderableType] = []
    for claim in claims:
        lines += [Text.assemble((claim.name, "bold"), f"  {_about(claim)}"),
                  Padding(Text(claim.statement), (0, 0, 0, 4))]
    lines.append(Text("attsvm claims NAME states one in full, attsvm claims NAME DATA checks it"))
    (console or Console()).print(Group(*lines))


def print_predicates(predicates: Iterable[Predicate], console: Console | None = None) -> None:
    """A row per predicate: name, what it needs beside the dataset, what it says."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for name in ("predicate", "about", "statement"):
        table.add_column(name, overflow="fold", no_wrap=name == "predicate")
    for predicate in predicates:
        table.add_row(Text(predicate.name), Text(predicate.about), Text(predicate.statement))
    (console or Console()).print(table)


def print_claim(claim: Claim, console: Console | None = None) -> None:
    """One claim in full: statement, hypotheses formally and in words, conclusion, sources."""
    lines: list[RenderableType] = [_title(claim), Text(), Text("hypotheses", style="bold")]
    for hypothesis in claim.hypotheses:
        lines += [Text(f"  {hypothesis.name} = {hypothesis.expression}"),
                  *([Padding(Text(hypothesis.text), (0, 0, 0, 6))] if hypothesis.text else [])]
    if not claim.hypotheses:
        lines.append(Text("  none"))
    lines += [Text("conclusion", style="bold"),
              Text("  certified by no condition: observed only" if claim.conclusion is None
                   else f"  {claim.conclusion}")]
    if claim.conclusion is not None:
        lines += [Padding(Text(f"{atom}: {atom.predicate.statement}"), (0, 0, 0, 6))
                  for atom in claim.conclusion.atoms()]
    lines += [Text(), Text(f"source: {claim.source}")]
    if claim.proof:
        lines.append(Text(f"proof: {claim.proof}"))
    if claim.observed_by:
        lines.append(Text(f"observed by: {claim.observed_by}"))
    if claim.counterpart:
        lines.append(Text(f"compare: {claim.counterpart}"))
    if claim.almost_all:
        lines.append(Text("about almost all datasets: one exception does not refute it"))
    (console or Console()).print(Group(*lines))


def print_assessment(assessment: Assessment, observed: Iterable[str], source: str,
                     console: Console | None = None) -> None:
    """A claim on a case: every hypothesis, the conclusion, and what they come to."""
    claim, finding = assessment.claim, assessment.finding
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for name in ("", "status", "evidence", "what shows it"):
        table.add_column(name, overflow="fold")
    for hypothesis, outcome in assessment.hypotheses:
        table.add_row(Text(hypothesis.name), *_cells(outcome))
    if assessment.conclusion is not None:
        table.add_row(Text(f"⇒ {claim.conclusion}", style="italic"),
                      *_cells(assessment.conclusion))
    parts: list[RenderableType] = [
        _title(claim), dataset_line(assessment.report(source)), Text(case_line(assessment.case)),
        Text(), table, Text(), *(Text(line, style="yellow") for line in observed),
        Text(f"{finding}: {MEANING[finding]}", style=_FINDING_STYLE.get(finding, "yellow"))]
    (console or Console()).print(Group(*parts))


def case_line(case: Case) -> str:
    """The choices of a case beside its dataset."""
    opt = " (opt)" if case.selection == case.opt else ""
    parts = [f"α = {shown_selection(case.selection)}{opt}", f"{case.loss} loss",
             f"{case.rule} descent"]
    if case.rule != "flow":
        parts.append("η not given" if case.step is None else f"η = {shown(case.step)}")
    if not case.constant_step and case.first_step is not None:
        parts.append(f"η₀ = {shown(case.first_step)}")
    rows = "; ".join(", ".join(map(shown, row)) for row in case.start)
    many = case.dataset.d > _MANY
    parts.append("W(0) = 0" if case.starts_at_zero else
                 f"W(0) {case.dataset.d} × {case.dataset.d}" if many else f"W(0) = [{rows}]")
    if case.rank is not None:
        parts.append(f"m = {case.rank}")
    if case.token_sets is not None:
        parts.append(f"O = {_sets(case.token_sets)}")
    if case.lam is not None:
        parts.append(f"λ = {shown(case.lam)}")
    return ", ".join(parts)


def _sets(sets: tuple[Selection, ...]) -> str:
    return "; ".join(map(shown_selection, sets))


def _title(claim: Claim) -> Text:
    return Text.assemble((claim.name, "bold"), f" ({_about(claim)}): {claim.statement}")


def _about(claim: Claim) -> str:
    number = [] if claim.number == "–" else [f"v1 {claim.number}"]
    return ", ".join([*number, claim.form, claim.standing])


def _cells(outcome: Outcome) -> tuple[Text, Text, Text]:
    evidence = "–" if outcome.evidence is None else str(outcome.evidence)
    return (Text(str(outcome.status), style=_STYLE[outcome.status]), Text(evidence),
            Text("; ".join(proof_lines(outcome))))


def proof_lines(outcome: Outcome) -> list[str]:
    """What proves an outcome, one line a verdict or fact; or why it is undecided."""
    lines = []
    for verdict in outcome.verdicts:
        certificate = verdict.certificate
        kind = "" if certificate is None else certificate.kind
        if isinstance(certificate, VerifiedRun):
            kind += f", W(k)/‖W(k)‖ → W^mm of α = {shown_selection(verdict.selection or ())}"
        lines.append(f"{verdict.condition} {verdict.status} ({kind}): {verdict.reason}")
    lines += [fact.statement for fact in outcome.facts]
    return lines or list(outcome.reasons)
