"""Searching for counterexamples: cases on which hypotheses hold and a conclusion fails."""

from __future__ import annotations

from verifier.search.engine import Result, search
from verifier.search.problem import Counterexample, Problem

__all__ = ["Counterexample", "Problem", "Result", "search"]
