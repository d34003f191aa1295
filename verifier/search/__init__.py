"""Searching for counterexamples: data and starts on which hypotheses hold and a conclusion fails."""

from __future__ import annotations

from verifier.search.engine import Result, search
from verifier.search.problem import Counterexample, Problem

__all__ = ["Counterexample", "Problem", "Result", "search"]
