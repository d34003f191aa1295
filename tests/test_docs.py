"""The documents agree with each other and with the code."""

from __future__ import annotations

import importlib
import pkgutil
import re
import unicodedata
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import pytest

import conditions
from conditions.certificates import Certificate
from verifier.kernel.kinds import KINDS
from verifier.kernel.statements import CONDITIONS

ROOT = Path(__file__).parent.parent
SPECIFICATION = ROOT / "docs" / "certificates.md"
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])

_LINK = re.compile(r"!?\[[^\]\[]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_REFERENCE = re.compile(r"^ {0,3}\[[^\]^]+\]:\s+<?([^\s>]+)", re.MULTILINE)
_EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)
_CODE_BLOCK = re.compile(r"^ {0,3}(```+|~~~+).*?^ {0,3}\1[ \t]*$", re.MULTILINE | re.DOTALL)
_INLINE_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")


def read(page: Path) -> str:
    return _CODE_BLOCK.sub("", page.read_text(encoding="utf-8"))


def links(text: str) -> list[str]:
    """The targets of inline and reference links, outside code."""
    prose = _INLINE_CODE.sub("", text)
    return _LINK.findall(prose) + _REFERENCE.findall(prose)


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to headings: -1, -2, … tell equal ones apart."""
    found: set[str] = set()
    for heading in _HEADING.findall(text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        kept = (c for c in plain.strip().lower()
                if c in " -_" or unicodedata.category(c)[0] in "LMN")
        slug = "".join(kept).replace(" ", "-")
        name, count = slug, 0
        while name in found:
            count += 1
            name = f"{slug}-{count}"
        found.add(name)
    return found


def broken(page: Path) -> list[str]:
    """The links of *page* that lead nowhere inside the project."""
    faults = []
    for link in links(read(page)):
        if _EXTERNAL.match(link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.is_relative_to(ROOT) or not target.exists():
            faults.append(f"{link}: no such file")
        elif anchor and (target.suffix != ".md" or anchor not in anchors(read(target))):
            faults.append(f"{link}: no such heading")
    return faults


def condition_modules() -> dict[str, ModuleType]:
    """CONDITION → module, of every module under `conditions` that has one."""
    found: dict[str, ModuleType] = {}
    for info in pkgutil.walk_packages(conditions.__path__, "conditions."):
        module = importlib.import_module(info.name)
        if hasattr(module, "CONDITION"):
            assert module.CONDITION not in found, info.name
            found[module.CONDITION] = module
    return found


def section(text: str, title: str) -> str:
    """The part of *text* below the heading ``## title``, up to the next of its level."""
    found = re.search(rf"^## {re.escape(title)}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def table(text: str) -> list[list[str]]:
    """The cells of the rows of the only table in *text*, without its two head lines."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert re.fullmatch(r"[|: -]+", lines[1])
    return [[cell.strip() for cell in line.strip("|").split(" |")] for line in lines[2:]]


def names(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


def specified_conditions() -> dict[str, list[str]]:
    """The rows of the conditions table by name: [marks, statement, holds by, fails by]."""
    rows = table(section(read(SPECIFICATION), "Conditions"))
    assert all(len(row) == 5 for row in rows)
    found = {names(row[0])[0]: row[1:] for row in rows}
    assert len(found) == len(rows)
    return found


def specified_kinds() -> list[str]:
    """The kinds with a paragraph, **`kind`** followed by its fields."""
    kinds = section(read(SPECIFICATION), "Kinds")
    return re.findall(r"^\*\*`(\w+)`\*\* .*?`\{", kinds, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_resolve(page: Path) -> None:
    assert broken(page) == []


def test_faults_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "other.md").write_text("# One `a_b` two\n## Same\n## Same\n```\n# Not one\n```\n")
    page = tmp_path / "page.md"
    good = "[a](other.md) [b](other.md#one-a_b-two) [c](other.md#same-1) [d](#here) [e](https://x)"
    page.write_text(f"# Here\n{good} `[f](nowhere.md)`\n```\n[g](nowhere.md)\n```\n")
    assert broken(page) == []
    page.write_text("[a](nowhere.md)\n[b](other.md#not-one) [c](../outside.md) [d](#here)\n"
                    "\n[e]: missing.md\n")
    assert len(broken(page)) == 5


def test_every_kind_is_specified_once() -> None:
    assert sorted(specified_kinds()) == sorted(Certificate.registry)


def test_every_kind_is_checked() -> None:
    assert sorted(KINDS) == sorted(Certificate.registry)


def test_fields_of_kinds_are_specified() -> None:
    text = section(read(SPECIFICATION), "Kinds")
    for kind, certificate in Certificate.registry.items():
        shown = re.search(rf"^\*\*`{kind}`\*\* .*?`(\{{.*?\}})`", text, re.MULTILINE)
        assert shown, kind
        # Fields of objects within are quoted after a deeper brace.
        depth, top = 0, ""
        for c in shown[1]:
            depth += (c == "{") - (c == "}")
            top += c if depth == 1 else " "
        assert re.findall(r'"(\w+)":', top) == [
            field.name for field in fields(certificate)], kind


def test_every_kind_has_a_proof() -> None:
    rows = table(section(read(ROOT / "docs" / "theory.md"), "Kinds"))
    listed = [kind for row in rows for kind in names(row[0])]
    assert sorted(listed) == sorted(Certificate.registry)


def test_conditions_are_specified() -> None:
    assert sorted(specified_conditions()) == sorted(condition_modules())


def test_conditions_are_those_of_the_checker() -> None:
    specified = {
        name: ("α" in marks, "ℓ" in marks, sorted(names(holds)), sorted(names(fails)))
        for name, (marks, _, holds, fails) in specified_conditions().items()}
    checked = {
        name: (c.about_selection, c.about_loss, sorted(c.holds_by), sorted(c.fails_by))
        for name, c in CONDITIONS.items()}
    assert specified == checked


def test_every_kind_proves_something() -> None:
    used = {kind for row in specified_conditions().values() for cell in row[2:]
            for kind in names(cell)}
    assert used == set(Certificate.registry)


def test_condition_modules_name_their_kinds() -> None:
    specified = specified_conditions()
    for name, module in condition_modules().items():
        _, _, holds, fails = specified[name]
        for kind in names(module.__doc__ or ""):
            if kind in Certificate.registry:
                assert kind in names(holds) + names(fails), (name, kind)
