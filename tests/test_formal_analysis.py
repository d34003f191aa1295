"""The theories about the loss itself: slopes, monotone directions, basins, low-norm limits."""

from __future__ import annotations

import copy
import itertools
import random
import re
import shutil
from fractions import Fraction
from pathlib import Path

import formal_library
import numpy as np
import pytest

from conditions import AttentionDataset, low_norm_limit
from conditions.losses import LOSSES
from conditions.selection import optimal_selection
from conditions.smoothness import smoothness
from conditions.stationary.monotone_direction import proof
from verifier.formal.checking import CoqError
from verifier.formal.library import AXIOMS
from verifier.formal.limits import Check
from verifier.formal.spelling import (
    dataset_literal,
    matrix,
    naturals,
    positive,
    scaled,
    scaled_matrix,
    vector,
)

pytestmark = pytest.mark.skipif(shutil.which("coqc") is None, reason="needs Coq")

PROVED = {
    "LossFacts": ["loss_slope", "loss_gradient", "logistic_decreasing", "exponential_decreasing",
                  "correlation_decreasing"],
    "Monotone": ["monotone_slope", "monotone_sound", "full_rank_no_stationary_point"],
    "BasinStep": ["solution_optimum", "cone_not_stationary"],
    "Basin": ["basin_plain", "basin_normalized"],
    "TrapSmooth": ["logistic_smooth", "exponential_smooth", "correlation_smooth"],
    "TrapDescent": ["loss_step"],
    "TrapPath": ["main_lemma"],
    "Trap": ["low_norm_limit", "large_first_step", "selection_trap"],
    "TrapAnyStart": ["any_start"],
    "TrapSound": ["low_norm_sound", "trap_sound"],
}
HEADER = """From Coq Require Import ZArith List Reals.
From AttSVM Require Import Dataset Loss Monotone.
Import ListNotations.
Local Open Scope Z_scope.
"""


def coq(folder: Path, text: str) -> str:
    file = folder / "Scratch.v"
    file.write_text(text, encoding="utf-8")
    return formal_library.run(file)


# ----------------------------------------------------------------------------- the theorems


def test_theorems_rest_on_the_axioms_of_the_reals_alone(tmp_path):
    lines = [f"From AttSVM Require Import {' '.join(PROVED)}."]
    lines += [f"Print Assumptions {name}." for names in PROVED.values() for name in names]
    printed = coq(tmp_path, "\n".join(lines))
    assert printed.count("Axioms:") == sum(map(len, PROVED.values()))
    assert set(re.findall(r"^([\w.]+)\s*:", printed, re.MULTILINE)) - {"Axioms"} <= set(AXIOMS)


def test_statements(tmp_path):
    # What is proved is what docs/formal.md says: for all losses, all real W, the actual loss L.
    assert coq(tmp_path, HEADER + """
Check (monotone_sound : forall D M, check_monotone D M = true ->
  forall l dl, (forall u, derivable_pt_lim l u (dl u) /\\ (dl u < 0)%R) ->
  forall W, ~ forall V, derivable_pt_lim (fun t => loss l D (along W t V)) 0%R 0%R).
""")
    with pytest.raises(CoqError):  # Without the certificate it does not follow.
        coq(tmp_path, HEADER + "Check (monotone_sound : forall D, no_stationary_point D).")


def test_basins_and_low_norm_limits_have_instances(tmp_path):
    # The hypotheses of the convergence theorems can be met: none of them is vacuous.
    file = shutil.copy(Path(__file__).parent / "coq" / "Instances.v", tmp_path)
    assert formal_library.run(Path(file)) == ""


# ------------------------------------------------------------- certificates and tampered twins


class Case:
    """A dataset in integers and a certificate, well-formed or not."""

    def __init__(self, dataset, direction):
        view = dataset.integers
        head, head_scale = scaled(dataset.head)
        self.d = dataset.d
        self.scales = [int(view.token_scale), int(view.query_scale), head_scale]
        self.samples = [[[list(map(int, row)) for row in tokens.tolist()], list(map(int, query)),
                         label] for tokens, query, label in
                        zip(view.tokens, view.queries.tolist(), dataset.labels, strict=True)]
        self.head = head
        self.D = direction

    def coq(self):
        samples = "; ".join(f"Sample {matrix(tokens)} {vector(query)} ({label})"
                            for tokens, query, label in self.samples)
        scales = " ".join(map(positive, self.scales))
        return (f"check_monotone (Dataset {self.d}%nat {scales} [{samples}] {vector(self.head)}) "
                f"{matrix(self.D)}")

    def expected(self):
        """S2 by definition, in fractions."""
        shapes = [self.head, *self.D, *(query for _, query, _ in self.samples),
                  *(x for tokens, _, _ in self.samples for x in tokens)]
        if (self.d < 1 or len(self.D) != self.d or any(len(x) != self.d for x in shapes)
                or not self.samples or any(len(tokens) < 2 or label not in (1, -1)
                                           for tokens, _, label in self.samples)):
            return False
        products = []
        for tokens, query, label in self.samples:
            x = [[Fraction(a, self.scales[0]) for a in row] for row in tokens]
            z = [Fraction(a, self.scales[1]) for a in query]
            h = [sum(row[a] * self.D[a][b] * z[b] for a in range(self.d) for b in range(self.d))
                 for row in x]
            g = [label * sum(Fraction(v, self.scales[2]) * a
                             for v, a in zip(self.head, row, strict=True)) for row in x]
            products += [(h[t] - h[s]) * (g[t] - g[s]) for t in range(len(x))
                         for s in range(t)]
        return min(products) >= 0 and max(products) > 0


def genuine():
    rng = random.Random(7)
    found = []
    while len(found) < 5:
        n, T, d = rng.choice([(1, 3, 2), (2, 3, 2), (3, 2, 3), (2, 4, 3)])
        rows = [[rng.randint(-3, 3) for _ in range(d)] for _ in range(n * T + n + 1)]
        dataset = AttentionDataset.build([rows[i * T:(i + 1) * T] for i in range(n)],
                                         [rng.choice([1, -1]) for _ in range(n)],
                                         rows[n * T:-1], rows[-1])
        certificate = proof(dataset)
        if certificate is not None:
            found.append(Case(dataset, scaled_matrix(certificate.D)[0]))
    numbers = np.random.default_rng(8)
    dataset = AttentionDataset.build(numbers.standard_normal((6, 8, 10)), [1, -1] * 3,
                                     numbers.standard_normal((6, 10)), numbers.standard_normal(10))
    found.append(Case(dataset, scaled_matrix(proof(dataset).D)[0]))
    return found


def swap(rows):
    rows[0], rows[-1] = rows[-1], rows[0]


TAMPERINGS = {
    "direction negated": lambda c: setattr(c, "D", [[-a for a in row] for row in c.D]),
    "direction zero": lambda c: setattr(c, "D", [[0] * c.d] * c.d),
    "rows exchanged": lambda c: swap(c.D),
    "row missing": lambda c: c.D.pop(),
    "row added": lambda c: c.D.append([0] * c.d),
    "entry missing": lambda c: c.D[-1].pop(),
    "entry added": lambda c: c.D[0].append(0),
    "entry negated": lambda c: c.D[0].__setitem__(0, -c.D[0][0]),
    "no direction": lambda c: c.D.clear(),
    "label negated": lambda c: c.samples[0].__setitem__(2, -c.samples[0][2]),
    "label 2": lambda c: c.samples[-1].__setitem__(2, 2),
    "label 0": lambda c: c.samples[0].__setitem__(2, 0),
    "query negated": lambda c: c.samples[0].__setitem__(1, [-a for a in c.samples[0][1]]),
    "query longer": lambda c: c.samples[0][1].append(1),
    "query shorter": lambda c: c.samples[-1][1].pop(),
    "token shorter": lambda c: c.samples[0][0][-1].pop(),
    "token longer": lambda c: c.samples[0][0][0].append(0),
    "token negated": lambda c: c.samples[0][0].__setitem__(0, [-a for a in c.samples[0][0][0]]),
    "one token": lambda c: c.samples.append([[[1] * c.d], [1] * c.d, 1]),
    "no samples": lambda c: c.samples.clear(),
    "head negated": lambda c: setattr(c, "head", [-a for a in c.head]),
    "head shorter": lambda c: c.head.pop(),
    "head longer": lambda c: c.head.append(0),
    "other dimension": lambda c: setattr(c, "d", c.d + 1),
    "opposite sample": lambda c: c.samples.append([c.samples[0][0], c.samples[0][1],
                                                   -c.samples[0][2]]),
}


def test_check_monotone_accepts_exactly_the_monotone_directions(tmp_path):
    cases = genuine()
    assert all(case.expected() for case in cases)
    changes = [(case, change) for case in cases[:-1] for change in TAMPERINGS.values()]
    changes += [(cases[-1], TAMPERINGS[how]) for how in ("direction negated", "entry missing")]
    twins = [copy.deepcopy(case) for case, _ in changes]
    for twin, (_, change) in zip(twins, changes, strict=True):
        change(twin)
    everything = cases + twins
    printed = coq(tmp_path, HEADER + "".join(f"Definition c{k} := {case.coq()}.\n"
                                             for k, case in enumerate(everything))
                  + f"Eval vm_compute in [{'; '.join(f'c{k}' for k in range(len(everything)))}].")
    answers = [word == "true" for word in re.findall(r"\b(true|false)\b", printed)]
    assert answers == [case.expected() for case in everything]
    assert answers[:len(cases)] == [True] * len(cases)
    assert answers.count(False) >= 100


# ------------------------------------------------------------------------------ small losses


@pytest.mark.parametrize("loss", LOSSES)
def test_precision_is_found_by_the_integers_that_coq_computes(tmp_path, loss):
    rng = np.random.default_rng(11)
    dataset = AttentionDataset.build(rng.integers(-2, 3, (2, 3, 2)).astype(float), [1, -1],
                                     [[1, 0], [1, 3]], [2, -1])
    alpha = optimal_selection(dataset)
    separator = low_norm_limit.separator(dataset).W
    bound = smoothness(dataset, loss)
    terms, expected = [], []
    for numerator, scale, halfway in itertools.product((1, 2, 4), (1, 3), (False, True)):
        rows, denominator = scaled_matrix([[x * scale / 2 for x in row] for row in separator])
        V, q = scaled_matrix(separator)
        step = numerator, int(bound.ceil())
        for size, splits in ((6, 2), (12, 6), (20, 10), (64, 24)):
            common = (f"data alpha {loss.capitalize()} {size} {splits} {matrix(rows)} "
                      f"{positive(denominator)} {positive(step[0])} {positive(step[1])}")
            terms.append(f"check_trap {common}" if halfway else
                         f"check_low_norm {common} {matrix(V)} {positive(q)}")
            expected.append(Check(dataset, loss, size, splits).accepts(rows, denominator, step,
                                                                       halfway))
    printed = coq(tmp_path, HEADER + "From AttSVM Require Import TrapCheck.\n"
                  f"Definition data := {dataset_literal(dataset)}.\n"
                  f"Definition alpha := {naturals(alpha)}.\n"
                  f"Eval vm_compute in [{'; '.join(terms)}].")
    answers = [word == "true" for word in re.findall(r"\b(true|false)\b", printed)]
    assert answers == expected and True in answers and False in answers
