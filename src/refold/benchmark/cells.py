"""Finished cells of the benchmark."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from refold import __version__
from refold.benchmark.data import FILES, SHA256
from refold.benchmark.methods import METHODS
from refold.benchmark.protocol import MEASURES, Cell
from refold.experiments import cells

# A cell's numbers follow from the protocol; raise this when the protocol changes.
PROTOCOL = 1


class Job(NamedTuple):
    """One cell to compute."""

    dataset: str
    method: str
    seed: int


class CellStore(cells.CellStore[Job, Cell]):
    """A folder of finished cells.

    Versions of the libraries, the data and a method's settings decide a cell.

    Parameters
    ----------
    folder : Path
        Made when the first cell is written.
    time_limit : float
        In seconds. A method that was stopped earlier than this gets another chance.
    """

    def __init__(self, folder: Path, time_limit: float) -> None:
        super().__init__(folder)
        self.time_limit = time_limit

    def place(self, job: Job) -> Path:
        """Return where in the folder a cell belongs."""
        return Path(job.dataset, job.method.replace(" ", "-"), f"{job.seed}.json")

    def fingerprint(self, job: Job) -> str:
        """Return a hash of all that decides a cell."""
        method, data = METHODS[job.method].describe(job.seed), SHA256[FILES[job.dataset]]
        libraries = [__version__, version("scikit-learn"), version("pyod")]
        return cells.short_hash([PROTOCOL, *libraries, method, data, *job])

    def result(self, stored: dict[str, Any]) -> Cell:
        """Return what a file says."""
        cell = Cell(**{key: value for key, value in stored.items() if key != "fingerprint"})
        if cell.time_limit is not None and cell.time_limit < self.time_limit:
            raise ValueError("There is more time now.")
        if tuple(cell.measures) != (MEASURES if cell.outcome == "done" else ()):
            raise ValueError("There is not one value for each measure.")
        return cell
