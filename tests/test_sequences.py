"""Sequences of tokens: words, integers and items; cutting; refusals."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from flint import fmpq
from io_samples import refused

from verifier.io.sequences import (
    TokenSequences,
    from_fields,
    from_lines,
    read_sequences,
    words,
)


def spelled(found):
    return [[found.names[token] for token in sequence] for sequence in found.sequences]


def test_words_of_paragraphs():
    found = words("It's a cat;\r\na cat's... 2 cats_\n \t\n\nΕλλάδα naïve ‘don’t’\n")
    assert spelled(found) == [["it's", "a", "cat", "a", "cat's", "cats"],
                              ["ελλάδα", "naïve", "don't"]]
    assert list(found.names) == sorted(found.names) and found.kind == "words"


def test_most_frequent_tokens_stay_in_order():
    found = TokenSequences("words", tuple("abcd"), ((3, 1, 1, 2), (0, 3, 2, 3)), ("note",),
                           tuple((fmpq(k),) for k in range(4)))
    cut = found.most_frequent(2)
    # d thrice, b and c twice: b is met first.
    assert cut.names == ("b", "d")
    assert spelled(cut) == [["d", "b", "b"], ["d", "d"]]
    assert cut.embeddings == ((1,), (3,)) and cut.notes == ("note",)
    assert found.most_frequent(9).names == found.names
    assert found.first(1).sequences == found.sequences[:1]
    # Tokens of other sequences only go, too.
    assert found.first(1).most_frequent(9).names == ("b", "c", "d")
    assert found.renamed({"a": "x"}).names == ("x", "b", "c", "d")
    for call in (found.most_frequent, found.first):
        refused(call, 0, match="at least 1")


def test_integers_of_lines(tmp_path):
    path = tmp_path / "tokens.txt"
    path.write_text("0 2,1\n\n  2\t2\n")
    found = read_sequences(path, "integers")
    assert found.sequences == ((0, 2, 1), (2, 2)) and found.names == ("0", "1", "2")


def test_integers_of_json(tmp_path):
    path = tmp_path / "tokens.json"
    document = {"sequences": [[0, 1], [1]], "embeddings": [["1/3", 0], [0.1, 2]],
                "names": ["x", "y"]}
    path.write_text(json.dumps(document))
    found = read_sequences(path)
    assert found.sequences == ((0, 1), (1,)) and found.names == ("x", "y")
    assert found.embeddings == ((fmpq(1, 3), 0), (fmpq(1, 10), 2))


def test_items_are_numbered_by_frequency(tmp_path):
    path = tmp_path / "rows.tsv"
    path.write_text("user\titem\ttime\nu\ta\t1\nu\tb\t2\nw\tb\t1\nw\tc\t2\nw\ta\t3\nw\tb\t4\n")
    found = read_sequences(path)
    assert found.kind == "items" and found.names == ("b", "a", "c")
    assert spelled(found) == [["a", "b"], ["b", "c", "a", "b"]]
    counts = Counter(item for sequence in spelled(found) for item in sequence)
    assert [counts[name] for name in found.names] == [3, 2, 1]
    renamed = tmp_path / "rows.txt"
    renamed.write_text(path.read_text().replace("item", "film"))
    named = read_sequences(renamed, "items", ("user", "film", "time"))
    assert named.sequences == found.sequences


@pytest.mark.parametrize(("fields", "name"), [
    ({}, "sequences"), ({"sequences": 3}, "sequences"), ({"sequences": []}, "sequences"),
    ({"sequences": [[]]}, "sequences"), ({"sequences": [[0], 1]}, "sequences[1]"),
    ({"sequences": [[0, -1]]}, "sequences[0]"), ({"sequences": [["x"]]}, "sequences[0]"),
    ({"sequences": [[0.5]]}, "sequences[0]"), ({"sequences": [[10**9]]}, "sequences[0]"),
    ({"sequences": [[True]]}, "sequences[0]"),
    ({"sequences": [[1]], "embeddings": [[1]]}, "embeddings"),
    ({"sequences": [[0]], "embeddings": [1]}, "embeddings[0]"),
    ({"sequences": [[0]], "embeddings": [["x"]]}, "embeddings[0][0]"),
    ({"sequences": [[1]], "names": ["a"]}, "names"),
    ({"sequences": [[0]], "names": [["a"]]}, "names[0]"),
    ({"sequences": [[0]], "embedding": [[1]]}, "field")])
def test_bad_fields_are_refused(fields, name):
    refused(from_fields, fields, name=name)


def test_bad_files_are_refused(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(b"\xff\xfe")
    refused(read_sequences, path, name="data file", match="UTF-8")
    path.write_text("1 2 3 ...\n")
    refused(read_sequences, path, name="text", match="words")
    refused(read_sequences, path, "integers", name="line 1")
    refused(read_sequences, path, "letters", name="--tokens")
    refused(read_sequences, path, "words", ("a", "b", "c"), name="--columns")
    refused(from_lines, "\n \n", name="sequences")
    refused(read_sequences, tmp_path / "none.txt", name="data file")
    (tmp_path / "list.json").write_text("[[0, 1]]")
    refused(read_sequences, tmp_path / "list.json", name="data file", match="object")
