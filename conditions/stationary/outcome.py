"""What a search for a proof reports when it finds none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NotExcluded:
    """Why stationary points were not excluded; ``suspects`` are points (r,) where one may be.

    The points are in the coordinates of `conditions.stationary.coordinates`, in floats.
    """

    reason: str
    suspects: tuple[tuple[float, ...], ...] = ()
