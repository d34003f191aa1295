"""Fills the command line reference of the site from the commands themselves."""

from __future__ import annotations

from typing import Any

import typer
from typer.cli import get_docs_for_click

from verifier.cli import app

MARK = "<!-- commands -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the documentation of every command in place of the mark."""
    if MARK not in markdown:
        return markdown
    return markdown.replace(MARK, command_reference())


def command_reference() -> str:
    """Every command with its arguments and options, as Markdown."""
    command = typer.main.get_command(app)
    context = typer.Context(command)
    text: str = get_docs_for_click(obj=command, ctx=context, name="attsvm")
    # The page has a title of its own.
    return "\n".join(line for line in text.splitlines() if line != "# `attsvm`")
