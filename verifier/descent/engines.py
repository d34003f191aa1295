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
from verifier.descent import head_kernels, kernels
from verifier.descent.heads import LINEAR, Head, Outputs, tangent_scores
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
    """Up to eight datasets, one in each lane of the compiled kernel; factors of equal shapes.

    Their heads have one code and one size.
    """

    def __init__(self, datasets: Sequence[AttentionDataset], starts: Sequence[Factors],
                 heads: Sequence[Head], parameterization: Parameterization, rule: StepRule,
                 step: float, penalty: float, resolution: float, loss: Loss) -> None:
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
        status[kernels.LOG_RESOLUTION] = LOWEST
        if resolution > 0:
            status[kernels.LOG_RESOLUTION, :used] = [math.log(dataset.n * resolution)
                                                     for dataset in datasets]
        self._head = (None if heads[0].code == LINEAR
                      else _LaneHead(datasets, padded, heads, self._shape))

    def advance(self, iterations: int) -> None:
        """See `Engine`."""
        if self._head is None:
            kernels.advance(self._tokens, self._scores, self._mask, self._queries, self._weights,
                            self._status, self._scratch, self._shape, *self._settings, iterations)
            return
        head = self._head
        head_kernels.advance(self._tokens, head.bases, head.labels, head.parameters, self._scores,
                             self._mask, self._queries, self._weights, self._status,
                             self._scratch, head.room, self._shape, head.code, head.size,
                             *self._settings, iterations)

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


class _LaneHead:
    """The arrays that compiled heads need beside those of every block (`head_kernels`)."""

    def __init__(self, datasets: Sequence[AttentionDataset], padded: Sequence[PaddedDataset],
                 heads: Sequence[Head], shape: tuple[int, int, int, int]) -> None:
        n, _, d, _ = shape
        code = heads[0].code
        assert code is not None, "a head without compiled code runs in BLAS"
        self.code, self.size = code, heads[0].size
        packed = [head.packed(dataset, n)
                  for head, dataset in zip(heads, datasets, strict=True)]
        bases, self.bases = _rows((n, d))
        labels, self.labels = _rows((n,))
        parameters, self.parameters = _rows(packed[0].shape)
        for lane, (data, head, given) in enumerate(zip(padded, heads, packed, strict=True)):
            bases[:len(data.bases), :, lane] = data.bases
            labels[:len(data.bases), lane] = data.live * head.signs(datasets[lane])
            parameters[:, lane] = given
        _, self.room = _rows((head_kernels.room_rows(shape, self.size),))


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
                 heads: Sequence[Head], parameterization: Parameterization, rule: StepRule,
                 step: float, penalty: float, resolution: float, loss: Loss) -> None:
        (dataset,), (start,), (head,) = datasets, starts, heads
        self._outputs: Outputs | None = (None if head.code == LINEAR
                                         else head.outputs(dataset))
        self._data = PaddedDataset.of(dataset)
        self._n = dataset.n
        self._parameterization = parameterization
        self._rule, self._step, self._loss, self._resolution = rule, step, loss, resolution
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
            lengths = [self._rule.factor(self._step, log_scale, norm, self._n, self._resolution)
                       for norm in norms]
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
        scores = data.scores if self._outputs is None else self._tangents(h, self._outputs)
        best = np.take_along_axis(scores, alpha, axis=1)
        delta = best - scores
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

    def _tangents(self, h: FloatArray, outputs: Outputs) -> FloatArray:
        """The tangent scores at logits *h*, 0 in samples that never pull."""
        data = self._data
        s = np.exp(h - h.max(axis=1, keepdims=True))
        s /= s.sum(axis=1, keepdims=True)
        live = np.flatnonzero(data.live)
        scores = np.zeros_like(h)
        scores[live] = tangent_scores(outputs, data.bases[live], data.tokens[live], s[live], live)
        return scores

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
