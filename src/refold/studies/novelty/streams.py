"""Recorded streams with incidents: SKAB, NAB and the Server Machine Dataset (SMD).

The folder ``streams`` of the one that ``REFOLD_DATA`` names has any of ``skab/``, ``nab/`` and
``smd/`` in it, each with the files of its repository. A method learns from the beginning of a
stream and judges the rest, row by row. Nothing is downloaded.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from refold._typing import Booleans, Floats, Integers
from refold.studies.download import DataError, LocalFiles
from refold.studies.novelty.measures import STREAMS
from refold.studies.novelty.suite import Dataset, Division, Suite, grouped

SKAB_TRAINING = 400  # rows, as in SKAB's own examples
NAB_SHARE, NAB_TRAINING = 0.15, 750  # NAB's probationary period: this share, at most so many rows
NAB_WINDOW = 10  # values that make a row: the present one and those before it
NAB_INCIDENTS = "combined_windows.json"


def numbered(in_incident: Booleans) -> Integers:
    """Return the number of each row's incident, counted from 0; -1 if it is in none.

    >>> numbered(np.array([False, True, True, False, True]))
    array([-1,  0,  0, -1,  1])
    """
    begins = in_incident & ~np.concatenate([[False], in_incident[:-1]])
    return np.where(in_incident, np.cumsum(begins) - 1, -1)


def _from_skab(path: Path) -> Dataset:
    """Read a run of the water pump, whose first 400 rows are normal."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file, delimiter=";"))
    sensors = [name for name in lines[0] if name not in ("datetime", "anomaly", "changepoint")]
    rows = np.array([[float(line[name]) for name in sensors] for line in lines])
    incident = numbered(np.array([float(line["anomaly"]) == 1.0 for line in lines]))
    return _stream(path, rows[:SKAB_TRAINING], rows[SKAB_TRAINING:], incident[SKAB_TRAINING:])


def _from_nab(path: Path) -> Dataset:
    """Read a series of one value; a row is the last ten."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    moments = [datetime.fromisoformat(line["timestamp"]) for line in lines]
    values = np.array([float(line["value"]) for line in lines])
    known = json.loads((path.parent / NAB_INCIDENTS).read_text(encoding="utf-8"))
    incident = np.full(len(values), -1)
    for i, (begin, end) in enumerate(_windows(known, path.name)):
        first, last = datetime.fromisoformat(begin), datetime.fromisoformat(end)
        incident[[first <= moment <= last for moment in moments]] = i
    rows, incident = sliding_window_view(values, NAB_WINDOW), incident[NAB_WINDOW - 1 :]
    n_train = min(int(NAB_SHARE * len(values)), NAB_TRAINING) - NAB_WINDOW + 1
    return _stream(path, rows[:n_train], rows[n_train:], incident[n_train:])


def _windows(known: dict[str, list[tuple[str, str]]], name: str) -> list[tuple[str, str]]:
    """Return a file's incidents; the names in the list of them have a folder before them."""
    [found] = [windows for file, windows in known.items() if file.rpartition("/")[2] == name]
    return found


def _from_smd(path: Path) -> Dataset:
    """Read a server, whose training rows, test rows and labels are three files."""
    train, rows, labels = (np.loadtxt(file, delimiter=",", ndmin=1) for file in _parts_of_smd(path))
    return _stream(path, train, rows, numbered(labels == 1.0))


def _parts_of_smd(path: Path) -> list[Path]:
    return [path.parents[1] / part / path.name for part in ("train", "test", "test_label")]


# The folder of each collection: which files are streams, and how one is read.
_READERS = {
    "skab": ("skab/valve*.csv", _from_skab),
    "nab": ("nab/*.csv", _from_nab),
    "smd": ("smd/test/*.txt", _from_smd),
}


def _stream(path: Path, train: Floats, rows: Floats, incident: Integers) -> Dataset:
    if len(train) == 0 or incident.max(initial=-1) < 0:
        raise DataError(f"{path} has no rows to learn from, or no incident after them.")
    return Dataset(path.stem, rows, incident >= 0, train, incident)


class StreamFiles(LocalFiles):
    """The streams of a folder by their path in it; a hash covers all files that a stream needs."""

    @cached_property
    def sha256(self) -> dict[str, str]:
        """Each stream's hash, in the order of collections and names."""
        found = [
            path for pattern, _ in _READERS.values() for path in sorted(self.folder.glob(pattern))
        ]
        return {path.relative_to(self.folder).as_posix(): _hash(path) for path in found}


def _hash(path: Path) -> str:
    parts = {".txt": _parts_of_smd(path)}.get(path.suffix, [path])
    if path.parent.name == "nab":
        parts.append(path.parent / NAB_INCIDENTS)
    return sha256(b"".join(part.read_bytes() for part in parts)).hexdigest()


class Streams(Suite):
    """Streams that are learned from their beginning and judged by incidents."""

    def load(self, name: str) -> Dataset:
        """Read a stream."""
        path = self.source.path(self.files[name])
        return _READERS[name.partition("/")[0]][1](path)

    def divide(self, dataset: Dataset, seed: int) -> Division:
        """Return the beginning and the rest; seeds make no difference."""
        train = dataset.given_training()
        return Division(train, dataset.rows, dataset.is_anomaly, dataset.incident)

    def draws_rows(self, name: str) -> bool:
        """No rows are drawn."""
        return False

    def groupings(self, names: Sequence[str]) -> dict[str, dict[str, list[str]]]:
        """Return streams by collection."""
        kinds = {name: name.partition("/")[0].upper() for name in names}
        return {"Collection": grouped(kinds, dict.fromkeys(kinds.values()))}


def streams() -> Suite:
    """Return the streams in ``REFOLD_DATA``; DataError if there are none."""
    around = os.environ.get("REFOLD_DATA")
    source = StreamFiles(Path(around or "", "streams"), "")
    if not around or not source.sha256:
        raise DataError(
            "There are no streams: name in REFOLD_DATA or --data a folder that has streams/ in it, "
            "with skab/valve*.csv, nab/*.csv beside combined_windows.json, or smd/train, smd/test "
            "and smd/test_label."
        )
    names = {f"{file.partition('/')[0]}/{Path(file).stem}": file for file in source.sha256}
    return Streams(
        "streams",
        source,
        names,
        "the beginning of a stream",
        measures=STREAMS,
        time_limit=3_600.0,
    )
