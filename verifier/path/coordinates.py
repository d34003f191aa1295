"""The loss over W, or over K and Q, in coordinates of the spans that the loss depends on.

With orthonormal bases of the spans of the token differences (p) and of the queries (q), W = A V Bᵀ
with V p × q: the margins depend on V alone, and neither norm grows by leaving the other entries 0.
So every path of minimisers may be sought there; K = A K', Q = B Q' with m = min(p, q) columns reach
every V with ½(‖K'‖² + ‖Q'‖²) = ‖V‖_*.
"""

from __future__ import annotations

import math

import numpy as np

from conditions.dataset import AttentionDataset, FloatArray
from conditions.selection import Features, Selection, features
from verifier.path.ball import Smooth
from verifier.path.objective import Objective

_NULL = 1e-12


def _basis(rows: FloatArray) -> FloatArray:
    """An orthonormal basis, as columns, of the span of *rows*; the first axis if that is {0}."""
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    kept = directions[sizes > _NULL * sizes[0]] if sizes[0] > 0 else np.eye(1, rows.shape[1])
    return np.asarray(kept.T)


class Coordinates:
    """V (p × q) of W, for the features of one selection.

    A path point is x in the ball ‖x‖ ≤ ``ball(R)``; ``product(x)`` is W, d × d, ``norm(W)`` the
    norm that R bounds, and ``point(W)`` an x of W, as short as there is one.
    """

    name = "W"

    def __init__(self, dataset: AttentionDataset, selection: Selection, loss: str) -> None:
        self.phi: Features = features(dataset, selection)
        self.objective = Objective(dataset, selection, loss)
        left, right = _basis(self.phi.float_differences), _basis(self.phi.float_queries)
        self._left, self._right = left, right
        self.p, self.q = int(left.shape[1]), int(right.shape[1])
        self._deltas, self._queries = self.phi.float_differences @ left, (
            self.phi.float_queries @ right)
        self._rows = (self._deltas[:, :, None] * self._queries[:, None, :]).reshape(
            len(self.phi), -1)

    @property
    def size(self) -> int:
        """How many entries x has, k."""
        return self.p * self.q

    def ball(self, R: float) -> float:
        """The radius of the ball of x."""
        return R

    def norm(self, W: FloatArray) -> float:
        """‖W‖_F."""
        return float(np.linalg.norm(W))

    def reduced(self, x: FloatArray) -> FloatArray:
        """V, p × q."""
        return x.reshape(self.p, self.q)

    def product(self, x: FloatArray) -> FloatArray:
        """W, d × d."""
        return np.asarray(self._left @ self.reduced(x) @ self._right.T)

    def point(self, W: FloatArray) -> FloatArray:
        """An x of the projection of *W* on the spans."""
        return np.asarray(self._left.T @ W @ self._right).ravel()

    def margins(self, x: FloatArray) -> FloatArray:
        """⟨φ_it, W⟩, (N,)."""
        return np.asarray(((self._deltas @ self.reduced(x)) * self._queries).sum(axis=1))

    def slopes(self, x: FloatArray) -> FloatArray:
        """The Jacobian of the margins, N × k."""
        return self._rows

    def bend(self, x: FloatArray, weights: FloatArray) -> FloatArray | None:
        """Σ_k weights_k times the Hessian of margin k, or None for 0."""
        return None

    def smooth(self) -> Smooth:
        """log(L − L_α) as a function of x."""
        def jet(x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
            at, J = self.objective.jet(self.margins(x)), self.slopes(x)
            hessian, bend = J.T @ at.hessian @ J, self.bend(x, at.gradient)
            return at.value, J.T @ at.gradient, hessian if bend is None else hessian + bend

        return Smooth(lambda x: self.objective.value(self.margins(x)), jet)


class FactoredCoordinates(Coordinates):
    """K' (p × m) and Q' (q × m), one after the other, with W = A K'Q'ᵀ Bᵀ."""

    name = "KQ"

    @property
    def columns(self) -> int:
        """Of K' and Q' each, m."""
        return min(self.p, self.q)

    @property
    def size(self) -> int:
        """See `Coordinates`."""
        return (self.p + self.q) * self.columns

    def factors(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """K' and Q'."""
        K, Q = np.split(x, [self.p * self.columns])
        return K.reshape(self.p, -1), Q.reshape(self.q, -1)

    def ball(self, R: float) -> float:
        """‖x‖² = ‖K‖² + ‖Q‖² ≤ 2R."""
        return math.sqrt(2 * R)

    def norm(self, W: FloatArray) -> float:
        """‖W‖_*."""
        return float(np.linalg.norm(W, "nuc"))

    def reduced(self, x: FloatArray) -> FloatArray:
        """V = K'Q'ᵀ."""
        K, Q = self.factors(x)
        return np.asarray(K @ Q.T)

    def point(self, W: FloatArray) -> FloatArray:
        """Balanced factors of the projection of *W*: ½‖x‖² is its nuclear norm."""
        U, sizes, Vt = np.linalg.svd(self._left.T @ W @ self._right, full_matrices=False)
        roots = np.sqrt(sizes)
        return np.concatenate([(U * roots).ravel(), (Vt.T * roots).ravel()])

    def slopes(self, x: FloatArray) -> FloatArray:
        """See `Coordinates`: δ_k (Q'ᵀq_k)ᵀ and q_k (K'ᵀδ_k)ᵀ."""
        K, Q = self.factors(x)
        rows = len(self._deltas)
        return np.concatenate(
            [(self._deltas[:, :, None] * (self._queries @ Q)[:, None, :]).reshape(rows, -1),
             (self._queries[:, :, None] * (self._deltas @ K)[:, None, :]).reshape(rows, -1)],
            axis=1)

    def bend(self, x: FloatArray, weights: FloatArray) -> FloatArray:
        """See `Coordinates`: G ⊗ I between K' and Q', G = Σ w_k δ_k q_kᵀ."""
        G = self._deltas.T @ (weights[:, None] * self._queries)
        split, result = self.p * self.columns, np.zeros((self.size, self.size))
        result[:split, split:] = np.kron(G, np.eye(self.columns))
        result[split:, :split] = result[:split, split:].T
        return result


COORDINATES: dict[str, type[Coordinates]] = {
    each.name: each for each in (Coordinates, FactoredCoordinates)}
"""By parameterization: W within ‖W‖_F ≤ R; KQ within ½(‖K‖² + ‖Q‖²) ≤ R."""
