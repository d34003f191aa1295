"""Proofs about Gen-SVM, the separation of sets of tokens."""

from __future__ import annotations

from flint import fmpq, fmpq_mat

from conditions.certificates import GenKKT, GenSeparator, Motzkin
from conditions.certificates.base import Indices, Matrix, SparseVector
from conditions.dataset import AttentionDataset
from conditions.selection import Row
from conditions.verdict import Verdict
from verifier.report.latex.context import Context

_ROWS = (r"With $r_i$ the first token of $O_i$ let $\varphi_{i,t}=(x_{i,r_i}-x_{i,t})z_i^{T}$, "
         r"$\psi_{i,t}=\varphi_{i,t}$ for $t\in O_i$; the constraints are $\langle\psi,W\rangle=0$ "
         r"and $m=\langle\varphi,W\rangle\ge1$ for $t\notin O_i$. ")


def gen_separator(ctx: Context, verdict: Verdict, certificate: GenSeparator) -> str:
    """A matrix that meets the constraints."""
    W = fmpq_mat([list(row) for row in certificate.W])
    return (f"{_ROWS}For {ctx.matrix('W', certificate.W, 'W')} exactly all $\\langle\\psi,W\\rangle"
            f"=0$, and {_margins(ctx, certificate.sets, W)}.")


def _margins(ctx: Context, sets: tuple[Indices, ...], W: fmpq_mat) -> str:
    found = set_margins(ctx.dataset, sets, W)
    if not found:
        return "no token is outside of its set"
    return ctx.by_row("m", found)


def set_margins(dataset: AttentionDataset, sets: tuple[Indices, ...],
                W: Matrix | fmpq_mat) -> dict[Row, fmpq]:
    """⟨φ, W⟩ of the tokens outside of the sets."""
    exact = W if isinstance(W, fmpq_mat) else fmpq_mat([list(row) for row in W])
    found: dict[Row, fmpq] = {}
    for i, (tokens, query, one) in enumerate(zip(dataset.tokens, dataset.queries, sets,
                                                 strict=True)):
        pull = exact * fmpq_mat(dataset.d, 1, list(query))
        logits = (fmpq_mat([list(x) for x in tokens]) * pull).entries()
        found.update({(i, t): logits[one[0]] - logits[t] for t in range(len(tokens))
                      if t not in one})
    return found


def _equality(ctx: Context, weights: SparseVector) -> str:
    if not weights:
        return "no $\\mu$"
    return ctx.sparse(r"\mu", weights, "equality_multipliers")


def motzkin(ctx: Context, verdict: Verdict, certificate: Motzkin) -> str:
    """λ and μ with a vanishing combination."""
    listed = ctx.sparse(r"\lambda", certificate.multipliers, "multipliers")
    return (f"{_ROWS}With {listed} and {_equality(ctx, certificate.equality_multipliers)}, exactly "
            rf"$\sum\lambda\varphi+\sum\mu\psi=0$. {ctx.fact('motzkin')} applies.")


def gen_kkt(ctx: Context, verdict: Verdict, certificate: GenKKT) -> str:
    """W and its multipliers."""
    if not certificate.multipliers:
        return f"{_ROWS}No token is outside of its set: $W=0$ meets the constraints."
    d = ctx.dataset.d
    W = fmpq_mat(d, d)
    for i, t, x in (*certificate.multipliers, *certificate.equality_multipliers):
        tokens, query = ctx.dataset.tokens[i], ctx.dataset.queries[i]
        first = certificate.sets[i][0]
        delta = [x * (a - b) for a, b in zip(tokens[first], tokens[t], strict=True)]
        W += fmpq_mat(d, 1, delta) * fmpq_mat(1, d, list(query))
    listed = ctx.sparse(r"\lambda", certificate.multipliers, "multipliers")
    return (f"{_ROWS}With {listed} and {_equality(ctx, certificate.equality_multipliers)}, "
            rf"{ctx.matrix('W', W, 'multipliers')} equals $\sum\lambda\varphi+\sum\mu\psi$, has "
            rf"all "
            rf"$\langle\psi,W\rangle=0$, and {_margins(ctx, certificate.sets, W)}. "
            f"{ctx.fact('gen_kkt')} applies.")
