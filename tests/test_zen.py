"""The example of the Zen of Python: what it prints is so, and it prints nothing else."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from verifier.io.sequences import words
from verifier.kernel import check_file
from verifier.next_token import ordered_pairs
from verifier.priority import prioritize

EXAMPLE = Path(__file__).parent.parent / "examples" / "zen.py"


@pytest.fixture(scope="module")
def zen():
    specification = importlib.util.spec_from_file_location("zen", EXAMPLE)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_poem_is_decoded_without_printing(zen, capsys):
    text = zen.poem()
    assert capsys.readouterr().out == ""
    assert text.startswith("Beautiful is better than ugly.")
    assert text.endswith("let's do more of those!")
    tokens = words(text)
    assert len(tokens.sequences) == 1 and len(tokens.sequences[0]) == 136
    assert {"aren't", "it's", "you're"} <= set(tokens.names)


def test_cyclic_graphs(zen):
    found = prioritize(words(zen.poem()), iterations=0)
    names = found.tokens.names
    cyclic = {names[graph.last]: [[names[k] for k in members] for members in graph.components
                                  if len(members) > 1] for graph in found.cyclic}
    assert cyclic == {"complex": [["complex", "is"]], "never": [["although", "is"]]}


def test_output_and_certificates(zen, tmp_path, capsys):
    zen.main(tmp_path, iterations=30)
    printed = capsys.readouterr().out
    assert "complex = is" in printed and "although = is" in printed
    first, second = printed.split("Zen of Python, spelled")
    assert "gen_kkt" in first and "meets all 2 equalities" in first
    assert "trained layer (observed)" in first
    assert "motzkin" in second and "no run" in second
    assert printed.count("2 of 2 verdicts accepted") == 2
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["zen.svg", "zen_one-hot.json", "zen_spelled.json"]
    for name in files[1:]:
        assert check_file(tmp_path / name).accepted


def test_the_page_on_priority_graphs_says_what_is_found(zen):
    page = (EXAMPLE.parent.parent / "docs" / "priority_graphs.md").read_text(encoding="utf-8")
    found = prioritize(words(zen.poem()), iterations=0)
    graphs = found.data.graphs
    parts = [members for graph in graphs for members in graph.components]
    feasible, support = found.verdicts
    assert feasible.holds and support.holds
    margins, equalities = re.fullmatch(r"(\d+) margins ≥ 1, (\d+) equalities",
                                       feasible.number).groups()
    row = (f"| Zen of Python, one-hot | {len(found.data.inputs)} | {len(graphs)}, "
           f"{len(found.cyclic)} | {sum(graph.graph.number_of_edges() for graph in graphs)} | "
           f"{len(parts)} ({sum(len(p) > 1 for p in parts)}) | {max(map(len, parts))} | feasible: "
           f"{margins} margins, {equalities} equalities | `gen_separator`, `gen_kkt`; accepted | "
           f"{support.number} |")
    assert row in page
    short = prioritize(zen.spelled(words(zen.poem())), iterations=0).verdicts[0]
    assert short.fails and short.number == "Motzkin, 8 + 2 rows"
    assert f"| Zen, three integers a word | {len(found.data.inputs)} |" in page
    pairs = len(ordered_pairs(found.data))
    assert page.count(f"| {pairs} of {pairs} |") == 3
