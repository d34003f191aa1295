"""Two engines that take the same steps: lanes (many trials, compiled) and BLAS (one large one).

An engine holds the iterates of its trials and advances them; a run may be cut into pieces at
any step without changing a bit of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from conditions.dataset import AttentionDataset, FloatArray
from verifier.descent import kernels
from verifier.descent.kernels import LOWEST
from verifier.descent.lanes import LANES
from verifier.descent.loss import Loss
from verifier.descent.packing import LARGEST_NORM, PaddedDataset
from verifier.descent.rules import StepRule


class Engine(Protocol):
    """The iterates of some trials, and how to advance them."""

    def advance(self, iterations: int) -> None:
        """Take up to *iterations* more steps in every trial that still moves."""

    def iterate(self, trial: int) -> FloatArray:
        """A copy of the current W of *trial*, d × d."""

    def steps(self, trial: int) -> int:
        """Steps that *trial* has taken."""

    def moving(self, trial: int) -> bool:
        """Whether the next step would change W and stay in range."""

    def overflowed(self, trial: int) -> bool:
        """Whether *trial* stands still because the next step would leave the range."""


class LaneEngine:
    """Up to eight datasets of one dimension, one in each lane of the compiled kernel."""

    def __init__(self, datasets: Sequence[AttentionDataset], starts: Sequence[FloatArray],
                 rule: StepRule, step: float, loss: Loss) -> None:
        padded = [PaddedDataset.of(dataset) for dataset in datasets]
        n = max(len(data.queries) for data in padded)
        T = max(data.mask.shape[1] for data in padded)
        d = datasets[0].d
        self._shape, self._d = (n, T, d), d
        self._settings = (rule.code, step, loss.code)
        tokens, self._tokens = _rows((n, T - 1, d))
        scores, self._scores = _rows((n, T))
        mask, self._mask = _rows((n, T))
        queries, self._queries = _rows((n, d))
        iterates, self._W = _rows((d, d))
        mask[:, 1:] = -np.inf
        for lane, (data, start) in enumerate(zip(padded, starts, strict=True)):
            rows, columns = data.mask.shape
            tokens[:rows, :columns - 1, :, lane] = data.tokens[:, 1:]
            scores[:rows, :columns, lane] = data.scores
            mask[:rows, :columns, lane] = data.mask
            queries[:rows, :, lane] = data.queries
            iterates[:, :, lane] = start
        _, self._scratch = _rows((kernels.scratch_rows(n, T, d),))
        status, self._status = _rows((kernels.STATUS_ROWS,))
        used = len(datasets)
        status[kernels.ALIVE, :used] = 1.0
        status[kernels.BOUND, :used] = [np.linalg.norm(start) for start in starts]
        status[kernels.LIMIT] = LARGEST_NORM
        status[kernels.SAMPLES] = 1.0
        status[kernels.SAMPLES, :used] = [dataset.n for dataset in datasets]

    def advance(self, iterations: int) -> None:
        """See `Engine`."""
        kernels.advance(self._tokens, self._scores, self._mask, self._queries, self._W,
                        self._status, self._scratch, self._shape, *self._settings, iterations)

    def iterate(self, trial: int) -> FloatArray:
        """See `Engine`."""
        return self._W[:, trial].reshape(self._d, self._d).copy()

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


class BlasEngine:
    """One dataset, its samples batched in numpy; the formulas are those of the kernels."""

    def __init__(self, datasets: Sequence[AttentionDataset], starts: Sequence[FloatArray],
                 rule: StepRule, step: float, loss: Loss) -> None:
        (dataset,), (start,) = datasets, starts
        self._data = PaddedDataset.of(dataset)
        self._n = dataset.n
        self._rule, self._step, self._loss = rule, step, loss
        self._W = start.copy()
        self._bound = float(np.linalg.norm(start))
        self._steps, self._moving, self._overflowed = 0, True, False

    def advance(self, iterations: int) -> None:
        """See `Engine`."""
        for _ in range(iterations):
            if not self._moving:
                return
            M, log_scale = self._gradient()
            norm = float(np.linalg.norm(M))
            factor = self._rule.factor(self._step, log_scale, norm, self._n)
            bound = self._bound + factor * norm
            if not bound < LARGEST_NORM:
                self._moving, self._overflowed = False, True
                return
            moved = self._W + factor * M
            if np.array_equal(moved, self._W):
                self._moving = False
                return
            self._W, self._bound, self._steps = moved, bound, self._steps + 1

    def _gradient(self) -> tuple[FloatArray, float]:
        """M and log_scale with −n∇L = e^{log_scale} M."""
        data = self._data
        pulled = _product(data.queries, self._W.T)
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
        return _product(pulls.T, data.queries), largest

    def iterate(self, trial: int) -> FloatArray:
        """See `Engine`."""
        return self._W.copy()

    def steps(self, trial: int) -> int:
        """See `Engine`."""
        return self._steps

    def moving(self, trial: int) -> bool:
        """See `Engine`."""
        return self._moving

    def overflowed(self, trial: int) -> bool:
        """See `Engine`."""
        return self._overflowed


_SERIAL_PRODUCTS = 2**18


def _product(A: FloatArray, B: FloatArray) -> FloatArray:
    """A @ B in row blocks below the size from which OpenBLAS starts its own threads.

    Those would compete with the workers of the run, and spin while they wait for one another.
    """
    rows = max(1, _SERIAL_PRODUCTS // B.size)
    if rows >= len(A):
        return np.asarray(A @ B)
    return np.concatenate([A[k:k + rows] @ B for k in range(0, len(A), rows)])
