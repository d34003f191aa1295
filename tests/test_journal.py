"""Journals: what was finished is kept, whatever was torn, damaged or written by another sweep."""

import json
import os
import resource

import pytest

from conditions import InvalidInput
from verifier.experiments.journal import Journal, spelled

SWEEP = {"function": "m.f", "arguments": [], "keywords": {"a": 1, "b": "µ"}, "package": "1"}
TRIALS = [(spelled([k, "x"]), spelled({"k": k, "text": "a\n\u00e9", "half": 0.5}))
          for k in range(3)]


def written(path, trials=TRIALS, sweep=SWEEP):
    with Journal(path, sweep) as journal:
        journal.add(trials)
    return path.read_bytes()


def known(path, sweep=SWEEP):
    with Journal(path, sweep) as journal:
        return journal.known


def test_what_is_added_is_known_the_next_time(tmp_path):
    path = tmp_path / "j"
    written(path, TRIALS[:2])
    assert known(path) == dict(TRIALS[:2])
    content = written(path, TRIALS[2:])
    assert known(path) == dict(TRIALS) and path.read_bytes() == content
    assert content.isascii() and content.count(b"\n") == 4


def test_every_prefix_is_continued_and_ends_alike(tmp_path):
    """A kill leaves a prefix: whole lines of it are known, and the rest can be added again."""
    path = tmp_path / "j"
    whole = written(path)
    ends = [k + 1 for k, byte in enumerate(whole) if byte == ord("\n")]
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        found = known(path)
        assert found == dict(TRIALS[:max(0, sum(end <= length for end in ends) - 1)])
        written(path, [trial for trial in TRIALS if trial[0] not in found])
        assert known(path) == dict(TRIALS)


def test_every_damaged_byte_loses_one_line_at_most(tmp_path):
    path = tmp_path / "j"
    whole = written(path)
    header = whole.index(b"\n") + 1
    for place in range(header, len(whole)):
        for byte in (10, whole[place] ^ 1):
            damaged = bytearray(whole)
            damaged[place] = byte
            path.write_bytes(damaged)
            found = known(path)
            assert found.items() <= dict(TRIALS).items()
            # A damaged line end joins two lines.
            assert len(found) >= 3 - (2 if whole[place] == 10 else 1)


@pytest.mark.parametrize(("change", "named"), [
    ({"function": "m.g"}, "function differ"), ({"package": "2"}, "package differ"),
    ({"arguments": [1]}, "arguments differ"), ({"keywords": {"a": 1, "b": 2}}, r"\(b differ"),
    ({"keywords": {"a": 1, "b": "µ", "c": 0}}, r"\(c differ"), ({"version": 2}, "version")])
def test_the_journal_of_another_sweep_is_refused_and_kept(tmp_path, change, named):
    path = tmp_path / "j"
    before = written(path)
    with pytest.raises(InvalidInput, match=named):
        Journal(path, {**SWEEP, **change})
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"\n", b"{}\n", b"[1]\n", b"\xff\xfe\x00",
                                     b"x" * 100_000, b"{" * 100_000])
def test_a_file_that_is_no_journal_is_refused_and_kept(tmp_path, content):
    path = tmp_path / "j"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match="is not a journal"):
        Journal(path, SWEEP)
    assert path.read_bytes() == content


def test_a_cut_header_of_another_sweep_is_refused(tmp_path):
    path = tmp_path / "j"
    header = written(path).split(b"\n")[0]
    path.write_bytes(header[:-4])
    with pytest.raises(InvalidInput, match="journal"):
        Journal(path, {**SWEEP, "function": "m.g"})


def test_places_that_cannot_be_written_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", "/dev/null", tmp_path / "no" / "j", "a\0b"):
        with pytest.raises(InvalidInput, match="journal"):
            Journal(path, SWEEP)


def test_a_full_disk_is_told_and_what_is_there_stays(tmp_path):
    path = tmp_path / "j"
    size = len(written(path, TRIALS[:2]))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal(path, SWEEP) as journal:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, before[1]))
        try:
            with pytest.raises(InvalidInput, match="File too large"):
                journal.add(TRIALS[2:])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.stat().st_size == size + 10
    assert known(path) == dict(TRIALS[:2])


def test_lines_that_are_valid_but_not_records_are_passed_over(tmp_path):
    path = tmp_path / "j"
    whole = written(path, TRIALS[:1])
    path.write_bytes(whole + b"\n \n{}\n" + b"0" * 16 + b" [1,2]\n")
    assert known(path) == dict(TRIALS[:1])


def test_spelling_is_canonical_and_strict():
    assert spelled((1, 2.0, "é")) == '[1,2.0,"\\u00e9"]'
    text = spelled({"b": [1e-300, 0.1], "a": None})
    assert spelled(json.loads(text)) == text
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="JSON"):
            spelled(value)
