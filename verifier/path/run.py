"""The regularization path: minimisers of L over balls of growing radius, sought from many starts.

    W_R = argmin L(W), ‖W‖_F ≤ R          (K, Q)_R = argmin L(KQᵀ), ½(‖K‖² + ‖Q‖²) ≤ R

The loss is not convex: what is found is the best of finitely many local searches, so everything
here is observed. Source: arXiv 2308.16898 v1, (W-RP), (KQ-RP), Theorems 2 and 9, Definition 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from conditions import unique_nuclear_optimum
from conditions.dataset import AttentionDataset, FloatArray
from conditions.errors import InvalidInput, unknown
from conditions.exact.threads import one_blas_thread
from conditions.predicted_direction import correlation, nuclear_comparison
from conditions.selection import Selection, check_selection, optimal_selection
from conditions.separation import frobenius, nuclear
from conditions.separation.frobenius import Infeasible
from conditions.separation.nuclear import NuclearSolution
from verifier.descent import descend
from verifier.descent.packing import check_magnitudes
from verifier.descent.selected import selected_tokens
from verifier.path.ball import Minimum, Smooth, minimize
from verifier.path.cone import Cone, inner_radius
from verifier.path.coordinates import COORDINATES, Coordinates

RADII, STARTS, GROWTH = 13, 8, 1000.0
"""Defaults: radii of the grid, seeded starts, and the largest radius over the least norm of a W
that separates."""

_DESCENT_STEPS = 500
_PARTS, _HALVINGS = 4, 20
_SEEDED_STEPS = 100
_AGREEMENT = 1e-6
_NUCLEAR_ACCURACY = 1e-12


@dataclass(frozen=True, eq=False)
class PathPoint:
    """The best point found within the ball of radius ``R``.

    ``W`` (d, d) is W_R or K_RQ_Rᵀ, ``norm`` its Frobenius or nuclear norm; ``excess_log`` is
    log(L − L_α), ``residual`` the stationarity of `ball.Minimum`, ``selected`` the argmax tokens,
    decided exactly; ``agreeing`` counts the seeded starts that led to this value or a lower one, up
    to 1e-6 of log(L − L_α). Where W^mm exists, ``correlation`` is that with it, ``distance`` is
    ‖W/R − W^mm/‖W^mm‖‖_F in the norm of the ball, else both are None; ``set_excess``, for K and
    Q, is the certified excess of ‖W‖_* over its least margin (`NuclearComparison.excess`).
    """

    R: float
    W: FloatArray
    norm: float
    excess_log: float
    residual: float
    selected: Selection
    agreeing: int
    correlation: float | None
    distance: float | None
    set_excess: float | None


@dataclass(frozen=True, eq=False)
class LocalCone:
    """The cone of a local path: ε, the largest ε that admits W^mm, the same in v1's cone, R₀.

    ``radius`` bounds the norm of the ball from below, so it is R₀ √min(n, d) for K and Q.
    """

    epsilon: float
    largest: float
    printed: float
    radius: float


@dataclass(frozen=True, eq=False)
class RegularizationPath:
    """A path, with what it is compared to; all of it observed.

    ``predicted`` is W^mm_α (or a W of least nuclear norm) in float64, None where no W separates or
    floats do not reach; ``unique`` says whether it is proved to be the only optimum. ``limit`` is
    L_α. ``seeded`` counts the seeded starts at every radius.
    """

    dataset: AttentionDataset
    parameterization: str
    loss: str
    selection: Selection
    predicted: FloatArray | None
    unique: bool
    cone: LocalCone | None
    limit: float
    seed: int
    seeded: int
    points: tuple[PathPoint, ...]


@dataclass(frozen=True, eq=False)
class _Target:
    """The predicted direction, as far as there is one."""

    W: FloatArray | None
    unique: bool = True
    optimum: NuclearSolution | None = None


def regularization_path(dataset: AttentionDataset, *, parameterization: str = "W",
                        selection: Selection | None = None, cone: float | None = None,
                        loss: str = "logistic", radii: int = RADII,
                        max_radius: float | None = None, starts: int = STARTS, seed: int = 0,
                        progress: Callable[[int, int], None] | None = None) -> RegularizationPath:
    """Seek the minimisers on a geometric grid of *radii* radii up to *max_radius*.

    parameterization: ``"W"`` or ``"KQ"`` (with as many columns as ever help). selection: α, by
    default the optimal tokens. cone: ε for the local path in cone_ε(α), 0 for half the largest ε
    that admits W^mm_α; without it the path is global, and α must be optimal. The grid begins at
    ‖W^mm‖, where all margins can be 1, or at 2R₀ (`cone.inner_radius`) in a cone, and ends by
    default at `GROWTH` times as much. starts: random starts, as many again that descent leads to
    from small random ones, from *seed*; to these come the minimisers before, scaled, and W^mm.
    progress is called with the radii done and their number.

    Raises ``InvalidInput``, also where the loss is constant or W^mm is not in the cone.
    """
    _check(parameterization, radii, starts, seed, cone)
    optimal = optimal_selection(dataset)
    alpha = optimal if selection is None else check_selection(dataset, selection)
    if cone is None and any(scores[a] != scores[b] for scores, a, b in
                            zip(dataset.scores, alpha, optimal, strict=True)):
        raise InvalidInput("selection", alpha, "must be optimal for the global path",
                           "give ε for the path in cone_ε(α)")
    check_magnitudes(dataset, "")
    at = COORDINATES[parameterization](dataset, alpha, loss)
    if at.objective.flat:
        raise InvalidInput("dataset", dataset, "must have different scores in some sample, also "
                           "as floats", "the loss is constant")
    target = _target(dataset, alpha, parameterization)
    local = None if cone is None else _local(dataset, alpha, at, target, cone, loss)
    grid = _grid(at, target, local, radii, max_radius)
    with one_blas_thread(), np.errstate(all="ignore"):
        search = _Search(dataset, at, target, local, starts, seed, loss)
        points = []
        for R in grid:
            points.append(search.point(R))
            if progress is not None:
                progress(len(points), len(grid))
    return RegularizationPath(dataset, parameterization, loss, alpha, target.W, target.unique,
                              local, at.objective.limit(), seed, search.seeded, tuple(points))


def _check(parameterization: object, radii: int, starts: int, seed: int,
           cone: float | None) -> None:
    if parameterization not in COORDINATES:
        raise unknown("parameterization", parameterization, COORDINATES)
    for name, value, least in (("radii", radii, 2), ("starts", starts, 1), ("seed", seed, 0)):
        if value < least:
            raise InvalidInput(name, value, f"must be at least {least}", "correct it")
    if cone is not None and not 0 <= cone < math.inf:
        raise InvalidInput("cone", cone, "must be 0 or a positive ε", "0 chooses one")


def _target(dataset: AttentionDataset, alpha: Selection, parameterization: str) -> _Target:
    """W^mm_α, or a W of least nuclear norm."""
    if parameterization == Coordinates.name:
        outcome = frobenius.solve(dataset, alpha)
        if isinstance(outcome, Infeasible) or not np.isfinite(outcome.float_W).all():
            return _Target(None)
        return _Target(outcome.float_W)
    optimum = nuclear.solve(dataset, alpha, _NUCLEAR_ACCURACY)
    if not isinstance(optimum, NuclearSolution):
        return _Target(None)
    return _Target(optimum.float_W, unique_nuclear_optimum.decide(dataset, alpha).holds, optimum)


def _local(dataset: AttentionDataset, alpha: Selection, at: Coordinates, target: _Target,
           epsilon: float, loss: str) -> LocalCone:
    """The cone of a local path. Raises ``InvalidInput`` where W^mm_α is not in it."""
    if target.W is None:
        raise InvalidInput("selection", alpha, "must be separable for a path in its cone",
                           "attsvm certify shows why it is not")
    cone, margins = Cone.of(dataset, alpha), at.margins(at.point(target.W))
    size = float(np.linalg.norm(target.W))
    largest, printed = cone.slack(margins) / size, cone.printed_slack(margins) / size
    # An ε of more than this share of W^mm's own slack leaves no room for rounding.
    if not largest > 1e-9:
        raise InvalidInput("selection", alpha, "must be locally optimal for a path in its cone",
                           "W^mm lies in the cone of no ε > 1e-9; attsvm directions lists those")
    if epsilon > 0.999 * largest:
        raise InvalidInput("cone", epsilon, f"must be below {largest:.6g}, or W^mm is not in it",
                           "choose a smaller ε")
    chosen = epsilon or (largest / 2 if largest < math.inf else 1.0)
    within = inner_radius(dataset, alpha, chosen, loss)
    if at.name != Coordinates.name:
        within *= math.sqrt(min(at.p, at.q))
    return LocalCone(chosen, largest, printed, within)


def _grid(at: Coordinates, target: _Target, local: LocalCone | None, radii: int,
          max_radius: float | None) -> list[float]:
    """Radii in geometric progression."""
    if target.W is None:
        sizes = np.linalg.norm(at.slopes(at.point(np.eye(at.phi.dataset.d))), axis=1)
        unit = 1 / float(np.median(sizes[sizes > 0])) if sizes.any() else 1.0
    else:
        unit = at.norm(target.W)
    # At R₀ itself the ball and the cone's inner radius would leave a sphere.
    least = unit if local is None else max(unit, 2 * local.radius)
    most = GROWTH * least if max_radius is None else max_radius
    if not least < most < 1e100:
        raise InvalidInput("max_radius", most, f"must exceed the least radius, {least:.6g}",
                           "choose a larger one, below 1e100")
    return [float(R) for R in np.geomspace(least, most, radii)]


class _Search:
    """What the searches at all radii share: seeded directions and the minimisers so far."""

    def __init__(self, dataset: AttentionDataset, at: Coordinates, target: _Target,
                 local: LocalCone | None, starts: int, seed: int, loss: str) -> None:
        self._dataset, self._at, self._target, self._local = dataset, at, target, local
        self._function = at.smooth()
        if local is not None:
            self._cone = Cone.of(dataset, at.phi.selection)
            self._function = self._restricted(self._function, local)
        self._directions = self._seeded(starts, np.random.default_rng(seed), loss)
        self._best: Minimum | None = None

    @property
    def seeded(self) -> int:
        """The seeded starts of every radius."""
        return len(self._directions)

    def point(self, R: float) -> PathPoint:
        """The best of all searches in the ball of radius *R*."""
        radius = self._at.ball(R)
        found = [minimize(self._function, radius, x, steps=_SEEDED_STEPS)
                 for x in self._of_length(radius)]
        others = [minimize(self._function, radius, x) for x in self._known(radius)]
        best = min((*found, *others), key=lambda m: m.value)
        self._best = best
        close = best.value + _AGREEMENT * max(1.0, abs(best.value))
        return self._compared(R, best, sum(m.value <= close for m in found))

    def _compared(self, R: float, best: Minimum, agreeing: int) -> PathPoint:
        at, target, W = self._at, self._target, self._at.product(best.x)
        similar = distance = set_excess = None
        if target.W is not None:
            similar = correlation(W, target.W)
            distance = float(np.linalg.norm(W / R - target.W / at.norm(target.W)))
        if target.optimum is not None:
            set_excess = nuclear_comparison(target.optimum, W).excess
        W.flags.writeable = False
        return PathPoint(R, W, at.norm(W), best.value, best.residual,
                         selected_tokens(self._dataset, W), agreeing, similar, distance,
                         set_excess)

    # Starts ---------------------------------------------------------------------------------

    def _seeded(self, starts: int, rng: np.random.Generator, loss: str) -> list[FloatArray]:
        """Random points, and where descent from small random points leads; unit length."""
        at, d = self._at, self._dataset.d
        random = [rng.normal(size=at.size) for _ in range(starts)]
        small = rng.normal(size=(starts, d, d)) / d
        runs = descend([self._dataset] * starts, start=list(small), loss=loss,
                       iterations=_DESCENT_STEPS)
        points = [*random, *(at.point(run.final) for run in runs)]
        return [x / np.linalg.norm(x) for x in points if np.linalg.norm(x) > 0]

    def _of_length(self, radius: float) -> Iterator[FloatArray]:
        for k, x in enumerate(self._directions):
            start = self._admitted(x * radius, radius, (k % _PARTS + 1) / _PARTS)
            if start is not None:
                yield start

    def _known(self, radius: float) -> Iterator[FloatArray]:
        """The minimiser before, as it is and scaled; W^mm, scaled."""
        candidates: Sequence[FloatArray] = []
        if self._best is not None:
            size = float(np.linalg.norm(self._best.x))
            candidates = [self._best.x, self._best.x * (radius / size)] if size else [self._best.x]
        if self._target.W is not None:
            best = self._at.point(self._target.W)
            candidates = [*candidates, best * (radius / np.linalg.norm(best))]
        for x in candidates:
            if self._function.value(x) < math.inf:
                yield x

    # The cone -------------------------------------------------------------------------------

    def _inside(self, x: FloatArray, local: LocalCone) -> bool:
        W = self._at.reduced(x)
        size = float(np.linalg.norm(W))
        return (self._cone.slack(self._at.margins(x)) >= local.epsilon * size
                and self._at.norm(W) >= local.radius)

    def _restricted(self, function: Smooth, local: LocalCone) -> Smooth:
        return Smooth(lambda x: function.value(x) if self._inside(x, local) else math.inf,
                      function.jet)

    def _admitted(self, x: FloatArray, radius: float, part: float) -> FloatArray | None:
        """*x*; or, in a cone that it is not in, *part* of the way from W^mm to where it is left."""
        if self._local is None or self._function.value(x) < math.inf:
            return x if self._function.value(x) < math.inf else None
        assert self._target.W is not None, "a local path has one"
        W, best = self._at.product(x), self._target.W
        W, best = W / self._at.norm(W), best / self._at.norm(best)

        def mixed(share: float) -> FloatArray:
            point = self._at.point((1 - share) * best + share * W)
            return np.asarray(point * (radius / np.linalg.norm(point)))

        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            share = (low + high) / 2
            if self._function.value(mixed(share)) < math.inf:
                low = share
            else:
                high = share
        start = mixed(part * low)
        return start if self._function.value(start) < math.inf else None
