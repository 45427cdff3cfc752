"""Surroundings of the tests of columns."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """Keep BLAS to one thread: on matrices this small, busy cores make more of them far slower."""
    with threadpool_limits(1, user_api="blas"):
        yield
