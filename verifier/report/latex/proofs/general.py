"""Proofs about Gen-SVM, the separation of sets of tokens."""

from __future__ import annotations

from flint import fmpq, fmpq_mat

from conditions.certificates import GenEnclosure, GenKKT, GenSeparator, Motzkin
from conditions.certificates.base import Indices, Matrix, SparseVector
from conditions.dataset import AttentionDataset
from conditions.selection import Row
from conditions.separation.token_sets import Constraints
from conditions.smoothness import rational_above
from conditions.verdict import Verdict
from verifier.report.latex import numbers
from verifier.report.latex.context import Context
from verifier.report.latex.proofs.separation import inverse_bounds, least_margin

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


def gen_enclosure(ctx: Context, verdict: Verdict, certificate: GenEnclosure) -> str:
    """β, ε, what follows exactly, and the margins that ε leaves."""
    dataset, count = ctx.dataset, len(certificate.rows)
    of = Constraints(dataset, certificate.sets, range(dataset.n))
    chosen = (*certificate.rows, *certificate.ties)
    others = sorted(set(of.rejected) - set(certificate.support))
    phi, positions = of.features((*chosen, *others)), list(range(len(chosen)))
    beta, epsilon = inverse_bounds(phi, positions, certificate.multipliers, certificate.inverse,
                                   count)
    least = min(certificate.multipliers[:count]) - rational_above(epsilon)
    margin = least_margin(phi, list(range(len(chosen), len(phi))), positions,
                          certificate.multipliers, epsilon)
    what = (f"{_ROWS}Let $S$ be {ctx.rows(certificate.rows, 'rows')}, outside of the sets, and "
            f"{ctx.rows(certificate.ties, 'ties') or 'no rows'}, inside, $R$ "
            f"{ctx.filed('inverse')} and $\\lambda$ {ctx.filed('multipliers')}. Then "
            f"$\\|I-RK\\|_\\infty\\le\\beta{numbers.top(beta, fmpq(1))}<1$, $\\epsilon"
            f"{numbers.top(epsilon)}$, $\\lambda_\\sigma-\\epsilon{numbers.at_least(least)}$ "
            "outside of the sets")
    if set(of.tied) - set(certificate.ties):
        what += (", and every other $\\psi$ is a combination of rows of $S$ of proportional "
                 "queries with $\\sum c_\\sigma b_\\sigma=0$")
    if len(certificate.support) > count:
        what += (", and so is, with $1$ in place of $0$, the feature of every support index that "
                 "is not in $S$")
    if margin is not None:
        what += (", and the margins of all rows that are no support indices, less what "
                 f"$\\epsilon$ can change, are ${numbers.bottom(margin, fmpq(1))}>1$")
    return f"{what}. {ctx.fact('gen_enclosure')} applies."
