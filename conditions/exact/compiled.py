"""Compilation by numba, the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """*function* compiled by numba: no GIL, cached on disk where possible, no fast-math.

    numba renews the cache when the file of *function* changes, not when a file that it compiles
    in does: after such an edit, delete ``__pycache__``.
    """
    try:
        return cast(F, njit(cache=True, nogil=True, error_model="numpy")(function))
    except RuntimeError:
        # No writable place for the cache: compile anew in every process.
        return cast(F, njit(nogil=True, error_model="numpy")(function))
