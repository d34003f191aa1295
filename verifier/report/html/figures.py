"""The pictures of the page: attention, convergence, trajectories, basin, selection graph."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape

from conditions.certificates import BasinCone, BasinIsotropic, BasinResidual
from conditions.dataset import AttentionDataset, FloatArray
from conditions.exact.numbers import to_float
from conditions.graphs import selection_graph
from conditions.predicted_direction import correlation
from conditions.separation.frobenius import Infeasible, solve
from verifier.certify import Report
from verifier.report.graph_picture import draw
from verifier.report.html.svg import Line, chart, legend, path, svg
from verifier.report.plots import edge_solutions
from verifier.report.trace import Trace

_SHOWN_SAMPLES = 12
_MOST_ROWS = 120
_SIDE = 260
_MAP = 320


@dataclass(frozen=True)
class Figure:
    """A picture, its title and a sentence about it."""

    title: str
    caption: str
    pictures: tuple[Markup, ...]
    wide: bool = False


def graph_figure(report: Report) -> Figure | None:
    """The selection graph, where it is small enough to be read."""
    dataset = report.dataset
    name, alpha = report.selections[0]
    if sum(dataset.lengths) - dataset.n > _MOST_ROWS:
        return None
    drawn = draw(selection_graph(dataset, alpha, edge_solutions(dataset, alpha)), "svg").decode()
    picture = drawn[drawn.index("<svg"):].replace("<svg", '<svg role="img" aria-label="selection '
                                                  f'graph of the {escape(name)} tokens"', 1)
    return Figure("Selection graph", f"Edges lead from the {name} token of a sample to each "
                  "rejected one; thick edges are support indices.",
                  (Markup(f'<div class="paper">{picture}</div>'),), wide=True)


def convergence_figure(trace: Trace, report: Report) -> Figure:
    """‖W‖, 1 − correlation and the softmax weight of the selected tokens, over the steps."""
    run = report.run
    assert run is not None, "a trace has a run"
    after = trace.steps >= 1
    steps = trace.steps[after].astype(float)
    pictures = [chart([Line("‖W‖_F", steps, trace.norms[after])], "norm of W over the steps",
                      "step", "‖W‖_F", log_x=True, log_y=True)]
    if trace.correlations is not None:
        pictures.append(chart([Line("1 − correlation", steps, 1 - trace.correlations[after], 1)],
                              "one minus the correlation with the solution, over the steps",
                              "step", "1 − correlation with W^mm", log_x=True, log_y=True))
    lines = [Line(f"sample {i}", steps, weights[after, a], i)
             for i, (weights, a) in enumerate(zip(trace.attention, run.selected, strict=True))]
    pictures.append(chart(lines[:_SHOWN_SAMPLES], "softmax weight of the selected token", "step",
                          "weight of the selected token", log_x=True))
    return Figure("Convergence", "Observed along the run, not proved.", tuple(pictures))


def attention_figure(trace: Trace, report: Report) -> Figure:
    """A map for each sample: tokens by steps, darker where the softmax weight is larger."""
    run = report.run
    assert run is not None, "a trace has a run"
    pictures = tuple(_attention_map(i, weights, run.iterations, run.selected[i])
                     for i, weights in enumerate(trace.attention[:_SHOWN_SAMPLES]))
    more = len(trace.attention) - len(pictures)
    caption = ("Softmax weights over the steps (logarithmic from left to right); the frame marks "
               "the token that the run selects. Observed.")
    return Figure("Attention", caption + (f" {more} more samples are not drawn." if more > 0
                                          else ""), pictures)


def _attention_map(i: int, weights: FloatArray, last: int, selected: int) -> Markup:
    K, T = weights.shape
    cell, row, left, top = _MAP / K, min(24.0, 280 / T), 66, 22
    parts = [f'<text class="axis" x="{left}" y="14">sample {i}</text>']
    for t in range(T):
        y = top + t * row
        parts.append(f'<text class="tick" x="{left - 6}" y="{y + row / 2 + 4:.1f}" '
                     f'text-anchor="end">token {t}</text>')
        parts += [f'<rect class="heat" x="{left + k * cell:.1f}" y="{y:.1f}" '
                  f'width="{cell + 0.3:.1f}" height="{row - 1:.1f}" opacity="{w:.2f}"/>'
                  for k, w in enumerate(weights[:, t].tolist()) if w >= 0.005]
    parts.append(f'<rect class="frame" x="{left}" y="{top + selected * row:.1f}" width="{_MAP}" '
                 f'height="{row - 1:.1f}"/>')
    bottom = top + T * row + 14
    parts.append(f'<text class="tick" x="{left}" y="{bottom:.0f}">step 0</text>'
                 f'<text class="tick" x="{left + _MAP}" y="{bottom:.0f}" text-anchor="end">'
                 f'step {last}</text>')
    return svg("".join(parts), f"attention of sample {i}: the run selects token {selected}",
               left + _MAP + 8, bottom + 8)


def trajectory_figure(trace: Trace, report: Report) -> Figure:
    """W(k) z_i in the plane of each sample where it moves most, with the tokens (as v1, Fig. 1)."""
    run = report.run
    assert run is not None, "a trace has a run"
    pictures = tuple(_trajectory(report.dataset, trace, i, run.selected[i])
                     for i in range(min(report.dataset.n, _SHOWN_SAMPLES)))
    caption = ("Directions W(k) z_i (curve, its length in logarithm), W^mm z_i (dashed) and the "
               "tokens of sample i (filled: selected); ")
    caption += ("in the plane of the data." if report.dataset.d == 2 else
                "projected on the plane of W^mm z_i and the direction in which the tokens spread "
                "most beside it.")
    return Figure("Trajectories", caption + " Observed.",
                  (*pictures, legend([("W(k) z_i", 0), ("W^mm z_i", 1), ("tokens", 2)])))


def _plane(X: FloatArray, axis: FloatArray) -> FloatArray:
    """An orthonormal basis (2, d) of the plane of *axis* and the main spread of X beside it."""
    d = X.shape[1]
    if d == 2:
        return np.eye(2)
    first = axis / np.linalg.norm(axis) if np.linalg.norm(axis) else np.eye(d)[0]
    if d == 1:
        return np.array([[1.0], [0.0]])
    beside = (X - X.mean(axis=0)) @ (np.eye(d) - np.outer(first, first))
    return np.array([first, np.linalg.svd(beside)[2][0]])


def _trajectory(dataset: AttentionDataset, trace: Trace, i: int, selected: int) -> Markup:
    X, query = dataset.floats.tokens[i], dataset.floats.queries[i]
    moved = trace.W @ query
    target = moved[-1] if trace.direction is None else trace.direction @ query
    basis = _plane(X, target)
    tokens, curve, ray = X @ basis.T, moved @ basis.T, basis @ target
    reach = float(np.abs(tokens).max()) or 1.0
    scale, centre = _SIDE / (2.4 * reach), _SIDE / 2

    def at(point: FloatArray) -> tuple[float, float]:
        return centre + scale * float(point[0]), centre - scale * float(point[1])

    parts = [f'<text class="axis" x="8" y="16">sample {i}</text>'
             f'<path class="grid" d="M0 {centre}H{_SIDE}M{centre} 0V{_SIDE}"/>']
    size = float(np.linalg.norm(ray))
    if size:
        x, y = at(ray / size * reach * 1.1)
        parts.append(f'<path class="line dashed s1" d="M{centre} {centre}L{x:.1f} {y:.1f}"/>')
    radius = np.linalg.norm(moved, axis=1)
    grown = np.log1p(radius) / max(float(np.log1p(radius).max()), 1e-300) * reach
    points = [at(c / r * g) for c, r, g in zip(curve, radius, grown, strict=True) if r > 0]
    parts.append(f'<path class="line s0" d="{path(points)}"/>')
    for t, token in enumerate(tokens):
        x, y = at(token)
        kind = "token selected" if t == selected else "token"
        parts.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="5"><title>token {t}'
                     f'</title></circle>')
    return svg("".join(parts), f"trajectory of sample {i}", _SIDE, _SIDE)


def basin_figure(report: Report, trace: Trace | None) -> Figure | None:
    """The first certified basin or cone, in the half-plane of ⟨W, W̄⟩ and the rest of W."""
    for verdict in report.verdicts:
        certificate = verdict.certificate
        if isinstance(certificate, BasinIsotropic | BasinResidual | BasinCone):
            assert verdict.selection is not None, "a basin is about a selection"
            outcome = solve(report.dataset, verdict.selection)
            assert not isinstance(outcome, Infeasible), "a basin has a solution"
            return _drawn_basin(certificate, outcome.float_W, trace)
    return None


def _drawn_basin(certificate: BasinIsotropic | BasinResidual | BasinCone, solution: FloatArray,
                 trace: Trace | None) -> Figure:
    """Along W̄ to the right, the distance from its line upwards, both to one scale."""
    axis = solution / np.linalg.norm(solution)
    radius = to_float(certificate.radius)
    if isinstance(certificate, BasinCone):
        aperture = to_float(certificate.aperture)
        delta = math.sqrt(2 * aperture)
        along, beside, reach = radius, 0.0, 2.2 * radius
        said = (f"Every W with ‖W‖_F ≥ R = {radius:.4g} and correlation at least 1 − "
                f"{aperture:.3g} (δ = {delta:.3g}) converges in direction to W^mm; shaded.")
    else:
        W = np.array([[to_float(a) for a in row] for row in certificate.iterate])
        size = float(np.linalg.norm(W))
        along, beside = size * correlation(W, axis), _beside(W, axis)
        reach = 1.25 * (along + radius)
        delta = math.sqrt(max(2 - 2 * correlation(W, axis), 0.0))
        starts = f"every W within ϱ = {radius:.4g} (Frobenius) of" if radius else "exactly"
        said = (f"Descent from {starts} an iterate of norm {size:.4g}, whose direction is δ = "
                f"{delta:.3g} from that of W^mm (dashed), converges in direction to W^mm.")
    left, base, width = 20.0, 262.0, 480.0
    top = max(beside + radius, reach * 0.15) * 1.15
    x_scale, y_scale = width / reach, 230 / top

    def at(a: float, b: float) -> tuple[float, float]:
        return left + a * x_scale, base - b * y_scale

    parts = [f'<path class="grid" d="M{left} {base}H{left + width}M{left} {base}V24"/>'
             f'<path class="line s1" d="M{left} {base}H{left + width}"/>'
             f'<text class="axis" x="{left + width}" y="{base + 20}" text-anchor="end">'
             f'⟨W, W̄⟩ up to {reach:.4g}</text>'
             f'<text class="axis" x="{left + 4}" y="20">distance from the line of W̄, up to '
             f'{top:.3g}</text>']
    if isinstance(certificate, BasinCone):
        angle = math.acos(max(1 - to_float(certificate.aperture), -1.0))
        rim = [at(r * math.cos(a), r * math.sin(a)) for r, a in
               [*((radius, angle * k / 24) for k in range(25)), (reach, angle), (reach, 0.0)]]
        parts.append(f'<path class="basin" d="{path(rim)}Z"/>')
    else:
        x, y = at(along, beside)
        parts.append(f'<path class="line dashed s2" d="M{left} {base}L{x:.1f} {y:.1f}"/>'
                     f'<text class="axis" x="{(left + x) / 2:.1f}" y="{(base + y) / 2 - 8:.1f}">'
                     f'δ</text><ellipse class="basin" cx="{x:.1f}" cy="{y:.1f}" '
                     f'rx="{max(radius * x_scale, 3):.1f}" ry="{max(radius * y_scale, 3):.1f}"/>'
                     f'<circle class="token selected" cx="{x:.1f}" cy="{y:.1f}" r="3"/>')
    if trace is not None:
        run = [(float((W * axis).sum()), _beside(W, axis)) for W in trace.W]
        points = [at(a, b) for a, b in run if 0 <= a <= reach and b <= top]
        parts.append(f'<path class="line s0" d="{path(points)}"/>')
    return Figure("Basin", said + " The two axes have different scales; the curve is the run as "
                  "far as it was shown.", (svg("".join(parts), "certified basin", 520, 290),))


def _beside(W: FloatArray, axis: FloatArray) -> float:
    return float(np.linalg.norm(W - float((W * axis).sum()) * axis))
