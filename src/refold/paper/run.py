"""Run many cells in parallel; those that an earlier run has finished are taken as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from refold.paper.cells import CellStore, Job
from refold.paper.data import Task
from refold.paper.protocol import CellResult, run_cell
from refold.paper.registry import COLUMNS

Results = dict[Job, CellResult]


def run(
    wanted: Iterable[tuple[str, str]],
    tasks: Iterable[Task],
    store: CellStore,
    *,
    n_jobs: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Results:
    """Compute columns of Tables II and III over tasks and splits.

    Parameters
    ----------
    wanted : iterable of (column, setting)
        Names from the registry.
    tasks : iterable of Task
        Over which.
    store : CellStore
        Where finished cells are and go; an interrupted run continues from there.
    n_jobs : int, default=1
        Processes. No result depends on it.
    progress : callable, optional
        ``progress(done, total)`` is called after each cell.

    Returns
    -------
    dict
        Each job's result, in the order of `wanted`, tasks and splits.
    """
    by_name = {(task.info.task, task.split): task for task in tasks}
    jobs = [Job(*pair, *key) for pair in dict.fromkeys(wanted) for key in by_name]
    results = store.finished(jobs)
    progress(len(results), len(jobs))
    todo = [job for job in jobs if job not in results]
    work = (delayed(_work)(job, by_name[job.task, job.split], store) for job in todo)
    for job, result in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(work):
        results[job] = result
        progress(len(results), len(jobs))
    return {job: results[job] for job in jobs}


def _work(job: Job, task: Task, store: CellStore) -> tuple[Job, CellResult]:
    # One thread for linear algebra: cells are small, and sums must not depend on the cores.
    with threadpool_limits(1):
        result = run_cell(COLUMNS[job.column], job.setting, task)
    store.write(job, result)
    return job, result
