"""How many threads the linear algebra may use."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController


def blas_threads(n_jobs: int | None) -> AbstractContextManager[Any]:
    """Let BLAS use `n_jobs` threads; None leaves them as they are set."""
    if n_jobs is None:
        return nullcontext()
    limit: AbstractContextManager[Any] = _blas().limit(
        limits=effective_n_jobs(n_jobs), user_api="blas"
    )
    return limit


@cache
def _blas() -> ThreadpoolController:
    """Find the BLAS libraries once: it takes milliseconds."""
    return ThreadpoolController()
