"""Gradient descent on the attention weights: runs as values, no stall at any norm."""

from verifier.descent.gradient import LogGradient, gradient
from verifier.descent.loss import LOSSES, Loss
from verifier.descent.rules import STEP_RULES, StepRule
from verifier.descent.run import Run, descend
from verifier.descent.schedule import Outcome

__all__ = ["LOSSES", "STEP_RULES", "LogGradient", "Loss", "Outcome", "Run", "StepRule",
           "descend", "gradient"]
