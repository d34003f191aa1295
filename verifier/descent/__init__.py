"""Gradient descent on W, or on K and Q with W = K Qᵀ: runs as values, no stall at any norm."""

from verifier.descent.gradient import LogGradient, gradient
from verifier.descent.loss import LOSSES, Loss
from verifier.descent.parameterization import PARAMETERIZATIONS
from verifier.descent.rules import STEP_RULES, StepRule
from verifier.descent.run import FactoredRun, Run, descend
from verifier.descent.schedule import Outcome

__all__ = ["LOSSES", "PARAMETERIZATIONS", "STEP_RULES", "FactoredRun", "LogGradient", "Loss",
           "Outcome", "Run", "StepRule", "descend", "gradient"]
