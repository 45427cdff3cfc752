"""Run many cells in processes of their own; finished ones are taken as they are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, as_completed
from functools import lru_cache
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any

from threadpoolctl import threadpool_limits

from refold.base.needs import needs
from refold.benchmark.cells import CellStore, Job
from refold.benchmark.data import Dataset, load
from refold.benchmark.methods import METHODS
from refold.benchmark.protocol import Cell, run_cell

Results = dict[Job, Cell]


def run(
    jobs: Iterable[Job],
    store: CellStore,
    *,
    n_jobs: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Results:
    """Compute cells.

    Parameters
    ----------
    jobs : iterable of Job
        Those of one data set best together: a process keeps the last set that it has read.
    store : CellStore
        Where finished cells are and go, and how long one may take; an interrupted run continues
        from there.
    n_jobs : int, default=1
        Processes. No result but the times depends on it.
    progress : callable, optional
        ``progress(done, total)`` is called after each cell.

    Returns
    -------
    dict
        Each job's result, in the order of `jobs`.
    """
    jobs = list(dict.fromkeys(jobs))
    results = store.finished(jobs)
    progress(len(results), len(jobs))
    todo = [job for job in jobs if job not in results]
    if not todo:
        return results
    # Not forked: threads of compiled code do not survive that. Not joblib: it cannot stop one cell.
    pool = needs("pebble", "benchmark").ProcessPool(
        n_jobs, context=get_context("spawn"), initializer=_end_with_the_parent
    )
    try:
        futures = {pool.schedule(_work, args=[job], timeout=store.time_limit): job for job in todo}
        for future in as_completed(futures):
            job = futures[future]
            results[job] = _cell(future, store.time_limit)
            store.write(job, results[job])
            progress(len(results), len(jobs))
    finally:
        pool.stop()
        pool.join()
    return {job: results[job] for job in jobs}


def _cell(future: Future[Cell], time_limit: float) -> Cell:
    try:
        return future.result()
    except TimeoutError:
        return Cell.too_long(time_limit)
    except needs("pebble", "benchmark").ProcessExpired as error:  # killed, or it crashed
        return Cell.failed(error)


def _work(job: Job) -> Cell:
    with threadpool_limits(1):
        return run_cell(METHODS[job.method], _load(job.dataset), job.seed)


@lru_cache(maxsize=1)
def _load(name: str) -> Dataset:
    return load(name)


def _end_with_the_parent() -> None:
    """Do not outlive a run that was killed, whatever is being computed."""
    parent: Any = parent_process()

    def wait() -> None:
        parent.join()
        os._exit(1)

    Thread(target=wait, daemon=True).start()
