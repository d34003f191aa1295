"""The compiled run: eight trials in the lanes of a vector, one loop, step rules as plug-ins.

A block holds eight datasets of one dimension d, padded to n samples of T tokens. Its arrays
have eight columns, one a trial, and these rows:

    tokens   ((i·(T−1) + t−1)·d + k)   coordinate k of x_it − x_i0, for t ≥ 1
    scores   (i·T + t)                 γ_it
    mask     (i·T + t)                 0, or −inf for padding
    queries  (i·d + k)                 z_i
    W        (r·d + k)                 the iterates, advanced in place
    status   `ALIVE`, … `LIMIT`        the state of each trial
    scratch  `scratch_rows(n, T, d)`   anything

The state of a run is W alone: a run cut in pieces takes the same steps, bit by bit. Padding
adds exact zeros and lanes do not mix, so a trial's result is the same in any block.

The gradient is that of `verifier.descent.gradient`, arranged so that nothing is lost to
underflow and one exponential per token suffices. With α the argmax token of sample i, m₁ its
logit, Δ_t = γ_α − γ_t, and m₂ the largest logit among tokens with Δ_t ≠ 0:

    e_t = exp(h_t − m₂) where Δ_t ≠ 0,  exp(h_t − m₁) where Δ_t = 0        all in [0, 1]
    Z = Σ_{Δ=0} e + e^{m₂−m₁} Σ_{Δ≠0} e,   A = Σ e_t Δ_t,   ρ = e^{m₂−m₁}/Z,   γ_α − f = ρA
    s_t (f − γ_t) = ρ·g_t,   g_t = e_t (Δ_t − ρA) where Δ_t ≠ 0,  −e_t A/Z where Δ_t = 0

The factor ρ|ℓ'(f)| = exp(κ_i)·p_i of the sample has its exponent κ_i kept apart, relative to the
largest over the samples. Σ_t g_t = 0, so tokens may be taken relative to token 0.
"""

from __future__ import annotations

from verifier.descent.lanes import (
    Array,
    Lanes,
    compiled,
    exp,
    fma,
    inlined,
    load,
    magnitude,
    splat,
    sqrt,
    store,
    where_greater,
)
from verifier.descent.loss import EXPONENTIAL, LOGISTIC
from verifier.descent.rules import NORMALIZED

ALIVE, STEPS, OVERFLOWED, BOUND, LIMIT, SAMPLES, STATUS_ROWS = 0, 1, 2, 3, 4, 5, 6
"""Rows of ``status``: 1.0 while the trial moves; its steps; 1.0 if the next step would leave the
range; an upper bound of ‖W‖_F; the bound not to be passed; n before padding."""

LOWEST = -1e308
"""Below every logit of a run: m₂ of a sample whose scores are all equal."""


def scratch_rows(n: int, T: int, d: int) -> int:
    """Rows of scratch that a block needs."""
    return T + d + n * d + 2 * n + d * d


# Losses and step rules ----------------------------------------------------------------------


@inlined
def loss_exponent(loss: int, u: Lanes) -> Lanes:
    """a(u) of |ℓ'(u)| = e^{a(u)} b(u)."""
    if loss == LOGISTIC:
        return where_greater(u, splat(0.0), splat(0.0) - u, splat(0.0))
    if loss == EXPONENTIAL:
        return splat(0.0) - u
    return splat(0.0)


@inlined
def loss_factor(loss: int, u: Lanes) -> Lanes:
    """b(u) ∈ [1/2, 1] of |ℓ'(u)| = e^{a(u)} b(u)."""
    if loss == LOGISTIC:
        return splat(1.0) / (splat(1.0) + exp(splat(0.0) - magnitude(u)))
    return splat(1.0)


@inlined
def step_factor(rule: int, step: float, log_scale: Lanes, norm: Lanes, n: Lanes) -> Lanes:
    """What multiplies M, where −n∇L = e^{log_scale} M and ‖M‖_F = norm."""
    if rule == NORMALIZED:
        return where_greater(norm, splat(0.0), splat(step) / norm, splat(0.0))
    return splat(step) * exp(log_scale) / n


# One step -----------------------------------------------------------------------------------


@inlined
def _product(out: Array, first: int, left: Array, top: int, across: int, along: int,
             right: Array, start: int, stride: int, rows: int, terms: int) -> None:
    """out[first + r] = Σ_k left[top + r·across + k·along] · right[start + k·stride].

    Four rows at a time, so that four sums are in flight and share the loads of ``right``; every
    sum runs in order of k whichever way it is computed.
    """
    tiled = rows - rows % 4
    for r in range(0, tiled, 4):
        row = top + r * across
        sum0, sum1, sum2, sum3 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
        for k in range(terms):
            factor, at = load(right, start + k * stride), row + k * along
            sum0 = fma(load(left, at), factor, sum0)
            sum1 = fma(load(left, at + across), factor, sum1)
            sum2 = fma(load(left, at + 2 * across), factor, sum2)
            sum3 = fma(load(left, at + 3 * across), factor, sum3)
        store(out, first + r, sum0)
        store(out, first + r + 1, sum1)
        store(out, first + r + 2, sum2)
        store(out, first + r + 3, sum3)
    for r in range(tiled, rows):
        total = splat(0.0)
        for k in range(terms):
            total = fma(load(left, top + r * across + k * along),
                        load(right, start + k * stride), total)
        store(out, first + r, total)


@compiled
def _logits(tokens: Array, queries: Array, mask: Array, W: Array, scratch: Array,
            i: int, T: int, d: int) -> None:
    """h_t = (x_it − x_i0)ᵀ W z_i into rows 0..T−1 of scratch, −inf for padding."""
    _product(scratch, T, W, 0, d, 1, queries, i * d, 1, d, d)
    _product(scratch, 1, tokens, i * (T - 1) * d, d, 1, scratch, T, 1, T - 1, d)
    store(scratch, 0, splat(0.0))
    for t in range(T):
        store(scratch, t, load(scratch, t) + load(mask, i * T + t))


@compiled
def _pull(tokens: Array, scores: Array, scratch: Array, loss: int, i: int, n: int, T: int,
          d: int) -> None:
    """From the logits in scratch: c_i, κ_i and p_i (see the module)."""
    zero = splat(0.0)
    first, best = load(scratch, 0), load(scores, i * T)
    for t in range(1, T):
        h = load(scratch, t)
        best = where_greater(h, first, load(scores, i * T + t), best)
        first = where_greater(h, first, h, first)
    second = splat(LOWEST)
    for t in range(T):
        gap = magnitude(best - load(scores, i * T + t))
        candidate = where_greater(gap, zero, load(scratch, t), second)
        second = where_greater(candidate, second, candidate, second)
    same, other, A = zero, zero, zero
    for t in range(T):
        delta = best - load(scores, i * T + t)
        gap = magnitude(delta)
        e = exp(load(scratch, t) - where_greater(gap, zero, second, first))
        store(scratch, t, e)
        same = same + where_greater(gap, zero, zero, e)
        other = other + where_greater(gap, zero, e, zero)
        A = fma(e, delta, A)
    ratio = exp(second - first)
    Z = fma(ratio, other, same)
    shortfall, correction = ratio / Z * A, A / Z
    for t in range(T):
        delta = best - load(scores, i * T + t)
        factor = where_greater(magnitude(delta), zero, shortfall - delta, correction)
        store(scratch, t, load(scratch, t) * factor)
    # The weights are now −g_t, and Σ_t g_t (x_iα − x_it) = −Σ_t g_t (x_it − x_i0).
    _product(scratch, T + d + i * d, tokens, i * (T - 1) * d, 1, d, scratch, 1, 1, d, T - 1)
    f = best - shortfall
    exponents = T + d + n * d
    store(scratch, exponents + i, loss_exponent(loss, f) + (second - first))
    store(scratch, exponents + n + i, loss_factor(loss, f) / Z)


@compiled
def _combine(queries: Array, scratch: Array, n: int, T: int, d: int) -> tuple[Lanes, Lanes]:
    """M = Σ_i exp(κ_i − κ_max) p_i c_i z_iᵀ into scratch; κ_max and ‖M‖_F."""
    pulls, exponents = T + d, T + d + n * d
    top = load(scratch, exponents)
    for i in range(1, n):
        exponent = load(scratch, exponents + i)
        top = where_greater(exponent, top, exponent, top)
    for i in range(n):
        weight = load(scratch, exponents + n + i) * exp(load(scratch, exponents + i) - top)
        for k in range(d):
            store(scratch, pulls + i * d + k, weight * load(scratch, pulls + i * d + k))
    gradient = exponents + 2 * n
    for r in range(d):
        _product(scratch, gradient + r * d, queries, 0, 1, d, scratch, pulls + r, d, d, n)
    squares = splat(0.0)
    for r in range(d):
        in_row = splat(0.0)
        for k in range(d):
            entry = load(scratch, gradient + r * d + k)
            in_row = fma(entry, entry, in_row)
        squares = squares + in_row
    return top, sqrt(squares)


@compiled
def _move(W: Array, scratch: Array, status: Array, factor: Lanes, norm: Lanes, gradient: int,
          entries: int) -> None:
    """W += factor·M in the trials that are alive and stay in range; update their status."""
    zero, one = splat(0.0), splat(1.0)
    alive = load(status, ALIVE)
    bound = fma(magnitude(factor), norm, load(status, BOUND))
    inside = where_greater(load(status, LIMIT), bound, alive, zero)
    factor = where_greater(inside, zero, factor, zero)
    change = zero
    for k in range(entries):
        old = load(W, k)
        new = fma(factor, load(scratch, gradient + k), old)
        store(W, k, new)
        change = where_greater(magnitude(new - old), change, magnitude(new - old), change)
    moved = where_greater(change, zero, inside, zero)
    store(status, BOUND, where_greater(moved, zero, bound, load(status, BOUND)))
    store(status, STEPS, load(status, STEPS) + moved)
    store(status, OVERFLOWED, load(status, OVERFLOWED) + (alive - inside))
    store(status, ALIVE, where_greater(one, moved, zero, moved))


# The loop -----------------------------------------------------------------------------------


@compiled
def advance(tokens: Array, scores: Array, mask: Array, queries: Array, W: Array, status: Array,
            scratch: Array, shape: tuple[int, int, int], rule: int, step: float, loss: int,
            iterations: int) -> None:
    """Take up to *iterations* steps from W in every trial that is alive.

    ``shape`` is (n, T, d) with padding; ``rule`` and ``loss`` are codes of this module. W and
    ``status`` are updated in place. A trial whose step no longer changes W in float64 dies.
    """
    n, T, d = shape
    gradient = T + d + n * d + 2 * n
    for _ in range(iterations):
        for i in range(n):
            _logits(tokens, queries, mask, W, scratch, i, T, d)
            _pull(tokens, scores, scratch, loss, i, n, T, d)
        log_scale, norm = _combine(queries, scratch, n, T, d)
        factor = step_factor(rule, step, log_scale, norm, load(status, SAMPLES))
        _move(W, scratch, status, factor, norm, gradient, d * d)
        if status[ALIVE].max() == 0.0:
            return
