"""The command ``attsvm``. Exit codes: 0 done, 1 a certificate refused, 2 bad input or misuse."""

from __future__ import annotations

import io as io_streams
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from conditions.dataset import AttentionDataset, FloatArray
from conditions.errors import InvalidInput
from conditions.graphs import components, cycle_certificate, order_certificate, selection_graph
from conditions.losses import LOSSES
from conditions.selection import Selection, check_selection, optimal_selection
from verifier import io
from verifier.certify import certify
from verifier.descent import PARAMETERIZATIONS, STEP_RULES, FactoredRun, Run, descend
from verifier.directions import explore
from verifier.kernel.__main__ import main as check_files
from verifier.report.graph import check_suffix, export_graph
from verifier.report.plots import edge_solutions, export_plots
from verifier.report.terminal import print_directions, print_report, shown_selection

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help='Decide, with proof, the geometric conditions of "Transformers as Support Vector '
         'Machines" (arXiv 2308.16898, v1).')

Data = Annotated[Path, typer.Argument(help="Dataset, .npz or .json.", show_default=False)]
Trial = Annotated[int | None, typer.Option(help="Which dataset of a stack, from 0.")]
Chosen = Annotated[str, typer.Option(
    "--selection", help="opt, gd (what the run selects) or token indices I,J,… from 0.")]
Loss = Annotated[str, typer.Option(help=f"One of {', '.join(LOSSES)}.")]
Rule = Annotated[str, typer.Option(help=f"One of {', '.join(STEP_RULES)}.")]
Step = Annotated[float, typer.Option(help="η > 0, constant.")]
Iterations = Annotated[int, typer.Option(help="Steps of the run; 0 for none.")]
Start = Annotated[str, typer.Option(
    help="zero, data (W0 of the data file; K0 and Q0 for KQ) or a .npy file.")]
Parameterized = Annotated[str, typer.Option(
    help=f"{' or '.join(PARAMETERIZATIONS)}: descent on W, or on K and Q with W = K Qᵀ.")]


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"attsvm {version('attention-svm-verifier')}")
        raise typer.Exit


@app.callback()
def attsvm(show_version: Annotated[bool, typer.Option(
        "--version", callback=_show_version, is_eager=True, help="Show the version.")] = False,
        ) -> None:
    """Only what all commands share."""


@app.command("certify")
def certify_command(
        data: Data, trial: Trial = None, selection: Chosen = "opt",
        parameterization: Parameterized = "W", loss: Loss = "logistic",
        rule: Rule = "normalized", step: Step = 0.1, iterations: Iterations = 2000,
        start: Start = "zero",
        seconds: Annotated[float, typer.Option(
            help="How long the run may be continued until its limit is proved.")] = 30.0,
        from_start: Annotated[bool, typer.Option(
            "--from-start", help="Also prove the limit of exact descent from W(0), for small "
            "data, by repeating the run in enclosures.")] = False,
        json: Annotated[Path | None, typer.Option(help="Write the certificate here.")] = None,
        plots: Annotated[Path | None, typer.Option(
            help="Draw the selection graph and, in the plane, the loss landscape here.")] = None,
        ) -> None:
    """Decide every condition of a dataset, run descent on it, report and certify."""
    _check_seconds(seconds)
    _check_output(json, "--json", data, start)
    dataset = io.load_dataset(data, trial)
    report = certify(dataset, source=_source(data, trial), selection=_selection(selection),
                     parameterization=parameterization, loss=loss, rule=rule, step=step,
                     iterations=iterations, start=_start(start, data, trial, parameterization),
                     seconds=seconds, from_start=from_start, progress=True)
    print_report(report)
    if json is not None:
        io.write_atomically(json, report.certificate_text())
        print(f"certificate written to {json}; check it with: attsvm check {json}")
    if plots is not None:
        print("drawn: " + ", ".join(map(str, export_plots(report, plots, loss))))


@app.command("directions")
def directions_command(
        data: Data, trial: Trial = None, loss: Loss = "logistic", rule: Rule = "normalized",
        step: Step = 0.1,
        seconds: Annotated[float | None, typer.Option(help="Budget; none: to the end.")] = None,
        json: Annotated[Path | None, typer.Option(help="Write the certificate here.")] = None,
        ) -> None:
    """List every locally optimal selection with its margin, support and a cone of proved starts."""
    if seconds is not None:
        _check_seconds(seconds)
    _check_output(json, "--json", data)
    dataset = io.load_dataset(data, trial)
    with Console(stderr=True).status("walking the tree of selections …") as status:
        explored = explore(dataset, source=_source(data, trial), loss=loss, rule=rule, step=step,
                           seconds=seconds,
                           progress=lambda reached: status.update(f"decided {reached} …"))
    print_directions(explored)
    if json is not None:
        io.write_atomically(json, explored.report.certificate_text())
        print(f"certificate written to {json}; check it with: attsvm check {json}")


@app.command("check")
def check_command(
        files: Annotated[list[Path], typer.Argument(help="Certificate files.",
                                                    show_default=False)],
        data: Annotated[Path | None, typer.Option(
            help="Also demand that the certificates are about this dataset.")] = None,
        trial: Trial = None) -> None:
    """Re-verify certificates from their files alone, with the standard library."""
    named = None if data is None else io.load_dataset(data, trial)
    code = check_files([str(f) if not str(f).startswith("-") else f"./{f}" for f in files])
    if named is not None and code != 2:
        code = max(code, _same_dataset(files, named))
    raise typer.Exit(code)


@app.command("descend")
def descend_command(
        data: Data,
        out: Annotated[Path, typer.Option(help="Write the run here, .npz.", show_default=False)],
        trial: Trial = None, parameterization: Parameterized = "W", loss: Loss = "logistic",
        rule: Rule = "normalized", step: Step = 0.1, iterations: Iterations = 2000,
        start: Start = "zero",
        penalty: Annotated[float, typer.Option(
            help="λ ≥ 0 of λ‖W‖², or λ(‖K‖² + ‖Q‖²), added to the loss.")] = 0.0,
        keep: Annotated[int, typer.Option(help="Iterates to keep, evenly spread.")] = 0) -> None:
    """Run gradient descent and keep the run. What it shows is observed, not proved."""
    if out.suffix != ".npz":
        raise InvalidInput("--out", str(out), "must end in .npz", "choose such a name")
    if keep < 0:
        raise InvalidInput("--keep", keep, "must not be negative", "give a number of iterates")
    _check_output(out, "--out", data, start)
    dataset = io.load_dataset(data, trial)
    kept = sorted({round(k) for k in np.linspace(0, iterations, keep)}) if keep else None
    run = descend(dataset, parameterization=parameterization, rule=rule, step=step,
                  penalty=penalty, loss=loss, iterations=iterations, keep=kept, progress=True,
                  start=_start(start, data, trial, parameterization))
    io.write_atomically(out, lambda stream: np.savez(stream, **_run_arrays(run)))
    print(f"{run.outcome}: {run.iterations} steps, ‖W‖ = {np.linalg.norm(run.final):.6g}, "
          f"selected {shown_selection(run.selected)} (observed); run written to {out}")


@app.command("graph")
def graph_command(
        data: Data,
        out: Annotated[Path | None, typer.Option(
            help="Draw the graph: .svg, .png, .pdf, .dot or .graphml.")] = None,
        trial: Trial = None, selection: Chosen = "opt") -> None:
    """Build the token-selection graph: cycles, orders and components, drawn or exported."""
    if out is not None:
        check_suffix(out)
        _check_output(out, "--out", data)
    dataset = io.load_dataset(data, trial)
    named = _selection(selection)
    if named == "gd":
        alpha = descend(dataset, progress=True).selected
    elif isinstance(named, str):
        alpha = optimal_selection(dataset)
    else:
        alpha = check_selection(dataset, named)
    edges = edge_solutions(dataset, alpha)
    graph = selection_graph(dataset, alpha, edges)
    print(f"α = {shown_selection(alpha)}: {graph.number_of_nodes()} distinct tokens, "
          f"{graph.number_of_edges()} edges, {graph.graph['query_classes']} query classes")
    cycle, order = cycle_certificate(dataset, alpha), order_certificate(dataset, alpha)
    if cycle is not None:
        print(f"infeasible: a cycle of one query class through {list(cycle.edges)} (exact)")
    elif order is not None:
        print("feasible: tokens and queries are independent and every query class has a "
              "topological order (exact)")
    else:
        print(f"{'in' if edges is None else ''}feasible, though neither a cycle nor a topological "
              "order shows it: attsvm certify proves it")
    parts = [c for found in components(dataset, alpha) for c in found if len(c) > 1]
    print(f"{len(parts)} strongly connected components of more than one token")
    if out is not None:
        export_graph(graph, out)
        print(f"graph written to {out}")


def _check_seconds(seconds: float) -> None:
    if not 0 <= seconds < float("inf"):
        raise InvalidInput("--seconds", seconds, "must be a finite number of seconds ≥ 0",
                           "give a budget")


def _check_output(out: Path | None, name: str, *inputs: Path | str) -> None:
    """Refuse to write over a file that is read."""
    if out is not None and any(Path(given).exists() and out.exists() and out.samefile(given)
                               for given in inputs):
        raise InvalidInput(name, str(out), "must not be a file that is read",
                           "choose another name")


def _source(data: Path, trial: int | None) -> str:
    return data.name if trial is None else f"{data.name}, trial {trial}"


def _selection(text: str) -> str | Selection:
    """``opt``, ``gd`` or the indices that *text* lists."""
    if text in ("opt", "gd"):
        return text
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InvalidInput("--selection", text, "must be opt, gd or token indices I,J,…",
                           "give one index per sample, from 0") from None


def _start(text: str, data: Path, trial: int | None, parameterization: str
           ) -> FloatArray | tuple[FloatArray, FloatArray] | None:
    """W(0): None for zero, W0 of the data file, or the array of a .npy file; or K0 and Q0."""
    if parameterization == FactoredRun.parameterization:
        if text != "data":
            raise InvalidInput("--start", text, "must be data for --parameterization KQ",
                               "put K0 and Q0 into the data file: K = Q = 0 is stationary")
        return io.load_factored_start(data, trial)
    if text == "zero":
        return None
    if text == "data":
        return io.load_start(data, trial)
    if text.endswith(".npy"):
        return io.load_npy(text, "--start")
    raise InvalidInput("--start", text, "must be zero, data or a .npy file", "choose one")


def _run_arrays(run: Run) -> dict[str, Any]:
    arrays = {"parameterization": run.parameterization, "rule": run.rule, "step": run.step,
              "penalty": run.penalty, "loss": run.loss, "iterations": run.iterations,
              "outcome": str(run.outcome), "selected": np.array(run.selected),
              "W0": run.start, "W": run.final,
              "kept_steps": np.array([k for k, _ in run.kept], dtype=int),
              "kept_W": np.array([W for _, W in run.kept])}
    if isinstance(run, FactoredRun):
        arrays |= {"K0": run.start_K, "Q0": run.start_Q, "K": run.final_K, "Q": run.final_Q,
                   "kept_K": np.array([K for _, K, _ in run.kept_factors]),
                   "kept_Q": np.array([Q for _, _, Q in run.kept_factors])}
    return arrays


def _same_dataset(files: list[Path], dataset: AttentionDataset) -> int:
    code = 0
    for file in files:
        same = io.load_dataset(file).fingerprint == dataset.fingerprint
        print(f"{file}: {'is' if same else 'is NOT'} about the dataset {dataset.fingerprint}")
        code = code if same else 1
    return code


def main() -> None:
    """Entry point: bad input ends in one line on stderr and exit code 2, as misuse does."""
    if isinstance(sys.stdout, io_streams.TextIOWrapper):
        # Greek letters become escapes where the terminal has none.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except InvalidInput as error:
        print(f"attsvm: {error}", file=sys.stderr)
        sys.exit(2)
