"""Real tables that packages bring, or that lie beside the checkout, as readers would give them."""

import json

import numpy as np
import pandas as pd

from refold.columns.missing import is_missing
from refold.columns.table import DateColumn, NumberColumn, TextColumn
from tests.tables import DATA, PACKAGED, packaged_file, real_table


def table_file(name):
    """The file of a table such as plotly/tips.csv.gz, or None if it is not here."""
    package, _, file = name.partition("/")
    if package == "tables":
        here = file in PACKAGED or (DATA / name).exists()
        return real_table(file) if here else None
    return packaged_file(name)


def as_written(path):
    """All cells as texts, as a CSV has them."""
    if path.suffix == ".json":
        return as_typed(path).astype(object).map(lambda cell: "" if pd.isna(cell) else str(cell))
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def as_typed(path):
    """Columns of the types that pandas guesses."""
    if path.suffix == ".json":
        return pd.DataFrame(json.loads(path.read_text(encoding="utf-8")))
    return pd.read_csv(path)


def texts(cells):
    """A column of texts; None and words for it are missing."""
    places = {}
    codes = [
        -1 if cell is None or is_missing(cell) else places.setdefault(cell, len(places))
        for cell in cells
    ]
    return TextColumn(list(places), np.array(codes, np.int64))


def observed(series):
    """A column of a dataframe."""
    if pd.api.types.is_numeric_dtype(series) and not pd.api.types.is_bool_dtype(series):
        return NumberColumn(series.to_numpy(dtype=float, na_value=np.nan))
    if pd.api.types.is_datetime64_any_dtype(series):
        seconds = series.to_numpy().astype("datetime64[us]").astype(np.int64) / 1e6
        return DateColumn(np.where(series.isna(), np.nan, seconds), has_date=True, has_clock=True)
    return texts([None if pd.isna(cell) else str(cell) for cell in series])
