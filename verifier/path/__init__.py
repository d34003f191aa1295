"""Regularization paths: minimisers of the loss over growing balls. What they show is observed."""

from verifier.path.run import PathPoint, RegularizationPath, regularization_path

__all__ = ["PathPoint", "RegularizationPath", "regularization_path"]
