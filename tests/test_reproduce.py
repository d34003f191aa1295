"""The paper's figures at small settings: files, numbers, what is proved, what is refused."""

import csv
import io
import json
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from acceptance import accepted
from flint import fmpq
from matplotlib.image import imread

from conditions import InvalidInput, all_support, local_optimality
from conditions.selection import optimal_selection
from verifier.cli import main
from verifier.descent import descend
from verifier.experiments.figures import FIGURES, figure_numbered, recompute, reproduce, write
from verifier.experiments.figures.drawing import mean_curves, share_interval
from verifier.experiments.figures.reproduction import cell
from verifier.experiments.figures.runs import PENALTY
from verifier.experiments.figures.trajectories import planar_trial
from verifier.experiments.samples import gapped_dataset, uniform_start, unit_sphere_dataset

SMALL = {
    1: (1, {"iterations": 300}),
    2: (6, {"dimensions": (2, 5), "iterations": 300}),
    4: (3, {"dimensions": (2, 4), "samples": (5,), "tokens": (5, 6)}),
    5: (4, {"dimensions": (2, 12), "iterations": 300}),
    6: (4, {"dimensions": (5, 10), "samples": (5, 8), "tokens": (5,), "iterations": 300}),
    7: (4, {"iterations": 600}),
    8: (3, {"dimensions": (4, 6)}),
    9: (3, {"lambdas": (0.0, 0.2, 1.0), "shown_lambdas": (0.0, 1.0), "iterations": 1500}),
    10: (2, {"d": 8, "columns": (1, 3), "samples": (5,), "tokens": (5,), "iterations": 500}),
    11: (3, {"dimensions": (4,)}),
    12: (3, {"taus": (2, 4), "shown_taus": (4,), "iterations": 1500})}


@pytest.fixture(scope="module")
def figures():
    """Each figure once, computed when a test first asks for it."""
    known = {}

    def small(number):
        if number not in known:
            trials, settings = SMALL[number]
            known[number] = reproduce(FIGURES[number], trials=trials, seed=3, jobs=1, **settings)
        return known[number]
    return small


def test_all_figures_with_data_are_there():
    assert sorted(FIGURES) == [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12] == sorted(SMALL)
    paper = {1: 1, 2: 500, 4: 100, 5: 500, 6: 500, 7: 100, 8: 500, 9: 100, 10: 100, 11: 500,
             12: 100}
    for number, figure in FIGURES.items():
        assert figure_numbered(number) is figure and figure.trials == paper[number]
        blocks = figure.blocks(figure.settings, figure.trials)
        assert len(set(blocks)) == len(blocks)
        assert sum(block[-1] for block in blocks) == (
            figure.trials * len(figure.cells(figure.settings)))


@pytest.mark.parametrize("number", sorted(SMALL))
def test_files_agree_and_can_be_read(figures, tmp_path, number):
    found = figures(number)
    written = {path.suffix[1:]: path for path in write(found, tmp_path / "made")}
    assert set(written) == {"png", "pdf", "svg", "csv", "json"}
    assert {path.stem for path in written.values()} == {f"figure-{number}"}
    assert written["pdf"].read_bytes().startswith(b"%PDF")
    assert ET.parse(written["svg"]).getroot().tag.endswith("svg")
    pixels = imread(written["png"])
    assert pixels.shape[0] > 250 and pixels.shape[1] > 500 and 0.5 < pixels[..., :3].mean() < 0.99
    parsed = json.loads(written["json"].read_text(encoding="utf-8"))
    assert parsed["format"] == "attsvm-figure" and parsed["figure"] == number
    assert parsed["seed"] == 3 and parsed["trials"] == SMALL[number][0]
    assert {"python", "numpy", "attention-svm-verifier"} <= set(parsed["versions"])
    assert parsed["records"] == found.records and parsed["settings"].keys() == (
        found.figure.settings.keys())
    assert "proved" in parsed["caption"].lower() or "exact" in parsed["caption"].lower()
    assert "bserved" in parsed["caption"]
    rows = list(csv.DictReader(io.StringIO(written["csv"].read_text(encoding="utf-8"))))
    assert rows == [{name: cell(record.get(name)) for name in rows[0]} for record in
                    parsed["records"]]
    assert set(rows[0]) == {name for record in parsed["records"] for name in record}


@pytest.mark.parametrize("number", sorted(SMALL))
def test_a_trial_is_recomputed_from_its_coordinates(figures, number):
    found = figures(number)
    for record in (found.records[len(found.records) // 2], found.records[-1]):
        assert record in recompute(found, record)


def test_files_do_not_depend_on_where_trials_run(figures, tmp_path):
    trials, settings = SMALL[8]
    again = reproduce(FIGURES[8], trials=trials, seed=3, jobs=2, **settings)
    for one, other in zip(write(figures(8), tmp_path / "one"), write(again, tmp_path / "two"),
                          strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name


def test_the_seed_counts(figures):
    trials, settings = SMALL[4]
    assert reproduce(FIGURES[4], trials=trials, seed=4, jobs=1, **settings).records != (
        figures(4).records)


# What they show -----------------------------------------------------------------------------


def test_figure_1_shows_what_was_run(figures):
    found = figures(1)
    whole, low = found.records
    dataset, start_K = planar_trial(3, whole["draw"], found.settings)
    assert tuple(whole["selected"]) == optimal_selection(dataset) == tuple(low["selected"])
    run = descend(dataset, iterations=300)
    z = dataset.floats.queries[1]
    assert whole["path_2"][-1] == pytest.approx(run.final @ z)
    factored = descend(dataset, parameterization="KQ", penalty=PENALTY, iterations=300,
                       start=(start_K, np.zeros((2, 2))))
    assert low["path_2"][-1] == pytest.approx(factored.final @ z)
    assert np.array(whole["direction_1"]) @ whole["direction_2"] < 0
    assert whole["local_optimality"] == "holds" and low["nuclear_margin"] == "holds"


@pytest.mark.parametrize("number", [2, 5])
def test_shares_are_those_of_the_conditions(figures, number):
    found = figures(number)
    for record in found.records:
        dataset = gapped_dataset(5, 5, record["d"], 0.1, (3, 5, 5, record["d"], record["trial"]))
        opt = optimal_selection(dataset)
        assert record["global"] == (record["selected"] == list(opt))
        local = local_optimality.decide(dataset, record["selected"])
        accepted(dataset, local)
        assert record["local_optimality"] == local.status == (
            "holds" if record["global"] and record["mean_margin"] is not None else local.status)
        assert record["all_support"] == all_support.decide(dataset, opt).status
        if record["all_support"] == "holds" and record["parameterization"] == "W":
            assert record["mean_margin"] == pytest.approx(1)
    for name, cells in found.summary.items():
        for counts in cells:
            own = [r for r in found.records if r["d"] == counts["d"]
                   and r["parameterization"] == name]
            assert counts["local"] + counts["not_local"] == counts["trials"] == len(own)
            assert counts["global"] == sum(r["selected"] == r["optimal"] for r in own)


def test_figure_2_is_the_part_of_figure_5_about_W(figures):
    small = {**SMALL[2][1], "dimensions": (2,)}
    both = reproduce(FIGURES[5], trials=2, seed=3, jobs=1, **small)
    assert [r for r in both.records if r["parameterization"] == "W"] == (
        [r for r in figures(2).records if r["d"] == 2][:2])


def test_figure_4_counts_infeasible_trials_as_infeasible(figures):
    found = figures(4)
    infeasible = [r for r in found.records if r["infeasible"]]
    assert 0 < len(infeasible) < len(found.records)
    for record in infeasible:
        assert record["rank"] is None and record["numeric_rank"] == 1
        assert record["verdict_certificate"] in ("farkas", "query_cycle")
    for record in found.records:
        if not record["infeasible"]:
            assert 1 <= record["rank"] <= min(record["n"], record["d"])
            if record["norm"] == "frobenius":
                assert record["numeric_rank"] == record["rank"]
    for cells in found.summary.values():
        for counts in cells:
            assert counts["certified"] + counts["infeasible"] == counts["trials"]


def test_figure_6_counts_runs_that_select_opt(figures):
    for record in figures(6).records:
        assert record["global_W"] == (record["selected_W"] == record["optimal"])
        assert (record["full_rank"] == "holds") == (record["d"] >= record["n"])
        assert record["feasibility"] == "holds" or record["full_rank"] == "fails"


def test_figure_7_reaches_the_published_bands():
    found = reproduce(FIGURES[7], trials=12, jobs=1)
    for name, own, other in (("W", "frobenius", "nuclear"), ("KQ", "nuclear", "frobenius")):
        shown = found.summary[name]
        assert shown["softmax"]["final"] > 0.999
        assert shown[own]["final"] >= 0.995 > 0.9 > shown[other]["final"]
        assert shown["softmax"]["mean"][0] < 0.3 and abs(shown[own]["mean"][0]) < 0.2
    assert found.summary["steps"][-1] == 2000
    assert found.summary["W"]["locally_optimal"] >= 10 and found.summary["W"]["limit_proved"] >= 6
    record = found.records[2]
    dataset = unit_sphere_dataset(6, 8, 10, (7, 0, 6, 8, 10, 1))
    run = descend(dataset, start=uniform_start(10, 10, (7, 0, 6, 8, 10, 1, 1))[0])
    assert record["trial"] == 1 and tuple(record["selected"]) == run.selected


def test_figures_8_and_11_share_their_trials(figures):
    assert [r for r in figures(8).records if r["d"] == 4] == figures(11).records
    assert sum(figures(8).rejected.values()) > sum(figures(11).rejected.values()) > 0
    for counts in figures(8).summary["cells"]:
        assert counts["proved"] == counts["trials"] == 3
        assert counts["equivalent"][-1] <= counts["direction"][-1] + 1e-12
        assert counts["below"] == sorted(counts["below"]) and counts["below"][-1] == 3


def test_figure_9_counts_grow_and_meet_the_exact_ones(figures):
    counts = figures(9).summary["counts"]
    assert [c["lambda"] for c in counts] == [0.0, 0.2, 1.0]
    assert counts[0]["best"] == 1 < counts[1]["best"] < counts[2]["best"]
    assert all(c["decided"] == 3 for c in counts)
    assert sum(c["agree"] for c in counts) >= 7


def test_figure_12_stays_within_lemma_6(figures):
    for counts in figures(12).summary["cells"]:
        assert counts["within"] == counts["decided"] == counts["trials"] == 3
        assert sum(counts["best_histogram"]) == 3


def test_more_columns_come_nearer_to_the_least_nuclear_norm(figures):
    one, three = figures(10).summary["cells"]
    assert (one["m"], three["m"]) == (1, 3)
    assert three["misalignment"] < one["misalignment"]
    assert three["solved"] == three["trials"] == 2 and three["largest_rank"] <= 5


# Parts --------------------------------------------------------------------------------------


def test_gapped_data_has_its_gap_and_is_otherwise_the_same():
    for k in range(10):
        dataset = gapped_dataset(4, 6, 7, 0.1, (1, k))
        for scores in dataset.scores:
            second, first = sorted(scores)[-2:]
            assert first - second >= fmpq(1, 10)
        sizes = np.linalg.norm(np.concatenate([*dataset.floats.tokens, dataset.floats.queries]),
                               axis=1)
        assert np.allclose(sizes, 1)
    assert gapped_dataset(4, 6, 7, 0.1, (1, 9)).fingerprint == dataset.fingerprint
    with pytest.raises(InvalidInput, match="gap"):
        gapped_dataset(4, 6, 7, 2.0, (1, 0))


def test_shares_have_intervals_and_short_curves_rest():
    assert share_interval(0, 10)[0] == 0 < share_interval(0, 10)[1] < 0.35
    assert share_interval(10, 10)[1] == 1
    low, high = share_interval(50, 100)
    assert 0.40 < low < 0.41 and low + high == pytest.approx(1)
    assert mean_curves([[0.0, 1.0], [2.0, 1.0, 3.0]], 3) == ([1.0, 1.0, 2.0], [1.0, 0.0, 1.0])
    assert cell([[1, 2], [3, 4]]) == "1/2 3/4" and cell([1, None, True]) == "1  true"


@pytest.mark.parametrize("arguments, said", [
    (["3"], "FIGURE"), (["13"], "FIGURE"), (["7", "--trials", "0"], "trials"),
    (["7", "--seed", "-1"], "seed"), (["7", "--jobs", "0"], "jobs"), (["1", "--trials", "2"],
                                                                      "trials")])
def test_bad_options_end_in_one_line(tmp_path, monkeypatch, capsys, arguments, said):
    monkeypatch.setattr(sys, "argv",
                        ["attsvm", "reproduce", *arguments, "--out", str(tmp_path / "none")])
    with pytest.raises(SystemExit) as stop:
        main()
    error = capsys.readouterr().err
    assert stop.value.code == 2 and error.count("\n") == 1 and said in error
    assert not (tmp_path / "none").exists()


def test_a_folder_that_cannot_be_is_refused_before_the_work(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(sys, "argv", ["attsvm", "reproduce", "7", "--out",
                                      str(tmp_path / "file" / "folder")])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2 and "--out" in capsys.readouterr().err


def test_the_command_writes_and_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["attsvm", "reproduce", "12", "--trials", "1", "--jobs", "1",
                                      "--out", str(tmp_path)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith("Figure 12: Lemma 6") and "8 records" in out
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"figure-12.{suffix}" for suffix in ("csv", "json", "pdf", "png", "svg")]


def test_unknown_settings_are_refused():
    with pytest.raises(InvalidInput, match="setting of figure"):
        reproduce(FIGURES[7], trials=1, jobs=1, dimensions=(2,))
