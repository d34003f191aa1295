"""The example of the Zen of Python: what it prints is so, and it prints nothing else."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from verifier.kernel import check_file

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
    assert " ".join(text[:5]) == "beautiful is better than ugly"
    assert " ".join(text[-5:]) == "let's do more of those"
    assert {"aren't", "it's", "you're"} <= set(text)


def test_cyclic_graphs(zen):
    text = zen.poem()
    words = sorted(set(text))
    data = zen.next_word_data(text, zen.one_hot(words))
    cyclic = {words[graph.last]: [[words[k] for k in members] for members in graph.components
                                  if len(members) > 1]
              for graph in data.graphs if not graph.acyclic}
    assert cyclic == {"complex": [["complex", "is"]], "never": [["although", "is"]]}


def test_output_and_certificates(zen, tmp_path, capsys):
    zen.main(tmp_path)
    printed = capsys.readouterr().out
    assert "complex = is" in printed and "although = is" in printed
    first, second = printed.split("Graph-SVM, spelled embeddings")
    assert "gen_feasibility holds (exact)" in first and "meets all 4 equalities" in first
    assert "multi_token_support holds (exact)" in first
    assert "gen_feasibility fails (exact)" in second
    assert printed.count("2 of 2 verdicts accepted") == 2
    files = sorted(tmp_path.iterdir())
    assert [path.name for path in files] == ["zen_one-hot.json", "zen_spelled.json"]
    for path in files:
        assert check_file(path).accepted
