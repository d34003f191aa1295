"""BLAS held to one thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """One BLAS thread inside the block.

    At the sizes met here threads gain little on an idle machine and lose a factor of ten on a
    busy one, where they wait for each other. Results are suggestions or carry their error
    bounds, so they do not depend on it.
    """
    with _controller().limit(limits=1, user_api="blas"):
        yield
