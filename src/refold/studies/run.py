"""Run the jobs of a study in processes of their own, and keep their cells on disk."""

from __future__ import annotations

import json
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import as_completed
from dataclasses import asdict
from hashlib import sha256
from importlib import import_module
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import quote

from refold import __version__
from refold.base.files import write_file
from refold.base.needs import needs

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Job = TypeVar("Job", bound=tuple[Any, ...])
Cell = TypeVar("Cell", bound="DataclassInstance")


class Study(ABC, Generic[Job, Cell]):
    """What the cells of a study are: each has a job, a tuple, and is a dataclass of plain data."""

    # Seconds that a cell may take.
    time_limit: float | None = None

    @abstractmethod
    def settings(self, job: Job) -> list[Any]:
        """Return what decides a cell beside its job, as things whose representation says all."""

    @abstractmethod
    def compute(self, job: Job) -> Cell:
        """Compute a cell; this is called in another process."""

    @abstractmethod
    def read(self, **stored: Any) -> Cell:
        """Return a cell from its stored fields; TypeError or ValueError if it cannot be used."""

    def stopped(self, error: Exception) -> Cell:
        """Return the cell of a job that took too long (TimeoutError) or whose process crashed."""
        raise error


class CellStore(Generic[Job, Cell]):
    """A folder of finished cells.

    A cell carries a fingerprint of what it was computed with; one with another fingerprint, one
    that is cut off and one that is no cell at all count as not there.
    """

    def __init__(self, folder: Path, study: Study[Job, Cell]) -> None:
        self.folder, self.study = folder, study

    def path(self, job: Job) -> Path:
        """Return the file of a cell."""
        *folders, name = (quote(str(part), safe=" ") for part in job)
        return self.folder.joinpath(*folders, f"{name}.json")

    def read(self, job: Job) -> Cell | None:
        """Return a finished cell, None if it has to be computed."""
        try:
            stored = json.loads(self.path(job).read_text(encoding="utf-8"))
            if stored["fingerprint"] != self._fingerprint(job):
                return None
            return self.study.read(**stored["cell"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def finished(self, jobs: Iterable[Job]) -> dict[Job, Cell]:
        """Return those of the jobs that need not be computed, with their cells."""
        found = ((job, self.read(job)) for job in jobs)
        return {job: cell for job, cell in found if cell is not None}

    def write(self, job: Job, cell: Cell) -> None:
        """Keep a cell."""
        path = self.path(job)
        path.parent.mkdir(parents=True, exist_ok=True)
        stored = {"fingerprint": self._fingerprint(job), "cell": asdict(cell)}
        write_file(path, json.dumps(stored, indent=1).encode())

    def _fingerprint(self, job: Job) -> str:
        parts = [__version__, *self.study.settings(job), *job]
        return sha256(repr(parts).encode()).hexdigest()[:16]


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
    processes = min(n_jobs, len(todo))
    pool = pebble.ProcessPool(
        processes,
        context=get_context("spawn"),
        initializer=_start,
        initargs=[study, processes],
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


def _share_memory(processes: int) -> None:
    """Let this process have its share of the memory: what needs more fails, not the machine."""
    if sys.platform != "linux":  # elsewhere there is no limit on what a process really holds
        return
    resource = import_module("resource")
    share = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // processes
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if soft == resource.RLIM_INFINITY or soft > share:
        resource.setrlimit(resource.RLIMIT_DATA, (share, hard))


def _start(study: Study[Any, Any], processes: int) -> None:
    """Keep the study in a new process, and do not outlive a run that was killed."""
    global _study
    _study = study
    _share_memory(processes)
    parent: Any = parent_process()

    def wait() -> None:
        parent.join()
        os._exit(1)

    Thread(target=wait, daemon=True).start()


def _compute(job: Any) -> Any:
    # One thread for linear algebra: sums must not depend on the cores, and times can be compared.
    with needs("threadpoolctl", "paper").threadpool_limits(1):
        return _study.compute(job)
