"""Dataframes of every library go in, columns are checked by name."""

from typing import ClassVar

import array_api_strict as xp
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


def rows_of(X):
    """Any table as lists of numbers."""
    if isinstance(X, list):
        return [list(row.values()) if isinstance(row, dict) else list(row) for row in X]
    X = X.to_pandas() if hasattr(X, "to_pandas") else X
    return np.asarray(X).tolist()


TABLES = {
    **FRAMES,
    "numpy": np.asarray,
    "lists": lambda X: np.asarray(X).tolist(),
    "records": lambda X: [dict(zip(NAMES, row, strict=True)) for row in np.asarray(X).tolist()],
    "batch": lambda X: FRAMES["pyarrow"](X).to_batches()[0],
}


@pytest.mark.parametrize("kind", TABLES)
def test_rows_are_taken_from_any_table(kind, table):
    X = TABLES[kind](table)
    for rows in (slice(3, 9), np.array([5, 0, 0])):
        assert rows_of(frames.take_rows(X, rows)) == table[rows].tolist()
    for row in (0, 59, -1, -60):
        assert rows_of(frames.one_row(X, row)) == [table[row].tolist()]
    for row in (60, -61):
        with pytest.raises(IndexError, match=rf"no row {row}: the table has 60 rows"):
            frames.one_row(X, row)


def test_rows_are_called_by_an_id_or_an_index(table):
    records = [{"id": f"r{k}", "x": 1.0} for k in range(3)]
    names = ["r0", "r1", "r2"]
    assert frames.row_names_of(records, "id") == names
    assert frames.row_names_of([*records, {"x": 1.0}], "id") == [*names, None]
    for frame in (pd.DataFrame(records), pl.DataFrame(records), pa.table(pd.DataFrame(records))):
        assert frames.row_names_of(frame, "id") == names
        assert frames.row_names_of(frame, "key") is None
        assert frames.row_names_of(frame) is None
    assert frames.row_names_of(pd.DataFrame(records, index=names), "key") == names
    assert frames.row_names_of(pd.DataFrame(records, index=[0, 2, 1])) == [0, 2, 1]
    for other in ([], [[1.0]], table):
        assert frames.row_names_of(other, "id") is None


@pytest.mark.parametrize(
    ("X", "said"),
    [
        (None, "X is None, not a table"),
        (iter([1]), "X is of the type list_iterator, not a table"),
        ({"a": [1]}, "X is a dict, not a table"),
        ("rows.csv", "X is the text 'rows.csv', not a table"),
    ],
)
def test_what_is_no_table_is_refused_with_advice(X, said):
    with pytest.raises(ValueError, match=said):
        frames.refuse_text(X)


def test_numbers_without_an_end_are_infinite_on_their_side():
    numbers = [10**400, -(10**400), 3, 0.5]
    assert [frames.to_float(cell) for cell in numbers] == [np.inf, -np.inf, 3.0, 0.5]


def test_features_are_asked_for_by_number_or_name(table):
    named, bare = REF().fit(FRAMES["pandas"](table)), REF().fit(table)
    assert frames.features_of(named, None) == frames.features_of(named, NAMES) == NAMES
    assert frames.features_of(bare, ["a", "b", "c"]) == ["a", "b", "c"]
    assert frames.feature_names(bare) == ["x0", "x1", "x2"]
    for model, columns, said in (
        (bare, None, "fitted without column names"),
        (bare, ["a", "b"], "columns= has 2 names; the model has 3 features"),
        (named, NAMES[::-1], "the model was fitted on"),
    ):
        with pytest.raises(ValueError, match=said):
            frames.features_of(model, columns)
    assert [frames.feature_number(named, name) for name in NAMES] == [0, 1, 2]
    assert [frames.feature_number(bare, k) for k in range(3)] == [0, 1, 2]
    for model, feature in ((named, "colour"), (bare, "x0"), (bare, 3), (bare, -1)):
        with pytest.raises(ValueError, match="has no feature"):
            frames.feature_number(model, feature)


def test_weights_are_one_for_each_row_and_more_than_one_in_all():
    assert frames.read_weights(3, None) is None
    assert frames.read_weights(3, 2.0).tolist() == [2.0, 2.0, 2.0]
    assert frames.read_weights(3, [0, 1, 2]).tolist() == [0.0, 1.0, 2.0]
    for weights, said in (
        ([1.0, 1.0], "one weight for each of the 3 rows"),
        ([1.0, -2.0, -3.0], "negative in row 1: -2"),
        ([0.0, 0.0, 0.0], "zero in every row"),
    ):
        with pytest.raises(ValueError, match=said):
            frames.read_weights(3, weights)
    frames.check_enough(2, None)
    frames.check_enough(1, np.array([1.1]))
    for rows, total in ((1, None), (2, [0.5, 0.5]), (2, [1e300, 1e300]), (1, 1.0)):
        with pytest.raises(ValueError, match=r"at least 2 rows|frequencies"):
            frames.check_enough(rows, None if total is None else np.array(total))


@pytest.mark.parametrize(
    ("kind", "number", "text"),
    [
        *((kind, True, False) for kind in (pa.int8(), pa.float32(), pa.bool_(), pa.null())),
        (pa.decimal128(9, 2), True, False),
        *((kind, False, True) for kind in (pa.string(), pa.large_string(), pa.string_view())),
        (pa.dictionary(pa.int8(), pa.string()), False, True),
        (pa.dictionary(pa.int8(), pa.int64()), False, False),
        *((kind, False, False) for kind in (pa.binary(), pa.date32(), pa.list_(pa.int8()))),
    ],
)
def test_types_of_arrow_are_numbers_or_text_or_neither(kind, number, text):
    assert (frames.is_number(kind), frames.is_text(kind)) == (number, text)


@pytest.mark.parametrize("moved", [5, 6, 8])
def test_of_many_columns_out_of_place_five_are_named(moved):
    names = [f"c{k:02}" for k in range(9)]
    model = REF().fit(pd.DataFrame(np.random.default_rng(0).normal(size=(20, 9)), columns=names))
    turned = [*names[1:moved], names[0], *names[moved:]]
    with pytest.raises(ValueError, match="Out of place") as caught:
        model.predict(pd.DataFrame(np.zeros((2, 9)), columns=turned))
    said = str(caught.value)
    assert said.count(" where ") == 5
    assert (f" and {moved - 5} more." in said) == (moved > 5)


def test_periods_of_pandas_are_known_by_their_type_or_by_what_is_written_beside_it():
    kind = pa.array(pd.period_range("2026-01", periods=3, freq="M")).type
    assert frames.is_period(pa.field("at", kind))
    assert frames.is_period(pa.field("at", pa.dictionary(pa.int8(), kind)))
    for metadata, period in ((b"pandas.period", True), (b"pandas.interval", False)):
        field = pa.field("at", pa.int64(), metadata={b"ARROW:extension:name": metadata})
        assert frames.is_period(field) == period
    for other in (pa.int64(), pa.date32(), pa.dictionary(pa.int8(), pa.string())):
        assert not frames.is_period(pa.field("at", other))


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        (pa.float64(), [0.5, None, 2.0]),
        (pa.float32(), [0.5, None, 2.0]),
        (pa.int64(), [2**53 + 1, None, -3]),
        (pa.bool_(), [True, None, False]),
        (pa.null(), [None] * 3),
    ],
)
def test_numbers_of_arrow_are_floats_and_nan_where_they_are_null(kind, cells):
    found = frames.float_values(pa.chunked_array([cells[:1], cells[1:]], type=kind))
    expected = [np.nan if cell is None else float(cell) for cell in cells]
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == np.float64


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (xp.zeros(3), "Expected 2D array, got 1D array"),
        (xp.zeros((1, 2, 3)), "Expected 2D array, got 3D array"),
        (xp.zeros((0, 3)), r"shape \(0, 3\): at least one row and one column"),
        (xp.zeros((3, 0)), r"shape \(3, 0\)"),
        (xp.zeros((3, 1), dtype=xp.complex128), "must hold real numbers"),
        (np.zeros((0, 3)), "0 sample"),
        (np.zeros((3, 0)), "0 feature"),
        (pd.DataFrame(np.zeros((0, 3)), columns=list("abc")), "0 sample"),
    ],
)
def test_arrays_without_rows_columns_or_real_numbers_are_refused(cells, said):
    with pytest.raises(ValueError, match=said):
        validate_table(REF(), cells, reset=True, native=True)


def test_arrays_of_floats_stay_what_they_are_and_others_become_floats():
    for kind in (np.float64, np.float32):
        cells = np.ones((2, 3), kind)
        assert validate_table(REF(), cells, reset=True, native=False) is cells
    whole = validate_table(REF(), np.ones((2, 3), int), reset=True, native=False)
    assert whole.dtype == np.float64
