"""The models that are served: read from their files, and read again when these change."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from refold.base.errors import UserError
from refold.base.once import once
from refold.judgement import Judge, Judgement
from refold.modelfile import ModelFileError
from refold.models.files import load_with_origin
from refold.monitoring import Drift, DriftMonitor

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# Rows that are put together before they are compared with training: one by one that takes longer
# than to score them.
_WAITING = 500


class Watch:
    """What was scored, compared with what a model has learned."""

    def __init__(self, model: Any, judge: Judge) -> None:
        self._model, self._judge, self._lock = model, judge, threading.Lock()
        self.reset()

    def add(self, found: Judgement) -> None:
        """Count rows that were scored."""
        with self._lock:
            self._waiting.append(found)
            self._more(len(found))

    def add_row(self, row: list[float], distance: float) -> None:
        """Count a row of numbers that was scored by itself."""
        with self._lock:
            self._single.append(row)
            self._distances.append(distance)
            self._more(1)

    def result(self) -> Drift | None:
        """Return what the rows so far have shown; None if there are none."""
        with self._lock:
            self._count()
            return self._monitor.result() if self._rows else None

    def reset(self) -> None:
        """Begin anew."""
        with self._lock:
            self._monitor = DriftMonitor(self._model)
            self._waiting: list[Judgement] = []
            self._single: list[list[float]] = []
            self._distances: list[float] = []
            self._rows = self._counted = 0

    def _more(self, rows: int) -> None:
        self._rows += rows
        if self._rows - self._counted >= _WAITING:
            self._count()

    def _count(self) -> None:
        if self._single:
            rows = np.array(self._single, dtype=np.float64)
            self._waiting.append(self._judge.known(rows, np.array(self._distances)))
            self._single, self._distances = [], []
        if self._waiting:
            self._monitor.update(Judgement.joined(self._waiting))
            self._waiting, self._counted = [], self._rows


@dataclass(frozen=True, eq=False)
class Served:
    """A model in service; it does not change.

    Parameters
    ----------
    name : str
        What it is called in addresses.
    model : estimator
        The model.
    judge : Judge
        What scores.
    created, version : str
        When its file was written, and by which version of refold.
    loaded : str
        Since when it is in service (UTC).
    watch : Watch or None
        What compares the rows that come with those learned.
    """

    name: str
    model: Any
    judge: Judge
    created: str
    version: str
    loaded: str
    watch: Watch | None

    @once
    def opening(self) -> str:
        """The JSON of an answer up to its rows: the same in every one."""
        said = {"model": self.name, "threshold": self.judge.threshold, "alpha": self.judge.alpha}
        return json.dumps(said, allow_nan=False)[:-1] + ', "rows": '

    @once
    def quoted(self) -> dict[str, str]:
        """The names of the columns as JSON has them."""
        return {name: json.dumps(name) for name in self.judge.names}


class ModelStore:
    """Models by name.

    Parameters
    ----------
    files : mapping of str to path
        Where each is; the name is part of addresses.
    drift : bool, default=True
        Whether what is scored is watched.

    Raises
    ------
    ModelFileError, OSError
        If one cannot be read now.
    """

    def __init__(self, files: Mapping[str, Path], *, drift: bool = True) -> None:
        for name in files:
            if not _NAME.fullmatch(name):
                raise UserError(
                    f"{name!r} cannot be the name of a model in an address. Give it another one of "
                    "letters, digits, dots and dashes: name=file."
                )
        self._files, self._drift = dict(files), drift
        self._seen = {name: _signature(file) for name, file in self._files.items()}
        self._served = {name: self._load(name) for name in self._files}
        self._problems: dict[str, str] = {}

    def __iter__(self) -> Iterator[Served]:
        return iter(self._served.values())

    def get(self, name: str) -> Served | None:
        """Return a model, None if there is none of this name."""
        return self._served.get(name)

    def problem(self, name: str) -> str | None:
        """Return why the file of a model that is served could not be loaded anew."""
        return self._problems.get(name)

    def refresh(self) -> list[tuple[str, str | None]]:
        """Load the models whose files have changed; a broken file leaves the old one in service.

        Returns
        -------
        list of (str, str or None)
            What was tried, and what was wrong with it.
        """
        tried: list[tuple[str, str | None]] = []
        for name, file in self._files.items():
            try:
                found = _signature(file)
                if found == self._seen[name]:
                    continue
                self._seen[name] = found
                self._served[name] = self._load(name)
            except (ModelFileError, OSError) as error:
                if self._problems.get(name) == str(error):
                    continue  # a file that is gone stays gone
                self._problems[name] = str(error)
                tried.append((name, str(error)))
            else:
                self._problems.pop(name, None)
                tried.append((name, None))
        return tried

    def _load(self, name: str) -> Served:
        model, origin = load_with_origin(self._files[name])
        judge = Judge.of(model)
        return Served(
            name,
            model,
            judge,
            origin.created,
            origin.refold_version,
            datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            Watch(model, judge) if self._drift else None,
        )


def _signature(file: Path) -> tuple[int, int, int]:
    """Return what changes when a file does."""
    found = os.stat(file)
    return found.st_mtime_ns, found.st_size, found.st_ino
