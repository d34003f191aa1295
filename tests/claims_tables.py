"""The tables of docs/claims.md, from the registries: ``cd tests && python -m claims_tables``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from verifier.claims.claim import Hypothesis
from verifier.claims.predicates import PREDICATES
from verifier.claims.registry import CLAIMS

PAGE = Path(__file__).parent.parent / "docs" / "claims.md"


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |"
                     for line in lines)


def _claims() -> str:
    return _table(("claim", "v1", "form", "standing", "hypotheses", "conclusion"), (
        (f"`{c.name}`", c.number, str(c.form), str(c.standing),
         ", ".join(map(_hypothesis, c.hypotheses)) or "–",
         "observed" if c.conclusion is None else f"`{c.conclusion}`") for c in CLAIMS.values()))


def _hypothesis(hypothesis: Hypothesis) -> str:
    """Its name, and what it stands for where that is another."""
    name, spelled = f"`{hypothesis.name}`", f"`{hypothesis.expression}`"
    return name if name == spelled else f"{name}: {spelled}"


def _predicates() -> str:
    return _table(("predicate", "about", "says"), (
        (f"`{a.predicate.name}`", a.predicate.about or "–", a.predicate.statement)
        for a in PREDICATES.values()))


def page_with_tables(text: str) -> str:
    """*text* with the two marked tables as the registries have them."""
    for name, table in (("claims", _claims()), ("predicates", _predicates())):
        text = re.sub(f"(<!-- table: {name} -->\n).*?(<!-- end -->)",
                      lambda match, table=table: f"{match[1]}{table}\n{match[2]}", text,
                      flags=re.DOTALL)
    return text


if __name__ == "__main__":
    PAGE.write_text(page_with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
