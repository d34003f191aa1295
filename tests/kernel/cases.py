"""All valid cases."""

from __future__ import annotations

from .builders import CASES as CONDITION_CASES
from .general_builders import GENERAL_CASES
from .limit_builders import LIMIT_CASES
from .search_builders import SEARCH_CASES

CASES = CONDITION_CASES | SEARCH_CASES | GENERAL_CASES | LIMIT_CASES
