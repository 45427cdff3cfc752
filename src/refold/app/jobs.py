"""Long work: one piece at a time, in a thread of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from refold.app.reading import TableFile


@dataclass
class Job:
    """Work that is under way, as far as it has come."""

    what: str  # what is being done now, in a few words
    rows: int = 0  # how many rows have been read
    file: TableFile | None = None  # what is read, as far as it is known
    began: float = field(default_factory=time.monotonic)

    def says(self, what: str) -> None:
        """Say what is done from now on."""
        self.what, self.rows = what, 0

    def count(self, rows: int) -> None:
        """Count rows that were read."""
        self.rows += rows

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

    def wait(self, seconds: float) -> None:
        """Wait until nothing is under way, but not longer."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self, work: Callable[[Job], None], job: Job) -> None:
        try:
            work(job)
        finally:
            self.finished += 1
            self.job = None
