"""The optimisation problems of the theory, solved to a proof."""
