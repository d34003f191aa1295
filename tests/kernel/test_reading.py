"""Hostile files end in a refusal or in `Unreadable`, quickly, and never in another error."""

import json
import os
import random
import time

import pytest

from verifier.kernel import Unreadable, check_file, check_text
from verifier.kernel import reading as reading_module

from .builders import CASES, DIAGONAL, document, text


def outcome(source):
    try:
        return [refusal.code.name for refusal in check_text(source).refusals]
    except Unreadable:
        return "unreadable"


def test_nesting_of_exactly_the_limit_is_json():
    good = text(document(DIAGONAL))
    assert outcome(good.replace('"run": null', '"run": ' + "[" * 31 + "]" * 31)) == ["WRONG_TYPE"]
    assert outcome(good.replace('"run": null', '"run": ' + "[" * 32 + "]" * 32)) == "unreadable"


def test_brackets_within_strings_do_not_nest():
    case = CASES["separator"].document()
    case["verdicts"][0]["reason"] = "[" * 100 + '\\"{' * 100 + "\u2028"
    assert outcome(text(case)) == []
    assert outcome(json.dumps(case, ensure_ascii=False)) == []


@pytest.mark.parametrize("source", [
    "[" * 10**6, "{" * 10**6, '{"a":' * 10**6, '"' * (10**6 + 1), '\\"' * 10**6, '["' * 10**6,
    '"' + "\\" * (10**6 + 1), "1" * 10**6, "]" * 10**6, "\ud800", '{"format": "\ud800"}'],
    ids=range(11))
def test_large_nonsense_is_unreadable_in_linear_time(source):
    started = time.process_time()
    assert outcome(source) == "unreadable"
    assert time.process_time() - started < 5


def test_long_integers_are_refused_where_they_stand():
    source = text(document(DIAGONAL)).replace("[[[1,", "[[[" + "1" * 100_001 + ",", 1)
    assert outcome(source) == ["NUMBER_LIMIT"]
    assert outcome(source.replace("1" * 100_001, "1" * 100_000)) == []
    bad = CASES["full_rank_rows"].document()
    bad["verdicts"][0]["certificate"]["modulus"] = 10**4000
    assert outcome(text(bad)) == ["OUT_OF_RANGE"]


def test_large_exponents_of_an_inverse_are_refused_at_once():
    for exponent in (10**30, -10**30, 20_001):
        bad = CASES["local_enclosed"].document()
        bad["verdicts"][0]["certificate"]["inverse"]["exponent"] = exponent
        assert outcome(text(bad)) == ["OUT_OF_RANGE"]


def test_lone_surrogates_in_names_are_refused():
    for path in ("condition", "status", "evidence"):
        bad = CASES["separator"].document()
        bad["verdicts"][0][path] = "\ud800"
        assert outcome(text(bad)) == ["UNKNOWN_NAME"]
    bad = CASES["separator"].document()
    bad["verdicts"][0]["\udfff"] = 0
    assert outcome(text(bad)) == ["UNKNOWN_FIELD"]


def test_size_limit(tmp_path, monkeypatch):
    source = text(document(DIAGONAL))
    path = tmp_path / "file.json"
    path.write_text(source)
    monkeypatch.setattr(reading_module, "MAX_BYTES", len(source))
    assert check_file(path).accepted
    monkeypatch.setattr(reading_module, "MAX_BYTES", len(source) - 1)
    with pytest.raises(Unreadable, match="larger"):
        check_file(path)
    with pytest.raises(Unreadable, match="larger"):
        check_text(source)
    # The limit of a file counts bytes, not characters.
    path.write_bytes('"αααα"'.encode())
    monkeypatch.setattr(reading_module, "MAX_BYTES", 8)
    with pytest.raises(Unreadable, match="larger"):
        check_file(path)


def test_what_is_no_file_is_unreadable(tmp_path):
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    for path in (tmp_path, tmp_path / "none.json", fifo, "/dev/zero", "a\0b", ""):
        with pytest.raises(Unreadable):
            check_file(path)


def test_random_damage_never_escapes():
    """Cut, doubled, swapped and overwritten bytes of valid files, and swapped JSON values."""
    generator = random.Random(20)
    sources = [text(case.document()) for case in CASES.values()]
    seen = set()
    for _ in range(1500):
        source = generator.choice(sources)
        a, b = sorted(generator.randrange(len(source)) for _ in range(2))
        b = min(b, a + 12)
        damaged = source[:a] + generator.choice([
            "", source[a:b] * 2, source[a:b][::-1], "-", "0", "1e9", "null", "[", '"', "0x1p-9"]
        ) + source[b:]
        found = outcome(damaged)
        seen.add(found if isinstance(found, str) else tuple(found))
    assert {"unreadable", ()} < seen and len(seen) > 5


def test_random_values_anywhere_never_escape():
    generator = random.Random(21)
    values = [None, True, -1, 0, 7, 2**70, 0.5, "", "1/3", "0x1p+5", [], [0], [[0, 1]], {}, "kind",
              [[0, 1, 1]], {"kind": "farkas"}, "holds", [0, 0]]

    def paths(value, path=()):
        entries = (value.items() if isinstance(value, dict)
                   else enumerate(value) if isinstance(value, list) else ())
        for key, entry in entries:
            yield (*path, key)
            yield from paths(entry, (*path, key))

    for case in CASES.values():
        good = case.document()
        everywhere = list(paths(good))
        for _ in range(40):
            bad = json.loads(text(good))
            for path in generator.sample(everywhere, 2):
                at = bad
                try:
                    for step in path[:-1]:
                        at = at[step]
                    at[path[-1]] = json.loads(text(generator.choice(values)))
                except (KeyError, IndexError, TypeError):
                    continue  # the first change removed the place of the second
            result = outcome(text(bad))
            assert result == "unreadable" or all(isinstance(code, str) for code in result)
