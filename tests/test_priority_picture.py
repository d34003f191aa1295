"""Pictures of token-priority graphs: one box a component, one arrow a cover, two curves."""

from __future__ import annotations

import re

import pytest
from io_samples import refused

from verifier.io.sequences import TokenSequences, words
from verifier.priority import prioritize
from verifier.report.priority_picture import component_label, draw_priority, export_priority

TEXT = words("a b c a b d a b c a d b a c b a")


@pytest.fixture(scope="module")
def found():
    return prioritize(TEXT, context=4, iterations=60)


def test_every_component_has_its_box(found):
    svg = draw_priority(found, ".svg", found.data.graphs).decode()
    boxes = set(re.findall(r'id="(component-\d+-\d+)"', svg))
    assert boxes == {f"component-{graph.last}-{c}" for graph in found.data.graphs
                     for c in range(len(graph.components))}
    some = draw_priority(found, ".svg", found.data.graphs[:1]).decode()
    assert set(re.findall(r'id="component-(\d+)-', some)) == {str(found.data.graphs[0].last)}


def test_equal_reports_give_equal_files(found):
    again = prioritize(TEXT, context=4, iterations=60)
    for suffix in (".svg", ".png"):
        assert draw_priority(found, suffix, found.of_interest(2)) == draw_priority(
            again, suffix, again.of_interest(2))


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf", "SVG"])
def test_files(found, tmp_path, suffix):
    path = tmp_path / f"graph.{suffix}"
    export_priority(found, path, found.of_interest(1))
    start = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix.lower()]
    assert path.read_bytes().startswith(start)
    refused(export_priority, found, tmp_path / "graph.gif", found.of_interest(1), name="--out")


def test_without_a_run_there_are_no_curves(found):
    bare = prioritize(TEXT, context=4, iterations=0)
    assert len(draw_priority(bare, ".svg", bare.of_interest(1))) < len(
        draw_priority(found, ".svg", found.of_interest(1)))


def test_nothing_to_compare_is_said():
    # Equal embeddings: no direction. No cycles: no finite part.
    acyclic = prioritize(words("a b c"), iterations=5)
    assert acyclic.comparisons[-1].finite is None
    assert draw_priority(acyclic, ".png", acyclic.data.graphs)
    equal = prioritize(TokenSequences("integers", TEXT.names, TEXT.sequences, (),
                                      ((1,),) * len(TEXT.names)), iterations=5)
    assert equal.comparisons[-1].direction is None
    assert draw_priority(equal, ".png", equal.of_interest(1))


def test_labels_are_short_and_plain(found):
    names = ["Star Wars", "Terminator 2: Judgment Day", "$x$", "d", "e"]
    assert component_label((0,), names) == "Star Wars"
    assert component_label((0, 1), names) == "Star Wars = Terminator 2: Judgment …"
    assert component_label((2, 0, 3, 4), names) == r"\$x\$ = Star Wars = d = … +1"
    dollars = prioritize(TEXT.renamed({"a": "$a", "b": "b_{$"}), context=4, iterations=0)
    assert draw_priority(dollars, ".png", dollars.data.graphs)
