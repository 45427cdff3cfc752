"""Arrow's columns as floats, by the rule that holds for every kind of table."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from refold import REF
from refold.columns.frames import floats

LARGE = [2**53 + 1, -(2**62) - 3, 5]


@pytest.mark.parametrize("kind", [pa.int64(), pa.decimal128(38, 2), pa.float64()])
def test_large_whole_numbers_become_the_nearest_float(kind):
    expected = [float(number) for number in LARGE]
    for column in (pa.array(LARGE), pa.chunked_array([LARGE[:1], LARGE[1:]])):
        np.testing.assert_array_equal(floats(column.cast(kind, safe=False)), expected)


def test_large_whole_numbers_are_the_same_in_every_frame():
    models = [
        REF().fit(frame({"a": LARGE, "b": [1.5, 2.0, 4.0]}))
        for frame in (pa.table, pd.DataFrame, pl.DataFrame)
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.chain_.shifts, models[0].chain_.shifts)


def test_nulls_are_nan_and_floats_are_not_copied():
    column = pa.array([1.5, 2.5])
    assert np.shares_memory(floats(column), column.to_numpy())
    np.testing.assert_array_equal(floats(pa.array([True, None, False])), [1, np.nan, 0])
