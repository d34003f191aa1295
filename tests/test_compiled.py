"""Compilation that works with and without a place for the cache."""

from __future__ import annotations

import pytest

import conditions.exact.compiled as module
from conditions.exact.compiled import compiled


def add(a, b):
    return a + b


def test_compiled_functions_compute():
    assert compiled(add)(2.0, 3.0) == 5.0


def test_no_place_for_the_cache_means_no_cache(monkeypatch):
    real = module.njit

    def homeless(**options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return real(**options)

    monkeypatch.setattr(module, "njit", homeless)
    assert compiled(add)(2.0, 3.0) == pytest.approx(5.0)
