"""The commands of ``attsvm``, one module each; `verifier.cli` registers them."""
