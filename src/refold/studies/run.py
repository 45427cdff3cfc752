"""Run the jobs of a study in processes of their own; finished cells are taken as they are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import as_completed
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

from refold.base.needs import needs
from refold.studies.cells import Cell, CellStore, Job, Study

Progress = Callable[[int, int], None]

# What a process of the pool works for.
_study: Study[Any, Any]


def silent(done: int, total: int) -> None:
    """Report no progress."""


def run(
    study: Study[Job, Cell],
    jobs: Iterable[Job],
    folder: Path,
    *,
    n_jobs: int = 1,
    progress: Progress = silent,
) -> dict[Job, Cell]:
    """Compute cells."""
    store, jobs = CellStore(folder, study), list(dict.fromkeys(jobs))
    cells = store.finished(jobs)
    progress(len(cells), len(jobs))
    todo = [job for job in jobs if job not in cells]
    if not todo:
        return cells
    pebble = needs("pebble", "paper")
    # Not forked: threads of compiled code do not survive that. Not joblib: it cannot stop one job.
    pool = pebble.ProcessPool(
        min(n_jobs, len(todo)),
        context=get_context("spawn"),
        initializer=_start,
        initargs=[study],
    )
    try:
        futures = {pool.schedule(_compute, [job], timeout=study.time_limit): job for job in todo}
        for future in as_completed(futures):
            job = futures[future]
            try:
                cells[job] = future.result()
            except (TimeoutError, pebble.ProcessExpired) as error:
                cells[job] = study.stopped(error)
            store.write(job, cells[job])
            progress(len(cells), len(jobs))
    finally:
        pool.stop()
        pool.join()
    return {job: cells[job] for job in jobs}


def _start(study: Study[Any, Any]) -> None:
    """Keep the study in a new process, and do not outlive a run that was killed."""
    global _study
    _study = study
    parent: Any = parent_process()

    def wait() -> None:
        parent.join()
        os._exit(1)

    Thread(target=wait, daemon=True).start()


def _compute(job: Any) -> Any:
    # One thread for linear algebra: sums must not depend on the cores, and times can be compared.
    with needs("threadpoolctl", "paper").threadpool_limits(1):
        return _study.compute(job)
