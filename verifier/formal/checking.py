"""Running Coq over an export, and reading what it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

from conditions.errors import InvalidInput
from verifier.formal import grammar
from verifier.formal.exporting import Export, check_file
from verifier.formal.library import AXIOMS, dependencies, requirements, theories

_CLAIM = re.compile(r"^Definition claim_(\d+) : Prop", re.MULTILINE)


@dataclass(frozen=True)
class CheckedExport:
    """What Coq says of an export: nothing in ``faults`` means that every claim is proved."""

    claims: tuple[int, ...]
    faults: tuple[str, ...]

    @property
    def accepted(self) -> bool:
        """Whether every claim is proved from the axioms of the real numbers alone."""
        return not self.faults


def check_export(directory: str | os.PathLike[str], expected: Export | None = None,
                 library: Path | None = None) -> CheckedExport:
    """Check an exported directory with Coq.

    *expected* is the export that it should be, so that also another dataset or another claim is a
    fault; without it the claims in the directory are what is checked. *library* is a directory
    with the theories compiled by `compile_library`, which saves compiling those of the export.
    Raises ``InvalidInput`` if Coq is not installed.
    """
    root = Path(directory)
    claims = tuple(map(int, _CLAIM.findall(_text(root / "Claims.v"))))
    faults = list(_file_faults(root, claims, expected))
    if not faults:
        try:
            if library is None:
                _compile(root / "theories", dependencies(_required(root, claims)))
            output = run_proofs(root, claims, library or root / "theories")
        except CoqError as error:
            faults.append(str(error))
        else:
            faults += assumption_faults(output, claims)
    return CheckedExport(claims, tuple(faults))


class CoqError(Exception):
    """Coq refuses a file."""


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InvalidInput("export", str(path), "must be a readable file", "export again") from None


def _required(root: Path, claims: tuple[int, ...]) -> set[str]:
    files = ["Data", "Claims", *(f"Proof_{k}" for k in claims)]
    return set().union(*(requirements(_text(root / f"{name}.v")) for name in files))


def _file_faults(root: Path, claims: tuple[int, ...], expected: Export | None) -> Iterator[str]:
    """Faults that show in the files, before Coq runs."""
    for path in sorted((root / "theories").glob("*.v")):
        if _text(path) != theories().get(path.stem):
            yield f"theories/{path.name} is not the theory of this package"
    for name in ("Data", "Claims", *(f"Proof_{k}" for k in claims)):
        yield from grammar.faults(name, _text(root / f"{name}.v"))
    if not claims:
        yield "Claims.v claims nothing"
    elif _text(root / "Check.v") != check_file(claims):
        yield "Check.v does not check every claim"
    for name in () if expected is None else ("Data.v", "Claims.v"):
        if expected is not None and _text(root / name) != expected.files[name]:
            yield f"{name} is not that of the certificate"


def compile_library(directory: Path) -> None:
    """Write all theories into *directory* and compile them. Raises `CoqError`."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in theories().items():
        (directory / f"{name}.v").write_text(text, encoding="utf-8")
    _compile(directory, dependencies(theories()))


def _compile(directory: Path, graph: Mapping[str, set[str]]) -> None:
    _in_order(graph, lambda name: coqc(directory / f"{name}.v", "-Q", directory, "AttSVM"))


def run_proofs(root: Path, claims: tuple[int, ...], library: Path) -> str:
    """Compile data, claims and proofs, and give the output of Check.v. Raises `CoqError`."""
    graph = {"Data": set[str](), "Claims": {"Data"},
             **{f"Proof_{k}": {"Claims"} for k in claims}}
    # In this order: the root contains theories/, and the last binding of a directory counts.
    paths = ("-w", "-overriding-logical-loadpath", "-Q", root, "Certificate",
             "-Q", library, "AttSVM")
    _in_order(graph, lambda name: coqc(root / f"{name}.v", *paths))
    return coqc(root / "Check.v", *paths)


def _in_order(graph: Mapping[str, set[str]], run: Callable[[str], str]) -> None:
    """Run on every node after those it rests on, as many at a time as there are processors."""
    order = TopologicalSorter(graph)
    order.prepare()
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        running: dict[Future[str], str] = {}
        while order.is_active():
            running |= {pool.submit(run, name): name for name in order.get_ready()}
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
                order.done(running.pop(future))


def coqc(file: Path, *options: str | Path) -> str:
    """Compile *file* with Coq and give what it prints. Raises `CoqError`, ``InvalidInput``."""
    program = shutil.which("coqc")
    if program is None:
        raise InvalidInput("coqc", None, "must be installed", "install the package coq")
    done = subprocess.run([program, "-q", *map(str, options), str(file)], text=True, check=False,
                          capture_output=True)
    if done.returncode:
        raise CoqError(f"{file.name}: {' '.join(done.stderr.split())[:400]}")
    return done.stdout


def assumption_faults(output: str, claims: Sequence[int]) -> list[str]:
    """What in the output of Check.v is not a proof from the axioms of the real numbers."""
    wanted = " /\\ ".join(f"Claims.claim_{k}" for k in claims)
    checked, mark, rest = output.partition("\nAxioms:\n")
    if not mark:
        checked, mark, rest = output.partition("\nClosed under the global context")
    faults = []
    if " ".join(checked.split()) != f"certified : {wanted}":
        faults.append(f"Coq does not say that every claim is proved: {checked.strip()[:200]}")
    return faults + [f"the proofs assume {axiom}" for axiom in _foreign(rest)]


def _foreign(text: str) -> Iterator[str]:
    """The assumptions among those printed that are no axioms of the real numbers."""
    for entry in re.split(r"\n(?=\S)", text.strip()):
        name, _, type_ = " ".join(entry.split()).partition(" : ")
        if name and AXIOMS.get(name) != type_:
            yield f"{name} : {type_}"
