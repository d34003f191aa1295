"""What every condition must do, whatever it decides.

A condition is a module of `conditions` with a ``CONDITION``; a new one is found by itself. If
its ``decide`` asks for more than a dataset, a selection or a loss, its parameters go to `OTHER`.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import numpy as np
import oracle
import pytest
from acceptance import accepted
from flint import fmpq

import conditions
from conditions import AttentionDataset, Status, Verdict
from conditions.losses import LOSSES
from conditions.selection import optimal_selection

HEADINGS = ["Statement", "Hypotheses", "Certificate", "Decision procedure", "Reference"]

DATASET, SELECTION, LOSS = ("dataset",), ("dataset", "selection"), ("dataset", "loss")

OTHER = {
    ("dataset", "sets"): "token sets of its own",
    ("dataset", "lam"): "the λ of a quadratic head",
    ("dataset", "selection", "m"): "a rank of its own",
    ("dataset", "selection", "W", "loss"): "the last iterate of a run; never proved",
    ("dataset", "W", "rule", "step", "loss"): "an iterate and a step rule",
    ("dataset", "start", "rule", "step", "loss"): "a start and a step rule",
    ("dataset", "first_step", "step", "loss"): "two step sizes",
    ("dataset", "selection", "W", "rule", "step", "loss"): "an iterate and a step rule",
    ("dataset", "selection", "rule", "step", "loss"): "a step rule",
}
"""Required parameters of the conditions that are not run here, and why: they ask for more."""

OPTIONS: dict[str, dict[str, object]] = {
    "no_stationary_point": {"budget": 0},
}
"""Optional parameters that keep a condition fast."""

MAY_BE_UNDECIDED = {"no_stationary_point", "nuclear_margin", "unique_nuclear_optimum",
                    "robust_feasibility", "robust_support", "robust_local_optimality",
                    "robust_full_rank", "invariant_ray"}
"""The others have a decision procedure that ends on small data."""


def found() -> dict[str, ModuleType]:
    modules = (importlib.import_module(info.name) for info in
               pkgutil.walk_packages(conditions.__path__, "conditions."))
    return {module.CONDITION: module for module in modules
            if isinstance(getattr(module, "CONDITION", None), str)}


CONDITIONS = found()


def required(module: ModuleType) -> tuple[str, ...]:
    return tuple(name for name, parameter in inspect.signature(module.decide).parameters.items()
                 if parameter.default is inspect.Parameter.empty)


def stem(module: ModuleType) -> str:
    return module.__name__.rsplit(".", 1)[-1]


RUN = {name: module for name, module in CONDITIONS.items()
       if required(module) in (DATASET, SELECTION, LOSS)}


def test_the_conditions_of_the_geometry_are_found():
    assert {"unique_optimum", "equal_scores", "no_flat_sample", "full_rank", "feasibility",
            "support_indices", "all_support", "local_optimality", "rank_bound",
            "first_step_separates", "no_stationary_point"} <= set(RUN)


@pytest.mark.parametrize("name", CONDITIONS)
def test_form(name):
    module = CONDITIONS[name]
    assert required(module) in {DATASET, SELECTION, LOSS, *OTHER}
    signature = inspect.signature(module.decide)
    assert signature.return_annotation == "Verdict"
    assert all(p.annotation is not inspect.Parameter.empty for p in signature.parameters.values())
    lines = module.__doc__.splitlines()
    assert "?" in lines[0]
    headings = [line for line in lines if line in HEADINGS]
    assert headings == HEADINGS
    # Each heading is followed by text of its own.
    for heading in HEADINGS:
        assert lines[lines.index(heading) + 1].startswith("    ")
    assert (Path(__file__).parent / f"test_{stem(module)}.py").exists()


# --- Decisions ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A dataset in plain numbers, and a selection."""

    X: list
    Y: list
    z: list
    v: list
    alpha: tuple[int, ...]

    @property
    def dataset(self) -> AttentionDataset:
        return AttentionDataset.build(self.X, self.Y, self.z, self.v)


def decided(case: Case) -> dict[tuple[str, str | None], Verdict]:
    """The verdicts of all conditions in `RUN`, by condition and loss."""
    dataset = case.dataset
    verdicts = {}
    for name, module in RUN.items():
        options = OPTIONS.get(name, {})
        wanted = required(module)
        if wanted == DATASET:
            verdicts[name, None] = module.decide(dataset, **options)
        elif wanted == SELECTION:
            verdicts[name, None] = module.decide(dataset, case.alpha, **options)
        else:
            for loss in LOSSES:
                verdicts[name, loss] = module.decide(dataset, loss, **options)
    return verdicts


def cases() -> list[Case]:
    made = []
    for n, T, d, seed in ((2, 3, 2, 1), (3, 2, 3, 2), (2, 2, 3, 3), (1, 4, 2, 4)):
        for data in oracle.integer_datasets(n, T, d, (-2, -1, 0, 1, 2), 4, seed=seed):
            alpha = tuple(oracle.optimal_selection(data))
            made.append(Case(*data, alpha))
    rng = np.random.default_rng(5)
    for n, T, d in ((4, 4, 4), (3, 3, 5)):
        X, z, v = rng.normal(size=(n, T, d)), rng.normal(size=(n, d)), rng.normal(size=d)
        # Rounded to sixteenths, so that scaling by powers of 3 stays short.
        X, z, v = (np.round(16 * a) / 16 for a in (X, z, v))
        Y = rng.choice([-1, 1], n).tolist()
        made.append(Case(X.tolist(), Y, z.tolist(), v.tolist(),
                         optimal_selection(AttentionDataset.build(X, Y, z, v))))
    return made


CASES = cases()
VERDICTS = [decided(case) for case in CASES]


def test_every_condition_is_seen_both_ways():
    seen = {(name, verdict.status) for verdicts in VERDICTS
            for (name, _), verdict in verdicts.items()}
    always = {"nuclear_margin", "unique_nuclear_optimum", "nonnegative_features", "directions",
              "only_local_optimum", "assumption_d", "assumption_e", "invariant_ray"}
    for name in set(RUN) - always:
        assert {(name, Status.HOLDS), (name, Status.FAILS)} <= seen


@pytest.mark.parametrize("verdicts", VERDICTS, ids=range(len(VERDICTS)))
def test_only_what_says_so_is_undecided(verdicts):
    undecided = {name for (name, _), verdict in verdicts.items() if verdict.undecided}
    assert undecided <= MAY_BE_UNDECIDED


@pytest.mark.parametrize("k", range(len(CASES)))
def test_the_checker_accepts_every_proof(k):
    lines = accepted(CASES[k].dataset, *VERDICTS[k].values())
    assert len(lines) == len(VERDICTS[k])


# --- Invariances ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """A change of the data, and what it does to the verdicts: nothing but what *expected* says.

    *expected*: conditions that take a certain status, or (None) may take any. *row*: where a row
    goes, None where there are further rows.
    """

    apply: Callable[[Case], Case]
    row: Callable[[Case, tuple[int, int]], tuple[int, int]] | None = None
    expected: dict[str, Status | None] = field(default_factory=dict)


def rolled(items: list) -> list:
    return [*items[1:], *items[:1]]


def samples_permuted(case: Case) -> Case:
    return Case(rolled(case.X), rolled(case.Y), rolled(case.z), case.v,
                tuple(rolled(list(case.alpha))))


def tokens_permuted(case: Case) -> Case:
    """Token t goes to place t − 1 modulo T_i."""
    return Case([rolled(x) for x in case.X], case.Y, case.z, case.v,
                tuple((a - 1) % len(x) for a, x in zip(case.alpha, case.X, strict=True)))


def times(c: fmpq, numbers: list) -> list:
    return [times(c, a) if isinstance(a, list) else c * fmpq(*float(a).as_integer_ratio())
            for a in numbers]


def tokens_scaled(case: Case) -> Case:
    """Tokens by 3/7 and the head by 7/3, so that the scores, which the losses see, stay."""
    return Case(times(fmpq(3, 7), case.X), case.Y, case.z, times(fmpq(7, 3), case.v), case.alpha)


def tokens_scaled_alone(case: Case) -> Case:
    return Case(times(fmpq(3, 7), case.X), case.Y, case.z, case.v, case.alpha)


def queries_scaled(case: Case) -> Case:
    return Case(case.X, case.Y, times(fmpq(11, 5), case.z), case.v, case.alpha)


def signs_flipped(case: Case) -> Case:
    return Case(case.X, [-y for y in case.Y], case.z, [-a for a in case.v], case.alpha)


def sample_repeated(case: Case) -> Case:
    return Case([*case.X, case.X[0]], [*case.Y, case.Y[0]], [*case.z, case.z[0]], case.v,
                (*case.alpha, case.alpha[0]))


def all_repeated(case: Case) -> Case:
    return Case(case.X * 2, case.Y * 2, case.z * 2, case.v, case.alpha * 2)


SUMS: dict[str, Status | None] = {"first_step_separates": None, "no_stationary_point": None}
"""Conditions about sums over the samples weighted by |ℓ'|: they depend on how often a sample
occurs, and on the size of the scores.
"""

DEPENDENT: dict[str, Status | None] = {"full_rank": Status.FAILS, "robust_full_rank": Status.FAILS}

CHANGES = {
    "samples permuted": Change(samples_permuted, lambda c, r: ((r[0] - 1) % len(c.X), r[1])),
    "tokens permuted": Change(tokens_permuted,
                              lambda c, r: (r[0], (r[1] - 1) % len(c.X[r[0]]))),
    "tokens scaled, scores kept": Change(tokens_scaled, lambda c, r: r),
    "tokens scaled": Change(tokens_scaled_alone, lambda c, r: r, SUMS),
    "queries scaled": Change(queries_scaled, lambda c, r: r),
    "labels and head flipped": Change(signs_flipped, lambda c, r: r),
    # The rows of a repeated sample are dependent on the first ones.
    "a sample repeated": Change(sample_repeated, None, {**SUMS, "invariant_ray": None,
                                                        **DEPENDENT}),
    "all samples repeated": Change(all_repeated, None, DEPENDENT),
}


PAIRS = [(k, change) for k, change in itertools.product(range(len(CASES)), CHANGES)
         # Conditions that look at every selection square their work when all samples are repeated.
         if change != "all samples repeated" or len(CASES[k].X) * len(CASES[k].X[0]) <= 6]


@pytest.mark.parametrize(("k", "change"), PAIRS)
def test_invariance(k, change):
    case, before = CASES[k], VERDICTS[k]
    changed = CHANGES[change]
    after = decided(changed.apply(case))
    assert set(after) == set(before)
    for (name, loss), verdict in before.items():
        other = after[name, loss]
        expected = changed.expected.get(name, verdict.status)
        if name in MAY_BE_UNDECIDED and (verdict.undecided or other.undecided):
            continue
        assert expected is None or other.status is expected, (name, loss)
    support, moved = before["support_indices", None], after["support_indices", None]
    if support.holds and changed.row is not None:
        assert set(moved.certificate.support) == {changed.row(case, row)
                                                  for row in support.certificate.support}
    # W^mm keeps its rank under all of these: its rows are permuted, scaled or counted twice.
    assert after["rank_bound", None].number == before["rank_bound", None].number or support.fails
