"""Dates with zones: the same instant has the same label, whichever door it comes by."""

from __future__ import annotations

import datetime as dt
import json
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import refold
from refold import Detector, scale
from refold.base.errors import UserError
from refold.columns import zones
from refold.columns.conversion import to_table
from refold.columns.date_form import DateForm
from refold.columns.table import Table

ROWS = 400
CHANGES = ["2025-03-30T00:59:59", "2025-03-30T01:00:00", "2025-10-26T00:30", "2025-10-26T01:30"]


def in_berlin(rows=ROWS):
    """A year of hours of work in Berlin, and the hours at which clocks are changed there."""
    rng = np.random.default_rng(1)
    minutes = 24 * 60 * rng.integers(0, 360, rows) + rng.integers(6 * 60, 18 * 60, rows)
    days = pd.Series(pd.Timestamp("2025-01-10") + pd.to_timedelta(minutes, unit="min"))
    days = days.dt.tz_localize("Europe/Berlin")
    days[: len(CHANGES)] = [pd.Timestamp(each, tz="UTC") for each in CHANGES]
    return pd.DataFrame({"x": days, "y": rng.normal(size=rows).round(3)})


def through_file(model, frame, file):
    table = pa.Table.from_pandas(frame)
    (pq.write_table if file.suffix == ".parquet" else feather.write_feather)(table, file)
    return scale.score(model, file).read_all()["label"].to_pylist()


def through_csv(model, frame, file):
    frame.to_csv(file, index=False)
    return scale.score(model, file).read_all()["label"].to_pylist()


def through_json(model, frame, file):
    frame.to_json(file, orient="records", date_format="iso")
    return scale.score(model, file).read_all()["label"].to_pylist()


def through_duckdb(model, frame, _):
    with duckdb.connect() as con:
        con.execute("set timezone = 'Asia/Kathmandu'")
        con.register("rows", frame)
        found = scale.duckdb.score(model, con, "select * from rows", reasons=0)
        return found.read_all()["label"].to_pylist()


def aware(frame):
    """The rows with the objects of Python, each in a zone of its own."""
    places = [dt.UTC, ZoneInfo("Asia/Tokyo"), dt.timezone(dt.timedelta(hours=-3))]
    return [
        {"x": x.to_pydatetime().astimezone(places[k % 3]), "y": y}
        for k, (x, y) in enumerate(frame.itertuples(index=False))
    ]


DOORS = {
    "utc": lambda model, frame, _: model.predict(frame.assign(x=frame["x"].dt.tz_convert("UTC"))),
    "elsewhere": lambda model, frame, _: model.predict(
        frame.assign(x=frame["x"].dt.tz_convert("America/New_York"))
    ),
    "records": lambda model, frame, _: model.predict(aware(frame)),
    "texts": lambda model, frame, _: model.predict(frame.assign(x=frame["x"].astype(str))),
    "polars": lambda model, frame, _: model.predict(
        pl.from_pandas(frame).with_columns(pl.col("x").dt.convert_time_zone("UTC"))
    ),
    "parsed json": lambda model, frame, _: model.predict(
        json.loads(frame.to_json(orient="records", date_format="iso"))
    ),
    "json": through_json,
    "parquet": through_file,
    "csv": through_csv,
    "arrow": through_file,
    "duckdb": through_duckdb,
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("zone", ["Europe/Berlin", "UTC", "+05:45"])
def test_labels_are_those_of_the_zone_that_was_learned(door, zone, tmp_path):
    frame = in_berlin()
    learned = frame.assign(x=frame["x"].dt.tz_convert(zone))
    model = Detector().fit(learned)
    found = DOORS[door](model, frame, tmp_path / f"new.{door}")
    assert list(found) == model.predict(learned).tolist()


def test_a_saved_model_keeps_the_zone(tmp_path):
    frame = in_berlin()
    model = Detector().fit(frame)
    model.save(tmp_path / "model.json")
    assert '"zone": "Europe/Berlin"' in (tmp_path / "model.json").read_text()
    in_utc = frame.assign(x=frame["x"].dt.tz_convert("UTC"))
    loaded = refold.load(tmp_path / "model.json")
    assert loaded.score_samples(in_utc).tolist() == model.score_samples(frame).tolist()
    assert model.columns_[0].form == "iso, Europe/Berlin"


def test_rows_that_wait_keep_their_zone(tmp_path):
    frame = in_berlin()
    whole = Detector().partial_fit(frame[:100]).partial_fit(frame[100:])
    parts = Detector().partial_fit(frame[:100])
    parts.save(tmp_path / "model.json")
    parts = refold.load(tmp_path / "model.json").partial_fit(frame[100:])
    in_utc = frame.assign(x=frame["x"].dt.tz_convert("UTC"))
    assert parts.score_samples(in_utc).tolist() == whole.score_samples(frame).tolist()


def test_texts_in_utc_are_compared_by_the_instant():
    frame = in_berlin()
    texts = frame.assign(x=frame["x"].dt.tz_convert("UTC").dt.strftime("%Y-%m-%dT%H:%M:%SZ"))
    model = Detector().fit(texts)
    expected = model.predict(frame.assign(x=frame["x"].dt.tz_convert("UTC")))
    assert model.predict(frame).tolist() == expected.tolist()


def test_seconds_since_1970_are_in_utc():
    frame = in_berlin()
    counted = frame.assign(x=frame["x"].astype("int64") / 1e6)
    model = Detector(roles={"x": "date"}).fit(counted)
    assert model.columns_[0].form == "unix"
    assert model.predict(frame).tolist() == model.predict(counted).tolist()


@pytest.mark.parametrize("as_text", [True, False])
def test_utc_is_refused_where_only_offsets_are_known(as_text):
    """The texts say +01:00 and +02:00, but not what hour it was there at another instant."""
    frame = in_berlin()
    texts = frame.assign(x=frame["x"].astype(str))
    model = Detector().fit(texts)
    assert model.predict(frame).tolist() == model.predict(texts).tolist()
    new = frame.assign(x=frame["x"].dt.tz_convert("UTC"))
    if as_text:
        new["x"] = new["x"].dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    with pytest.raises(UserError, match=r"column 'x': 20.* is in UTC; .*\+02:00"):
        model.predict(new)


def test_objects_in_several_zones_are_compared_in_utc():
    frame = in_berlin()
    model = Detector().fit(aware(frame))
    assert model.columns_[0].form == "iso, UTC"
    assert model.predict(frame).tolist() == model.predict(aware(frame)).tolist()


def test_times_without_a_zone_are_those_of_the_clock_that_was_learned():
    frame = in_berlin()
    model = Detector().fit(frame)
    naive = frame.assign(x=frame["x"].dt.tz_localize(None))
    assert model.predict(naive).tolist() == model.predict(frame).tolist()
    model = Detector().fit(naive)
    assert model.predict(frame).tolist() == model.predict(naive).tolist()


def test_days_of_a_zone_are_the_same_categories_in_utc():
    days = pd.Series(pd.date_range("2025-03-28", periods=4, tz="Europe/Berlin").repeat(40))
    frame = pd.DataFrame({"g": days, "y": np.tile(np.arange(40), 4) + np.repeat(range(4), 40)})
    for settings in ({"by": "g"}, {"roles": {"g": "category"}}):
        model = Detector(**settings).fit(frame)
        in_utc = json.loads(frame.to_json(orient="records", date_format="iso"))
        assert model.score_samples(in_utc).tolist() == model.score_samples(frame).tolist()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2025-07-01T10:00:00Z", 0),
        ("2025-07-01 10:00 UTC", 0),
        ("2025-07-01 10:00+02", 7200),
        ("2025-07-01 10:00:00.5 -0330", -12600),
        ("2025-07-01 10:00:00,25+05:45[Asia/Kathmandu]", 20700),
        ("10:00 PM +01:00", 3600),
        ("2025-07-01", np.nan),
        ("2025-07-01 10:00:00", np.nan),
        ("2025-07-01 10:00 CET", np.nan),
    ],
)
def test_offsets_are_read_behind_a_time_only(text, seconds):
    np.testing.assert_equal(zones.offsets_of_texts([text]), [seconds])


def test_clocks_of_all_zones_are_those_of_python():
    instants = np.array([pd.Timestamp(each, tz="UTC").timestamp() for each in CHANGES])
    instants = np.append(instants, np.random.default_rng(0).uniform(-4e9, 8e9, 500).round())
    for fixed in ("+05:45", "-00:30"):
        seconds = (-1 if fixed[0] == "-" else 1) * (3600 * int(fixed[1:3]) + 60 * int(fixed[4:]))
        assert set(zones.offsets_in(fixed, instants)) == {seconds}
    for zone in ("Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu"):
        there = [dt.datetime.fromtimestamp(each, ZoneInfo(zone)) for each in instants.tolist()]
        expected = [each.utcoffset().total_seconds() for each in there]
        assert zones.offsets_in(zone, instants).tolist() == expected


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a\nb", "x" * 99, "a//b"])
def test_a_zone_is_a_name_and_no_path(name):
    with pytest.raises(ValueError, match="is not the name of a zone"):
        DateForm("iso", True, True, name)


def test_a_zone_that_is_not_known_here_is_refused_in_a_sentence():
    form = DateForm("iso", True, True, "Mars/Olympus_Mons")
    assert form.read(["1970-01-02 00:00"]).tolist() == [86400.0]
    with pytest.raises(UserError, match=r"'Mars/Olympus_Mons'.*pip install tzdata"):
        form.read(["1970-01-02 00:00Z"])


@pytest.mark.parametrize(
    ("others", "zone"), [("Europe/Berlin", "Europe/Berlin"), ("Asia/Tokyo", "UTC"), (None, "UTC")]
)
def test_parts_of_one_zone_have_it_together_and_others_are_in_utc(others, zone):
    times = pd.date_range("2025-03-01 09:00", periods=4, freq="h")
    parts = [
        to_table(pd.DataFrame({"at": times.tz_localize(place)}))
        for place in ("Europe/Berlin", others)
    ]
    whole = Table.concat(parts)["at"]
    assert whole.clock == zone
    assert np.isnan(whole.offsets).tolist() == [False] * 4 + [others is None] * 4
