"""Prediction heads: the output f_i = Y_i h(o_i) of sample i at o_i = X_iᵀ s_i, and its gradient.

A head that is not linear takes part in a step as the linear one that touches it at the current
outputs: with the *tangent scores* γ_it = Y_i (h(o_i) + ∇h(o_i)·(x_it − o_i)), which are the scores
of a linear head, Σ_t s_it γ_it = f_i and the gradient of the loss is that of the linear head of
these scores. So all of `verifier.descent.gradient` stays true at any norm, γ being taken anew in
every step. Source: arXiv 2308.16898 v1, section 6; docs/theory.md, sections 8 and 11.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from flint import fmpq

from conditions.dataset import AttentionDataset, FloatArray
from conditions.errors import Description, InvalidInput, counted
from conditions.exact.numbers import number_to_json, rational, to_float

LINEAR, QUADRATIC, RELU, MULTICLASS = range(4)
"""Codes of the heads in compiled code."""

_LARGEST = 2.0**60

IndexArray = np.ndarray[Any, np.dtype[np.intp]]

Samples = Sequence[int] | IndexArray
Outputs = Callable[[FloatArray, Samples], tuple[FloatArray, FloatArray]]
"""(o, samples): attention outputs, (k, d), and whose they are ↦ f, (k,), and ∇f, (k, d)."""


class Head(ABC):
    """A head h; its parameters are float64 and read-only.

    ``name`` is that of the command line, ``code`` the one in compiled code, None if there is none.
    """

    name: ClassVar[str]
    code: ClassVar[int | None]

    @abstractmethod
    def outputs(self, dataset: AttentionDataset) -> Outputs:
        """The head on *dataset*, as a function of the attention outputs."""

    @abstractmethod
    def check(self, dataset: AttentionDataset, loss: str) -> None:
        """Raise ``InvalidInput`` unless the head fits the dataset and the loss."""

    def signs(self, dataset: AttentionDataset) -> FloatArray:
        """What f is h times, (n,): the labels."""
        return dataset.floats.labels

    @property
    def size(self) -> int:
        """Hidden units, or rival classes; 0 where there are none."""
        return 0

    def packed(self, dataset: AttentionDataset, n: int) -> FloatArray:
        """The parameters in the order of compiled code, for n padded samples."""
        raise NotImplementedError(f"the {self.name} head is not compiled")

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """What tells two heads of this name apart, as the fields of a data file spell it."""


# The heads ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class LinearHead(Head):
    """h(x) = v·x, v the head of the dataset."""

    name = "linear"
    code = LINEAR

    def outputs(self, dataset: AttentionDataset) -> Outputs:
        """See `Head`."""
        view = dataset.floats
        slopes = view.labels[:, None] * view.head

        def of(o: FloatArray, samples: Samples) -> tuple[FloatArray, FloatArray]:
            chosen = slopes[samples]
            return (chosen * o).sum(axis=1), chosen

        return of

    def check(self, dataset: AttentionDataset, loss: str) -> None:
        """See `Head`: it fits every dataset and loss."""

    def parameters(self) -> dict[str, Any]:
        """See `Head`."""
        return {}


LINEAR_HEAD = LinearHead()
"""The linear head: that of the dataset."""


@dataclass(frozen=True)
class QuadraticHead(Head):
    """h(x) = v·x − λ‖x‖², v the head of the dataset, λ ≥ 0 exact (v1, section 6.1)."""

    name = "quadratic"
    code = QUADRATIC

    lam: fmpq

    @classmethod
    def of(cls, lam: Any) -> QuadraticHead:
        """With λ any number that `conditions.exact.numbers.rational` reads; raises otherwise."""
        exact = rational(lam, "lambda")
        if exact < 0 or to_float(exact) > _LARGEST:
            raise InvalidInput("lambda", lam, f"must be in 0..{_LARGEST:.3g}", "correct it")
        return cls(exact)

    def outputs(self, dataset: AttentionDataset) -> Outputs:
        """See `Head`."""
        view, lam = dataset.floats, to_float(self.lam)

        def of(o: FloatArray, samples: Samples) -> tuple[FloatArray, FloatArray]:
            y = view.labels[samples]
            value = o @ view.head - lam * (o * o).sum(axis=1)
            return y * value, y[:, None] * (view.head - 2 * lam * o)

        return of

    def check(self, dataset: AttentionDataset, loss: str) -> None:
        """See `Head`."""
        _check_moderate(dataset, self)

    def packed(self, dataset: AttentionDataset, n: int) -> FloatArray:
        """See `Head`: v, then λ."""
        return np.append(dataset.floats.head, to_float(self.lam))

    def parameters(self) -> dict[str, Any]:
        """See `Head`."""
        return {"lambda": self.lam}


@dataclass(frozen=True, eq=False)
class ReluHead(Head):
    """h(x) = a·ReLU(V x), V m × d and a of length m; ReLU has the slope 0 at 0."""

    name = "relu"
    code = RELU

    V: FloatArray
    a: FloatArray

    @classmethod
    def of(cls, V: Any, a: Any = None) -> ReluHead:
        """Checked; without *a* all its entries are 1. Raises ``InvalidInput``."""
        weights = _parameter(V, "V", 2)
        m = len(weights)
        outer = np.ones(m) if a is None else _parameter(a, "a", 1)
        if len(outer) != m:
            raise InvalidInput("a", counted(len(outer), "entry", "entries"),
                               f"must have one for each of the {m} rows of V",
                               "correct one of them")
        outer.flags.writeable = False
        return cls(weights, outer)

    def outputs(self, dataset: AttentionDataset) -> Outputs:
        """See `Head`."""
        labels = dataset.floats.labels

        def of(o: FloatArray, samples: Samples) -> tuple[FloatArray, FloatArray]:
            y, hidden = labels[samples], o @ self.V.T
            active = np.where(hidden > 0, self.a, 0.0)
            return y * (active * hidden).sum(axis=1), y[:, None] * (active @ self.V)

        return of

    def check(self, dataset: AttentionDataset, loss: str) -> None:
        """See `Head`."""
        _check_columns(self.V, "V", dataset)
        _check_moderate(dataset, self)

    @property
    def size(self) -> int:
        """See `Head`: m."""
        return len(self.V)

    def packed(self, dataset: AttentionDataset, n: int) -> FloatArray:
        """See `Head`: V row by row, then a."""
        return np.concatenate([self.V.ravel(), self.a])

    def parameters(self) -> dict[str, Any]:
        """See `Head`."""
        return {"V": self.V, "a": self.a}


@dataclass(frozen=True, eq=False)
class MulticlassHead(Head):
    """C linear outputs v_c·x under cross-entropy, c_i the class of sample i.

    −log softmax(v_1·x, …, v_C·x)_{c_i} is the logistic loss of the class margin
    h_i(x) = −log Σ_{c ≠ c_i} e^{−(v_{c_i} − v_c)·x}, so this head goes with that loss alone. The
    labels Y and the head v of the dataset have no part in it.
    """

    name = "multiclass"
    code = MULTICLASS

    class_heads: FloatArray
    class_labels: tuple[int, ...]

    @classmethod
    def of(cls, class_heads: Any, class_labels: Any) -> MulticlassHead:
        """Checked: C × d with C ≥ 2, and one class in 0..C−1 a sample; raises otherwise."""
        heads = _parameter(class_heads, "class_heads", 2)
        if len(heads) < 2:
            raise InvalidInput("class_heads", counted(len(heads), "row"),
                               "must have two rows at least", "give one row a class")
        labels = _parameter(class_labels, "class_labels", 1)
        for i, c in enumerate(labels):
            if not (c == int(c) and 0 <= c < len(heads)):
                raise InvalidInput(f"class_labels[{i}]", float(c), "must be an integer in "
                                   f"0..{len(heads) - 1}", "count classes from 0")
        return cls(heads, tuple(int(c) for c in labels))

    def rivals(self, i: int) -> FloatArray:
        """v_{c_i} − v_c for the other classes c, (C − 1, d)."""
        own = self.class_labels[i]
        return np.asarray(self.class_heads[own] - np.delete(self.class_heads, own, axis=0))

    def outputs(self, dataset: AttentionDataset) -> Outputs:
        """See `Head`."""
        rivals = np.array([self.rivals(i) for i in range(dataset.n)])

        def of(o: FloatArray, samples: Samples) -> tuple[FloatArray, FloatArray]:
            against = rivals[samples]
            margins = np.einsum("icd,id->ic", against, o)
            least = margins.min(axis=1, keepdims=True)
            weights = np.exp(least - margins)
            total = weights.sum(axis=1, keepdims=True)
            return ((least - np.log(total))[:, 0],
                    np.einsum("ic,icd->id", weights / total, against))

        return of

    def check(self, dataset: AttentionDataset, loss: str) -> None:
        """See `Head`."""
        _check_columns(self.class_heads, "class_heads", dataset)
        if len(self.class_labels) != dataset.n:
            raise InvalidInput("class_labels", counted(len(self.class_labels), "entry", "entries"),
                               f"must have one for each of the {dataset.n} samples",
                               "add or drop entries")
        if loss != "logistic":
            raise InvalidInput("loss", loss, "must be logistic for the multiclass head: it is then "
                               "the cross-entropy", "choose it, or another head")
        _check_moderate(dataset, self)

    def signs(self, dataset: AttentionDataset) -> FloatArray:
        """See `Head`: 1, as the class is in the margin."""
        return np.ones(dataset.n)

    @property
    def size(self) -> int:
        """See `Head`: C − 1."""
        return len(self.class_heads) - 1

    def packed(self, dataset: AttentionDataset, n: int) -> FloatArray:
        """See `Head`: the rivals of each sample, row by row; zeros for padding."""
        packed = np.zeros((n, self.size, dataset.d))
        packed[:dataset.n] = [self.rivals(i) for i in range(dataset.n)]
        return packed.ravel()

    def parameters(self) -> dict[str, Any]:
        """See `Head`."""
        return {"class_heads": self.class_heads, "class_labels": self.class_labels}


@dataclass(frozen=True, eq=False)
class CallableHead(Head):
    """Any h: *function* takes o, (d,), and gives h(o) and ∇h(o), (d,). For observation only."""

    name = "callable"
    code = None

    function: Callable[[FloatArray], tuple[float, FloatArray]]
    title: str = field(default="")

    def outputs(self, dataset: AttentionDataset) -> Outputs:
        """See `Head`. The function it gives raises ``InvalidInput`` where h is not finite."""
        labels, d = dataset.floats.labels, dataset.d

        def of(o: FloatArray, samples: Samples) -> tuple[FloatArray, FloatArray]:
            values, slopes = np.empty(len(o)), np.empty((len(o), d))
            for k, (i, row) in enumerate(zip(samples, o, strict=True)):
                value, slope = self.function(row.copy())
                values[k], slopes[k] = labels[i] * value, labels[i] * _gradient(slope, d)
            if not (np.isfinite(values).all() and np.isfinite(slopes).all()):
                raise InvalidInput("head", self.title or self.function, "must have finite values "
                                   "and gradients at every output of the run", "correct it")
            return values, slopes

        return of

    def check(self, dataset: AttentionDataset, loss: str) -> None:
        """See `Head`; what the function does is seen when it is called."""
        _check_moderate(dataset, self)

    def parameters(self) -> dict[str, Any]:
        """See `Head`: a function is not told apart from others."""
        return {}


HEADS = ("linear", "quadratic", "relu", "multiclass")
"""The heads that a data file can carry, by name."""


# Tangent scores -----------------------------------------------------------------------------


def tangent_scores(outputs: Outputs, bases: FloatArray, tokens: FloatArray, s: FloatArray,
                   samples: Samples) -> FloatArray:
    """Y (h(o) + ∇h(o)·(x_t − o)) of k samples, (k, T), at the softmax weights *s*, (k, T).

    ``bases`` are the tokens x_0, (k, d), ``tokens`` the differences x_t − x_0, (k, T, d).
    """
    f, slopes = outputs(bases + np.einsum("it,itk->ik", s, tokens), samples)
    rises = np.einsum("itk,ik->it", tokens, slopes)
    return np.asarray((f - (s * rises).sum(axis=1))[:, None] + rises)


def head_to_json(head: Head) -> dict[str, Any]:
    """The ``head`` of a run as docs/certificates.md specifies it."""
    return {"name": head.name, **{key: _spelled(value)
                                  for key, value in head.parameters().items()}}


def _spelled(value: Any) -> Any:
    if isinstance(value, np.ndarray | tuple):
        return [_spelled(item) for item in value]
    if isinstance(value, fmpq):
        return number_to_json(value)
    return float(value).hex() if isinstance(value, float) else int(value)


# Input --------------------------------------------------------------------------------------


def heads_for(given: Any, batch: Sequence[AttentionDataset], loss: str) -> list[Head]:
    """One checked head per dataset from None (linear), one for all, or a sequence of them."""
    if given is None or isinstance(given, Head):
        each = [given or LINEAR_HEAD] * len(batch)
    else:
        each = list(given) if isinstance(given, Sequence) else [given]
        if not each or not all(isinstance(head, Head) for head in each):
            raise InvalidInput("head", given, "must be a Head, or one for each dataset",
                               "see verifier.descent.heads")
        if len(each) != len(batch):
            raise InvalidInput("head", counted(len(each), "head"), "must be one for all datasets, "
                               f"or one for each of the {len(batch)}", "correct it")
    for head, dataset in zip(each, batch, strict=True):
        head.check(dataset, loss)
    return each


def _parameter(value: Any, name: str, axes: int) -> FloatArray:
    """*value* as a new read-only float array of *axes* axes. Raises ``InvalidInput``."""
    try:
        array = np.array(value, dtype=float, order="C")
    except (TypeError, ValueError):
        raise InvalidInput(name, value, "must be a rectangular array of numbers",
                           "correct it") from None
    if array.ndim != axes or array.size == 0:
        raise InvalidInput(name, Description(f"shape {array.shape}"),
                           f"must have {counted(axes, 'axis', 'axes')} and an entry",
                           "correct the shape")
    if not np.abs(array).max() <= _LARGEST:  # so also NaN
        raise InvalidInput(name, value, f"must be finite, within ±{_LARGEST:.3g}", "rescale it")
    array.flags.writeable = False
    return array


def _check_columns(matrix: FloatArray, name: str, dataset: AttentionDataset) -> None:
    if matrix.shape[1] != dataset.d:
        raise InvalidInput(name, Description(f"shape {matrix.shape}"), f"must have d = {dataset.d} "
                           "columns, as tokens have entries", "correct the shape")


def _check_moderate(dataset: AttentionDataset, head: Head) -> None:
    """Scores are then 2^180 or so at most, and every product of a step stays in range."""
    view = dataset.floats
    largest = max(float(np.abs(part).max()) for part in (*view.tokens, view.queries, view.head))
    if not largest <= _LARGEST:
        raise InvalidInput("data", Description(f"largest entry {largest:.3g}"), "must be within "
                           f"±{_LARGEST:.3g} for the {head.name} head", "rescale them")


def _gradient(slope: Any, d: int) -> FloatArray:
    array = np.asarray(slope, dtype=float)
    if array.shape != (d,):
        raise InvalidInput("head", Description(f"gradient of shape {array.shape}"),
                           f"must be of shape ({d},)", "return h(o) and ∇h(o)")
    return array

