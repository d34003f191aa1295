"""The compiled run: eight trials in the lanes of a vector, one loop; rules, losses and
parameterizations are plug-ins.

A block holds eight datasets of one dimension d, padded to n samples of T tokens. Its arrays
have eight columns, one a trial, and these rows:

    tokens   ((i·(T−1) + t−1)·d + k)   coordinate k of x_it − x_i0, for t ≥ 1
    scores   (i·T + t)                 γ_it
    mask     (i·T + t)                 0, or −inf for padding
    queries  (i·d + k)                 z_i
    weights  (r·d + k)                 W, advanced in place; or K (r·m + k), then Q likewise
    status   `ALIVE`, … `LIMIT`        the state of each trial
    scratch  `scratch_rows(shape)`     anything

The state of a run is its weights alone: a run cut in pieces takes the same steps, bit by bit.
Padding adds exact zeros and lanes do not mix, so a trial's result is the same in any block.

The gradient is that of `verifier.descent.gradient`, arranged so that nothing is lost to
underflow and one exponential per token suffices. With α the argmax token of sample i, m₁ its
logit, Δ_t = γ_α − γ_t, and m₂ the largest logit among tokens with Δ_t ≠ 0:

    e_t = exp(h_t − m₂) where Δ_t ≠ 0,  exp(h_t − m₁) where Δ_t = 0        all in [0, 1]
    Z = Σ_{Δ=0} e + e^{m₂−m₁} Σ_{Δ≠0} e,   A = Σ e_t Δ_t,   ρ = e^{m₂−m₁}/Z,   γ_α − f = ρA
    s_t (f − γ_t) = ρ·g_t,   g_t = e_t (Δ_t − ρA) where Δ_t ≠ 0,  −e_t A/Z where Δ_t = 0

The factor ρ|ℓ'(f)| = exp(κ_i)·p_i of the sample has its exponent κ_i kept apart, relative to the
largest over the samples. Σ_t g_t = 0, so tokens may be taken relative to token 0.

With c_i = Σ_t g_t x_it times the factor of the sample, M = Σ_i c_i z_iᵀ for W. Where W = K Qᵀ, M
is not formed: the directions are M Q = Σ_i c_i (Qᵀz_i)ᵀ for K and Mᵀ K = Σ_i z_i (Kᵀc_i)ᵀ for Q.
"""

from __future__ import annotations

from conditions.exact.compiled import compiled
from verifier.descent.lanes import (
    Array,
    Lanes,
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

(ALIVE, STEPS, OVERFLOWED, BOUND, LIMIT, SAMPLES, LOG_PENALTY, LOG_RESOLUTION,
 STATUS_ROWS) = range(9)
"""Rows of ``status``: 1.0 while the trial moves; its steps; 1.0 if the next step would leave the
range; an upper bound of ‖W‖_F, or of ‖K‖_F + ‖Q‖_F; the bound not to be passed; n before
padding; log(2nλ) for the penalty λ, and log(nε) for the resolution ε, `LOWEST` for none."""

WHOLE = 0
"""The inner dimension m in ``shape`` where W is not factored."""

LOWEST = -1e308
"""Below every logit and exponent of a run; m₂ of a sample whose scores are all equal."""


def scratch_rows(shape: tuple[int, int, int, int]) -> int:
    """Rows of scratch that a block of shape (n, T, d, m) needs."""
    n, T, d, m = shape
    # h_t; W z_i; c_i; κ_i and p_i; Qᵀz_i and Kᵀc_i; the directions
    return T + d + n * d + 2 * n + 2 * n * m + (d * d if m == WHOLE else 2 * d * m)


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
def step_factor(rule: int, step: float, log_scale: Lanes, norm: Lanes, n: Lanes,
                log_resolution: Lanes) -> Lanes:
    """What multiplies M, where −n times a gradient is e^{log_scale} M and ‖M‖_F = norm."""
    if rule == NORMALIZED:
        length = norm + exp(log_resolution - log_scale)
        return where_greater(norm, splat(0.0), splat(step) / length, splat(0.0))
    return splat(step) * exp(log_scale) / n


# One step -----------------------------------------------------------------------------------


@inlined
def product(out: Array, first: int, left: Array, top: int, across: int, along: int,
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
def logits(tokens: Array, queries: Array, mask: Array, weights: Array, scratch: Array,
           i: int, n: int, T: int, d: int, m: int) -> None:
    """h_t = (x_it − x_i0)ᵀ W z_i into rows 0..T−1 of scratch, −inf for padding."""
    if m == WHOLE:
        product(scratch, T, weights, 0, d, 1, queries, i * d, 1, d, d)
    else:
        inner = T + d + n * d + 2 * n + i * m
        product(scratch, inner, weights, d * m, 1, m, queries, i * d, 1, m, d)
        product(scratch, T, weights, 0, m, 1, scratch, inner, 1, d, m)
    product(scratch, 1, tokens, i * (T - 1) * d, d, 1, scratch, T, 1, T - 1, d)
    store(scratch, 0, splat(0.0))
    for t in range(T):
        store(scratch, t, load(scratch, t) + load(mask, i * T + t))


@compiled
def pull(tokens: Array, scores: Array, scratch: Array, loss: int, i: int, n: int, T: int,
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
    product(scratch, T + d + i * d, tokens, i * (T - 1) * d, 1, d, scratch, 1, 1, d, T - 1)
    f = best - shortfall
    exponents = T + d + n * d
    store(scratch, exponents + i, loss_exponent(loss, f) + (second - first))
    store(scratch, exponents + n + i, loss_factor(loss, f) / Z)


@compiled
def _rescale(scratch: Array, n: int, T: int, d: int) -> Lanes:
    """c_i times exp(κ_i − κ_max) p_i, in scratch; κ_max."""
    pulls, exponents = T + d, T + d + n * d
    top = load(scratch, exponents)
    for i in range(1, n):
        exponent = load(scratch, exponents + i)
        top = where_greater(exponent, top, exponent, top)
    for i in range(n):
        weight = load(scratch, exponents + n + i) * exp(load(scratch, exponents + i) - top)
        for k in range(d):
            store(scratch, pulls + i * d + k, weight * load(scratch, pulls + i * d + k))
    return top


@compiled
def _norm(scratch: Array, first: int, d: int, columns: int) -> Lanes:
    """The Frobenius norm of the d × *columns* matrix in scratch."""
    squares = splat(0.0)
    for r in range(d):
        in_row = splat(0.0)
        for k in range(columns):
            entry = load(scratch, first + r * columns + k)
            in_row = fma(entry, entry, in_row)
        squares = squares + in_row
    return sqrt(squares)


@compiled
def _sum_of_outer(scratch: Array, out: int, left: Array, first: int, d: int, right: Array,
                  start: int, columns: int, n: int) -> Lanes:
    """Σ_i l_i r_iᵀ into scratch; its Frobenius norm.

    l_i has d entries, from row first + i·d of ``left``; r_i has ``columns``, likewise.
    """
    for r in range(d):
        product(scratch, out + r * columns, right, start, 1, columns, left, first + r, d,
                columns, n)
    return _norm(scratch, out, d, columns)


@compiled
def _directions(queries: Array, weights: Array, scratch: Array, out: int, n: int, T: int,
                d: int, m: int) -> tuple[Lanes, Lanes]:
    """M, or M Q and then Mᵀ K, into scratch; their norms, of which the second may be none (0)."""
    pulls = T + d
    if m == WHOLE:
        return _sum_of_outer(scratch, out, scratch, pulls, d, queries, 0, d, n), splat(0.0)
    inner_queries = pulls + n * d + 2 * n
    inner_pulls = inner_queries + n * m
    for i in range(n):
        product(scratch, inner_pulls + i * m, weights, 0, 1, m, scratch, pulls + i * d, 1, m, d)
    norm = _sum_of_outer(scratch, out, scratch, pulls, d, scratch, inner_queries, m, n)
    return norm, _sum_of_outer(scratch, out + d * m, queries, 0, d, scratch, inner_pulls, m, n)


@compiled
def _penalize(weights: Array, scratch: Array, status: Array, out: int, log_scale: Lanes, d: int,
              columns: int, factors: int) -> tuple[Lanes, Lanes, Lanes]:
    """From −n times the gradients of L to those of L + λ Σ‖factor‖²; log_scale and the norms.

    e^{log_scale} D − 2nλ F for each factor F, the larger exponent taken out.
    """
    log_penalty = load(status, LOG_PENALTY)
    top = where_greater(log_penalty, log_scale, log_penalty, log_scale)
    pull, shrink = exp(log_scale - top), splat(0.0) - exp(log_penalty - top)
    for k in range(factors * d * columns):
        store(scratch, out + k, fma(shrink, load(weights, k), pull * load(scratch, out + k)))
    norm2 = splat(0.0)
    if factors == 2:
        norm2 = _norm(scratch, out + d * columns, d, columns)
    return top, _norm(scratch, out, d, columns), norm2


@compiled
def _add(weights: Array, first: int, scratch: Array, direction: int, entries: int,
         factor: Lanes) -> Lanes:
    """Add factor·direction to *entries* rows of weights from *first*; the largest change."""
    change = splat(0.0)
    for k in range(entries):
        old = load(weights, first + k)
        new = fma(factor, load(scratch, direction + k), old)
        store(weights, first + k, new)
        change = where_greater(magnitude(new - old), change, magnitude(new - old), change)
    return change


@compiled
def _move(weights: Array, scratch: Array, status: Array, direction: int, entries: int, m: int,
          factor: Lanes, norm: Lanes, factor2: Lanes, norm2: Lanes) -> None:
    """Take the step in the trials that are alive and stay in range; update their status."""
    zero, one = splat(0.0), splat(1.0)
    alive = load(status, ALIVE)
    bound = fma(magnitude(factor), norm, load(status, BOUND))
    if m != WHOLE:
        bound = fma(magnitude(factor2), norm2, bound)
    inside = where_greater(load(status, LIMIT), bound, alive, zero)
    change = _add(weights, 0, scratch, direction, entries,
                  where_greater(inside, zero, factor, zero))
    if m != WHOLE:
        change = change + _add(weights, entries, scratch, direction + entries, entries,
                               where_greater(inside, zero, factor2, zero))
    moved = where_greater(change, zero, inside, zero)
    store(status, BOUND, where_greater(moved, zero, bound, load(status, BOUND)))
    store(status, STEPS, load(status, STEPS) + moved)
    store(status, OVERFLOWED, load(status, OVERFLOWED) + (alive - inside))
    store(status, ALIVE, where_greater(one, moved, zero, moved))


@compiled
def take_step(queries: Array, weights: Array, status: Array, scratch: Array,
              shape: tuple[int, int, int, int], rule: int, step: float, penalized: bool) -> None:
    """Move the weights of every trial that is alive, once all samples have been pulled."""
    n, T, d, m = shape
    out = T + d + n * d + 2 * n + 2 * n * m
    columns, factors = (d, 1) if m == WHOLE else (m, 2)
    log_scale = _rescale(scratch, n, T, d)
    norm, norm2 = _directions(queries, weights, scratch, out, n, T, d, m)
    if penalized:
        log_scale, norm, norm2 = _penalize(weights, scratch, status, out, log_scale, d, columns,
                                           factors)
    samples, resolution = load(status, SAMPLES), load(status, LOG_RESOLUTION)
    factor = step_factor(rule, step, log_scale, norm, samples, resolution)
    factor2 = step_factor(rule, step, log_scale, norm2, samples, resolution)
    _move(weights, scratch, status, out, d * columns, m, factor, norm, factor2, norm2)


# The loop -----------------------------------------------------------------------------------


@compiled
def advance(tokens: Array, scores: Array, mask: Array, queries: Array, weights: Array,
            status: Array, scratch: Array, shape: tuple[int, int, int, int], rule: int,
            step: float, loss: int, iterations: int) -> None:
    """Take up to *iterations* steps from the weights in every trial that is alive.

    ``shape`` is (n, T, d, m) with padding, m = `WHOLE` or the inner dimension of K and Q;
    ``rule`` and ``loss`` are codes of this module. Weights and ``status`` are updated in place.
    A trial whose step no longer changes its weights in float64 dies.
    """
    n, T, d, m = shape
    penalized = status[LOG_PENALTY].max() > LOWEST
    for _ in range(iterations):
        for i in range(n):
            logits(tokens, queries, mask, weights, scratch, i, n, T, d, m)
            pull(tokens, scores, scratch, loss, i, n, T, d)
        take_step(queries, weights, status, scratch, shape, rule, step, penalized)
        if status[ALIVE].max() == 0.0:
            return
