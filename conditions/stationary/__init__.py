"""Proofs that there is no stationary point, and proofs that there is one (theory, section 5)."""
