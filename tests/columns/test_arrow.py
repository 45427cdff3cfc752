"""Arrow's columns as floats, by the rule that holds for every kind of table."""

import uuid
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from refold import REF, Detector
from refold.columns.conversion import texts_of_arrow
from refold.columns.frames import float_values

LARGE = [2**53 + 1, -(2**62) - 3, 5]


@pytest.mark.parametrize("kind", [pa.int64(), pa.decimal128(38, 2), pa.float64()])
def test_large_whole_numbers_become_the_nearest_float(kind):
    expected = [float(number) for number in LARGE]
    for column in (pa.array(LARGE), pa.chunked_array([LARGE[:1], LARGE[1:]])):
        np.testing.assert_array_equal(float_values(column.cast(kind, safe=False)), expected)


def test_large_whole_numbers_are_the_same_in_every_frame():
    models = [
        REF().fit(frame({"a": LARGE, "b": [1.5, 2.0, 4.0]}))
        for frame in (pa.table, pd.DataFrame, pl.DataFrame)
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.chain_.shifts, models[0].chain_.shifts)


def test_nulls_are_nan_and_floats_are_not_copied():
    column = pa.array([1.5, 2.5])
    assert np.shares_memory(float_values(column), column.to_numpy())
    np.testing.assert_array_equal(float_values(pa.array([True, None, False])), [1, np.nan, 0])


def test_types_that_frames_have_no_name_for_are_judged_as_what_they_hold(rng):
    price = [Decimal(int(cents)) / 100 for cents in rng.integers(100, 9_999, 200)]
    table = pd.DataFrame({"price": price, "weight": rng.normal(size=200)})
    model = Detector(method="ref").fit(table)
    new = pd.DataFrame({"price": [Decimal("50.00"), Decimal("9999.00")], "weight": 0.0})
    long = pa.array(new["price"], pa.decimal256(50, 10))
    np.testing.assert_array_equal(
        model.predict(pa.table({"price": long, "weight": pa.array(new["weight"])})),
        model.predict(new),
    )
    names = pa.array([uuid.UUID(int=k).bytes for k in range(200)], pa.binary(16))
    known = pa.table({"id": names.cast(pa.uuid()), "weight": pa.array(table["weight"])})
    assert [(info.name, info.role) for info in Detector().fit(known).columns_] == [
        ("id", "identifier"),
        ("weight", "number"),
    ]


def test_texts_of_more_than_two_gigabytes_are_found():
    """Arrow cannot hold them in one piece; they were said to be no UTF-8."""
    part = pa.array([letter * 2**20 for letter in "abcdefgh"] * 8)
    column = pa.chunked_array([part] * 34)
    found = texts_of_arrow(column)
    assert found.counts.tolist() == [8 * 34] * 8
