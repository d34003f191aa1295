"""Every registered claim, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from verifier.claims.claim import Claim
from verifier.claims.parsing import unknown
from verifier.claims.separations import SEPARATIONS
from verifier.claims.theorems import THEOREMS

CLAIMS: Mapping[str, Claim] = MappingProxyType(
    {claim.name: claim for claim in (*THEOREMS, *SEPARATIONS)})


def find(name: str) -> Claim:
    """The claim *name*. Raises ``InvalidInput`` that lists close names and all names.

    >>> find("thm4").statement
    'plain descent from any W(0) converges in direction to W^mm'
    """
    if name not in CLAIMS:
        raise unknown("claim", name, CLAIMS)
    return CLAIMS[name]
