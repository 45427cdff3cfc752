"""Finished cells of Tables II and III."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from refold import __version__
from refold.experiments import cells
from refold.paper.protocol import CellResult
from refold.paper.registry import COLUMNS

# A cell's numbers follow from the protocol; raise this when the protocol changes.
PROTOCOL = 1


class Job(NamedTuple):
    """One cell to compute."""

    column: str
    setting: str
    task: str
    split: int


class CellStore(cells.CellStore[Job, CellResult]):
    """A folder of finished cells; the version and a column's settings decide a cell."""

    def place(self, job: Job) -> Path:
        """Return where in the folder a cell belongs."""
        column = re.sub(r"[^A-Za-z0-9.+-]+", "-", job.column)
        return Path(job.setting, column, f"{job.task}-{job.split}.json")

    def fingerprint(self, job: Job) -> str:
        """Return a hash of all that decides a cell."""
        column = COLUMNS[job.column]
        parts = [__version__, PROTOCOL, column.describe(), column.n_seeds(job.setting), *job]
        return cells.short_hash(parts)

    def result(self, stored: dict[str, Any]) -> CellResult:
        """Return what a file says."""
        result = CellResult(tuple(map(float, stored["gmeans"])), tuple(stored["chosen"]))
        if not len(result.gmeans) == len(result.chosen) > 0:
            raise ValueError("There is not one setting for each seed.")
        return result
