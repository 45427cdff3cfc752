"""The cells of a study: kept on disk, written whole or not at all, and only read if still true."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import quote

from refold import __version__
from refold.base.files import replacing

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

    Parameters
    ----------
    folder : Path
        Made when the first cell is written.
    study : Study
        Whose cells they are.
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
        with replacing(path) as file:
            file.write(json.dumps(stored, indent=1).encode())

    def _fingerprint(self, job: Job) -> str:
        parts = [__version__, *self.study.settings(job), *job]
        return sha256(repr(parts).encode()).hexdigest()[:16]
