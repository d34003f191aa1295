"""Gradient descent on W, or on K and Q with W = K Qᵀ: runs as values, no stall at any norm."""

from verifier.descent.gradient import LogGradient, gradient
from verifier.descent.heads import (
    HEADS,
    LINEAR_HEAD,
    CallableHead,
    Head,
    LinearHead,
    MulticlassHead,
    QuadraticHead,
    ReluHead,
)
from verifier.descent.loss import LOSSES, Loss
from verifier.descent.parameterization import PARAMETERIZATIONS
from verifier.descent.rules import STEP_RULES, StepRule
from verifier.descent.run import FactoredRun, Run, descend
from verifier.descent.schedule import Outcome

__all__ = ["HEADS", "LINEAR_HEAD", "LOSSES", "PARAMETERIZATIONS", "STEP_RULES", "CallableHead",
           "FactoredRun", "Head", "LinearHead", "LogGradient", "Loss", "MulticlassHead", "Outcome",
           "QuadraticHead", "ReluHead", "Run", "StepRule", "descend", "gradient"]
