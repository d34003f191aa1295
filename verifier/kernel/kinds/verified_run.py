"""The limit of exact descent from a stated start: `verified_run`.

The steps are replayed from the start with a bound of the error (`verifier.kernel.replay`), and
every matrix within that bound of the last center is in a basin (`cone`, `residual`). So the exact
iterate is, and descent from there converges in direction to W^mm_α.
"""

from __future__ import annotations

from fractions import Fraction

from ..claim import ENCLOSED, Claim, Proved
from ..reading import Node
from ..refusals import Code
from ..replay import NotEnclosed, Replay
from .cone import basin_isotropic
from .descent import Descent, demand_moderate_scores, iterate_text, read_descent, read_radius
from .residual import basin_residual

MAX_STEPS = 1 << 20
MIN_PRECISION, MAX_PRECISION = 64, 65536
_BASINS = {check.__name__: check for check in (basin_isotropic, basin_residual)}


def verified_run(claim: Claim, node: Node) -> Proved:
    """The iterate after the stated number of steps is in the ball of a basin of the same rule."""
    d = claim.dataset.d
    fields = node.object("kind", "start", "rule", "step", "steps", "precision", "basin")
    start = fields["start"].matrix(d, d)
    steps = fields["steps"].integer(0, MAX_STEPS)
    bits = fields["precision"].integer(MIN_PRECISION, MAX_PRECISION)
    rule = fields["rule"].choice(["normalized", "plain"])
    descent = read_descent(fields["rule"], fields["step"])
    demand_moderate_scores(claim, node)
    basin = fields["basin"]
    check = _BASINS[basin.field("kind").choice(list(_BASINS))]
    if read_descent(basin.field("rule"), basin.field("step")) != descent:
        raise basin.refuse(Code.OTHER_DESCENT, "the basin is for another rule or step")
    check(claim, basin)
    try:
        replay = Replay(claim.dataset, str(claim.loss), rule, descent.step, start, bits)
        for _ in range(steps):
            replay.advance()
    except NotEnclosed:
        raise fields["precision"].refuse(
            Code.NOT_ENCLOSED, "the error grows too large, or the gradient may vanish") from None
    if not replay.within(basin.field("iterate").matrix(d, d), read_radius(basin.field("radius"))):
        raise fields["steps"].refuse(Code.NOT_IN_BALL, "the iterate may be outside of the ball")
    return Proved(_text(claim, descent, start, steps), ENCLOSED)


def _text(claim: Claim, descent: Descent, start: tuple[tuple[Fraction, ...], ...],
          steps: int) -> str:
    where = iterate_text(claim, start).replace("the stated iterate", "the stated start")
    return f"exact {descent} from {where}; in a basin at step {steps}"
