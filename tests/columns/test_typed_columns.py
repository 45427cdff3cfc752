"""Columns that have a type are read by it, the same from every library, and refused by name."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from refold.base.errors import UserError
from refold.columns.conversion import to_table
from refold.columns.date_form import DateForm
from refold.columns.encoding.encoder import TableEncoder
from refold.columns.roles import as_role
from refold.columns.table import DateColumn, NumberColumn, TextColumn, as_texts

SPANS = [dt.timedelta(days=1, seconds=30), dt.timedelta(milliseconds=250), None]
CLOCKS = [dt.time(8, 5), dt.time(23, 59, 59), None]


def brought(frame):
    (column,) = to_table(frame, ()).columns
    return column


@pytest.mark.parametrize("frame_of", [pd.DataFrame, pl.DataFrame, pa.table])
def test_durations_are_seconds(frame_of):
    column = brought(frame_of({"took": SPANS}))
    assert isinstance(column, NumberColumn)
    expected = [np.nan if span is None else span.total_seconds() for span in SPANS]
    np.testing.assert_array_equal(column.values, expected)


@pytest.mark.parametrize("frame_of", [pd.DataFrame, pl.DataFrame, pa.table])
def test_times_of_the_day_are_seconds_from_midnight_and_written_as_a_clock_shows_them(frame_of):
    column = brought(frame_of({"at": CLOCKS}))
    assert (column.has_date, column.has_clock) == (False, True)
    np.testing.assert_array_equal(column.seconds, [8 * 3600 + 300, 86399, np.nan])
    texts = as_texts(column)
    assert [texts.values[code] for code in texts.codes[:2]] == ["08:05:00", "23:59:59"]
    assert texts.codes[2] == -1


@pytest.mark.parametrize("frame_of", [pd.DataFrame, pl.DataFrame])
def test_a_moment_with_a_zone_is_what_the_clock_on_the_wall_shows(frame_of):
    naive = [dt.datetime(2026, 1, 5, 8), dt.datetime(2026, 7, 5, 8)]
    zone = dt.timezone(dt.timedelta(hours=2))
    aware = pd.Series([moment.replace(tzinfo=zone) for moment in naive])
    if frame_of is pl.DataFrame:
        aware = pl.Series(naive).dt.replace_time_zone("Europe/Berlin")
    columns = [brought(frame_of({"at": cells})) for cells in (aware, naive)]
    np.testing.assert_array_equal(columns[0].seconds, columns[1].seconds)


def test_python_dates_with_gaps_are_days():
    column = brought(pd.DataFrame({"day": [dt.date(1970, 1, 3), None, dt.date(1969, 12, 31)]}))
    assert (column.has_date, column.has_clock) == (True, False)
    np.testing.assert_array_equal(column.seconds, [2 * 86400.0, np.nan, -86400.0])


def test_a_column_of_arrow_s_type_of_nothing_is_empty():
    assert np.isnan(brought(pa.table({"x": pa.nulls(3)})).values).all()


def test_a_category_that_is_null_is_missing():
    codes = pa.array([0, 1, 2, None], pa.int32())
    coded = pa.DictionaryArray.from_arrays(codes, pa.array(["A", None, "B"]))
    column = brought(pa.table({"x": coded}))
    found = [None if code < 0 else column.values[code] for code in column.codes]
    assert found == ["A", None, "B", None]


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"x": [[1, 2], [3]]}),
        pa.table({"x": [{"a": 1}, {"a": 2}]}),
        pa.table({"x": [b"\0", b"\1"]}),
        pd.DataFrame({"x": [[1, 2], {"a": 3}]}),
    ],
)
def test_what_cannot_be_learned_is_named_with_what_to_do(frame):
    with pytest.raises(UserError, match=r"Column 'x' holds .*Leave it out: .*ignore"):
        to_table(frame, ())
    assert to_table(frame, ("x",)).columns == []


def test_moments_are_dates_and_no_numbers():
    column = DateColumn(np.arange(30) * 86400.0, has_date=True, has_clock=False)
    assert as_role("made", column, "date").role == "date"
    with pytest.raises(ValueError, match="made cannot be a number: it has a type for dates"):
        as_role("made", column, "number")


def test_numbers_are_dates_only_where_they_read_as_such():
    days = [20260105.0, 20260228.0, np.nan] * 10
    assert as_role("made", NumberColumn(np.array(days)), "date").form == DateForm(
        "%Y%m%d", True, False
    )
    with pytest.raises(ValueError, match="made cannot be a date: no cell reads as one, such as '7"):
        as_role("made", NumberColumn(np.array([7.5, 8.5])), "date")


def test_merged_encoders_have_counted_the_rows_of_both(rng):
    table = pd.DataFrame({"a": rng.normal(size=400), "b": rng.choice(list("xyz"), 400)})
    here = TableEncoder().fit(table)
    there = TableEncoder().fit(table).partial_fit(table[:100])
    merged = here.merge(there)
    assert merged.counts.rows == 900
    twice = TableEncoder().fit(table).partial_fit(table[:100]).partial_fit(table)
    np.testing.assert_allclose(merged.transform(table), twice.transform(table))
    other = TableEncoder(roles={"b": "text"}).fit(table)
    with pytest.raises(ValueError, match=r"different things: \['b'\]"):
        here.merge(other)
    assert here.counts.rows == 400


def test_names_of_features_say_which_are_surprises(rng):
    table = pd.DataFrame({"a": rng.normal(size=90), "b": rng.choice(list("xyz"), 90)})
    encoder = TableEncoder().fit(table)
    names = list(encoder.get_feature_names_out())
    assert len(names) == encoder.transform(table).shape[1]
    assert names[-2:] == ["surprise(a)", "surprise(b)"]
    plain = TableEncoder().fit(table[["a"]])
    assert list(plain.get_feature_names_out()) == ["a"]


def test_complex_numbers_are_refused_with_what_to_do():
    with pytest.raises(ValueError, match="Complex data not supported"):
        TableEncoder().fit(np.array([[1j], [2j]]))


def test_texts_stay_what_they_are():
    column = TextColumn(["A"], np.zeros(3, dtype=np.int64))
    assert as_texts(column) is column
