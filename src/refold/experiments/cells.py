"""Finished cells on disk: written whole or not at all, and only read if still true."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


class CellStore(ABC, Generic[Job, Result]):
    """A folder of finished cells; results are dataclasses.

    A cell carries a fingerprint of what it was computed with; one with another fingerprint, one
    that is cut off and one that is no cell at all count as not there.

    Parameters
    ----------
    folder : Path
        Made when the first cell is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def place(self, job: Job) -> Path:
        """Return where in the folder a cell belongs."""

    @abstractmethod
    def fingerprint(self, job: Job) -> str:
        """Return a hash of all that decides a cell."""

    @abstractmethod
    def result(self, stored: dict[str, Any]) -> Result:
        """Return what a file says; KeyError, TypeError or ValueError if it cannot be used."""

    def path(self, job: Job) -> Path:
        """Return the file of a cell."""
        return self.folder / self.place(job)

    def read(self, job: Job) -> Result | None:
        """Return a finished cell, None if it has to be computed."""
        try:
            stored = json.loads(self.path(job).read_text(encoding="utf-8"))
            if stored["fingerprint"] != self.fingerprint(job):
                return None
            return self.result(stored)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def finished(self, jobs: Iterable[Job]) -> dict[Job, Result]:
        """Return those of the jobs that need not be computed, with their results."""
        found = ((job, self.read(job)) for job in jobs)
        return {job: result for job, result in found if result is not None}

    def write(self, job: Job, result: Result) -> None:
        """Write a cell beside its place and then move it there in one step.

        Unlike a model, it is not forced onto the disk: a cell that is lost is computed again.
        """
        path = self.path(job)
        path.parent.mkdir(parents=True, exist_ok=True)
        cell = {"fingerprint": self.fingerprint(job), **asdict(result)}  # type: ignore[call-overload]
        # A name of this process's own: two runs on one folder do not write over each other.
        beside = path.with_name(f"{path.stem}-{os.getpid()}.part")
        try:
            beside.write_text(json.dumps(cell, indent=1) + "\n", encoding="utf-8")
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


def short_hash(parts: Iterable[Any]) -> str:
    """Return a short hash of things whose representation says all about them."""
    return sha256(repr(list(parts)).encode()).hexdigest()[:16]
