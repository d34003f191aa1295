"""Appendices compile with plain pdflatex, alone and read into a paper, and look right."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from test_latex import CORPUS, EXAMPLES

from verifier import io
from verifier.certificate_file import load_accepted
from verifier.certify import certify
from verifier.directions import explore
from verifier.report.latex import File, render

OVERFULL = 5.0
"""Points that a line may be too wide."""

_HOST = r"""\documentclass{article}
\usepackage{amsmath}
\newtheorem{attsvmproposition}{Proposition}[section]
\begin{document}
\section{A paper} Proposition~\ref{LABEL:0} is in the appendix.
\appendix
INPUTS
\begin{thebibliography}{9}
\bibitem{attsvm:theory} The theory. \bibitem{attsvm:software} The software.
\end{thebibliography}
\end{document}
"""


@pytest.fixture(scope="module", autouse=True)
def tools():
    missing = [name for name in ("pdflatex", "pdfinfo") if shutil.which(name) is None]
    if missing and os.environ.get("CI"):
        pytest.fail(f"{' and '.join(missing)} must be installed where CI is set")
    if missing:
        pytest.skip(f"needs {' and '.join(missing)} (texlive-latex-recommended, poppler-utils)")


def compiled(tex: str, folder: Path, name: str = "a") -> int:
    """Compile twice, demand a clean log, and give the number of pages."""
    (folder / f"{name}.tex").write_text(tex)
    for _ in range(2):
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"], cwd=folder,
            capture_output=True, check=False)
        assert done.returncode == 0, done.stdout[-3000:].decode(errors="replace")
    log = (folder / f"{name}.log").read_text(errors="replace")
    wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]
    assert max(wide, default=0.0) <= OVERFULL, re.findall(r"Overfull.*\n.*", log)
    # LaTeX wraps its log at 79 characters.
    assert not re.search(r"undefined|multiply.defined|Missing character|Rerun to get",
                         log.replace("\n", "")), name
    info = subprocess.run(["pdfinfo", f"{name}.pdf"], cwd=folder, capture_output=True, text=True,
                          check=True).stdout
    return int(re.search(r"Pages:\s+(\d+)", info)[1])


def text_of(folder: Path, name: str = "a") -> str:
    return subprocess.run(["pdftotext", f"{name}.pdf", "-"], cwd=folder, capture_output=True,
                          text=True, check=True).stdout.replace("\n", " ")


def test_the_two_sample_appendix_fits_on_two_pages(tmp_path):
    dataset = io.load_dataset(EXAMPLES / "two_samples.json")
    far = np.array([[20.0, 0.0], [0.0, 0.0]])
    reports = [certify(dataset, source="two_samples.json", start=start, from_start=True)
               for start in (None, far)]
    tex = render(*reports, command="attsvm certify two_samples.json --from-start")
    assert compiled(tex, tmp_path) == 2
    text = text_of(tmp_path)
    assert "Certified conditions of two_samples.json" in text
    assert len(re.findall(r"\[limit", text)) == 2
    assert "References." in text


def reports():
    """What users render: (name, report, the most pages that it may take)."""
    plane = io.load_dataset(EXAMPLES / "plane_3_tokens.npz")
    yield "plane", certify(plane, source="plane_3_tokens.npz"), 2
    stack = EXAMPLES / "local_convergence.npz"
    trial, start = io.load_dataset(stack, 3), io.load_start(stack, 3)
    yield "trial", certify(trial, source="local_convergence.npz, trial 3", selection="gd",
                           start=start), 3
    yield "nuclear", certify(trial, parameterization="KQ", iterations=200,
                             start=io.load_factored_start(stack, 3)), 3
    yield "infeasible", certify(io.load_dataset(EXAMPLES / "digits_patches.json"),
                                iterations=20, seconds=0.0), 2
    two = io.load_dataset(EXAMPLES / "two_samples.json")
    yield "directions", explore(two, source="two_samples.json").report, 2
    yield "robust", certify(plane, robust=True, iterations=0), 2


def test_reports_of_every_command_compile(tmp_path):
    for name, report, most in reports():
        assert compiled(render(report), tmp_path, name) <= most, name


def test_a_hostile_source_compiles(tmp_path):
    report = certify(io.load_dataset(EXAMPLES / "two_samples.json"), iterations=0,
                     source=r"a_b%c{d}\e#f&g$h~i^j é中 ‖W‖ −½.npz")
    assert compiled(render(report), tmp_path) <= 2
    assert "a_b%c{d}\\e#f&g$h" in text_of(tmp_path)


def test_all_kinds_compile_in_one_paper(tmp_path):
    inputs, label = [], ""
    for path in CORPUS:
        accepted = load_accepted(path)
        tex = render(accepted.report, files=[File(path.name, accepted.sha256)])
        (tmp_path / f"{path.stem}.tex").write_text(tex)
        inputs.append(rf"\input{{{path.stem}}}")
        label = re.search(r"\\label\{(attsvm:\w+)\}", tex)[1]
    # Sections are lettered up to Z: without \appendix there is no end.
    host = _HOST.replace("\\appendix\n", "").replace("LABEL", label)
    assert compiled(host.replace("INPUTS", "\n".join(inputs)), tmp_path, "paper") > 30
    few = _HOST.replace("LABEL", label).replace("INPUTS", inputs[-1])
    assert compiled(few, tmp_path, "short") <= 2
    assert "Proposition A.1 is in the appendix." in text_of(tmp_path, "short")
