"""Small pictures as SVG text that takes its colours from the page, light or dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape

from conditions.dataset import FloatArray

WIDTH, HEIGHT = 400, 270
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 12, 12, 46


@dataclass(frozen=True)
class Line:
    """A labelled curve; ``style`` is the number of its colour, from 0."""

    label: str
    x: FloatArray
    y: FloatArray
    style: int = 0


class Axis:
    """One axis: values to pixels, linear or logarithmic, and round ticks."""

    def __init__(self, values: FloatArray, start: float, end: float, *, log: bool) -> None:
        finite = values[np.isfinite(values) & ((values > 0) if log else True)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (1.0, 10.0)
        if log:
            low, high = math.floor(math.log10(low)), math.ceil(math.log10(high))
        if low == high:
            low, high = low - 0.5, high + 0.5
        self.log, self.low, self.high, self.start, self.end = log, low, high, start, end

    def at(self, value: float) -> float:
        """The pixel of *value*."""
        place = math.log10(value) if self.log else value
        return self.start + (place - self.low) / (self.high - self.low) * (self.end - self.start)

    def shows(self, value: float) -> bool:
        """Whether *value* has a pixel."""
        return math.isfinite(value) and (value > 0 or not self.log)

    def ticks(self) -> list[tuple[float, str]]:
        """Pixels and texts."""
        if self.log:
            powers = range(int(self.low), int(self.high) + 1)
            every = max(1, math.ceil(len(powers) / 6))
            return [(self.at(10.0**p), f"10{_raised(p)}" if p not in (0, 1) else str(10**p))
                    for p in powers if p % every == 0]
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / 4))
        step = next(s for s in (step, 2 * step, 5 * step, 10 * step)
                    if (self.high - self.low) / s <= 6)
        first = math.ceil(self.low / step)
        return [(self.at(k * step), f"{k * step:.6g}")
                for k in range(first, math.floor(self.high / step) + 1)]


def _raised(power: int) -> str:
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def svg(body: str, label: str, width: float = WIDTH, height: float = HEIGHT) -> Markup:
    """*body* as a picture with a text for those who do not see it."""
    return Markup(f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="'
                  f'{escape(label)}">{body}</svg>')


def chart(lines: Sequence[Line], label: str, x_name: str, y_name: str, *, log_x: bool = False,
          log_y: bool = False) -> Markup:
    """Curves with axes, a grid and a legend."""
    x = Axis(np.concatenate([line.x for line in lines]), _LEFT, WIDTH - _RIGHT, log=log_x)
    y = Axis(np.concatenate([line.y for line in lines]), HEIGHT - _BOTTOM, _TOP, log=log_y)
    parts = [_frame(x, y, x_name, y_name)]
    for line in lines:
        points = [(x.at(a), y.at(b)) for a, b in zip(line.x.tolist(), line.y.tolist(), strict=True)
                  if x.shows(a) and y.shows(b)]
        parts.append(f'<path class="line s{line.style % 8}" d="{path(points)}">'
                     f'<title>{escape(line.label)}</title></path>')
    return svg("".join(parts), label)


def _frame(x: Axis, y: Axis, x_name: str, y_name: str) -> str:
    parts = []
    for at, text in x.ticks():
        parts.append(f'<path class="grid" d="M{at:.1f} {_TOP}V{HEIGHT - _BOTTOM}"/>'
                     f'<text class="tick" x="{at:.1f}" y="{HEIGHT - _BOTTOM + 16}" '
                     f'text-anchor="middle">{text}</text>')
    for at, text in y.ticks():
        parts.append(f'<path class="grid" d="M{_LEFT} {at:.1f}H{WIDTH - _RIGHT}"/>'
                     f'<text class="tick" x="{_LEFT - 6}" y="{at + 4:.1f}" '
                     f'text-anchor="end">{text}</text>')
    middle = (_TOP + HEIGHT - _BOTTOM) / 2
    parts.append(f'<text class="axis" x="{(_LEFT + WIDTH - _RIGHT) / 2:.0f}" y="{HEIGHT - 6}" '
                 f'text-anchor="middle">{escape(x_name)}</text>'
                 f'<text class="axis" transform="translate(16 {middle:.0f}) rotate(-90)" '
                 f'text-anchor="middle">{escape(y_name)}</text>')
    return "".join(parts)


def path(points: Sequence[tuple[float, float]]) -> str:
    """The ``d`` of a polyline."""
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in points) if points else ""


def legend(names: Sequence[tuple[str, int]]) -> Markup:
    """A list of colours and what they stand for."""
    items = "".join(f'<li><span class="swatch s{style % 8}"></span>{escape(name)}</li>'
                    for name, style in names)
    return Markup(f'<ul class="legend">{items}</ul>')
