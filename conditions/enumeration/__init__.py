"""Walks over all selections, with proofs that nothing was missed."""
