"""The LaTeX file: an appendix section that compiles alone and can be read into a paper."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from conditions.certificates.base import Matrix
from conditions.errors import InvalidInput, counted
from conditions.exact.numbers import rational
from conditions.selection import Selection
from conditions.verdict import Evidence, Verdict
from verifier.certify import Report
from verifier.descent import FactoredRun, Run
from verifier.formal import covered
from verifier.report.latex import numbers, text
from verifier.report.latex.context import Context
from verifier.report.latex.dataset import dataset_text
from verifier.report.latex.facts import FACTS
from verifier.report.latex.frame import END, PACKAGE, PREAMBLE
from verifier.report.latex.proofs import proof
from verifier.report.latex.statements import statement
from verifier.report.latex.statements.phrases import hypotheses


@dataclass(frozen=True)
class File:
    """A certificate file beside the appendix: its name there and its SHA-256."""

    name: str
    sha256: str


def file_of(report: Report, name: str) -> File:
    """The file that holds the certificate text of *report*."""
    return File(name, hashlib.sha256(report.certificate_text().encode()).hexdigest())


def render(*reports: Report, files: Sequence[File] | None = None,
           command: str | None = None) -> str:
    """The appendix of one report, or of several about one dataset, as a LaTeX file.

    files: the certificate file of each report; by default certificate texts under the names
    ``certificate.json``, or ``certificate-1.json``, … command: how the reports were made.
    Raises ``InvalidInput`` for reports about different datasets.
    """
    if not reports or len({report.dataset.fingerprint for report in reports}) > 1:
        raise InvalidInput("reports", counted(len(reports), "report"), "must be about one dataset",
                           "render one file for each dataset")
    if files is None:
        names = (["certificate.json"] if len(reports) == 1 else
                 [f"certificate-{k}.json" for k in range(1, len(reports) + 1)])
        files = [file_of(report, name) for report, name in zip(reports, names, strict=True)]
    digest = hashlib.sha256("".join(file.sha256 for file in files).encode()).hexdigest()
    ctx = Context(reports[0].dataset, f"attsvm:{digest[:8]}")
    source = next((report.source for report in reports if report.source), "")
    data = dataset_text(ctx, source)
    propositions = "\n".join(_propositions(ctx, reports))
    parts = [_conventions(), data, _facts(ctx), propositions, *_remarks(ctx, reports),
             _reproduction(files, command,
                           any(covered(verdict) for _, verdict in _entries(reports)))]
    title = f"Certified conditions of {text.code(source)}" if source else "Certified conditions"
    heading = rf"\attsvmheading[{title}]{{\raggedright {title}}}\label{{{ctx.labels}}}"
    return "\n".join([PREAMBLE, heading, "", "\n\n".join(part for part in parts if part), END])


# Propositions ---------------------------------------------------------------------------------


def _entries(reports: Sequence[Report]) -> Iterator[tuple[str, Verdict]]:
    """Every verdict once, with its place in its certificate file."""
    seen = []
    for k, report in enumerate(reports):
        letter = f"{_letter(k)}." if len(reports) > 1 else ""
        for index, verdict in enumerate(report.verdicts):
            key = (verdict.condition, verdict.selection, verdict.loss, verdict.certificate,
                   verdict.reason if verdict.certificate is None else "")
            if key not in seen:
                seen.append(key)
                yield f"{letter}{index}", verdict


def _letter(k: int) -> str:
    """The name of certificate file *k* where there are several."""
    return chr(ord("A") + k)


def _propositions(ctx: Context, reports: Sequence[Report]) -> Iterator[str]:
    """One proposition for all that is proved of one selection and loss."""
    groups: dict[tuple[Selection | None, str | None], list[tuple[str, Verdict]]] = {}
    for entry, verdict in _entries(reports):
        if not verdict.undecided:
            groups.setdefault((verdict.selection, verdict.loss), []).append((entry, verdict))
    for number, group in enumerate(groups.values()):
        yield _proposition(ctx, number, group)


def _proposition(ctx: Context, number: int, verdicts: Sequence[tuple[str, Verdict]]) -> str:
    ctx.label = f"{ctx.labels}:{number}"
    several = len(verdicts) > 1
    given = hypotheses(ctx, verdicts[0][1])
    said, proofs = [given] if given else [], []
    for k, (ctx.entry, verdict) in enumerate(verdicts):
        ctx.part = _part(k) if several else ""
        lead = rf"\attsvmpart{{{ctx.part}}}{{{_outcome(verdict)}}}" if several else ""
        said.append(f"{lead}{statement(ctx, verdict)}")
        proofs.append(f"{_bold(ctx.part)} {proof(ctx, verdict)}".strip())
    title = "" if several else f"[{_outcome(verdicts[0][1])}]"
    return (f"\\begin{{attsvmproposition}}{title}\\label{{{ctx.label}}}\n" + "\n".join(said)
            + "\n\\end{attsvmproposition}\n\\begin{attsvmproof}\n" + "\n".join(proofs)
            + "\n\\end{attsvmproof}\n")


def _bold(part: str) -> str:
    return rf"\textbf{{{part}}}" if part else ""


def _part(k: int) -> str:
    """(a), (b), …, (z), (aa), …"""
    name = ""
    while k >= 0:
        name, k = chr(ord("a") + k % 26) + name, k // 26 - 1
    return f"({name})"


def _outcome(verdict: Verdict) -> str:
    name = verdict.condition.replace("_", " ").replace("assumption ", "Assumption ")
    name = name[:-1] + name[-1].upper() if name.startswith("Assumption") else name
    formal = "; Coq" if covered(verdict) else ""
    return f"{name} {'holds' if verdict.holds else 'fails'}; {verdict.evidence}{formal}"


# The other sections ---------------------------------------------------------------------------


def _conventions() -> str:
    return (
        r"Samples and tokens count from $0$. Sample $i$ has tokens $x_{i,t}$, a query $z_i$ and a "
        r"label $Y_i=\pm1$; $v$ is the head, $\gamma_{i,t}=Y_i\,v\cdot x_{i,t}$ the score of a "
        r"token, $s_i(W)$ the softmax of the logits $x_{i,t}^{T}Wz_i$, "
        r"$f_i=\sum_ts_{i,t}\gamma_{i,t}$ and $L(W)=\frac1n\sum_i\ell(f_i)$. A selection $\alpha$ "
        r"picks a token of each sample, $\mathrm{opt}$ those of largest score; a row is a pair "
        r"$(i,t)$ with $t\ne\alpha_i$, $\varphi_{i,t}=(x_{i,\alpha_i}-x_{i,t})z_i^{T}$ its "
        r"feature, "
        r"$m_{i,t}(W)=\langle\varphi_{i,t},W\rangle$ its margin and $\Delta_{i,t}=\gamma_{i,"
        r"\alpha_i}-\gamma_{i,t}$ its gap. Att-SVM$(\alpha)$ asks for the "
        r"$W=W^{\mathrm{mm}}_\alpha$ "
        r"of least $\|W\|_F$ with all margins $\ge1$; rows of margin $1$ under it are the support "
        r"indices, and $\alpha$ is locally optimal if it exists and $\Delta>0$ on them. Theorem "
        r"numbers of \cite{attsvm:theory} are those of its version 1. Gradient descent is "
        r"$W\leftarrow W-\eta\nabla L(W)$ if plain, $W\leftarrow W-\eta\nabla L(W)/\|\nabla "
        r"L(W)\|_F$ if normalized; the flow is $\dot W=-\nabla L(W)$; descent converges in "
        r"direction to $M$ if $\|W\|_F\to\infty$ and $W/\|W\|_F\to M/\|M\|_F$. "
        r"\emph{Exact}: decided over $\mathbf Q$; \emph{enclosed}: by rigorous bounds. "
        r"$\mathrm{fl}(x)$ is the binary64 number nearest to the decimal $x$, entry by entry; the "
        r"decimals of $\le$, $\ge$ and $[a,b]$ are rounded outward.")


def _facts(ctx: Context) -> str:
    if not ctx.facts:
        return ""
    lines = [rf"\item \textbf{{Fact {k}}} ({FACTS[key].name}; {FACTS[key].proof}). "
             rf"{FACTS[key].says}"
             for key, k in ctx.facts.items()]
    return (r"\attsvmlead{Theorems used,} with their place in the proofs of \cite{attsvm:software}."
            "\n\\begin{attsvmfacts}\n" + "\n".join(lines) + "\n\\end{attsvmfacts}")


def _remarks(ctx: Context, reports: Sequence[Report]) -> Iterator[str]:
    observed = [_run_text(ctx, report.run, k, len(reports)) for k, report in enumerate(reports)
                if report.run is not None]
    open_ = []
    for entry, verdict in _entries(reports):
        if verdict.undecided:
            ctx.entry = entry
            name = _subject(verdict)
            if verdict.evidence is Evidence.OBSERVED:
                observed.append(f"{name[0].upper()}{name[1:]}: {text.escape(verdict.reason)}.")
            else:
                open_.append(f"{name} ({text.escape(verdict.reason)})")
    if observed:
        yield _remark("observed, not proved", " ".join(observed))
    if open_:
        yield _remark("undecided", f"Not decided: {'; '.join(open_)}.")


def _remark(title: str, body: str) -> str:
    return f"\\begin{{attsvmremark}}[{title}]\n{body}\n\\end{{attsvmremark}}"


def _subject(verdict: Verdict) -> str:
    parts = [verdict.condition.replace("_", " ")]
    if verdict.selection is not None and len(verdict.selection) <= 12:
        parts.append(rf"for $\alpha={text.vector(list(map(str, verdict.selection)))}$")
    if verdict.loss is not None:
        parts.append(f"with {verdict.loss} loss")
    return " ".join(parts)


def _run_text(ctx: Context, run: Run, k: int, count: int) -> str:
    """What a run in floating point did."""
    ctx.entry = "run"
    where = "the certificate file" if count == 1 else f"file {_letter(k)}"
    selected = (f" select the tokens ${text.vector(list(map(str, run.selected)))}$"
                if len(run.selected) <= 16 else r" select the tokens \texttt{run.selected}")
    if isinstance(run, FactoredRun):
        on = f"on $K$ and $Q$ of {run.final_K.shape[1]} columns"
        start = "from the recorded $K$ and $Q$"
    else:
        W = _exact(run.start)
        zero = not any(x for row in W for x in row)
        on = "on $W$"
        start = "from $W=0$" if zero else "from the recorded start"
    head = "" if run.head.name == "linear" else f", with the {run.head.name} head"
    penalty = ("" if not run.penalty else
               f", with the penalty ${numbers.parameter(rational(run.penalty))[2:]}$")
    return (f"Observed in floating point: {run.rule} gradient descent {on}, $\\eta"
            f"{numbers.parameter(rational(run.step))}$, {run.loss} loss{head}{penalty}, {start}, "
            f"{text.count(run.iterations, 'step')} ({run.outcome}). The largest logits of its last "
            f"iterate, \\texttt{{run}} of {where},{selected}.")


def _exact(A: object) -> Matrix:
    return tuple(tuple(rational(float(x)) for x in row) for row in A)  # type: ignore[attr-defined]


def _reproduction(files: Sequence[File], command: str | None, formal: bool) -> str:
    made = "" if command is None else f"Made by {text.code(command)}. "
    versions = ", ".join([f"{PACKAGE} {version(PACKAGE)}", f"Python {platform.python_version()}",
                          f"python-flint {version('python-flint')}", f"numpy {version('numpy')}"])
    named = []
    for k, file in enumerate(files):
        letter = f"{_letter(k)}: " if len(files) > 1 else ""
        named.append(f"{letter}{text.code(file.name)}, sha256 {text.digest(file.sha256)}")
    several = len(files) > 1
    exported = text.code(f"attsvm export --coq {files[0].name} DIR")
    coq = f" What is marked Coq becomes a theorem for it by {exported}." if formal else ""
    names = " ".join(file.name for file in files)
    return (rf"{{\raggedright\attsvmlead{{Reproduction.}} {made}Versions: "
            rf"{text.escape(versions)}. The certificate "
            f"file{'s' if several else ''} ({'; '.join(named)}) "
            f"hold{'' if several else 's'} the dataset and every witness; "
            f"entry~{'A.' if several else ''}$k$ is item $k$, from $0$, of the list "
            rf"\texttt{{verdicts}}{' of file A' if several else ''}. All proofs are checked again "
            rf"by {text.code(f'attsvm check {names}')} or, with nothing but Python's standard "
            rf"library, {text.code(f'python -m verifier.kernel {names}')}.{coq}\par}}")
