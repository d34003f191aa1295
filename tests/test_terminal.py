"""The terminal rendering: widths, what is called observed, reasons on wide terminals."""

from __future__ import annotations

import io as text_io

import numpy as np
import pytest
from basin_cases import TWO
from flint import fmpq
from rich.console import Console

from conditions import AttentionDataset
from conditions.certificates import Farkas, LowNormLimit, OptimalTokens
from conditions.verdict import Evidence, Status, proved, undecided
from verifier.certify import Report, certify
from verifier.directions import explore
from verifier.report.glossary import glossary
from verifier.report.terminal import (
    count_line,
    dataset_line,
    glossary_lines,
    limit_lines,
    notes,
    origin_lines,
    print_directions,
    print_report,
    run_line,
    shown_selection,
)

RNG = np.random.default_rng(0)
RAGGED = AttentionDataset.build([RNG.normal(size=(T, 3)) for T in (2, 5, 3)], [1, -1, 1],
                                RNG.normal(size=(3, 3)), RNG.normal(size=3))


def shown(print_it, subject, width):
    out = text_io.StringIO()
    print_it(subject, Console(file=out, width=width, color_system=None))
    return out.getvalue()


@pytest.fixture(scope="module")
def report():
    return certify(RAGGED, source="ragged", iterations=100, seconds=0.5)


def made(*verdicts, run=None):
    return Report(TWO, "made", verdicts, (("optimal", (0, 0)),), run)


OBSERVED = undecided("predicted_direction", "measured, not proved", observed=True,
                     selection=(0, 0), loss="logistic", number="corr 0.987654")
OPEN = undecided("basin", "nothing was found", selection=(0, 0), loss="logistic")
PROVED = proved("unique_optimum", Status.HOLDS, OptimalTokens((0, 0)), "strict maxima")
REFUTED = proved("feasibility", Status.FAILS, Farkas(()), "a sum of features is 0",
                 selection=(0, 0))


def row_of(text, name):
    return next(line for line in text.splitlines() if line.startswith(name))


def test_short_and_long_selections():
    assert shown_selection((0, 3, 12)) == "0,3,12"
    assert shown_selection((7,) * 12) == ",".join("7" * 12)
    assert shown_selection((7,) * 13) == ",".join("7" * 12) + ",… (13)"


def test_samples_are_grouped_by_sequence():
    X = RNG.integers(-3, 4, size=(3, 4, 2))
    causal = AttentionDataset.causal([X[0], X[1][:2], X[2][:3]], [1, 1, -1], [1, 2])
    first, second, *_ = shown(print_report, Report(causal, "text", (), (), None), 200).splitlines()
    assert first.startswith("text  n = 6 samples from 3 sequences, T = 2..4, d = 2; labels +4 −2; "
                            "10 constraints; sha256")
    assert second == ("samples 0–2: sequence 0, positions 1–3; sample 3: sequence 1, position 1; "
                      "samples 4–5: sequence 2, positions 1–2")
    every = AttentionDataset.every_position(X[:1], [1], [1, 2])
    assert "n = 4 samples from 1 sequence, T = 4" in dataset_line(
        Report(every, "", (), (), None)).plain
    many = AttentionDataset.every_position([*X, *X, *X], [1] * 9, [1, 2])
    assert origin_lines(many)[0].plain.endswith("positions 0–3; … (9 such runs)")


def test_queries_of_self_attention():
    X = RNG.integers(-3, 4, size=(2, 4, 2))
    own = AttentionDataset.self_attention(X, [1, 1], [1, 2], -2)
    assert [line.plain for line in origin_lines(own)] == [
        "every query is the token at position 2 of its sample"]
    assert dataset_line(Report(own, "", (), (), None)).plain.startswith("dataset  n = 2, T = 4")
    mixed = AttentionDataset.self_attention(X, [1, 1], [1, 2], [0, 3])
    assert origin_lines(mixed)[0].plain == (
        "sample 0: sequence 0, position 0; sample 1: sequence 1, position 3")
    assert origin_lines(TWO) == []


def test_dataset_line_by_hand():
    line = dataset_line(Report(RAGGED, "", (), (), None)).plain
    assert line.startswith("dataset  n = 3, T = 2..5, d = 3; labels +2 −1; 7 constraints; ")
    assert RAGGED.fingerprint[:16] in line
    assert dataset_line(made()).plain.startswith("made  n = 2, T = 2, d = 2; labels +2 −0; 2 c")


def test_no_line_is_wider_than_80_columns(report):
    text = shown(print_report, report, 80)
    assert max(map(len, text.splitlines())) <= 80
    assert "unique_optimum" in text


@pytest.mark.parametrize("width", [40, 60, 80, 100, 139, 140, 200])
def test_no_line_is_wider_than_the_terminal(report, width):
    for line in shown(print_report, report, width).splitlines():
        assert len(line) <= width


def test_observed_verdicts_are_called_observed():
    text = shown(print_report, made(PROVED, OBSERVED, OPEN, REFUTED), 80)
    assert row_of(text, "predicted_direction").split()[1:3] == ["undecided", "observed"]
    assert "corr 0.987654" in row_of(text, "predicted_direction")
    assert row_of(text, "basin").split()[1:3] == ["undecided", "–"]
    assert row_of(text, "unique_optimum").split()[1:] == ["holds", "exact", "optimal_tokens"]
    assert row_of(text, "feasibility").split()[1:] == ["fails", "exact", "farkas"]
    assert text.count("observed") == 2


def test_counts_by_hand():
    line = count_line(made(PROVED, REFUTED, OBSERVED, OPEN, OPEN)).plain
    assert line == "proved: 2 exact, 0 enclosed; observed only: 1; undecided: 2"


def test_counts_of_a_real_report(report):
    line = count_line(report).plain
    for evidence in (Evidence.EXACT, Evidence.ENCLOSED):
        count = sum(v.evidence is evidence for v in report.verdicts)
        assert f"{count} {evidence}" in line


def test_reasons_are_in_the_table_where_it_is_wide_and_below_it_where_not():
    subject = made(PROVED, OPEN)
    wide, narrow = (shown(print_report, subject, width) for width in (140, 139))
    assert row_of(wide, "unique_optimum").endswith("strict maxima")
    assert row_of(wide, "basin").endswith("nothing was found")
    assert "strict maxima" not in narrow
    assert "basin: nothing was found" in narrow.splitlines()
    assert [note.plain for note in notes(subject)] == ["basin: nothing was found"]


def test_verdicts_are_grouped_by_their_subject():
    text = shown(print_report, made(PROVED, REFUTED, OBSERVED), 80).splitlines()
    assert [line.strip() for line in text if line.startswith(("scores", "α"))] == [
        "scores and features", "α = 0,0, optimal", "α = 0,0, optimal, logistic loss"]


def test_the_run_is_observed(report):
    line = run_line(report).plain
    assert line.startswith("descent run (observed)  normalized GD, η = 0.1, logistic loss, 100 st")
    assert line.endswith(f"selected {shown_selection(report.run.selected)}")
    assert run_line(made()).plain == "no descent run"


def test_abbreviations_that_are_used_are_explained_and_no_others(report):
    text = shown(print_report, made(PROVED, REFUTED, OBSERVED), 100)
    assert "S1" not in text and "rivals" not in text
    figures = [v.number for v in report.verdicts]
    names = [line.plain.partition(":")[0] for line in glossary_lines(report) if line.plain]
    assert ("k of N rivals" in names) == any(f.endswith("rivals") for f in figures)
    assert ("opt" in names) == any(f.startswith("opt = ") for f in figures)
    assert len(names) == len(set(names))
    assert glossary_lines(made(OPEN)) == []


@pytest.mark.parametrize(("condition", "figure", "name"), [
    *(("no_stationary_point", name, name) for name in ("S1", "S2", "S2a", "S3", "S5")),
    ("no_stationary_point", "S4: saddle point", "S4"), ("unique_optimum", "opt = 0,2", "opt"),
    ("support_indices", "2 of 4", "k of N"), ("local_optimality", "0 of 2 rivals", "k of N rivals"),
    ("assumption_e", "c = 0.5", "c"), ("feasibility", "Farkas, 3 rows", "Farkas"),
    ("feasibility", "cycle of 2", "cycle"), ("gen_feasibility", "Motzkin, 1 + 2 rows", "Motzkin"),
    ("predicted_direction", "1 − corr 0.1", "corr"), ("robust_support", "ε ≥ 1.21e-1", "ε"),
    ("low_norm_limit", "1e-3 < 0.2", "x < y"), ("no_flat_sample", "0 flat", None),
    ("only_local_optimum", "1 of 8", None), ("feasibility", "4 margins ≥ 1", None)])
def test_what_figures_are_explained_by(condition, figure, name):
    verdict = undecided(condition, "", number=figure)
    assert [found for found, _ in glossary([verdict])] == ([] if name is None else [name])


def limit(report):
    lines = limit_lines(report)
    assert len(lines) <= 1
    return "".join(line.plain for line in lines)


def test_where_descent_provably_goes():
    # One sample, tokens 1 and 0, z = 1: from 0 descent goes up the only line there is.
    line = AttentionDataset.build([[[1], [0]]], [1], [[1]], [1])
    assert limit(certify(line, iterations=0)) == (
        "limit (proved)  descent on W from every start, as a flow or with short plain steps, "
        "converges in direction to W^mm of the optimal tokens")
    proved_limit = limit(certify(TWO, only=["basin"]))
    assert proved_limit.startswith("limit (proved)  exact descent from the iterate of the run at "
                                   "‖W‖ = ")
    assert proved_limit.endswith(", with its rule and step, converges in direction to W^mm_α, "
                                 "α = 0,0")
    from_start = certify(TWO, only=["basin", "limit_from_start"], from_start=True)
    assert all(verdict.holds for verdict in from_start.verdicts)
    assert limit(from_start) == (
        "limit (proved)  exact descent from W(0), with the rule and step of the run, converges in "
        "direction to W^mm_α, α = 0,0")


def test_other_proofs_of_a_limit():
    first, low, ray = (proved(condition, Status.HOLDS, certificate, "", loss="logistic")
                       for condition, certificate in (
                           ("large_first_step", OptimalTokens((0, 0))),
                           ("low_norm_limit", LowNormLimit((), fmpq(1, 4), fmpq(1), (), 64)),
                           ("invariant_ray", OptimalTokens((0, 0)))))
    to_opt = "converges in direction to W^mm of the optimal tokens"
    assert limit(made(low)) == ("limit (proved)  exact plain descent with η = 0.25 from the last "
                                f"iterate of the run {to_opt}")
    assert limit(made(low, first)) == ("limit (proved)  exact descent from W(0) = 0, with the step "
                                       f"of the run, {to_opt}")
    assert limit(made(ray)).endswith("stays on a ray, the direction of W^mm_α for no locally "
                                     "optimal α")
    assert limit(made(ray, low)).count(";") == 1


def test_where_descent_goes_may_be_unproved():
    # After one step of length 1/10 nothing is decided about the limit.
    short = certify(TWO, iterations=1, seconds=0, only=["basin"])
    assert short.verdicts[0].undecided
    assert limit(short) == "limit: nothing is proved about where descent goes"
    assert limit(made(PROVED)) == ""
    assert "nothing is proved" in shown(print_report, short, 100)


def test_factored_runs_say_so():
    factored = certify(TWO, iterations=5, parameterization="KQ", start=(np.eye(2), np.eye(2)))
    assert " on K and Q, m = 2," in run_line(factored).plain


def test_directions_have_a_row_each():
    explored = explore(TWO)
    text = shown(print_directions, explored, 80)
    assert max(map(len, text.splitlines())) <= 80
    assert row_of(text, "selection α")
    for direction, _ in explored.cones:
        row = row_of(text, shown_selection(direction.selection))
        assert f"{direction.margin:.6g}" in row
    assert "directions" in text
