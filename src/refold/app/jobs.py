"""Long work: one piece at a time, in a thread of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from refold.app.reading import TableFile
from refold.base.progress import watched


class CancelledError(Exception):
    """Somebody has said that a job is not to be finished."""


@dataclass
class Job:
    """Work that is under way, as far as it has come."""

    what: str  # what is being done now, in a few words
    rows: int = 0  # how many rows are done
    total: int = 0  # of how many; 0 if nobody knows
    share: float | None = None  # which share of what is being done now is done, if that is known
    cancelled: bool = False  # whether it is to end
    file: TableFile | None = None  # what is read, as far as it is known
    began: float = field(default_factory=time.monotonic)

    def says(self, what: str, total: int = 0) -> None:
        """Say what is done from now on, and with how many rows."""
        self.what, self.rows, self.total, self.share = what, 0, total, None
        self.check()

    def count(self, rows: int) -> None:
        """Count rows that are done."""
        self.rows += rows
        if self.total:
            self.report(self.rows / self.total)
        self.check()

    def report(self, share: float) -> None:
        """Say which share is done; it never goes back."""
        self.share = min(max(share, self.share or 0.0), 1.0)
        self.check()

    def check(self) -> None:
        """End the work if somebody has said so."""
        if self.cancelled:
            raise CancelledError

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.monotonic() - self.began


class Worker:
    """Does one job at a time. It does not keep the process from ending.

    Attributes
    ----------
    job : Job or None
        What is under way.
    finished : int
        How many jobs there were.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.job: Job | None = None
        self.finished = 0

    def start(self, what: str, work: Callable[[Job], None]) -> bool:
        """Begin a job, unless another one is under way; say whether it has begun."""
        with self._lock:
            if self.job is not None:
                return False
            job = self.job = Job(what)
            self._thread = threading.Thread(target=self._run, args=(work, job), daemon=True)
            self._thread.start()
        return True

    def cancel(self) -> None:
        """End what is under way as soon as it can be; what is there stays as it is."""
        job = self.job
        if job is not None:
            job.cancelled = True

    def wait(self, seconds: float) -> None:
        """Wait until nothing is under way, but not longer."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self, work: Callable[[Job], None], job: Job) -> None:
        try:
            with watched(job.report):
                work(job)
        finally:
            self.finished += 1
            self.job = None
