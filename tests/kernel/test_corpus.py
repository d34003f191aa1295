"""The three corpora: what they hold, how many, and what becomes of each file."""

import pytest

from verifier.kernel import Unreadable, check_file
from verifier.kernel.__main__ import main

from .corpus import ROOT, files

FILES = sorted(path for path in ROOT.rglob("*") if path.is_file())
GROUPS = {group: [p for p in FILES if p.parent.name == group]
          for group in ("valid", "invalid", "unreadable")}


def test_counts():
    assert {group: len(paths) for group, paths in GROUPS.items()} == {
        "valid": 176, "invalid": 177, "unreadable": 22}
    assert len(FILES) == 176 + 177 + 22
    assert sum(path.stat().st_size for path in FILES) < 210_000


def test_files_are_those_of_the_builders():
    # After a change of the builders: cd tests && python -m kernel.corpus
    assert {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in FILES} == files()


@pytest.mark.parametrize("path", GROUPS["valid"], ids=lambda p: p.stem)
def test_valid(path, capsys):
    assert main([str(path)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    proved = {"mixed": 19, "family": 7, "family_pole": 5, "family_vanishing": 5}.get(path.stem, 1)
    assert last.startswith(f"accepted {proved} of {proved} proved verdicts; ")
    assert last.endswith(" 0 refused")


@pytest.mark.parametrize("path", GROUPS["invalid"], ids=lambda p: p.stem)
def test_invalid(path):
    (refusal,) = check_file(path).refusals
    assert refusal.code.name.lower() == path.stem.split("__")[0]
    assert main([str(path)]) == 1


@pytest.mark.parametrize("path", GROUPS["unreadable"], ids=lambda p: p.stem)
def test_unreadable(path):
    with pytest.raises(Unreadable):
        check_file(path)
    assert main([str(path)]) == 2
