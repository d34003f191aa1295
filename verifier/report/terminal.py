"""The terminal rendering of a `Report`: a dataset line, a row per condition, what was proved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from conditions.certificates import BasinCone, LowNormLimit
from conditions.dataset import AttentionDataset
from conditions.exact.numbers import to_float
from conditions.selection import Selection
from conditions.verdict import Evidence, Status, Verdict
from verifier.certify import Report
from verifier.descent import FactoredRun, LinearHead
from verifier.directions import Explored
from verifier.report.glossary import glossary

_STATUS_STYLE = {Status.HOLDS: "bold green", Status.FAILS: "bold red", Status.UNDECIDED: "yellow"}
_EVIDENCE_STYLE = {Evidence.EXACT: "green", Evidence.ENCLOSED: "cyan", Evidence.OBSERVED: "yellow"}

_LONG = 12
_WIDE = 140
_RUNS = 6


def shown_selection(selection: Selection) -> str:
    """*selection* in one short line, tokens counted from 0."""
    if len(selection) <= _LONG:
        return ",".join(map(str, selection))
    return ",".join(map(str, selection[:_LONG])) + f",… ({len(selection)})"


def dataset_line(report: Report) -> Text:
    """n, T, d, labels and fingerprint on one line."""
    dataset = report.dataset
    short, long = min(dataset.lengths), max(dataset.lengths)
    T = str(short) if short == long else f"{short}..{long}"
    positive = sum(y == 1 for y in dataset.labels)
    constraints = sum(dataset.lengths) - dataset.n
    return Text.assemble(
        (report.source or "dataset", "bold"),
        f"  {_samples(dataset)}, T = {T}, d = {dataset.d}; labels +{positive} −"
        f"{dataset.n - positive}; {constraints} constraints; sha256 {dataset.fingerprint[:16]}…")


def _samples(dataset: AttentionDataset) -> str:
    sequences = len({sequence for sequence, _ in dataset.origins or ()})
    if sequences in (0, dataset.n):
        return f"n = {dataset.n}"
    return f"n = {dataset.n} samples from {sequences} sequence{'s' if sequences > 1 else ''}"


def origin_lines(dataset: AttentionDataset) -> list[Text]:
    """Which positions of which sequences the samples are; none for cross-attention data."""
    if dataset.origins is None:
        return []
    positions = {k for _, k in dataset.origins}
    if len(positions) == 1 and [i for i, _ in dataset.origins] == list(range(dataset.n)):
        return [Text(f"every query is the token at position {positions.pop()} of its sample")]
    # Runs of samples at successive positions of one sequence: their sample minus position is fixed.
    numbered = enumerate(dataset.origins)
    runs = [list(run) for _, run in groupby(numbered, lambda m: (m[1][0], m[0] - m[1][1]))]
    parts = [f"{_span('sample', run[0][0], run[-1][0])}: sequence {run[0][1][0]}, "
             f"{_span('position', run[0][1][1], run[-1][1][1])}" for run in runs[:_RUNS]]
    if len(runs) > _RUNS:
        parts.append(f"… ({len(runs)} such runs)")
    return [Text("; ".join(parts))]


def _span(of: str, first: int, last: int) -> str:
    return f"{of} {first}" if first == last else f"{of}s {first}–{last}"


def verdict_rows(report: Report, *, wide: bool) -> list[RenderableType]:
    """One row per verdict, grouped by what it is about; *wide* adds the reasons."""
    parts: list[RenderableType] = [_table(wide=wide, header=True)]
    for about, verdicts in groupby(report.verdicts, key=lambda v: subject_line(v, report)):
        table = _table(wide=wide, header=False)
        for verdict in verdicts:
            table.add_row(*_cells(verdict), *((Text(verdict.reason),) if wide else ()))
        parts += [Text(about, style="italic"), table]
    return parts


def _table(*, wide: bool, header: bool) -> Table:
    """A table whose columns line up with those of the others."""
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, show_header=header,
                  header_style="bold")
    for name, width in (("condition", 23), ("status", 9), ("evidence", 8), ("figure", 16),
                        ("witness", 20)):
        table.add_column(name, width=width, overflow="fold")
    if wide:
        table.add_column("reason", overflow="fold")
    return table


def subject_line(verdict: Verdict, report: Report) -> str:
    """What the verdict is about, beside the dataset."""
    names = {selection: name for name, selection in reversed(report.selections)}
    parts = []
    if verdict.selection is not None:
        parts.append(f"α = {shown_selection(verdict.selection)}")
        parts += [name for name in [names.get(verdict.selection)] if name]
    if verdict.loss is not None:
        parts.append(f"{verdict.loss} loss")
    return ", ".join(parts) or "scores and features"


def _cells(verdict: Verdict) -> tuple[Text, Text, Text, Text, Text]:
    evidence = "–" if verdict.evidence is None else str(verdict.evidence)
    style = "dim" if verdict.evidence is None else _EVIDENCE_STYLE[verdict.evidence]
    kind = "–" if verdict.certificate is None else verdict.certificate.kind
    return (Text(verdict.condition),
            Text(str(verdict.status), style=_STATUS_STYLE[verdict.status]),
            Text(evidence, style=style), Text(verdict.number), Text(kind))


def notes(report: Report) -> list[Text]:
    """Why each undecided verdict is undecided, a reason a line."""
    named: dict[str, list[str]] = {}
    for v in report.verdicts:
        if v.undecided:
            named.setdefault(v.reason, []).append(v.condition)
    return [Text(f"{', '.join(conditions)}: {reason}", style="yellow")
            for reason, conditions in named.items()]


def run_line(report: Report) -> Text:
    """What the descent run did; all of it observed."""
    run = report.run
    if run is None:
        return Text("no descent run", style="dim")
    on = f" on K and Q, m = {run.final_K.shape[1]}" if isinstance(run, FactoredRun) else ""
    of_head = "" if isinstance(run.head, LinearHead) else f"{run.head.name} head, "
    return Text.assemble(
        ("descent run (observed)  ", "bold"),
        f"{run.rule} GD{on}, η = {run.step:g}, {run.loss} loss, {of_head}{run.iterations} steps, "
        f"{run.outcome}; selected {shown_selection(run.selected)}")


def count_line(report: Report) -> Text:
    """How many verdicts are proved, observed and undecided."""
    proved = Counter(str(v.evidence) for v in report.verdicts if not v.undecided)
    observed = sum(v.evidence is Evidence.OBSERVED for v in report.verdicts)
    open_ = sum(v.undecided and v.evidence is None for v in report.verdicts)
    return Text(f"proved: {proved['exact']} exact, {proved['enclosed']} enclosed; "
                f"observed only: {observed}; undecided: {open_}")


def limit_lines(report: Report) -> list[Text]:
    """Where descent goes, as far as it is proved; none without a run and without a proof."""
    clauses = list(_limits({v.condition: v for v in report.verdicts if v.holds}))
    if clauses:
        return [Text.assemble(("limit (proved)  ", "bold"), "; ".join(clauses))]
    if report.run is None:
        return []
    return [Text("limit: nothing is proved about where descent goes")]


def _limits(holding: dict[str, Verdict]) -> Iterator[str]:
    """The strongest statement about the run, what the path from 0 does, what every start does."""
    from_start, basin = holding.get("limit_from_start"), holding.get("basin")
    to_opt = "converges in direction to W^mm of the optimal tokens"
    if from_start is not None and from_start.selection is not None:
        yield ("exact descent from W(0), with the rule and step of the run, converges in direction "
               f"to W^mm_α, α = {shown_selection(from_start.selection)}")
    elif basin is not None and basin.selection is not None:
        at = f" at {basin.number}" if basin.number else ""
        yield (f"exact descent from the iterate of the run{at}, with its rule and step, converges "
               f"in direction to W^mm_α, α = {shown_selection(basin.selection)}")
    elif "large_first_step" in holding:
        yield f"exact descent from W(0) = 0, with the step of the run, {to_opt}"
    elif "low_norm_limit" in holding:
        certificate = holding["low_norm_limit"].certificate
        step = (f" with η = {to_float(certificate.step):.6g}"
                if isinstance(certificate, LowNormLimit) else "")
        yield f"exact plain descent{step} from the last iterate of the run {to_opt}"
    if "invariant_ray" in holding:
        yield ("exact descent from W(0) = 0 stays on a ray, the direction of W^mm_α for no locally "
               "optimal α")
    if "nonnegative_features" in holding:
        yield f"descent on W from every start, as a flow or with short plain steps, {to_opt}"


def glossary_lines(report: Report) -> list[Text]:
    """A line for each abbreviation among the figures, and an empty one."""
    lines = [Text.assemble((name, "bold"), f": {meaning}", style="dim")
             for name, meaning in glossary(report.verdicts)]
    return [*lines, Text()] if lines else []


def direction_table(explored: Explored) -> Table:
    """One row per locally optimal selection: margin, support, and the cone of proved starts."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for name in ("selection α", "margin", "support", "R", "corr ≥", "stays within δ"):
        table.add_column(name, overflow="fold")
    for direction, verdict in explored.cones:
        cone = verdict.certificate
        cells = ["no cone found"]
        if isinstance(cone, BasinCone):
            aperture = to_float(cone.aperture)
            cells = [f"{to_float(cone.radius):.5g}", f"1 − {aperture:.3g}",
                     f"{(2 * aperture) ** 0.5:.3g}"]
        table.add_row(shown_selection(direction.selection), f"{direction.margin:.6g}",
                      str(len(direction.support)), *cells)
    return table


def render(report: Report, *, width: int) -> RenderableType:
    """The whole report for a console of *width* columns."""
    wide = width >= _WIDE
    return Group(dataset_line(report), *origin_lines(report.dataset), Text(),
                 *verdict_rows(report, wide=wide), Text(),
                 *glossary_lines(report), *([] if wide else notes(report)), run_line(report),
                 *limit_lines(report), count_line(report))


def print_report(report: Report, console: Console | None = None) -> None:
    """Print *report* to the terminal."""
    console = console or Console()
    console.print(render(report, width=console.width))


def print_directions(explored: Explored, console: Console | None = None) -> None:
    """Print the locally optimal selections of *explored* and what was decided about the set."""
    console = console or Console()
    report = explored.report
    about_set = [v for v in report.verdicts if v.selection is None]
    table = _table(wide=False, header=True)
    for verdict in about_set:
        table.add_row(*_cells(verdict))
    notes_ = [Text(f"{v.condition}: {v.reason}") for v in about_set]
    console.print(Group(dataset_line(report), *origin_lines(report.dataset), Text(),
                        direction_table(explored), Text(), table, Text(), *notes_,
                        count_line(report)))
