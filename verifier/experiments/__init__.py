"""The paper's experiments as functions of their settings; figures and sweeps call them."""
