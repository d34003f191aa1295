"""From sequences to graphs, certificates and a run; the report; the command."""

from __future__ import annotations

import io as text_io
import json
import sys

import numpy as np
import pytest
from flint import fmpq
from io_samples import refused
from rich.console import Console

from verifier.cli import main
from verifier.io.sequences import TokenSequences, words
from verifier.kernel import check_file, check_text
from verifier.next_token import ordered_pairs
from verifier.priority import prioritize
from verifier.report.priority import print_priority, shown_component, shown_order

TEXT = words("a b c a b d a b c a d b a c b a\n\na b a c")


@pytest.fixture(scope="module")
def found():
    return prioritize(TEXT, source="letters", context=4, iterations=300)


def shown(report, width=100, graphs=None):
    out = text_io.StringIO()
    print_priority(report, graphs, Console(file=out, width=width, color_system=None))
    return out.getvalue()


def test_graphs_are_about_the_completed_inputs(found):
    assert found.given == len(found.data.inputs) == 15 + 3
    assert found.data.labels_in_inputs == found.given > found.inside
    assert found.data.origins[:3] == ((0, 0), (0, 1), (0, 2))
    assert sum(found.inputs_of.values()) == found.given
    assert {graph.last for graph in found.cyclic} <= {graph.last for graph in found.data.graphs}


def test_inputs_without_their_label_may_be_left_out(found):
    dropped = prioritize(TEXT, context=4, missing="drop", iterations=0)
    assert dropped.given == found.given and dropped.inside == found.inside
    assert len(dropped.data.inputs) == dropped.inside == dropped.data.labels_in_inputs
    assert dropped.run is None and dropped.comparisons == () and dropped.finite is None


def test_certificates_are_accepted(found):
    checked = check_text(found.report.certificate_text())
    assert checked.accepted and checked.counts["proved"] == len(found.verdicts) == 2
    assert all(verdict.holds for verdict in found.verdicts)


def test_embeddings():
    one_hot = prioritize(TEXT, iterations=0)
    assert one_hot.embeddings == "one-hot" and one_hot.data.d == len(TEXT.names) == 4
    signs = prioritize(TEXT, embeddings="signs", dim=6, seed=3, iterations=0)
    assert signs.data.d == 6 and {x for row in signs.data.embeddings for x in row} == {1, -1}
    again, other = (prioritize(TEXT, embeddings="signs", dim=6, seed=seed, iterations=0)
                    for seed in (3, 4))
    assert again.data.embeddings == signs.data.embeddings != other.data.embeddings
    table = tuple((fmpq(k), fmpq(1)) for k in range(4))
    given = TokenSequences("integers", TEXT.names, TEXT.sequences, (), table)
    assert prioritize(given, iterations=0).data.embeddings == table
    assert prioritize(given, embeddings="one-hot", iterations=0).data.d == 4


def test_infeasible_graphs_predict_no_direction():
    table = tuple((fmpq(1),) for _ in range(4))
    equal = TokenSequences("integers", TEXT.names, TEXT.sequences, (), table)
    report = prioritize(equal, context=4, iterations=20)
    assert all(verdict.fails for verdict in report.verdicts)
    assert check_text(report.report.certificate_text()).accepted
    assert all(one.direction is None for one in report.comparisons)
    text = shown(report)
    assert "motzkin" in text and "–" in text
    assert report.finite is None and "nothing is predicted" in text
    assert all(one.finite is None for one in report.comparisons)


def test_without_an_order_only_the_finite_part_is_predicted():
    # a and b follow each other after either.
    report = prioritize(words("a b a a b b a"), context=2, iterations=50)
    assert report.verdicts[1].number == "W^mm = 0"
    last = report.comparisons[-1]
    assert last.direction is None and last.ordered == 0 and last.finite < 0.5


@pytest.mark.parametrize(("options", "name"), [
    ({"missing": "guess"}, "--missing"), ({"iterations": -1}, "--iterations"),
    ({"embeddings": "glove"}, "--embeddings"), ({"embeddings": "data"}, "--embeddings"),
    ({"embeddings": "signs"}, "--dim"), ({"embeddings": "signs", "dim": 0}, "--dim"),
    ({"dim": 3}, "--dim"), ({"embeddings": "one-hot", "dim": 3}, "--dim"),
    ({"context": 0}, "context"), ({"step": -1.0}, "step")])
def test_bad_options_are_refused(options, name):
    refused(lambda: prioritize(TEXT, **options), name=name)


def test_large_vocabularies_are_refused():
    many = TokenSequences("integers", tuple(map(str, range(401))), (tuple(range(401)),))
    refused(prioritize, many, name="vocabulary", match="--top")


def test_graphs_of_interest_are_cyclic_and_large(found):
    first = found.of_interest(2)
    rest = [graph for graph in found.data.graphs if graph not in first]
    for graph in rest:
        assert graph.acyclic or not any(one.acyclic for one in first)
    assert found.after("a").last == TEXT.names.index("a")
    refused(found.after, "z", name="--last")


def test_orders_by_hand():
    # After c: a and b beat each other; both beat c; d beats c alone.
    tokens = TokenSequences("words", ("a", "b", "c", "d"),
                            ((0, 1, 2, 0), (0, 1, 2, 1), (2, 3), (1, 3, 0)))
    graph = prioritize(tokens, iterations=0).after("c")
    assert shown_order(graph, tokens.names) == "a = b; d > c"
    assert shown_component((0, 1, 2), tokens.names, 2) == "a = b = … (3)"


def test_report(found):
    text = shown(found)
    assert text.splitlines()[0].startswith("letters  2 sequences, 20 words, 4 different; one-hot")
    edges = sum(graph.graph.number_of_edges() for graph in found.data.graphs)
    assert f"with {edges} edges: {len(found.cyclic)} cyclic" in text
    for name in ("gen_feasibility", "multi_token_support", "gen_kkt"):
        assert name in text
    assert "trained layer (observed)" in text and text.count("observed") == 1
    assert f"in order: of {len(ordered_pairs(found.data))} pairs" in text
    last = found.comparisons[-1]
    row = next(line for line in text.splitlines() if line.startswith(f"{last.step} "))
    assert f"{last.direction:.5g}" in row and f"{last.finite:.5g}" in row
    assert max(map(len, shown(found, 80).splitlines())) <= 80
    assert "and 3 more graphs" in shown(found, graphs=found.of_interest(1))
    assert "no run" in shown(prioritize(TEXT, iterations=0))


# The command ------------------------------------------------------------------------------------


def run(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["attsvm", "priority", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    out = capsys.readouterr()
    return end.value.code, out.out, out.err


def table(folder):
    rng = np.random.default_rng(0)
    rows = [f"{user}\tfilm{item}\t{time}" for time, (user, item) in
            enumerate(rng.integers(0, 6, size=(60, 2)))]
    path = folder / "rows.tsv"
    path.write_text("who\tfilm\twhen\n" + "\n".join(rows) + "\n")
    return path


def test_command_on_interactions(tmp_path, monkeypatch, capsys):
    code, out, _ = run(monkeypatch, capsys, table(tmp_path), "--columns", "who,film,when", "--top",
                       4, "--iterations", 50, "--json", tmp_path / "c.json", "--out",
                       tmp_path / "g.svg", "--last", "film0")
    assert code == 0 and "6 sequences" in out and "4 different" in out and "film0" in out
    assert check_file(tmp_path / "c.json").accepted
    assert (tmp_path / "g.svg").read_text().startswith("<?xml")


def test_command_on_integers_with_embeddings(tmp_path, monkeypatch, capsys):
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"sequences": [[0, 1, 2, 0, 1, 0]], "names": ["x", "y", "z"],
                                "embeddings": [[1, 0], ["1/2", 1], [0, 1]]}))
    code, out, _ = run(monkeypatch, capsys, path, "--iterations", 10)
    assert code == 0 and "data embeddings, d = 2" in out and "integers" in out


@pytest.mark.parametrize("arguments", [
    ["--columns", "a,b"], ["--columns", "who,film,time"], ["--tokens", "letters"], ["--top", "0"],
    ["--sequences", "0"], ["--out", "picture.gif"], ["--last", "film9"], [], ["--json", "{path}"]])
def test_misuse_is_one_line(tmp_path, monkeypatch, capsys, arguments):
    path = table(tmp_path)
    if "--columns" not in arguments and arguments:
        arguments = [*arguments, "--columns", "who,film,when"]
    code, _, err = run(monkeypatch, capsys, path, "--iterations", 1,
                       *(str(path) if a == "{path}" else a for a in arguments))
    assert code == 2
    assert len([line for line in err.splitlines() if line.strip()]) == 1 and "attsvm: " in err
