"""Every direction that descent can converge to: the locally optimal selections and their basins."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from conditions import assumption_d, directions, local_optimality, only_local_optimum
from conditions.basin import cone
from conditions.dataset import AttentionDataset
from conditions.directions import Direction, Enumeration
from conditions.enumeration.tree import Progress
from conditions.losses import check_loss
from conditions.verdict import Status, Verdict, proved
from verifier.certify import Report


@dataclass(frozen=True)
class Explored:
    """An enumeration, the proved cone of each direction, and all of it as a `Report`."""

    enumeration: Enumeration
    cones: tuple[tuple[Direction, Verdict], ...]
    report: Report


def explore(dataset: AttentionDataset, *, source: str = "", loss: str = "logistic",
            rule: str = "normalized", step: float = 0.1, seconds: float | None = None,
            progress: Callable[[Progress], None] | None = None) -> Explored:
    """Enumerate the locally optimal selections and prove a cone of starts around each direction.

    seconds: budget of the enumeration; None for as long as it takes. The report holds `directions`,
    `only_local_optimum`, `assumption_d` and, per direction, `local_optimality` and `basin_cone` for
    descent by *rule* with *step* on *loss*. Raises ``InvalidInput``.
    """
    check_loss(loss)
    deadline = None if seconds is None else time.monotonic() + seconds
    enumeration = directions.enumerate_directions(dataset, seconds=seconds, progress=progress)
    left = None if deadline is None else max(deadline - time.monotonic(), 0.0)
    verdicts = [directions.verdict(enumeration),
                only_local_optimum.decide(dataset, left),
                assumption_d.decide(dataset, left)]
    cones = []
    for direction in enumeration.directions:
        verdict = cone.decide(dataset, direction.selection, rule, step, loss)
        cones.append((direction, verdict))
        verdicts += [_local_optimality(direction), verdict]
    named = tuple(("locally optimal", each.selection) for each in enumeration.directions)
    return Explored(enumeration, tuple(cones),
                    Report(dataset, source, tuple(verdicts), named, None))


def _local_optimality(direction: Direction) -> Verdict:
    """The verdict whose proof the enumeration already holds."""
    return proved(local_optimality.CONDITION, Status.HOLDS, direction.proof,
                  "proved in the enumeration", selection=direction.selection,
                  number=f"margin {direction.margin:.6g}")
