"""What columns are to somebody who puts errors into them."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pandas as pd
import pytest

from refold.studies.tables.columns import CleanColumn
from tests.tables import real_table


def column(*texts):
    return CleanColumn("a", texts)


@pytest.fixture(scope="module")
def flights():
    rows = pd.read_csv(real_table("clean-flights.csv.gz"), dtype=str)[:2000]
    return {name: CleanColumn(name, rows[name].dropna().tolist()) for name in rows}


def test_real_columns_are_what_they_are(flights):
    def which(test):
        return {name for name, column in flights.items() if test(column)}

    numbers = {"dep_delay", "arr_delay", "flight", "air_time", "distance"}
    assert which(lambda column: column.numbers is not None) == numbers
    assert which(lambda column: column.has_clock) == {"time_hour"}
    assert which(lambda column: column.is_category) == {"carrier", "origin", "dest"}
    assert which(lambda column: column.is_closed) == {"carrier", "origin", "dest"}
    assert which(lambda column: column.is_code) == {"carrier", "origin", "dest", "tailnum"}


@pytest.mark.parametrize(
    ("text", "form", "moment"),
    [
        ("2019-03-05", "%Y-%m-%d", datetime(2019, 3, 5)),
        ("2019-03-05 17:04:09", "%Y-%m-%d %H:%M:%S", datetime(2019, 3, 5, 17, 4, 9)),
        ("2013-01-28T13:00:00Z", "%Y-%m-%dT%H:%M:%SZ", datetime(2013, 1, 28, 13)),
        ("25.12.2020", "%d.%m.%Y", datetime(2020, 12, 25)),
    ],
)
def test_dates_are_read_as_they_are_written(text, form, moment):
    assert column(text, text).format == form
    assert column(text, text).moments == [moment, moment]


@pytest.mark.parametrize("texts", [("2019-03-05", "2019-13-05"), ("20190305",), ("soon",)])
def test_one_text_that_is_no_date_makes_it_no_column_of_dates(texts):
    assert column(*texts).format is None


@pytest.mark.parametrize("texts", [("1", "2", "x"), ("3", "3"), (), ("1", "inf")])
def test_no_numbers(texts):
    assert column(*texts).numbers is None


def test_numbers_are_no_categories():
    assert not column(*["1", "2"] * 50).is_category
    assert column(*["a", "b"] * 50).is_category


def test_a_category_with_new_values_is_not_closed():
    often, once = ["a", "b"] * 500, [f"c{i}" for i in range(10)]
    assert column(*often, *once[:5]).is_closed
    assert column(*often, *once).is_category
    assert not column(*often, *once).is_closed


def test_values_of_other_rows_are_known_but_not_counted():
    found = CleanColumn("a", ["x", "x"], elsewhere=frozenset({"y"}))
    assert found.known == {"x", "y"}
    assert dict(found.counts) == {"x": 2}


@pytest.mark.parametrize(
    ("texts", "spread"),
    [
        ([str(k) for k in range(11)], 8.0),
        (["0"] * 99 + ["5"], 5.0),
        (["1e308", "-1e308"], np.inf),
        (["2026-01-01", "2026-01-11"], 8 * 86_400.0),
    ],
)
def test_spread_is_that_of_the_middle_four_fifths(texts, spread):
    assert CleanColumn("a", texts).spread == pytest.approx(spread)
