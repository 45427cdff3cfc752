"""Measures of the rows before each one, against pandas."""

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

from refold.base.errors import UserError
from refold.columns.context.context import ContextColumns
from refold.columns.context.history import History
from refold.columns.context.window import Window, WindowModel
from refold.columns.conversion import to_table
from refold.columns.encoding.plan import Plan

FIVE_ROWS = Window(rows=5)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 400
    value = rng.integers(0, 4, n).astype(float)
    value[rng.random(n) < 0.1] = np.nan
    minutes = pd.to_timedelta(rng.permutation(10 * n)[:n], "min")
    return pd.DataFrame(
        {
            "machine": rng.choice(["A", "B", "C"], n),
            "time": pd.Timestamp("2026-01-01") + minutes,
            "value": value,
        }
    )


def learned(frame, window, by=("machine",), over=("time",)):
    roles = {"machine": "category", "time": "date", "value": "number"}
    plan, table = Plan.of(to_table(frame), {name: roles[name] for name in frame.columns})
    given = ContextColumns(by=by, over=over)
    model, table, _ = WindowModel.learn(window, given, plan.parse(table))
    return model, table


def column(table, name):
    return pd.Series(table[name].values)


@pytest.mark.parametrize("window", [FIVE_ROWS, Window(seconds=5 * 3600.0)])
def test_means_spreads_and_steps_are_those_of_pandas(frame, window):
    _, table = learned(frame, window)
    ordered = frame.sort_values("time")
    size = 5 if window.rows else "5h"
    expected = pd.DataFrame(index=frame.index, columns=["mean", "sd", "step"], dtype=float)
    for _, rows in ordered.groupby("machine"):
        series = rows.set_index("time")["value"]
        rolling = series.rolling(size, min_periods=3)
        expected.loc[rows.index, "mean"] = rolling.mean().to_numpy()
        expected.loc[rows.index, "sd"] = rolling.std().to_numpy()
        expected.loc[rows.index, "step"] = series.diff().to_numpy()
    for measure, name in (("mean", f"mean of {window}"), ("step", "step")):
        found = column(table, f"value: {name}")
        known = found.notna()
        assert known.sum() > 200
        np.testing.assert_allclose(found[known], expected.loc[known, measure], atol=1e-12)
    found = column(table, f"value: sd of {window}")
    known = found.notna() & (expected["sd"] > 0.3)  # below it, rounding
    np.testing.assert_allclose(np.exp(found[known]), expected.loc[known, "sd"], rtol=1e-9)
    assert (np.exp(found[expected["sd"] == 0.0]) == 1.0 / np.sqrt(12.0)).all()


def test_standstill_counts_rows_with_the_same_value_of_a_group_one_after_another():
    values = {"A": [3, 3, 3, 5, 5, np.nan, 5], "B": [5, 5, 1, 2, 1, 2, 1]}
    frame = pd.DataFrame(
        [(machine, x) for row in range(7) for machine, x in ((m, values[m][row]) for m in "AB")],
        columns=["machine", "value"],
    )
    _, table = learned(frame, Window(rows=4), over=())
    found = np.exp(column(table, "value: rows unchanged"))
    assert found[frame["machine"] == "A"].fillna(0).round().tolist() == [1, 2, 3, 1, 2, 0, 1]
    assert found[frame["machine"] == "B"].round().tolist() == [1, 2, 1, 1, 1, 1, 1]


def test_a_value_that_is_set_rather_than_measured_may_stand_still(frame):
    frame = frame.assign(value=np.repeat([1.0, 2.0], 200)).drop(columns="machine")
    model, _ = learned(frame, FIVE_ROWS, by=())
    assert not any(each.measure == "unchanged" for each in model.columns.values())


@pytest.mark.parametrize("window", [FIVE_ROWS, Window(seconds=5 * 3600.0)])
@pytest.mark.parametrize("parts", [1, 7])
def test_rows_after_a_history_have_the_measures_of_one_table(frame, window, parts):
    model, _ = learned(frame, window)
    ordered = frame.sort_values("time", ignore_index=True)
    _, whole = learned(ordered, window)
    history, found = History(), []
    for begin in range(0, len(frame), parts):
        roles = {"machine": "category", "time": "date", "value": "number"}
        plan, rows = Plan.of(to_table(ordered.iloc[begin : begin + parts]), roles)
        found.append(model.apply(plan.parse(rows), history))
        history.commit()
    for name in model.columns:
        together = np.concatenate([part[name].values for part in found])
        np.testing.assert_array_equal(together, whole[name].values)


def test_a_history_grows_neither_with_rows_nor_with_groups_without_end():
    history = History(most_groups=3)
    frame = pd.DataFrame({"machine": ["A"] * 50, "value": np.arange(50.0) % 7})
    model, _ = learned(frame, FIVE_ROWS, over=())
    roles = {"machine": "category", "value": "number"}
    for machine in "ABCDEA":
        plan, rows = Plan.of(to_table(frame.assign(machine=machine)), roles)
        model.apply(plan.parse(rows), history)
        history.commit()
    assert [key for (key,) in history._rows] == ["D", "E", "A"]
    assert [len(rows.times) for rows in history._rows.values()] == [5, 5, 5]


@pytest.mark.parametrize(
    ("written", "rows", "seconds"),
    [
        (30, 30, None),
        ("30", 30, None),
        (np.int64(7), 7, None),
        ("7d", None, 604_800.0),
        ("1 week", None, 604_800.0),
        ("1.5 hours", None, 5400.0),
        ("90S", None, 90.0),
        ("10 min", None, 600.0),
        (timedelta(minutes=5), None, 300.0),
        (np.timedelta64(2, "D"), None, 172_800.0),
        (pd.Timedelta("1h"), None, 3600.0),
    ],
)
def test_a_window_is_rows_or_a_duration(written, rows, seconds):
    assert Window.of(written) == Window(rows, seconds)


@pytest.mark.parametrize("written", [2, 10_001, -5, "", "7 moons", "0d", True, "d", timedelta(0)])
def test_any_other_window_is_refused(written):
    with pytest.raises(UserError, match="window="):
        Window.of(written)


@pytest.mark.parametrize(
    ("window", "over", "change", "said"),
    [
        (FIVE_ROWS, ("time",), {"time": pd.Timestamp("2026-01-01")}, "rows have the same time"),
        (Window(seconds=60.0), (), {}, "name the column of the time with over="),
        (Window(rows=1000), ("time",), {}, "no group has 500 rows in a window"),
    ],
)
def test_a_table_that_a_window_cannot_be_laid_over_is_refused(frame, window, over, change, said):
    with pytest.raises(UserError, match=said):
        learned(frame.assign(**change), window, over=over)
