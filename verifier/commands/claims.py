"""``attsvm claims``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from flint import fmpq

from conditions.dataset import AttentionDataset
from conditions.errors import InvalidInput
from conditions.exact.numbers import rational, to_float
from conditions.losses import ALL_LOSSES, CUBIC
from conditions.selection import Selection
from verifier import io
from verifier.claims import Case, parse
from verifier.claims.assessment import assess
from verifier.claims.claim import Claim, claim_of
from verifier.claims.observations import observe
from verifier.claims.predicates import PREDICATES
from verifier.claims.registry import CLAIMS, find
from verifier.claims.steps import longest_lemma4_step
from verifier.commands.options import (
    Chosen,
    Iterations,
    Trial,
    check_output,
    check_seconds,
    parse_selection,
    parse_start,
    source_name,
)
from verifier.descent import descend
from verifier.report.claims import print_assessment, print_claim, print_claims, print_predicates

_NORMALIZED_STEP = rational("1/10")


def claims_command(
        name: Annotated[str | None, typer.Argument(
            help="A claim; without it, all are listed.", show_default=False)] = None,
        data: Annotated[Path | None, typer.Argument(
            help="A dataset to check it on, .npz or .json.", show_default=False)] = None,
        expression: Annotated[str | None, typer.Option(
            help="A claim of your own instead of NAME: predicates with ~ & | >> and parentheses, "
            "e.g. 'feasible & unique_optimum >> no_stationary_point'.")] = None,
        predicates: Annotated[bool, typer.Option(
            "--predicates", help="List the predicates that expressions are built from.")] = False,
        trial: Trial = None, selection: Chosen = "opt",
        loss: Annotated[str, typer.Option(help=f"One of {', '.join(ALL_LOSSES)} (−u³, which few "
                                          "conditions know).")] = "logistic",
        rule: Annotated[str, typer.Option(help="plain, normalized or flow.")] = "plain",
        step: Annotated[str | None, typer.Option(
            help="η, exact: a decimal or p/q. By default 2^−k ≤ 1/L_W (Lemma 4), or 1/10 for "
            "normalized descent.")] = None,
        first_step: Annotated[str | None, typer.Option(
            "--first-step", help="η₀ of the first step, if it is another.")] = None,
        start: Annotated[str, typer.Option(
            help="W(0): zero, data (W0 of the data file), a .npy file, or rows a,b;c,d.")] = "zero",
        rank: Annotated[int | None, typer.Option(help="m, the columns of K and Q.")] = None,
        sets: Annotated[str | None, typer.Option(
            help="Token sets O_i of Gen-SVM, one per sample: 0,1;2;0.")] = None,
        lam: Annotated[str | None, typer.Option(
            "--lambda", help="λ > 0 of the head v·x − λ‖x‖², exact.")] = None,
        seconds: Annotated[float, typer.Option(help="Budget of each search for a proof.")] = 30.0,
        iterations: Iterations = 2000,
        json: Annotated[Path | None, typer.Option(
            help="Write the certificate of all that is proved here.")] = None) -> None:
    """List claims, state one, or check one on a dataset: what holds, what follows, what is false.

    A claim whose hypotheses are certified and whose conclusion is certified to be false is REFUTED.
    """
    if predicates:
        print_predicates(atom.predicate for atom in PREDICATES.values())
        return
    claim, data = _asked(name, data, expression)
    if claim is None:
        print_claims(CLAIMS.values())
    elif data is None:
        print_claim(claim)
    else:
        check_seconds(seconds)
        check_output(json, "--json", data, start)
        case = _case(io.load_dataset(data, trial), selection, iterations, loss=loss, rule=rule,
                     start=_start(start, data, trial), step=step, first_step=first_step,
                     rank=rank, token_sets=sets, lam=lam, seconds=seconds)
        assessment = assess(claim, case)
        source = source_name(data, trial)
        print_assessment(assessment, observe(assessment, iterations), source)
        if json is not None:
            io.write_atomically(json, assessment.report(source).certificate_text())
            print(f"{len(assessment.verdicts)} verdicts written to {json}; "
                  f"check them with: attsvm check {json}")


def _asked(name: str | None, data: Path | None, expression: str | None
           ) -> tuple[Claim | None, Path | None]:
    """The claim that is meant, if any, and the dataset. Raises ``InvalidInput``."""
    if expression is None:
        return None if name is None else find(name), data
    if data is not None:
        raise InvalidInput("--expression", expression, "takes the place of NAME",
                           "give either, and one dataset")
    return claim_of(parse(expression)), None if name is None else Path(name)


def _case(dataset: AttentionDataset, selection: str, iterations: int, *, step: str | None,
          first_step: str | None, token_sets: str | None, **given: Any) -> Case:
    """The case that the options describe. Raises ``InvalidInput``."""
    case = Case(dataset, step=_number(step, "--step"), token_sets=_sets(token_sets),
                first_step=_number(first_step, "--first-step"), **given)
    if case.step is None:
        case = case.with_step(longest_lemma4_step(case) if case.rule == "plain"
                              else _NORMALIZED_STEP, case.first_step)
    return case.with_selection(_selection(selection, case, iterations))


def _selection(text: str, case: Case, iterations: int) -> Selection:
    """α as ``--selection`` names it."""
    named = parse_selection(text)
    if named == "opt":
        return case.opt
    if isinstance(named, tuple):
        return named
    if case.rule == "flow" or case.step is None or case.loss == CUBIC:
        raise InvalidInput("--selection", text, "needs a descent that can be run",
                           "give a rule, a step and a loss with ℓ' < 0, or token indices")
    W = [[to_float(x) for x in row] for row in case.start]
    return descend(case.dataset, rule=case.rule, step=to_float(case.step), loss=case.loss,
                   iterations=iterations, start=np.array(W)).selected


def _number(text: str | None, name: str) -> fmpq | None:
    return None if text is None else rational(text, name)


def _start(text: str, data: Path, trial: int | None) -> Any:
    """W(0): ``()`` for zero, the rows that *text* spells, or what a file holds."""
    if "," in text or ";" in text:
        return [row.split(",") for row in text.split(";")]
    if _is_number(text):
        return [[text]]
    given = parse_start(text, data, trial, "W")
    return () if given is None else given


def _is_number(text: str) -> bool:
    try:
        rational(text)
    except InvalidInput:
        return False
    return True


def _sets(text: str | None) -> tuple[tuple[int, ...], ...] | None:
    """Token sets as ``--sets`` spells them. Raises ``InvalidInput``."""
    if text is None:
        return None
    try:
        return tuple(tuple(int(t) for t in one.split(",")) for one in text.split(";"))
    except ValueError:
        raise InvalidInput("--sets", text, "must list token indices, e.g. 0,1;2;0",
                           "give one set per sample, from 0") from None
