"""The theories of verifier/formal, compiled once for all tests that run Coq."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from verifier.formal.checking import compile_library, coqc


@cache
def library() -> Path:
    """A directory with every theory compiled, in dependency order; removed at exit."""
    directory = Path(tempfile.mkdtemp(prefix="attsvm-theories-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    compile_library(directory)
    return directory


def run(file: Path) -> str:
    """What Coq prints of *file*, which may use the theories. Raises ``CoqError``."""
    return coqc(file, "-Q", library(), "AttSVM")
