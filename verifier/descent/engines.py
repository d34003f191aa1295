"""Two engines that take the same steps: lanes (many trials, compiled) and BLAS (one large one).

An engine holds the iterates of its trials and advances them; a run may be cut into pieces at
any step without changing a bit of the result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from conditions.dataset import AttentionDataset, FloatArray
from verifier.descent import kernels
from verifier.descent.kernels import LOWEST
from verifier.descent.lanes import LANES
from verifier.descent.loss import Loss
from verifier.descent.packing import PaddedDataset
from verifier.descent.parameterization import Factors, Parameterization
from verifier.descent.rules import StepRule


class Engine(Protocol):
    """The iterates of some trials, and how to advance them."""

    def advance(self, iterations: int) -> None:
        """Take up to *iterations* more steps in every trial that still moves."""

    def iterate(self, trial: int) -> Factors:
        """A copy of the current factors of *trial*."""

    def steps(self, trial: int) -> int:
        """Steps that *trial* has taken."""

    def moving(self, trial: int) -> bool:
        """Whether the next step would change a factor and stay in range."""

    def overflowed(self, trial: int) -> bool:
        """Whether *trial* stands still because the next step would leave the range."""


class LaneEngine:
    """Up to eight datasets, one in each lane of the compiled kernel; factors of equal shapes."""

    def __init__(self, datasets: Sequence[AttentionDataset], starts: Sequence[Factors],
                 parameterization: Parameterization, rule: StepRule, step: float, penalty: float,
                 loss: Loss) -> None:
        padded = [PaddedDataset.of(dataset) for dataset in datasets]
        n = max(len(data.queries) for data in padded)
        T = max(data.mask.shape[1] for data in padded)
        d = datasets[0].d
        self._factor_shape, self._factors = starts[0][0].shape, len(starts[0])
        self._shape = (n, T, d, self._factor_shape[1] if self._factors == 2 else kernels.WHOLE)
        self._settings = (rule.code, step, loss.code)
        tokens, self._tokens = _rows((n, T - 1, d))
        scores, self._scores = _rows((n, T))
        mask, self._mask = _rows((n, T))
        queries, self._queries = _rows((n, d))
        iterates, self._weights = _rows((self._factors, *self._factor_shape))
        mask[:, 1:] = -np.inf
        for lane, (data, start) in enumerate(zip(padded, starts, strict=True)):
            rows, columns = data.mask.shape
            tokens[:rows, :columns - 1, :, lane] = data.tokens[:, 1:]
            scores[:rows, :columns, lane] = data.scores
            mask[:rows, :columns, lane] = data.mask
            queries[:rows, :, lane] = data.queries
            iterates[..., lane] = start
        _, self._scratch = _rows((kernels.scratch_rows(self._shape),))
        status, self._status = _rows((kernels.STATUS_ROWS,))
        used = len(datasets)
        status[kernels.ALIVE, :used] = 1.0
        status[kernels.BOUND, :used] = [_total_norm(start) for start in starts]
        status[kernels.LIMIT] = parameterization.largest_norm
        status[kernels.SAMPLES] = 1.0
        status[kernels.SAMPLES, :used] = [dataset.n for dataset in datasets]
        status[kernels.LOG_PENALTY] = LOWEST
        if penalty > 0:
            status[kernels.LOG_PENALTY, :used] = [_log_penalty(penalty, data) for data in datasets]

    def advance(self, iterations: int) -> None:
        """See `Engine`."""
        kernels.advance(self._tokens, self._scores, self._mask, self._queries, self._weights,
                        self._status, self._scratch, self._shape, *self._settings, iterations)

    def iterate(self, trial: int) -> Factors:
        """See `Engine`."""
        return tuple(part.reshape(self._factor_shape).copy()
                     for part in np.split(self._weights[:, trial], self._factors))

    def steps(self, trial: int) -> int:
        """See `Engine`."""
        return int(self._status[kernels.STEPS, trial])

    def moving(self, trial: int) -> bool:
        """See `Engine`."""
        return bool(self._status[kernels.ALIVE, trial])

    def overflowed(self, trial: int) -> bool:
        """See `Engine`."""
        return bool(self._status[kernels.OVERFLOWED, trial])


def _rows(shape: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """Zeros of shape (*shape, 8), and the same memory as (rows, 8).

    Rows start at multiples of 64 bytes: a lane vector then never straddles a cache line.
    """
    rows = int(np.prod(shape))
    memory = np.zeros(rows * LANES + LANES)
    first = -(memory.ctypes.data // 8) % LANES
    flat = memory[first:first + rows * LANES].reshape(rows, LANES)
    return flat.reshape(*shape, LANES), flat


def _log_penalty(penalty: float, dataset: AttentionDataset) -> float:
    """log(2nλ), as −n times the gradient of λ‖F‖² is −2nλF."""
    return math.log(2 * dataset.n) + math.log(penalty)


def _total_norm(factors: Factors) -> float:
    return sum(float(np.linalg.norm(factor)) for factor in factors)


class BlasEngine:
    """One dataset, its samples batched in numpy; the formulas are those of the kernels."""

    def __init__(self, datasets: Sequence[AttentionDataset], starts: Sequence[Factors],
                 parameterization: Parameterization, rule: StepRule, step: float, penalty: float,
                 loss: Loss) -> None:
        (dataset,), (start,) = datasets, starts
        self._data = PaddedDataset.of(dataset)
        self._n = dataset.n
        self._parameterization = parameterization
        self._rule, self._step, self._loss = rule, step, loss
        self._log_penalty = _log_penalty(penalty, dataset) if penalty > 0 else None
        self._factors: Factors = tuple(factor.copy() for factor in start)
        self._bound = _total_norm(start)
        self._steps, self._moving, self._overflowed = 0, True, False

    def advance(self, iterations: int) -> None:
        """See `Engine`."""
        for _ in range(iterations):
            if not self._moving:
                return
            directions, log_scale = self._directions()
            if self._log_penalty is not None:
                directions, log_scale = self._penalized(directions, log_scale, self._log_penalty)
            norms = [float(np.linalg.norm(direction)) for direction in directions]
            lengths = [self._rule.factor(self._step, log_scale, norm, self._n) for norm in norms]
            bound = self._bound + sum(a * b for a, b in zip(lengths, norms, strict=True))
            if not bound < self._parameterization.largest_norm:
                self._moving, self._overflowed = False, True
                return
            moved = tuple(factor + length * direction for factor, length, direction
                          in zip(self._factors, lengths, directions, strict=True))
            if all(map(np.array_equal, moved, self._factors)):
                self._moving = False
                return
            self._factors, self._bound, self._steps = moved, bound, self._steps + 1

    def _directions(self) -> tuple[Factors, float]:
        """D and log_scale: −n times the gradient for each factor is e^{log_scale} D."""
        data = self._data
        pulled = self._parameterization.pulled(self._factors, data.queries)
        h = np.einsum("itk,ik->it", data.tokens, pulled) + data.mask
        alpha = h.argmax(axis=1)[:, None]
        first = np.take_along_axis(h, alpha, axis=1)
        best = np.take_along_axis(data.scores, alpha, axis=1)
        delta = best - data.scores
        differs = delta != 0
        rivals = np.where(differs, h, LOWEST)
        second = rivals.max(axis=1, keepdims=True, initial=LOWEST)
        e = np.exp(h - np.where(differs, second, first))
        ratio = np.exp(second - first)
        Z = np.where(differs, ratio * e, e).sum(axis=1, keepdims=True)
        A = (e * delta).sum(axis=1, keepdims=True)
        shortfall = ratio / Z * A
        g = e * np.where(differs, delta - shortfall, -A / Z)
        exponent = self._loss.log_slope(best - shortfall) + (second - first)
        largest = float(exponent.max())
        g *= np.exp(exponent - largest) / Z
        pulls = -np.einsum("it,itk->ik", g, data.tokens)
        return self._parameterization.directions(self._factors, pulls, data.queries), largest

    def _penalized(self, directions: Factors, log_scale: float, log_penalty: float
                   ) -> tuple[Factors, float]:
        """Those of L + λ Σ‖factor‖², the larger exponent taken out."""
        top = max(log_scale, log_penalty)
        pull, shrink = math.exp(log_scale - top), math.exp(log_penalty - top)
        return tuple(pull * D - shrink * F
                     for D, F in zip(directions, self._factors, strict=True)), top

    def iterate(self, trial: int) -> Factors:
        """See `Engine`."""
        return tuple(factor.copy() for factor in self._factors)

    def steps(self, trial: int) -> int:
        """See `Engine`."""
        return self._steps

    def moving(self, trial: int) -> bool:
        """See `Engine`."""
        return self._moving

    def overflowed(self, trial: int) -> bool:
        """See `Engine`."""
        return self._overflowed
