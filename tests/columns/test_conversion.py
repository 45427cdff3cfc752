"""What is in memory becomes the same columns as a file would give, cell by cell."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from refold.base.errors import UserError
from refold.columns.conversion import is_table, of_objects, remembered, shortest, to_table
from refold.columns.table import DateColumn, NumberColumn, TextColumn

EXACT = 2**53


def test_a_float32_is_the_number_with_the_fewest_digits_that_it_stands_for():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**32, 4_000, dtype=np.uint32).view(np.float32)
    usual = np.concatenate(
        [rng.normal(size=500), rng.integers(-(2**26), 2**26, 500), 10.0 ** np.arange(-30, 30)]
    ).astype(np.float32)
    for values in (bits[np.isfinite(bits) & (np.abs(bits) > 1e-37)], usual):
        expected = [float(str(value)) for value in values]
        np.testing.assert_allclose(shortest(values), expected, rtol=1e-15)
        np.testing.assert_array_equal(shortest(values).astype(np.float32), values)
    odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 0.1], dtype=np.float32)
    np.testing.assert_array_equal(shortest(odd), [0.0, -0.0, np.inf, -np.inf, np.nan, 0.1])


def only(frame, name="x"):
    (column,) = to_table(frame).columns
    return column


def cells(column):
    return [column.text(row) for row in range(len(column))]


DOORS = {
    "pandas": lambda values: pd.DataFrame({"x": values}),
    "polars": lambda values: pl.DataFrame({"x": values}),
    "arrow": lambda values: pa.table({"x": values}),
    "records": lambda values: [{"x": value} for value in values],
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("sign", [1, -1])
def test_whole_numbers_are_numbers_as_long_as_floats_hold_them(door, sign):
    exact = only(DOORS[door]([sign * EXACT, 5]))
    assert exact.values.tolist() == [sign * EXACT, 5.0]
    longer = only(DOORS[door]([sign * (EXACT + 1), 5]))
    assert isinstance(longer, TextColumn)
    assert cells(longer) == [str(sign * (EXACT + 1)), "5"]


@pytest.mark.parametrize("door", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("copies", [16, 17])  # 64 cells are found one by one, more by the library
def test_few_texts_are_found_as_many_are(door, copies):
    written = ["b", None, " ", "a\u00e9"] * copies
    column = only(DOORS[door](written))
    assert cells(column) == ["b", None, None, "a\u00e9"] * copies
    assert list(column.values) == ["b", "a\u00e9"]
    assert column.codes[:4].tolist() == [0, -1, -1, 1]


@pytest.mark.parametrize("copies", [16, 17])
def test_categories_are_found_by_what_they_are_called(copies):
    values = pd.Categorical([3, None, 1, 3] * copies, categories=[1, 2, 3])
    assert cells(only(pd.DataFrame({"x": values}))) == ["3", None, "1", "3"] * copies


def test_durations_are_seconds_whatever_their_type():
    spans = [dt.timedelta(seconds=90), np.timedelta64(1500, "ms"), None, pd.Timedelta("1h")]
    column = of_objects("x", spans)
    np.testing.assert_array_equal(column.values, [90.0, 1.5, np.nan, 3600.0])
    assert column.form.kind == "duration"
    assert isinstance(of_objects("x", [*spans, "2h"]), TextColumn)


def test_objects_of_one_kind_are_numbers_or_moments_and_else_texts():
    numbers = of_objects("x", [1, 2.5, Decimal("0.5"), np.float32(0.5), None, float("nan")])
    np.testing.assert_array_equal(numbers.values, [1.0, 2.5, 0.5, 0.5, np.nan, np.nan])
    assert of_objects("x", [np.float32(0.1), None]).values[0] == 0.1
    texts = of_objects("x", [True, 2, 3.0, 3.5, "a", None, pd.NaT, pd.NA, 2.0**53, 2.0**54])
    assert cells(texts)[:8] == ["True", "2", "3", "3.5", "a", None, None, None]
    assert cells(texts)[8:] == [str(2**53), "1.8014398509481984e+16"]
    for empty in ([], [None, None]):
        assert np.isnan(of_objects("x", empty).values).tolist() == [True] * len(empty)
    days = of_objects("x", [dt.date(1970, 1, 2), None, dt.date(1969, 12, 31)])
    np.testing.assert_array_equal(days.seconds, [86_400.0, np.nan, -86_400.0])
    assert (days.has_date, days.has_clock) == (True, False)
    clocks = of_objects("x", [dt.time(1, 2, 3, 500_000)])
    assert (clocks.seconds[0], clocks.has_date, clocks.has_clock) == (3723.5, False, True)
    both = of_objects("x", [dt.datetime(1970, 1, 2, 1, 2, 3), dt.date(1970, 1, 2)])
    assert both.seconds.tolist() == [86_400.0 + 3723.0, 86_400.0]
    assert (both.has_date, both.has_clock) == (True, True)
    assert cells(of_objects("x", [10**5000, -(2**20_000), "a"]))[:2] == [
        "about 2 to the power of 16609",
        "-about 2 to the power of 20000",
    ]
    for nested in ({"a": 1}, [1], (1,), {1}, np.array([1])):
        with pytest.raises(UserError, match="Column 'x' holds lists or records"):
            of_objects("x", ["a", nested])


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1.5", "2", None], [1.5, 2.0, np.nan]),
        (["0.5", "0", "-3e2"], [0.5, 0.0, -300.0]),
        (["007", "1"], None),  # names
        (["1.500", "2"], None),  # perhaps thousands
        (["1.500", "2.5"], [1.5, 2.5]),
        (["1.5"] * 100 + ["a"], None),
        (["1"] * 100 + ["2.500"], None),
        (["1.5"] * 150 + ["2.500"], [1.5] * 150 + [2.5]),
        (["1", "inf"], None),
        (["1", "nan"], None),
        ([None, None], [np.nan, np.nan]),
    ],
)
def test_plain_numbers_in_texts_of_arrow_are_read_at_once(texts, numbers):
    column = only(pa.table({"x": pa.array(texts, pa.string())}))
    if numbers is None:
        assert isinstance(column, TextColumn)
        assert cells(column) == texts
    else:
        np.testing.assert_array_equal(column.values, numbers)
        assert column.form.plain


@pytest.mark.parametrize("frame_of", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_date_has_a_clock_if_some_moment_is_none_of_a_day(frame_of):
    days = [dt.datetime(2026, 1, 5), None, dt.datetime(1960, 7, 5)]
    column = only(frame_of({"x": days}))
    assert isinstance(column, DateColumn)
    assert (column.has_date, column.has_clock) == (True, False)
    moment = only(frame_of({"x": [*days, dt.datetime(2026, 1, 5, 0, 0, 1)]}))
    assert moment.has_clock
    np.testing.assert_array_equal(np.diff(moment.seconds[[0, 3]]), [1.0])
    assert moment.seconds[2] == (days[2] - dt.datetime(1970, 1, 1)).total_seconds()


def test_truth_values_are_two_words():
    for door in ("pandas", "polars", "arrow"):
        column = only(DOORS[door]([True, False, True]))
        assert (list(column.values), column.codes.tolist()) == (["False", "True"], [1, 0, 1])
    assert only(pl.DataFrame({"x": [True, None]})).codes.tolist() == [1, -1]


def test_a_long_text_is_its_beginning_and_a_checksum():
    usual, long = "x" * 500, "x" * 501
    assert remembered(usual) == usual
    assert len(remembered(long)) == 500
    assert remembered(long)[:483] == "x" * 483
    assert remembered(long) != remembered(long + "y")
    for frame_of in (pd.DataFrame, pl.DataFrame, pa.table):
        for text in (usual, long, " \u00e9" + long, "\u00e9"):
            assert cells(only(frame_of({"x": [text, "a"] * 40})))[0] == remembered(text)


def test_what_has_named_columns_is_a_table():
    assert is_table([{"a": 1}, {}])
    assert is_table(pd.DataFrame({"a": [1]}))
    for other in ([], [{"a": 1}, 3], np.ones((2, 2)), [[1, 2]], "text"):
        assert not is_table(other)


@pytest.mark.parametrize("door", DOORS)
def test_columns_may_be_ignored_and_texts_may_stay_texts(door):
    frame = DOORS[door](["1.5", "2.5"])
    assert to_table(frame, ignore=["x"]).names == []
    kept = to_table(frame, as_texts=["x"])["x"]
    assert cells(kept) == ["1.5", "2.5"]
    if door == "arrow":
        assert isinstance(to_table(frame)["x"], NumberColumn)
