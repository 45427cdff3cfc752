"""Every type through every door: learned as a dataframe, judged in all, with the same labels."""

from __future__ import annotations

import datetime as dt
import sqlite3
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from refold import Detector, scale
from refold.base.errors import UserError
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
        "unsigned": pd.Series(2**63 + rng.integers(0, 9, ROWS).astype(np.uint64)),
        "nullable": pd.Series(rng.integers(10, 99, ROWS)).astype("Int64").mask(choice & ~choice),
        "decimal": pd.Series([Decimal(f"{k}.25") for k in rng.integers(10, 99, ROWS)]),
        "truth": pd.Series(choice),
        "truth text": pd.Series(np.where(choice, "True", "False")),
        "dictionary": pd.Series(
            pd.arrays.ArrowExtensionArray(
                pa.array(np.where(choice, "low", "high")).dictionary_encode()
            )
        ),
        "category": pd.Series(np.where(choice, "low", "high")).astype("category"),
        "timedelta": pd.Series(pd.to_timedelta(rng.integers(60, 9000, ROWS), unit="s")),
        "nanoseconds of duration": pd.Series(
            pd.to_timedelta(rng.integers(60, 9000, ROWS), unit="ns")
        ),
        "date": pd.Series(days),
        "nanoseconds": pd.Series(days).astype("M8[ns]") + pd.Timedelta(7, "ns"),
        "zoned": pd.Series(days.tz_localize("Europe/Berlin")),
        "dates as categories": pd.Series(days.normalize()).astype("category"),
        "durations as categories": pd.Series(
            pd.to_timedelta(rng.integers(1, 90, ROWS), unit="min")
        ).astype("category"),
        "negative durations": pd.Series(pd.to_timedelta(rng.integers(-9000, 60, ROWS), unit="min")),
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
    # A sheet has floats, also for durations, and Parquet has no durations in dictionaries: texts
    # keep what it is.
    durations = ("timedelta", "negative durations", "nanoseconds of duration")
    lost = [("excel", kind) for kind in ("huge", "unsigned", *durations)]
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


INTERVALS = (
    "select interval (1 + i % 90) minute + interval (i % 4) day as x, i % 7 as y "
    "from range(300) t(i)"
)


def test_intervals_of_duckdb_are_durations():
    with duckdb.connect() as con:
        rows, frame = con.sql(INTERVALS).to_arrow_table(), con.sql(INTERVALS).df()
        model = Detector().fit(frame)
        expected = model.score_samples(frame).tolist()
        assert model.score_samples(rows).tolist() == expected
        assert Detector().fit(rows).score_samples(frame).tolist() == expected
        found = scale.duckdb.score(model, con, INTERVALS, reasons=0).read_all()
    assert found["label"].to_pylist() == model.predict(frame).tolist()


def test_intervals_of_months_are_refused_because_these_differ_in_length():
    with duckdb.connect() as con:
        rows = con.sql(INTERVALS.replace("day", "month")).to_arrow_table()
    with pytest.raises(UserError, match=r"Column 'x' holds intervals of months.* give days"):
        Detector().fit(rows)


def mixed(values):
    """Return a table with a column of objects of several types, which Arrow does not have."""
    x = pd.Series([values[k % len(values)] for k in range(ROWS)], dtype=object)
    return pd.DataFrame({"x": x, "y": np.random.default_rng(1).normal(size=ROWS).round(3)})


@pytest.mark.parametrize("door", ["records", "csv", "json", "excel"])
@pytest.mark.parametrize(
    "values",
    [[True, "red"], [True, False, 3, "red"], [True, 2.5], [2, "red"], [2.5, "red"]],
    ids=str,
)
def test_cells_of_several_types_are_the_same_texts_in_every_door(door, values, tmp_path):
    frame = mixed(values)
    model = Detector().fit(frame)
    assert DOORS[door](model, frame, tmp_path) == model.predict(frame).tolist()


@pytest.mark.parametrize("judged_in", ["frame", "records", "csv", "json", "excel"])
@pytest.mark.parametrize("learned_in", ["frame", "records", "csv", "json", "excel"])
def test_whole_floats_among_texts_are_the_same_in_every_door(learned_in, judged_in, tmp_path):
    """Python writes the number 3.0 as 3.0 to CSV; a sheet, and JSON of others, have 3."""
    frame = mixed([3.0, "abc", -40.0, 2.5, "3.0.1"])
    expected = Detector().fit(frame).predict(frame).tolist()
    doors = {"frame": lambda model, frame, _: model.predict(frame).tolist(), **DOORS}
    model = Detector().fit(frame)
    if learned_in == "records":
        model = Detector().fit(frame.to_dict("records"))
    elif learned_in != "frame":
        doors[learned_in](model, frame, tmp_path)  # which writes the file
        (file,) = tmp_path.iterdir()
        model = scale.learn(file, Detector())
    assert doors[judged_in](model, frame, tmp_path) == expected
    assert expected.count(-1) < ROWS / 10
    new = model.score_samples([{"x": "40.0", "y": 0.0}, {"x": "-40", "y": 0.0}])
    assert new[0] < new[1]


def test_a_dictionary_of_arrow_is_judged_by_dask():
    dask = pytest.importorskip("dask.dataframe")
    _, frame = learned("dictionary")
    model = Detector().fit(frame)
    found = scale.dask.score(model, dask.from_pandas(frame, npartitions=2), reasons=0)
    assert found.compute()["label"].tolist() == model.predict(frame).tolist()


def test_three_and_three_point_zero_are_two_values_where_both_are_written():
    model = Detector().fit([{"x": ("3", "3.0", "abc")[k % 3], "y": k % 7} for k in range(210)])
    assert set(model.encoder_.counts.others[0].values.counts) == {"3", "3.0", "abc"}


@pytest.mark.parametrize("door", ["records", "csv", "json"])
def test_whole_numbers_beyond_64_bits_keep_their_digits(door, tmp_path):
    frame = mixed([2**70, 2**70 + 1, 2**70 + 2])
    model = Detector().fit(frame)
    assert DOORS[door](model, frame, tmp_path) == model.predict(frame).tolist()


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["high", "low"])], ids=str)
@pytest.mark.parametrize("door", ["arrow", "parquet", "ipc"])
def test_categories_of_polars_are_read_though_their_codes_have_no_sign(kind, door, tmp_path):
    words = ["low", "high", "high"] * 50
    frame = pl.DataFrame({"x": pl.Series(words).cast(kind), "y": np.arange(150) % 7})
    model = Detector().fit(frame)
    if door == "arrow":
        found = model.predict(frame.to_arrow()).tolist()
    else:
        file = tmp_path / f"new.{door}"
        (frame.write_parquet if door == "parquet" else frame.write_ipc)(file)
        found = scale.score(model, file).read_all()["label"].to_pylist()
    assert found == model.predict(frame).tolist()


@pytest.mark.parametrize("cells", [["1", "2", "3"], ["0.5", "01", "7"], ["1,5", "-", "x"]], ids=str)
@pytest.mark.parametrize("packed", [False, True])
def test_views_of_texts_are_texts(cells, packed, tmp_path):
    x, y = cells * 50, np.arange(150.0) % 7
    plain, views = pa.table({"x": x, "y": y}), pa.array(x, pa.string_view())
    table = pa.table({"x": views.dictionary_encode() if packed else views, "y": y})
    for one, other in ((plain, table), (table, plain)):
        model = Detector().fit(one)
        assert model.predict(one).tolist() == model.predict(other).tolist()
        file = tmp_path / "t.arrows"
        with pa.ipc.new_stream(file, other.schema) as out:
            out.write_table(other)
        found = scale.score(model, file).read_all()["label"].to_pylist()
        assert found == model.predict(one).tolist()


BYTES = {
    "objects": lambda cells: pd.DataFrame({"x": cells}),
    "records": lambda cells: [{"x": cell} for cell in cells],
    "bytearrays": lambda cells: [{"x": bytearray(cell)} for cell in cells],
    "categories": lambda cells: pd.DataFrame({"x": pd.Series(cells).astype("category")}),
    "few categories": lambda cells: pd.DataFrame({"x": pd.Series(cells[:9]).astype("category")}),
    "polars": lambda cells: pl.DataFrame({"x": cells}),
    "binary": lambda cells: pa.table({"x": pa.array(cells, pa.binary())}),
    "large": lambda cells: pa.table({"x": pa.array(cells, pa.large_binary())}),
    "view": lambda cells: pa.table({"x": pa.array(cells, pa.binary_view())}),
    "of one size": lambda cells: pa.table({"x": pa.array(cells, pa.binary(3))}),
    "dictionary": lambda cells: pa.table({"x": pa.array(cells).dictionary_encode()}),
}


@pytest.mark.parametrize("form", BYTES)
def test_bytes_are_refused_wherever_they_come_from(form):
    with pytest.raises(UserError, match=r"Column 'x' holds [bB]"):
        Detector().fit(BYTES[form]([b"red", b"old"] * 80))


@pytest.mark.parametrize("kind", ["c8", "c16", object])
def test_complex_numbers_are_refused(kind):
    """They were learned as names such as (1+2j), which Arrow and files do not have."""
    x = pd.Series(np.arange(90) + 1j).astype(kind)
    with pytest.raises(UserError, match=r"Column 'x' holds complex numbers: split it into two"):
        Detector().fit(pd.DataFrame({"x": x, "y": np.arange(90) % 7}))


@pytest.mark.parametrize("freq", ["D", "M", "W", "Y"])
@pytest.mark.parametrize("door", ["arrow", "parquet"])
@pytest.mark.parametrize("category", [False, True])
def test_periods_that_arrow_only_counts_are_refused(freq, door, category, tmp_path):
    days = pd.Series(pd.period_range("2025-03-01", periods=9, freq=freq).repeat(20))
    frame = pd.DataFrame({"x": days, "y": np.arange(180) % 7})
    model = Detector().fit(frame)
    assert DOORS["records"](model, frame, tmp_path) == model.predict(frame).tolist()
    if category:
        frame["x"] = frame["x"].astype("category")
        door = "arrow"  # Parquet has no such categories
    with pytest.raises(UserError, match=r"olumn 'x' holds periods of pandas.*astype\(str\)"):
        DOORS[door](model, frame, tmp_path)


def test_periods_are_refused_by_the_command_which_does_not_know_pandas(tmp_path):
    days = pd.Series(pd.period_range("2025-03-01", periods=90))
    pd.DataFrame({"x": days, "y": np.arange(90) % 7}).to_parquet(tmp_path / "t.parquet")
    command = [Path(sys.executable).with_name("refold"), "fit", "t.parquet", "-o", "model.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "column 'x' holds periods of pandas" in " ".join(done.stderr.split())


@pytest.mark.parametrize(("kind", "learned_as"), [("timedelta", "durations"), ("date", "dates")])
@pytest.mark.parametrize("door", ["frame", "records", "json", "excel", "parquet"])
def test_numbers_where_dates_or_durations_were_learned_are_refused(
    door, kind, learned_as, tmp_path
):
    model, frame = learned(kind)
    counted = frame.assign(x=frame["x"].astype("int64"))
    with pytest.raises(UserError, match=rf"column 'x': [0-9.e+-]+ is a number; {learned_as} were"):
        DOORS.get(door, lambda model, frame, _: model.predict(frame))(model, counted, tmp_path)
    few = counted.astype(object)
    few.loc[2:, "x"] = frame["x"][2:]
    found = model.predict(few)
    assert found[:2].tolist() == [-1, -1]
    assert found[2:].tolist() == model.predict(frame)[2:].tolist()


def test_digits_that_a_sheet_has_lost_are_refused(tmp_path):
    model, frame = learned("huge")
    with pytest.raises(UserError, match=r"column 'x': .* its last digits are lost"):
        through_excel(model, frame, tmp_path)
