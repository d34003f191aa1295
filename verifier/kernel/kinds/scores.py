"""Certificates about scores γ_it = Y_i v·x_it: they say where to look, the scores decide."""

from __future__ import annotations

from ..claim import Claim, Proved
from ..reading import Node
from ..refusals import Code


def optimal_tokens(claim: Claim, node: Node) -> Proved:
    """γ_{i t_i} > γ_it for every t ≠ t_i, for every sample i."""
    data = claim.dataset
    tokens = node.object("kind", "tokens")["tokens"]
    selection = tokens.selection(data.lengths)
    for i, t in enumerate(selection):
        if data.optimal(i) != [t]:
            raise tokens.refuse(Code.NOT_OPTIMAL,
                                f"token {t} of sample {i} is not the strict maximum")
    return Proved(f"optimal tokens {selection}")


def _pair(claim: Claim, node: Node) -> tuple[int, int, int, Node]:
    fields = node.object("kind", "sample", "tokens")
    i = fields["sample"].index(claim.dataset.n)
    T = claim.dataset.lengths[i]
    t, u = (entry.index(T) for entry in fields["tokens"].items(2))
    fields["tokens"].increasing([t, u])
    return i, t, u, fields["tokens"]


def optimum_tie(claim: Claim, node: Node) -> Proved:
    """Two tokens share the largest score of a sample."""
    i, t, u, tokens = _pair(claim, node)
    if not {t, u} <= set(claim.dataset.optimal(i)):
        raise tokens.refuse(Code.NOT_TIED, f"tokens {t}, {u} do not both attain the maximum")
    return Proved(f"tokens {t} and {u} of sample {i} share its largest score")


def score_levels(claim: Claim, node: Node) -> Proved:
    """Per sample [largest score, the one score below it or null]."""
    levels = node.object("kind", "levels")["levels"]
    for scores, entry in zip(claim.dataset.scores, levels.items(claim.dataset.n), strict=True):
        high, low = entry.items(2)
        stated = {high.number()} if low.is_null else {high.number(), low.number()}
        if stated != set(scores) or high.number() != max(scores):
            raise entry.refuse(Code.WRONG_LEVELS, "the scores are not these levels")
    return Proved()


def unequal_scores(claim: Claim, node: Node) -> Proved:
    """Two tokens below the largest score of a sample differ in score."""
    i, t, u, tokens = _pair(claim, node)
    scores = claim.dataset.scores[i]
    if scores[t] == scores[u] or max(scores) in (scores[t], scores[u]):
        raise tokens.refuse(Code.NOT_UNEQUAL, f"tokens {t}, {u} are not two lower levels")
    return Proved(f"tokens {t} and {u} of sample {i} have different scores below the largest")


def score_gaps(claim: Claim, node: Node) -> Proved:
    """Per sample a token with a larger and one with a smaller score."""
    pairs = node.object("kind", "pairs")["pairs"].items(claim.dataset.n)
    for scores, pair in zip(claim.dataset.scores, pairs, strict=True):
        t, u = (entry.index(len(scores)) for entry in pair.items(2))
        if not scores[t] > scores[u]:
            raise pair.refuse(Code.NO_GAP, f"token {t} does not outscore token {u}")
    return Proved()


def flat_samples(claim: Claim, node: Node) -> Proved:
    """Exactly the samples whose scores are all equal; at least one."""
    data = claim.dataset
    samples = node.object("kind", "samples")["samples"]
    stated = [entry.index(data.n) for entry in samples.items()]
    samples.increasing(stated)
    if not stated:
        raise samples.refuse(Code.EMPTY, "at least one flat sample is needed")
    if stated != [i for i in range(data.n) if data.is_flat(i)]:
        raise samples.refuse(Code.WRONG_FLATNESS, "these are not the flat samples")
    return Proved(f"flat samples: {', '.join(map(str, stated))}")
