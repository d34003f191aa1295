"""BLAS is held to one thread inside the block, and only there."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from conditions.exact.threads import one_blas_thread


def blas_threads():
    counts = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    assert counts
    return counts


def test_one_thread_inside_and_the_former_number_after():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with one_blas_thread():
            assert set(blas_threads()) == {1}
            A = np.eye(64)
            assert np.array_equal(A @ A, A)
        assert blas_threads() == before


def test_nested_blocks_keep_one_thread():
    before = blas_threads()
    with one_blas_thread():
        with one_blas_thread():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_an_error_inside_restores_the_number():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(KeyError), one_blas_thread():
            raise KeyError
        assert blas_threads() == before
