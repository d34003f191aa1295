"""Tests of the independent checker; nothing here imports the prover."""
