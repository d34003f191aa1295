"""The commands of ``attsvm``, one module each; `verifier.cli` imports the one that is asked for."""
