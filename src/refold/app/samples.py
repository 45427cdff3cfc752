"""Tables for whoever has none at hand; made here, or brought by scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refold.base.needs import needs


@dataclass(frozen=True)
class SampleTable:
    """A table of normal rows, and new ones to be checked."""

    # title, about: What it is called, and what it holds, in a sentence.
    title: str
    about: str
    # learned, new: Return Arrow tables.
    learned: Callable[[], Any]
    new: Callable[[], Any]

    def write(self, out: Path, *, new: bool) -> Path:
        """Write one of the tables as CSV; it is then read as anybody's file is."""
        needs("pyarrow.csv", "app").write_csv((self.new if new else self.learned)(), out)
        return out


def _screws(rows: int, seed: int) -> dict[str, Any]:
    """Make the records of two screwdriving stations, of which none is wrong."""
    rng = np.random.default_rng(seed)
    station = np.array(["A", "B"])[rng.integers(0, 2, rows)]
    warm = rng.normal(24.0, 2.5, rows)
    angle = rng.normal(np.where(station == "A", 92.0, 118.0), 3.0)
    torque = 8.0 + 0.03 * angle + 0.02 * (24.0 - warm) + rng.normal(0.0, 0.12, rows)
    start = np.datetime64("2026-03-02T06:00:00", "s") + seed * 7 * 86_400
    seconds = np.sort(rng.integers(0, 5 * 16 * 3600, rows))
    moment = start + seconds // (16 * 3600) * 86_400 + seconds % (16 * 3600)
    return {
        "part": [f"P{10_000 * seed + number:06d}" for number in range(rows)],
        "time": moment,
        "station": station,
        "program": np.where(station == "A", "M6-standard", "M8-standard"),
        "torque [Nm]": np.round(torque, 2),
        "angle [deg]": np.round(angle, 1),
        "seconds": np.round(0.011 * angle + rng.normal(0.4, 0.03, rows), 2),
        "temperature [C]": np.round(warm, 1),
        "operator": np.array(["Ana", "Ben", "Chris", "Dana"])[rng.integers(0, 4, rows)],
    }


def _learned_screws() -> Any:
    return needs("pyarrow", "app").table(_screws(2000, 1))


def _new_screws() -> Any:
    """Put faults into new records: stripped threads, a wrong program, a broken sensor."""
    table = _screws(500, 2)
    table["torque [Nm]"][40:58] -= 2.5
    table["program"][120:124] = "M6-special"
    table["temperature [C]"][200] = 240.0
    table["angle [deg]"][300:303] += 40.0
    return needs("pyarrow", "app").table(table)


def _cancer(malignant: bool) -> Any:
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    benign = np.flatnonzero(data.target == 1)
    chosen = benign[:300]
    if malignant:
        chosen = np.concatenate([benign[300:], np.flatnonzero(data.target == 0)])
    columns = dict(zip(data.feature_names.tolist(), data.data[chosen].T, strict=True))
    kind = data.target_names[data.target[chosen]]
    return needs("pyarrow", "app").table({**columns, **({"kind": kind} if malignant else {})})


SAMPLES = {
    "screws": SampleTable(
        "Screws",
        "2,000 good joints of two screwdriving stations: part, time, program, torque, angle.",
        _learned_screws,
        _new_screws,
    ),
    "cases": SampleTable(
        "Breast cancer cases",
        "300 benign cases, 30 measurements of cell nuclei each; the new ones are of both kinds.",
        lambda: _cancer(malignant=False),
        lambda: _cancer(malignant=True),
    ),
}
