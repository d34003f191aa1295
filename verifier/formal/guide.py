"""README.txt of an export: how to re-check it by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conditions.dataset import AttentionDataset
from verifier.formal.library import AXIOMS

_TEXT = """\
Certificates for Coq 8.16 or later, with its standard library alone.

The dataset has the fingerprint
sha256 {fingerprint}

Three commands in this directory check everything:

  for f in {order}; do coqc -q -Q theories AttSVM theories/$f.v || break; done
  for f in Data Claims {proofs}; do coqc -q -Q . Certificate -Q theories AttSVM $f.v || break; done
  coqc -q -Q . Certificate -Q theories AttSVM Check.v

The last one prints, for every claim, that the proof has it for its type, and the axioms that the
proof rests on. They must be among those of Coq's real numbers:

{axioms}

What is proved is read in Data.v (the dataset), Claims.v (the claims), theories/Dataset.v and
theories/Statements.v (what their words mean; for no_stationary_point also theories/Loss.v and
its definition in theories/Monotone.v, for limit_from and trapped_from theories/Loss.v and the
definitions in theories/TrapConditions.v). The other files are proofs, which Coq checks; a proof
file holds definitions of numbers and one theorem.

Claims, by the number of the verdict in the certificate file:

{claims}

Not exported:

{omitted}
"""


def guide(dataset: AttentionDataset, order: Sequence[str], claims: Mapping[int, str],
          omitted: Sequence[str]) -> str:
    """The text for this dataset, these theories in order of compilation, and these claims."""
    return _TEXT.format(
        fingerprint=dataset.fingerprint, order=" ".join(order),
        proofs=" ".join(f"Proof_{number}" for number in claims),
        axioms="\n".join(f"  {name}" for name in AXIOMS),
        claims="\n".join(f"  {number} {title}" for number, title in claims.items()) or "  none",
        omitted="\n".join(f"  {line}" for line in omitted) or "  nothing")
