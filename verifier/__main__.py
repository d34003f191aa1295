"""``python -m verifier`` is the command ``attsvm``."""

from verifier.cli import main

main()
