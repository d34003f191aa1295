"""The checker runs from a copy of its own folder with nothing else installed."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import verifier.kernel

from .corpus import ROOT

KERNEL = Path(verifier.kernel.__file__).parent


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bare")
    shutil.copytree(KERNEL, folder / "verifier" / "kernel",
                    ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "verifier" / "__init__.py").write_text("")
    return folder


def run(folder, *paths):
    return subprocess.run(
        [sys.executable, "-S", "-E", "-B", "-X", "utf8", "-W", "error", "-m", "verifier.kernel",
         *map(str, paths)], cwd=folder, capture_output=True, text=True, encoding="utf-8",
        check=False)


@pytest.mark.parametrize(("group", "code"), [("valid", 0), ("invalid", 1), ("unreadable", 2)])
def test_corpus_without_site_packages(bare, group, code):
    done = run(bare, *sorted((ROOT / group).iterdir()))
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.splitlines()[-1].startswith("accepted ")


def test_misuse_is_explained(bare):
    done = run(bare)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: ")


def test_only_the_standard_library_is_imported():
    imported = set()
    for path in KERNEL.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                imported.add(node.module.split(".")[0])
            elif isinstance(node, ast.ImportFrom):
                # A relative import stays within the kernel.
                depth = len(path.relative_to(KERNEL).parts)
                assert node.level <= depth, path
    assert imported <= sys.stdlib_module_names


def test_parent_package_imports_nothing():
    tree = ast.parse((KERNEL.parent / "__init__.py").read_text(encoding="utf-8"))
    assert not any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree))
