"""Every type through every door: learned as a dataframe, judged in all, with the same labels."""

from __future__ import annotations

import datetime as dt
import sqlite3
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from refold import Detector, scale
from refold.export import to_sql

ROWS = 160


def columns(rng):
    """Return what columns of each type hold, as pandas has them."""
    choice = rng.integers(0, 2, ROWS).astype(bool)
    days = pd.Timestamp("2025-03-01") + pd.to_timedelta(rng.integers(0, 9000, ROWS), unit="min")
    return {
        "float64": pd.Series(rng.normal(50, 9, ROWS).round(3)),
        "float32": pd.Series(rng.normal(50, 9, ROWS).round(3).astype(np.float32)),
        "int": pd.Series(rng.integers(10, 99, ROWS)),
        "huge": pd.Series([2**60 + int(k) for k in rng.integers(0, 9, ROWS)]),
        "nullable": pd.Series(rng.integers(10, 99, ROWS)).astype("Int64").mask(choice & ~choice),
        "decimal": pd.Series([Decimal(f"{k}.25") for k in rng.integers(10, 99, ROWS)]),
        "truth": pd.Series(choice),
        "truth text": pd.Series(np.where(choice, "True", "False")),
        "category": pd.Series(np.where(choice, "low", "high")).astype("category"),
        "timedelta": pd.Series(pd.to_timedelta(rng.integers(60, 9000, ROWS), unit="s")),
        "date": pd.Series(days),
        "nanoseconds": pd.Series(days).astype("M8[ns]") + pd.Timedelta(7, "ns"),
        "zoned": pd.Series(days.tz_localize("Europe/Berlin")),
        "dates as categories": pd.Series(days.normalize()).astype("category"),
        "durations as categories": pd.Series(
            pd.to_timedelta(rng.integers(1, 90, ROWS), unit="min")
        ).astype("category"),
    }


KINDS = list(columns(np.random.default_rng(0)))


def through_csv(model, frame, folder):
    frame.to_csv(folder / "new.csv", index=False)
    return scale.score(model, folder / "new.csv").read_all()["label"].to_pylist()


def through_json(model, frame, folder):
    frame.to_json(folder / "new.json", orient="records", date_format="iso", default_handler=str)
    return scale.score(model, folder / "new.json").read_all()["label"].to_pylist()


def through_excel(model, frame, folder):
    zoned = frame.select_dtypes("datetimetz").columns
    naive = frame.assign(**{name: frame[name].dt.tz_localize(None) for name in zoned})
    naive.to_excel(folder / "new.xlsx", index=False)
    return scale.score(model, folder / "new.xlsx").read_all()["label"].to_pylist()


def through_parquet(model, frame, folder):
    frame.to_parquet(folder / "new.parquet")
    return scale.score(model, folder / "new.parquet").read_all()["label"].to_pylist()


DOORS = {
    "records": lambda model, frame, _: model.predict(frame.to_dict("records")).tolist(),
    "objects": lambda model, frame, _: model.predict(frame.astype(object)).tolist(),
    "polars": lambda model, frame, _: model.predict(pl.from_pandas(frame)).tolist(),
    "arrow": lambda model, frame, _: model.predict(pa.Table.from_pandas(frame)).tolist(),
    "parquet": through_parquet,
    "csv": through_csv,
    "json": through_json,
    "excel": through_excel,
}


def learned(kind):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": columns(rng)[kind], "y": rng.normal(size=ROWS).round(3)})
    return Detector().fit(frame), frame


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", KINDS)
def test_labels_are_those_of_the_dataframe(kind, door, tmp_path):
    model, frame = learned(kind)
    given = frame
    # A sheet has floats, also for durations, pandas writes JSON in UTC, and Parquet has no
    # durations in dictionaries: texts keep what it is.
    lost = [("excel", "huge"), ("excel", "timedelta"), ("json", "zoned")]
    lost += [(other, "durations as categories") for other in ("excel", "parquet")]
    if (door, kind) in lost:
        given = frame.assign(x=frame["x"].astype(str))
    assert DOORS[door](model, given, tmp_path) == model.predict(frame).tolist()


@pytest.mark.parametrize("door", ["records", "csv", "json", "parquet"])
@pytest.mark.parametrize("values", ["whole floats", "days", "zoned days"])
def test_groups_and_categories_are_known_in_every_door(values, door, tmp_path):
    rng = np.random.default_rng(1)
    group = rng.integers(0, 4, ROWS)
    days = pd.Timestamp("2025-03-01") + pd.to_timedelta(group, unit="D")
    zoned = pd.Series(days.tz_localize("Europe/Berlin"))
    given = {"whole floats": group.astype(float), "days": days, "zoned days": zoned}[values]
    frame = pd.DataFrame({"g": given, "y": (9.0 * group + rng.normal(size=ROWS)).round(2)})
    if (door, values) == ("json", "zoned days"):  # pandas writes it in UTC: another day
        frame["g"] = frame["g"].dt.tz_localize(None)
    for settings in ({"by": "g"}, {"roles": {"g": "category"}}):
        model = Detector(**settings).fit(frame)
        assert DOORS[door](model, frame, tmp_path) == model.predict(frame).tolist()
        assert (model.predict(frame) == -1).mean() < 0.05


@pytest.mark.parametrize("kind", ["float64", "int", "truth", "truth text", "category"])
def test_labels_of_databases_are_those_of_the_dataframe(kind):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": columns(rng)[kind], "y": rng.normal(size=ROWS).round(3)})
    frame["z"] = np.where(rng.random(ROWS) < 0.5, "a", "b")
    model = Detector(method="ref").fit(frame)
    expected = model.predict(frame).tolist()
    plain = frame.assign(x=frame["x"].astype(str) if kind == "category" else frame["x"])
    with duckdb.connect() as database:
        database.register("parts", plain)
        query = to_sql(model, table="parts", dialect="duckdb", without=("shape", "character"))
        assert database.sql(query).df()["label"].tolist() == expected
    with sqlite3.connect(":memory:") as database:
        plain.to_sql("parts", database, index=False)
        query = to_sql(model, table="parts", dialect="sqlite", without=("shape", "character"))
        assert pd.read_sql(query, database)["label"].tolist() == expected


def test_durations_in_a_database_are_refused_in_a_sentence():
    model = Detector(method="ref").fit(learned("timedelta")[1].assign(z=list("ab") * (ROWS // 2)))
    with pytest.raises(ValueError, match=r"Column 'x': its numbers are written as .*duration"):
        to_sql(model, table="parts", dialect="duckdb")


@pytest.mark.parametrize("spelling", ["true", "TRUE", "1", 1, True, np.True_])
def test_truth_values_are_known_however_they_are_written(spelling):
    model, frame = learned("truth")
    usual = {"x": True, "y": float(frame["y"].median())}
    assert model.score_samples([{**usual, "x": spelling}]) == model.score_samples([usual])


@pytest.mark.parametrize("digits", [400, 5000])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_number_beyond_all_is_an_outlier_not_an_error(digits, sign):
    model = Detector().fit([{"k": k % 9, "c": "ab"[k % 2]} for k in range(100)])
    assert model.predict([{"k": sign * 10**digits, "c": "a"}]).tolist() == [-1]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (str(dt.timedelta(hours=-1)), -3600.0),
        (str(pd.Timedelta(hours=-1)), -3600.0),
        (str(dt.timedelta(days=2, seconds=5)), 172805.0),
        (pd.Timedelta(minutes=90).isoformat(), 5400.0),
    ],
)
def test_durations_are_read_as_python_and_pandas_write_them(text, seconds):
    usual = pd.to_timedelta(np.arange(-300, 300), unit="h")
    model = Detector().fit(pd.DataFrame({"x": usual, "y": np.arange(600) % 7}))
    as_text = model.score_samples([{"x": text, "y": 3}])
    typed = model.score_samples([{"x": dt.timedelta(seconds=seconds), "y": 3}])
    assert as_text == typed
