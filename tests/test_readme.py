"""What README.md says is what happens: its commands, its Python, its output."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from verifier.cli import main

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
COMMANDS = [line.strip() for line in README.splitlines() if line.startswith("    ")]


def run(arguments: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *arguments], cwd=cwd, capture_output=True,
                          text=True, check=False)


def test_ci_runs_the_very_test_command():
    command = next(c for c in COMMANDS if c.endswith("-m pytest"))
    assert command in (ROOT / ".ci" / "run").read_text().splitlines()


def test_first_command_works_after_its_set_up(tmp_path):
    command = next(c for c in COMMANDS if "certify examples" in c)
    steps = [part.strip() for part in command.split("&&")]
    assert steps[:2] == ["python3 -m venv .venv", ".venv/bin/pip install --quiet ."]
    for step in steps[2:]:
        words = step.split()
        assert words[0] == ".venv/bin/attsvm"
        words = [str(tmp_path / w) if w == "c.json" else w for w in words[1:]]
        done = run(["verifier", *words], ROOT)
        assert done.returncode == 0, done.stderr


def test_shown_output_is_the_real_output(capsys, monkeypatch):
    shown = re.search(r"<!-- output: attsvm (.*?) -->\n```text\n(.*?)```", README, re.DOTALL)
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "argv", ["attsvm", *shown[1].split()])
    with pytest.raises(SystemExit, match="0"):
        main()
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == shown[2].splitlines()


def test_python_examples_and_the_commands_about_them(tmp_path):
    for k, block in enumerate(re.findall(r"```python\n(.*?)```", README, re.DOTALL)):
        script = tmp_path / f"example_{k}.py"
        script.write_text(block)
        done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0, done.stderr
    command = next(c for c in COMMANDS if "mine.npz" in c)
    for step in command.split("&&"):
        words = step.split()
        assert words[0] == "attsvm"
        done = run(["verifier", *words[1:]], tmp_path)
        assert done.returncode == 0, done.stderr + done.stdout
