"""One table with injected faults, and what ``refold score`` says of each of its rows."""

import csv
import subprocess
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
from palmerpenguins import load_penguins

from tests import warm

FAULTS = {
    7: {"body_mass_g": 42000.0},
    31: {"body_mass_g": 3.8},
    58: {"bill_length_mm": 0.0},
    90: {"flipper_length_mm": 999.0},
    111: {"island": "Mars"},
    140: {"species": "Emperor"},
    163: {"sex": "unknown"},
    188: {"bill_length_mm": 14.5, "bill_depth_mm": 47.3},
    217: {"bill_depth_mm": -17.0},
    249: {"bill_length_mm": 470.0},
    283: {"flipper_length_mm": 19.5},
    320: {"bill_depth_mm": 190.0},
}


class FaultyTable(NamedTuple):
    """Files of normal rows, of rows with 12 faults and of a model, and the rows as scored."""

    folder: Path
    normal: Path
    new: Path
    model: Path
    scored: list[dict[str, str]]

    @property
    def frame(self):
        return pd.read_csv(self.new)

    @property
    def outliers(self):
        """The rows that are outliers, from 0."""
        return [k for k, row in enumerate(self.scored) if row["label"] == "-1"]


@pytest.fixture(scope="session")
def faulty(tmp_path_factory):
    """The model of refold fit."""
    return _faulty(tmp_path_factory.mktemp("faulty"), "auto")


@pytest.fixture(scope="session")
def faulty_ref(tmp_path_factory):
    """A model that can be written as SQL."""
    return _faulty(tmp_path_factory.mktemp("faulty"), "ref")


def _faulty(folder, method):
    normal = load_penguins().drop(columns="year")
    new = normal.astype(dict.fromkeys(("species", "island", "sex"), object))
    for row, cells in FAULTS.items():
        for column, value in cells.items():
            new.loc[row, column] = value
    files = FaultyTable(*(folder / name for name in ("", "normal.csv", "new.csv", "m.json")), [])
    normal.to_csv(files.normal, index=False)
    new.to_csv(files.new, index=False)
    run = [warm.command(), "fit", files.normal, "-o", files.model, "--method", method]
    subprocess.run(run, check=True, capture_output=True)
    run = [warm.command(), "score", files.model, files.new, "-o", folder / "scored.csv"]
    subprocess.run(run, check=True, capture_output=True)
    with (folder / "scored.csv").open(encoding="utf-8", newline="") as scored:
        files.scored.extend(csv.DictReader(scored))
    assert len(FAULTS.keys() & set(files.outliers)) >= 10
    return files
