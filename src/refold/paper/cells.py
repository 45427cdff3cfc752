"""Finished cells on disk: written whole or not at all, and only read if still true."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from refold import __version__
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


class CellStore:
    """A folder of finished cells.

    A cell carries a fingerprint of what it was computed with; one with another fingerprint, one
    that is cut off and one that is no cell at all count as not there.

    Parameters
    ----------
    folder : Path
        Made when the first cell is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, job: Job) -> CellResult | None:
        """Return a finished cell, None if it has to be computed."""
        try:
            stored = json.loads(self.path(job).read_text(encoding="utf-8"))
            if stored["fingerprint"] != fingerprint(job):
                return None
            result = CellResult(tuple(map(float, stored["gmeans"])), tuple(stored["chosen"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return result if len(result.gmeans) == len(result.chosen) > 0 else None

    def write(self, job: Job, result: CellResult) -> None:
        """Write a cell beside its place and then move it there in one step."""
        path = self.path(job)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"fingerprint": fingerprint(job), **asdict(result)}, indent=1)
        # A name of this process's own: two runs on one folder do not write over each other.
        beside = path.with_name(f"{path.stem}-{os.getpid()}.part")
        try:
            beside.write_text(text + "\n", encoding="utf-8")
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise

    def path(self, job: Job) -> Path:
        """Return where a cell belongs."""
        column = re.sub(r"[^A-Za-z0-9.+-]+", "-", job.column)
        return self.folder / job.setting / column / f"{job.task}-{job.split}.json"


def fingerprint(job: Job) -> str:
    """Return a short hash of all that decides a cell: the version and the column's settings."""
    column = COLUMNS[job.column]
    parts = [__version__, PROTOCOL, column.describe(), column.n_seeds(job.setting), *job]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
