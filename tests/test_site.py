"""The documentation as a site, and the commands on its pages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from verifier.cli import COMMANDS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(sh|python|json)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page):
    """(language, rest of the info string, text) of the fenced blocks that do something."""
    return [(m[1], m[2].strip(), m[3]) for m in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def commands(page):
    return [line for language, info, text in blocks(page) if language == "sh"
            and info != "not-run" for line in text.splitlines()]


WITH_COMMANDS = [page for page in PAGES if any(language != "json"
                                               for language, _, _ in blocks(page))]


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_every_command_on_the_page_works(page, tmp_path):
    """Blocks run in order in one folder that has the examples; json blocks are files."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    binaries = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
                   "MPLBACKEND": "agg", "COLUMNS": "100"}
    for language, info, text in blocks(page):
        if info == "not-run":
            continue
        if language == "json":
            name = re.search(r'title="([^"]+)"', info)
            if name:
                (tmp_path / name[1]).write_text(text, encoding="utf-8")
            continue
        call = (["bash", "-euo", "pipefail", "-c", text] if language == "sh"
                else [sys.executable, "-c", text])
        done = subprocess.run(call, cwd=tmp_path, env=environment, capture_output=True, text=True,
                              check=False, timeout=300)
        assert done.returncode == 0, f"{text}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def test_what_is_not_run_is_only_installation_or_long():
    for page in PAGES:
        for language, info, text in blocks(page):
            if info == "not-run" and language == "sh":
                assert re.search(r"pip (install|download)|git clone|apt-get|--seconds|--trials|"
                                 r"reproduce|necessity|--cluster|coqc|pdflatex|examples/movielens",
                                 text), text


def test_site_builds_without_warnings(tmp_path):
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet",
                           "--site-dir", str(tmp_path / "site")], cwd=ROOT, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = {p.relative_to(ROOT / "docs").with_suffix("").as_posix()
             for p in (ROOT / "docs").rglob("*.md")}
    for page in pages:
        folder = tmp_path / "site" / (page if page != "index" else ".")
        assert (folder / "index.html").is_file(), page
    reference = (tmp_path / "site" / "reference" / "cli" / "index.html").read_text()
    assert len(COMMANDS) > 8
    for name in COMMANDS:
        assert f"attsvm {name}" in reference, name
