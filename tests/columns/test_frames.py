"""Dataframes of every library go in, columns are checked by name."""

import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from refold import REF
from refold.columns.frames import read_table

NAMES = ["torque", "speed", "heat"]
FRAMES = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(np.asarray(X), schema=NAMES),
    "pyarrow": lambda X: pa.table({name: X[:, j] for j, name in enumerate(NAMES)}),
}


@pytest.fixture
def table(rng):
    return rng.normal(size=(60, 3))


@pytest.fixture(params=FRAMES)
def frame_of(request):
    return FRAMES[request.param]


@pytest.mark.parametrize("engine", ["exact", "reference"])
def test_a_dataframe_gives_what_its_values_give(frame_of, table, engine):
    frame, expected = frame_of(table), REF(engine=engine).fit(table)
    model = REF(engine=engine).fit(frame)
    assert model.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(model.score_samples(frame), expected.score_samples(table))


def test_reordered_columns_are_refused_and_named(frame_of, table):
    frame = frame_of(table)
    model = REF().fit(frame)
    order = ["speed", "torque", "heat"]
    swapped = frame.select(order) if hasattr(frame, "select") else frame[order]
    with pytest.raises(ValueError, match=r"'speed' where 'torque' was, 'torque' where 'speed' was"):
        model.predict(swapped)


def test_missing_and_unknown_columns_are_refused_and_named(frame_of, table):
    model = REF().fit(frame_of(table))
    unknown = pd.DataFrame(table, columns=["torque", "speed", "colour"])
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time:\n- colour.*missing:\n- heat"):
        model.predict(unknown)
    with pytest.raises(ValueError, match=r"missing:\n- heat"):
        model.predict(unknown[["torque", "speed"]])


def test_errors_call_columns_by_name(frame_of, table):
    model = REF().fit(frame_of(table))
    table[5, 2] = np.inf
    with pytest.raises(ValueError, match="row 5, column 'heat'"):
        model.predict(frame_of(table))
    table[:, 1] = np.nan
    table[5, 2] = 0.0
    with pytest.raises(ValueError, match="column 'speed'"):
        REF().fit(frame_of(table))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}),
        pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical(["x", "y"])}),
        pd.DataFrame({"a": [1.0, 2.0], "b": pd.to_datetime(["2020-01-01", "2021-01-01"])}),
        pd.DataFrame({"a": [1.0, 2.0], "b": pd.Series([1.0, "x"], dtype=object)}),
        pl.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}),
        pa.table({"a": [1.0, 2.0], "b": ["x", "y"]}),
    ],
)
def test_a_column_without_numbers_is_refused_with_advice(frame):
    with pytest.raises(ValueError, match=r"Column 'b' holds .*not numbers.*Encode"):
        REF().fit(frame)


GAPS = [[1.0, 1.0, 1.0], [2.0, np.nan, 0.0], [4.0, 3.0, np.nan], [8.0, 7.0, 1.0]]
MIXED = {
    "pandas nullable": pd.DataFrame(
        {
            "torque": np.array([1, 2, 4, 8], dtype=np.int8),
            "speed": pd.array([1, None, 3, 7], dtype="Int64"),
            "heat": pd.array([True, False, None, True], dtype="boolean"),
        }
    ),
    "pandas objects": pd.DataFrame(GAPS, columns=NAMES).astype({"speed": object}),
    "polars": pl.DataFrame(
        {
            "torque": pl.Series([1, 2, 4, 8], dtype=pl.UInt8),
            "speed": pl.Series([1, None, 3, 7]).cast(pl.Decimal(10, 2)),
            "heat": pl.Series([True, False, None, True]),
        }
    ),
    "pyarrow": pa.table(
        {
            "torque": pa.array([1, 2, 4, 8], pa.int16()),
            "speed": pa.array([1, None, 3, 7], pa.int64()),
            "heat": pa.array([True, False, None, True]),
        }
    ),
}


@pytest.mark.parametrize("kind", MIXED)
def test_integers_booleans_and_nulls_become_numbers_and_gaps(kind):
    expected = REF().fit(np.array(GAPS))
    model = REF().fit(MIXED[kind])
    np.testing.assert_array_equal(model.transform(MIXED[kind]), expected.transform(GAPS))


def test_repeated_column_names_are_refused(table):
    frame = pd.DataFrame(table, columns=["a", "b", "a"])
    model = REF().fit(pd.DataFrame(table, columns=["a", "b", "c"]))
    for method in (REF().fit, model.predict):
        with pytest.raises(ValueError, match=r"more than once: \['a'\]"):
            method(frame)


def test_masked_values_are_missing(table):
    masked = np.ma.masked_array(table, mask=table > 1.0)
    gaps = np.where(table > 1.0, np.nan, table)
    model = REF().fit(masked)
    np.testing.assert_array_equal(model.transform(masked), REF().fit(gaps).transform(gaps))


def test_a_lazy_frame_is_refused_with_advice(table):
    with pytest.raises(TypeError, match="collect"):
        REF().fit(pl.DataFrame(table).lazy())


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_names_the_folded_columns(table, library):
    model = REF().set_output(transform=library).fit(FRAMES["pandas"](table))
    folded = model.transform(FRAMES["pandas"](table))
    assert type(folded).__module__.startswith(library)
    assert list(folded.columns) == NAMES
    model.set_output(transform="default")
    np.testing.assert_array_equal(np.asarray(folded), model.transform(FRAMES["pandas"](table)))


def test_float_frames_are_not_copied(table):
    wide = np.asfortranarray(np.tile(table, (1000, 1)))
    frame = pd.DataFrame(wide, columns=NAMES, copy=False)
    from refold.columns.frames import frame_to_numpy

    assert np.shares_memory(frame_to_numpy(frame), wide)


def test_names_are_checked_in_linear_time():
    """A ratio: four times the columns may take eight times as long, not sixteen."""

    def seconds(columns):
        frame = pd.DataFrame(np.zeros((1, columns)), columns=[f"c{i}" for i in range(columns)])
        estimator = REF()
        read_table(estimator, frame, reset=True, native=False)
        start = time.process_time()
        read_table(estimator, frame, reset=False, native=False)
        return time.process_time() - start

    few, many = (min(seconds(columns) for _ in range(3)) for columns in (4_000, 16_000))
    assert many < 8 * few
