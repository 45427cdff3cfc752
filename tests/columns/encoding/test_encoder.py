"""TableEncoder: any table in, numbers and magnitudes out."""

import datetime as dt
from copy import deepcopy
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from refold import TableEncoder
from refold.base.errors import UserError


def parts(n=300, seed=0):
    rng = np.random.default_rng(seed)
    machine = rng.choice(["A1", "B2", "C3"], n, p=[0.6, 0.3, 0.1])
    at = pd.Timestamp("2026-01-05") + pd.to_timedelta(rng.integers(0, 200, n), unit="D")
    return pd.DataFrame(
        {
            "machine": machine,
            "torque": rng.normal(75.0, 2.0, n).round(2),
            "tool": [f"T-{k:04d}" for k in rng.integers(0, 9_999, n)],
            "at": at + pd.to_timedelta(rng.integers(8, 17, n), unit="h"),
            "ok": rng.random(n) < 0.9,
        }
    )


@pytest.mark.filterwarnings("ignore:.*SCIPY_ARRAY_API")
def test_it_passes_every_check_of_scikit_learn():
    check_estimator(TableEncoder(), on_skip=None)


def test_columns_say_what_they_were_taken_for():
    found = {column.name: column for column in TableEncoder().fit(parts()).columns_}
    assert {name: column.role for name, column in found.items()} == {
        "machine": "category",
        "torque": "number",
        "tool": "identifier",
        "at": "date",
        "ok": "category",
    }
    assert (found["machine"].distinct, found["machine"].missing) == (3, 0)
    assert found["at"].views[0] == "hour"


def as_records(frame):
    return [
        {name: None if pd.isna(value) else value for name, value in record.items()}
        for record in frame.to_dict("records")
    ]


BACKENDS = {
    "polars": pl.from_pandas,
    "arrow": pa.Table.from_pandas,
    "batch": pa.RecordBatch.from_pandas,
    "records": as_records,
    "nullable": lambda frame: frame.convert_dtypes(),
    "categorical": lambda frame: frame.astype({"machine": "category", "tool": "category"}),
    "polars categories": lambda frame: pl.from_pandas(frame).with_columns(
        pl.col("machine").cast(pl.Categorical), pl.col("tool").cast(pl.Categorical)
    ),
}


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_dataframe_gives_the_same_numbers(backend):
    frame = parts()
    frame.loc[3, "machine"] = frame.loc[4, "torque"] = frame.loc[5, "at"] = None
    expected = TableEncoder().fit(frame).transform(frame)
    other = BACKENDS[backend](frame)
    found = TableEncoder().fit(other)
    assert np.array_equal(found.transform(other), expected, equal_nan=True)
    assert np.array_equal(found.transform(frame), expected, equal_nan=True)


def test_numbers_alone_are_passed_on():
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[7, 1] = np.nan
    assert np.array_equal(TableEncoder().fit_transform(X), X, equal_nan=True)
    frame = pd.DataFrame(X, columns=list("abc"))
    assert np.array_equal(TableEncoder().fit(frame).transform(frame), X, equal_nan=True)


def test_a_learned_row_is_looked_at_as_a_new_one_will_be():
    frame = parts()
    encoder = TableEncoder()
    left_out = encoder.fit_transform(frame)
    names = encoder.get_feature_names_out().tolist()
    machine = names.index("surprise(machine)")
    later = encoder.transform(frame)
    assert np.array_equal(left_out[:, machine], later[:, machine])
    # A tool that one row has was never seen without that row.
    once = ~frame["tool"].duplicated(keep=False).to_numpy()
    new = encoder.transform(frame.assign(tool="T-x"[:2] + "12345"[:4]))
    tool = names.index("surprise(tool)")
    assert once.any()
    assert (left_out[once, tool] >= later[once, tool]).all()
    assert np.isfinite(new).all()


def test_unusual_cells_have_large_magnitudes_and_usual_ones_small():
    frame = parts(1_000)
    encoder = TableEncoder().fit(frame)
    names = encoder.get_feature_names_out().tolist()
    usual = frame.iloc[[0]]

    def magnitude(column, **cells):
        return encoder.transform(usual.assign(**cells))[0, names.index(f"surprise({column})")]

    assert magnitude("machine") < 2.5 < 6.0 < magnitude("machine", machine="Z9")
    assert magnitude("tool", tool="T-1234") < 1.0 < 4.0 < magnitude("tool", tool="t/12")
    night = pd.Timestamp("2026-03-03 03:12")
    assert magnitude("at") < 3.0 < 5.0 < magnitude("at", at=night)
    assert magnitude("at", at=pd.Timestamp("1970-01-01 10:00")) > 50.0
    assert magnitude("torque", torque=75.1) < 2.0 < 20.0 < magnitude("torque", torque=7_510.0)
    assert magnitude("torque", torque=np.nan) > 6.0


def test_chunks_make_the_whole():
    frame = parts(700)
    whole = TableEncoder().fit(frame)
    chunked = TableEncoder()
    for begin in range(0, 700, 130):
        chunked.partial_fit(frame.iloc[begin : begin + 130])
    assert np.array_equal(chunked.transform(frame), whole.transform(frame), equal_nan=True)
    early = TableEncoder(n_init=200)
    for begin in range(0, 700, 100):
        early.partial_fit(frame.iloc[begin : begin + 100])
    same_plan = TableEncoder(n_init=200).fit(frame)
    assert np.array_equal(early.transform(frame), same_plan.transform(frame), equal_nan=True)


def test_rows_are_forgotten_as_if_they_had_never_been():
    frame, more = parts(400), parts(100, seed=1)
    plan_of = TableEncoder(n_init=400).fit(frame)
    both = TableEncoder(n_init=400).fit(pd.concat([frame, more], ignore_index=True))
    left = both.forget(more[more.columns[::-1]])  # columns are found by name
    new = parts(50, seed=2)
    assert np.array_equal(left.transform(new), plan_of.transform(new))
    with pytest.raises(ValueError, match=r"never counted|forgotten"):
        left.forget(more.assign(machine="Z9"))
    assert np.array_equal(left.transform(new), plan_of.transform(new))


def test_encoders_of_parts_make_that_of_the_whole():
    frame, more = parts(400), parts(100, seed=1)
    whole = TableEncoder(n_init=400).fit(pd.concat([frame, more], ignore_index=True))
    first = TableEncoder(n_init=400).fit(frame)
    elsewhere = deepcopy(first).partial_fit(more).forget(frame)
    new = parts(50, seed=2)
    assert np.array_equal(first.merge(elsewhere).transform(new), whole.transform(new))
    other = TableEncoder(roles={"machine": "ignore"}).fit(frame)
    with pytest.raises(ValueError, match=r"different things: .*machine"):
        first.merge(other)


def test_columns_are_found_by_name_and_what_is_missing_is_named():
    frame = parts()
    encoder = TableEncoder().fit(frame)
    turned = frame[frame.columns[::-1]].assign(more=1)
    assert np.array_equal(encoder.transform(turned), encoder.transform(frame))
    with pytest.raises(UserError, match="no column 'machine'"):
        encoder.transform(frame.drop(columns="machine"))


def test_roles_are_the_users_if_said():
    frame = parts().assign(code=lambda f: f["torque"].astype(int))
    encoder = TableEncoder(roles={"code": "category", "tool": "ignore"}).fit(frame)
    found = {column.name: column.role for column in encoder.columns_}
    assert (found["code"], found["tool"]) == ("category", "ignore")
    assert "surprise(tool)" not in encoder.get_feature_names_out()
    with pytest.raises(UserError, match="not there: \\['tol'\\]"):
        TableEncoder(roles={"tol": "ignore"}).fit(frame)


def test_set_output_gives_a_frame():
    frame = parts()
    out = TableEncoder().set_output(transform="pandas").fit(frame).transform(frame)
    assert list(out.columns[:1]) == ["torque"]
    assert len(out) == len(frame)


@pytest.mark.parametrize(
    ("cells", "role"),
    [
        ([Decimal("1.5"), Decimal("2.5"), None] * 20, "number"),
        ([dt.date(2026, 1, 1 + k) for k in range(28)] * 2, "date"),
        ([dt.time(8 + k % 8, 5) for k in range(60)], "date"),
        ([True, False, None] * 20, "category"),
        (["x", 1, 2.5, None] * 15, "category"),
    ],
)
def test_python_objects_are_what_they_are(cells, role):
    frame = pd.DataFrame({"a": pd.Series(cells, dtype=object), "b": range(len(cells))})
    assert TableEncoder(roles={"b": "number"}).fit(frame).columns_[0].role == role


def test_lists_in_cells_are_refused_by_name_unless_ignored():
    frame = pd.DataFrame({"a": [[1], [2]] * 10, "b": np.arange(20) % 7})
    with pytest.raises(UserError, match=r"'a' holds lists.*roles=\{\"a\": \"ignore\"\}"):
        TableEncoder().fit(frame)
    assert TableEncoder(roles={"a": "ignore"}).fit(frame).columns_[0].role == "ignore"
    encoder = TableEncoder(roles={"a": "ignore"}).fit(frame)
    without = TableEncoder().fit(frame.drop(columns="a")).transform(frame.drop(columns="a"))
    np.testing.assert_array_equal(encoder.transform(frame), without)


def test_an_empty_column_is_learned_as_empty_and_said():
    frame = parts().assign(nothing=None)
    encoder = TableEncoder().fit(frame)
    assert (encoder.columns_[-1].role, encoder.columns_[-1].distinct) == ("category", 0)
    assert [found.kind for found in encoder.columns_[-1].noticed] == ["empty"]


def test_a_failure_changes_nothing():
    frame = parts()
    encoder = TableEncoder().fit(frame)
    before = encoder.transform(frame)
    with pytest.raises(UserError):
        encoder.fit(pd.DataFrame({"a": [[1], [2]]}))
    assert np.array_equal(encoder.transform(frame), before)
    assert not hasattr(clone(encoder), "n_features_in_")


def test_new_rows_are_looked_at_as_new_ones_and_learned_ones_as_left_out():
    frame = parts()
    encoder = TableEncoder().fit(frame)
    new = frame[:2].assign(machine="Z9")
    rows = encoder.encode(encoder.read(new, reset=False))
    assert rows.novel.any(axis=1).tolist() == [True, True]
    column = list(encoder.get_feature_names_out()).index("surprise(machine)")
    assert encoder.transform(new)[:, column] == pytest.approx(np.log(300))
    named = encoder.encode(encoder.read(frame, reset=False), left_out=True)
    assert not named.novel.any()
    frame.loc[0, "machine"] = "Z9"
    encoder = TableEncoder().fit(frame)
    table = encoder.read(frame, reset=False)
    plain, named = encoder.encode(table), encoder.encode(table, left_out=True)
    assert plain.magnitudes[0, 0] == encoder.transform(frame)[0, column]
    assert named.magnitudes[0, 0] > plain.magnitudes[0, 0]


def test_a_column_with_a_single_number_goes_from_it_to_it(rng):
    table = pd.DataFrame({"a": rng.normal(size=40), "b": np.nan, "c": np.nan})
    table.loc[7, "b"] = 2.5
    found = TableEncoder(roles={"c": "number"}).fit(table).columns_
    assert [(each.low, each.high) for each in found[1:]] == [(2.5, 2.5), (None, None)]


def test_arrays_of_another_width_are_refused():
    encoder = TableEncoder().fit(np.random.default_rng(0).normal(size=(30, 3)))
    with pytest.raises(UserError, match="X has 2 features, but refold is expecting 3"):
        encoder.transform(np.ones((4, 2)))
    with pytest.raises(ValueError, match="Expected 2D array"):
        encoder.transform(np.ones(3))


@pytest.mark.parametrize("kind", ["float64", "float32", "int64"])
@pytest.mark.parametrize("frame_of", [pd.DataFrame, pl.DataFrame, np.asarray])
def test_numbers_that_are_taken_the_short_way_are_those_of_the_long_one(kind, frame_of, rng):
    X = rng.normal(50.0, 9.0, size=(40, 2)).round(1).astype(kind)
    table = frame_of({"a": X[:, 0], "b": X[:, 1]} if frame_of is not np.asarray else X)
    encoder = TableEncoder().fit(X.astype(float) if frame_of is np.asarray else table)
    if kind != "int64":
        X[3, 1] = np.nan
        table = frame_of({"a": X[:, 0], "b": X[:, 1]} if frame_of is not np.asarray else X)
    short = encoder.plain_rows(table)
    if short is not None:
        long = encoder.encode(encoder.read(table, reset=False)).numbers
        np.testing.assert_array_equal(short, long)
    floats = ("float64", "float32") if frame_of is np.asarray else ("float64",)
    assert (short is not None) == (kind in floats) or (
        kind == "int64" and frame_of is not np.asarray
    )
    words = TableEncoder().fit(parts())
    assert words.plain_rows(parts()) is None
    assert encoder.plain_rows([{"a": 1.0, "b": 2.0}]) is None
