"""Dataframes of every library go in, columns are checked by name."""

from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from refold import REF, Detector
from refold.columns import frames
from refold.columns.frames import validate_table
from tests.growth import assert_linear

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


@pytest.mark.parametrize("dtype", [*np.typecodes["AllInteger"], "?", "f", "d", "e"])
def test_numbers_of_every_width_mix_in_one_frame(dtype):
    whole = np.array([0, 1, 100, 127]).astype(dtype)
    frame = pd.DataFrame({"a": whole, "b": [0.5, np.nan, 2.5, 1.0]})
    read = validate_table(REF(), frame, reset=True, native=False)
    expected = [[float(a), b] for a, b in zip(whole, frame["b"], strict=True)]
    np.testing.assert_array_equal(read, expected)
    alone = validate_table(REF(), frame[["a"]], reset=True, native=False)
    np.testing.assert_array_equal(alone[:, 0], [float(a) for a in whole])
    assert alone.dtype == (np.float32 if dtype == "f" else np.float64)


NOT_AS_LEARNED = {
    "too few dimensions": np.zeros(3),
    "too many dimensions": np.zeros((1, 1, 3)),
    "no rows": np.zeros((0, 3)),
    "complex": np.zeros((1, 3), dtype=complex),
    "dates": np.zeros((1, 3), dtype="M8[s]"),
    "words": np.array([["a", "b", "c"]]),
}


@pytest.mark.parametrize("what", NOT_AS_LEARNED)
def test_what_fit_refuses_predict_refuses_in_the_same_words(what, table):
    """The short way of a row that is as it should be must not let anything else pass."""
    with pytest.raises((ValueError, TypeError)) as at_first:
        REF().fit(NOT_AS_LEARNED[what])
    model = REF().fit(table)
    with pytest.raises(at_first.type) as later:
        model.predict(NOT_AS_LEARNED[what])
    assert str(later.value) == str(at_first.value)
    with pytest.raises(ValueError, match="2 features"):
        model.predict(np.zeros((1, 2)))


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", ">f4", "f2", "i8", "?", "O"])
def test_a_row_is_read_as_it_is_among_others_in_any_type_of_array(dtype, table):
    model, row = REF().fit(table), np.array([[0, 1, 1]]).astype(dtype)
    expected = model.score_samples(np.array([[0.0, 1.0, 1.0]] * 2))
    np.testing.assert_array_equal(model.score_samples(row), expected[:1])


def test_an_array_for_a_model_with_names_is_warned_of(frame_of, table):
    model = REF().fit(frame_of(table))
    with pytest.warns(UserWarning, match="valid feature names"):
        model.predict(table)


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


@pytest.mark.parametrize("make", [REF, Detector])
def test_a_lazy_frame_is_refused_with_advice(table, make):
    with pytest.raises(TypeError, match="collect"):
        make().fit(pl.DataFrame(table).lazy())


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


@pytest.mark.growth
def test_names_are_checked_in_linear_time():
    def given(columns):
        frame = pd.DataFrame(np.zeros((1, columns)), columns=[f"c{i}" for i in range(columns)])
        estimator = REF()
        validate_table(estimator, frame, reset=True, native=False)
        return estimator, frame

    assert_linear(lambda both: validate_table(*both, reset=False, native=False), given, 4_000)


def test_an_older_scikit_learn_is_told_the_names_of_columns_too(monkeypatch):
    """Before 1.9 it knows pandas, and the interchange protocol, which others have given up."""

    class Table:
        columns: ClassVar[list[str]] = ["heat", "load"]

        def __len__(self):
            return 3

    monkeypatch.setattr(frames, "_OLD_NAMES", True)
    told = frames._with_names(Table())
    assert list(told.__dataframe__().column_names()) == ["heat", "load"]
    assert told.shape == (3, 2)
    monkeypatch.setattr(frames, "_OLD_NAMES", False)
    named = pd.DataFrame({"a": [1.0]})
    assert frames._with_names(named) is named


@pytest.mark.parametrize("others", [1.0, "a"])
def test_a_detector_refuses_columns_of_the_same_name(rng, others):
    frame = pd.DataFrame({"x": rng.normal(size=40), "y": rng.normal(size=40), "z": [others] * 40})
    twice = frame.set_axis(["x", "x", "z"], axis=1)
    with pytest.raises(ValueError, match=r"these appear more than once: \['x'\]"):
        Detector().fit(twice)
    model = Detector().fit(frame)
    beside = pd.concat([frame, frame[["x"]]], axis=1)
    with pytest.raises(ValueError, match=r"these appear more than once: \['x'\]"):
        model.predict(beside)
