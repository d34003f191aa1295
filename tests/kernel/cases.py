"""All valid cases."""

from __future__ import annotations

from .builders import CASES as CONDITION_CASES
from .cubic_builders import CUBIC_CASES
from .general_builders import GENERAL_CASES
from .head_builders import HEAD_CASES
from .limit_builders import LIMIT_CASES
from .nuclear_builders import NUCLEAR_CASES
from .ray_builders import RAY_CASES
from .robust_builders import ROBUST_CASES
from .run_builders import RUN_CASES
from .search_builders import SEARCH_CASES

CASES = (CONDITION_CASES | SEARCH_CASES | GENERAL_CASES | LIMIT_CASES | RUN_CASES | NUCLEAR_CASES
         | RAY_CASES | ROBUST_CASES | HEAD_CASES | CUBIC_CASES)
