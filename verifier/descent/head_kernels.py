"""The compiled run with a head that is not linear: its tangent scores before every pull.

As in `verifier.descent.kernels`, which does all the rest, with further arrays of eight columns:

    bases       (i·d + k)   x_i0
    labels      (i)         Y_i (1 for classes), or 0: a sample that is padding or has query 0
    parameters              those of the head, `verifier.descent.heads.Head.packed`
    room                    `room_rows(shape, size)` rows: s_t; o; ∇h(o); the hidden units

Here ``scores`` is written, anew in every step, with the tangent scores
Y_i (h(o_i) + ∇h(o_i)·(x_it − o_i)), o_i = Σ_t s_it x_it. A label 0 makes them all 0: such a sample
never pulls. What is lost to rounding is as with given scores: about u times their size.
"""

from __future__ import annotations

from conditions.exact.compiled import compiled
from verifier.descent.heads import QUADRATIC, RELU
from verifier.descent.kernels import (
    ALIVE,
    LOG_PENALTY,
    LOWEST,
    logits,
    product,
    pull,
    take_step,
)
from verifier.descent.lanes import Array, Lanes, exp, fma, load, log, splat, store, where_greater


def room_rows(shape: tuple[int, int, int, int], size: int) -> int:
    """Rows of room that a block of shape (n, T, d, m) and a head of *size* need."""
    _, T, d, _ = shape
    return T + 2 * d + size


@compiled
def _quadratic(parameters: Array, room: Array, o: int, d: int) -> Lanes:
    """v·o − λ‖o‖²; its gradient into the rows after o."""
    lam = load(parameters, d)
    twice = splat(-2.0) * lam
    linear, squares = splat(0.0), splat(0.0)
    for k in range(d):
        x, v = load(room, o + k), load(parameters, k)
        linear = fma(v, x, linear)
        squares = fma(x, x, squares)
        store(room, o + d + k, fma(twice, x, v))
    return linear - lam * squares


@compiled
def _relu(parameters: Array, room: Array, o: int, d: int, size: int) -> Lanes:
    """a·ReLU(V o); its gradient into the rows after o."""
    hidden, value = o + 2 * d, splat(0.0)
    product(room, hidden, parameters, 0, d, 1, room, o, 1, size, d)
    for r in range(size):
        u = load(room, hidden + r)
        active = where_greater(u, splat(0.0), load(parameters, size * d + r), splat(0.0))
        value = fma(active, u, value)
        store(room, hidden + r, active)
    product(room, o + d, parameters, 0, 1, d, room, hidden, 1, d, size)
    return value


@compiled
def _multiclass(parameters: Array, room: Array, o: int, first: int, d: int, size: int) -> Lanes:
    """−log Σ_c e^{−(rival c)·o}, the rivals from row *first*; its gradient after o."""
    hidden = o + 2 * d
    product(room, hidden, parameters, first, d, 1, room, o, 1, size, d)
    least = load(room, hidden)
    for c in range(1, size):
        margin = load(room, hidden + c)
        least = where_greater(least, margin, margin, least)
    total = splat(0.0)
    for c in range(size):
        weight = exp(least - load(room, hidden + c))
        store(room, hidden + c, weight)
        total = total + weight
    for c in range(size):
        store(room, hidden + c, load(room, hidden + c) / total)
    product(room, o + d, parameters, first, 1, d, room, hidden, 1, d, size)
    return least - log(total)


@compiled
def _tangent(tokens: Array, bases: Array, labels: Array, parameters: Array, scratch: Array,
             room: Array, scores: Array, i: int, T: int, d: int, head: int, size: int) -> None:
    """From the logits in scratch: the tangent scores of sample i."""
    largest, total = load(scratch, 0), splat(0.0)
    for t in range(1, T):
        h = load(scratch, t)
        largest = where_greater(h, largest, h, largest)
    for t in range(T):
        e = exp(load(scratch, t) - largest)
        store(room, t, e)
        total = total + e
    for t in range(T):
        store(room, t, load(room, t) / total)
    product(room, T, tokens, i * (T - 1) * d, 1, d, room, 1, 1, d, T - 1)
    for k in range(d):
        store(room, T + k, load(room, T + k) + load(bases, i * d + k))
    if head == QUADRATIC:
        value = _quadratic(parameters, room, T, d)
    elif head == RELU:
        value = _relu(parameters, room, T, d, size)
    else:
        value = _multiclass(parameters, room, T, i * size * d, d, size)
    # ∇h(o)·(x_t − x_0) now; its mean is taken off below.
    own = i * T
    store(scores, own, splat(0.0))
    product(scores, own + 1, tokens, i * (T - 1) * d, d, 1, room, T + d, 1, T - 1, d)
    mean = splat(0.0)
    for t in range(1, T):
        mean = fma(load(room, t), load(scores, own + t), mean)
    label, base = load(labels, i), value - mean
    for t in range(T):
        store(scores, own + t, label * (base + load(scores, own + t)))


@compiled
def advance(tokens: Array, bases: Array, labels: Array, parameters: Array, scores: Array,
            mask: Array, queries: Array, weights: Array, status: Array, scratch: Array,
            room: Array, shape: tuple[int, int, int, int], head: int, size: int, rule: int,
            step: float, loss: int, iterations: int) -> None:
    """Take up to *iterations* steps, as `verifier.descent.kernels.advance` does.

    ``head`` is a code of `verifier.descent.heads`, not the linear one; ``size`` is that of the
    head.
    """
    n, T, d, m = shape
    penalized = status[LOG_PENALTY].max() > LOWEST
    for _ in range(iterations):
        for i in range(n):
            logits(tokens, queries, mask, weights, scratch, i, n, T, d, m)
            _tangent(tokens, bases, labels, parameters, scratch, room, scores, i, T, d, head, size)
            pull(tokens, scores, scratch, loss, i, n, T, d)
        take_step(queries, weights, status, scratch, shape, rule, step, penalized)
        if status[ALIVE].max() == 0.0:
            return
