"""Measures of the rows before each one, against pandas."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from refold.base.errors import UserError
from refold.columns.context.column_context import ColumnContext
from refold.columns.context.context import ContextColumns
from refold.columns.context.context_rows import ContextRows
from refold.columns.context.history import History
from refold.columns.context.trend import FeatureLayout
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
        (" 2 Sec ", None, 2.0),
        ("3seconds", None, 3.0),
        ("4 m", None, 240.0),
        ("5minutes", None, 300.0),
        ("1 hour", None, 3600.0),
        ("1 day", None, 86_400.0),
        ("2w", None, 1_209_600.0),
        (3, 3, None),
        (10_000, 10_000, None),
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


@pytest.mark.parametrize(
    ("window", "said", "fewest"),
    [
        (Window(rows=30), "30 rows", 15),
        (Window(rows=3), "3 rows", 3),
        (Window(rows=7), "7 rows", 4),
        (Window(seconds=172_800.0), "2 days", 3),
        (Window(seconds=5400.0), "90 minutes", 3),
        (Window(seconds=7200.0), "2 hours", 3),
        (Window(seconds=90.0), "90 seconds", 3),
        (Window(seconds=0.5), "0.5 seconds", 3),
        (Window(seconds=1_234_567.0), "1234567 seconds", 3),
        (Window(seconds=86_400_000_000.0), "1000000 days", 3),
    ],
)
def test_a_window_is_written_in_the_largest_unit_that_fits(window, said, fewest):
    assert str(window) == said
    assert window.fewest == fewest
    if window.seconds is not None:
        assert Window.of(said) == window


def one_by_one(machines, times, values, window, smallest):
    """What each row has of those up to it, and how often nothing changed, row by row."""
    order = sorted(range(len(times)), key=lambda row: times[row])
    found = {name: np.full(len(times), np.nan) for name in ("mean", "sd", "unchanged", "step")}
    still = []
    for machine in set(machines):
        own = [row for row in order if machines[row] == machine]
        run = 0
        for k, row in enumerate(own):
            if window.rows is not None:
                rows, enough = own[max(k + 1 - window.rows, 0) : k + 1], True
                whole = k + 1 >= window.rows
            else:
                begin = times[row] - window.seconds
                rows = [other for other in own[: k + 1] if times[other] > begin]
                enough = times[row] - times[own[0]] >= window.seconds / 2.0
                whole = times[row] - times[own[0]] >= window.seconds
            run = run + 1 if k and values[row] == values[own[k - 1]] else 1
            still += [run >= len(rows)] if whole else []
            if values[row] == values[row]:
                found["unchanged"][row] = np.log(run)
            if k:
                found["step"][row] = values[row] - values[own[k - 1]]
            x = np.array([values[other] for other in rows if values[other] == values[other]])
            if enough and len(rows) >= window.fewest and len(x) >= max(3, len(rows) / 2):
                found["mean"][row] = x.mean()
                found["sd"][row] = np.log(max(x.std(ddof=1), smallest))
    if still and np.mean(still) >= 0.01:
        del found["unchanged"]
    return found


@pytest.mark.parametrize("gaps", [None, 0.0, 0.45])
@pytest.mark.parametrize(
    "window", [FIVE_ROWS, Window(rows=3), Window(seconds=5 * 3600.0), Window(seconds=2e5)]
)
def test_measures_are_those_counted_one_by_one(window, gaps, rng):
    n = 150
    machines = rng.choice(["A", "B", "C"], n)
    minutes = 30 * rng.permutation(2 * n)[:n]
    values = rng.integers(0, 3, n).astype(float)
    values[rng.random(n) < (gaps or 0.0)] = np.nan
    if gaps is None:  # rows are exactly half a window after the first one, and a window
        machines, minutes = np.full(n, "A"), 30 * np.arange(n)
    time = pd.Timestamp("1930-01-01" if gaps else "2026-01-01") + pd.to_timedelta(minutes, "min")
    frame = pd.DataFrame({"machine": machines, "time": time, "value": values})
    model, table = learned(frame, window)
    expected = one_by_one(machines, 60.0 * minutes, values, window, 1.0 / np.sqrt(12.0))
    names = {"mean": f"mean of {window}", "sd": f"sd of {window}", "unchanged": "rows unchanged"}
    assert len(model.columns) == len(expected)
    for measure, counted in expected.items():
        name = f"value: {names.get(measure, measure)}"
        np.testing.assert_allclose(table[name].values, counted, atol=1e-9)
        assert model.columns[name].neutral == pytest.approx(np.nanmedian(counted))


def test_columns_without_a_value_or_a_change_are_not_looked_at(frame):
    none, names = frame.assign(value=np.nan), frame.assign(value=np.arange(400.0) % 3)
    model, _ = learned(none, FIVE_ROWS)
    assert not model.columns
    roles = {"machine": "category", "time": "date"}
    names["value: step"] = 1.0
    plan, table = Plan.of(to_table(names), roles)
    given = ContextColumns(by=("machine",), over=("time",))
    model, _, _ = WindowModel.learn(FIVE_ROWS, given, plan.parse(table))
    assert "value: step'" in model.columns
    assert {each.column for each in model.columns.values()} == {"value"}


def test_a_mean_goes_as_its_column_does_and_steps_and_spreads_have_no_trend(frame):
    model, table = learned(frame.assign(value=frame["value"] + 1.0), FIVE_ROWS)
    rows = ContextRows(sparse.csr_array(np.ones((400, 1))), np.zeros(400, dtype=np.int64))
    own, _ = ColumnContext.learn(rows, table["value"].values, FeatureLayout([1], -1, 1))
    value = {"value": replace(own, log=True, form="linear")}
    for name, each in model.columns.items():
        goes = (True, "linear") if each.measure == "mean" else (False, "none")
        assert model.chosen(name, value) == goes
        assert model.chosen(name, {}) == (False, "none")
    assert model.chosen("value", value) is None


@pytest.mark.parametrize(("repeats", "counted"), [(34, False), (3, True)])
def test_whether_rows_without_a_change_are_counted_is_seen_in_whole_windows(repeats, counted):
    values = np.repeat(np.arange(30.0), repeats)[:90]
    frame = pd.DataFrame({"value": values})
    model, _ = learned(frame, FIVE_ROWS, by=(), over=())
    assert any(each.measure == "unchanged" for each in model.columns.values()) == counted


@pytest.mark.parametrize("window", [FIVE_ROWS, Window(seconds=5 * 3600.0)])
def test_rows_are_divided_by_their_time_or_their_place(frame, window):
    model, _ = learned(frame, window)
    plan, table = Plan.of(to_table(frame), {"machine": "category", "time": "date"})
    rows = model.sorted_rows(plan.parse(table), ["value"])
    parts = rows.of_table(rows.stretches(4), -1)
    times = frame["time"].to_numpy()
    edges = [parts[times.argsort()][k] for k in (0, 99, 101, 199, 201, 299, 301, 399)]
    assert edges == [0, 0, 1, 1, 2, 2, 3, 3]
    # Where all have one time, or none, it is the place in the group.
    untimed = WindowModel(FIVE_ROWS, ("machine",), (), model.columns)
    rows = untimed.sorted_rows(plan.parse(table), ["value"])
    parts = rows.of_table(rows.stretches(4), -1)
    for machine in "ABC":
        own = parts[frame["machine"] == machine]
        assert own.tolist() == [k * 4 // len(own) for k in range(len(own))]
    needed = rows.of_table(rows.needed_later(FIVE_ROWS), False)
    assert [needed[frame["machine"] == machine].sum() for machine in "ABC"] == [5, 5, 5]
    assert all(needed[np.flatnonzero(frame["machine"] == machine)[-5:]].all() for machine in "ABC")


def test_no_window_has_more_than_ten_thousand_rows():
    n = 10_300
    values = np.arange(n) % 7 + np.where(np.arange(n) < 290, 1e6, 0.0)
    time = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(n), "s")
    frame = pd.DataFrame({"time": time, "value": values})
    window = Window(seconds=19_000.0)
    model, table = learned(frame, window, by=())
    mean = column(table, f"value: mean of {window}")
    assert mean[10_288] > 100.0  # the last of the large ones is 10,000 rows back
    np.testing.assert_allclose(mean[10_289:], 3.0, atol=0.01)
    plan, last = Plan.of(to_table(frame), {"time": "date", "value": "number"})
    rows = model.sorted_rows(plan.parse(last), ["value"])
    assert rows.needed_later(window).sum() == 10_000
    short = Window(seconds=60.0)
    assert rows.needed_later(short).tolist() == [False] * (n - 60) + [True] * 60


@pytest.mark.parametrize(("minutes", "enough"), [(120, False), (121, True)])
def test_a_duration_that_has_fewer_than_three_rows_is_refused(minutes, enough):
    time = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(50), "h")
    frame = pd.DataFrame({"time": time, "value": np.arange(50.0) % 7})
    window = Window(seconds=60.0 * minutes)
    if enough:
        learned(frame, window, by=())
    else:
        with pytest.raises(UserError, match="no group has 3 rows in a window"):
            learned(frame, window, by=())


def test_of_equal_values_no_rounding_error_is_left(rng):
    values = (1e6 * rng.normal(size=200)).round(4)
    values[1] = values[0] + 1e-4
    values[100:105] = 1_234_567.1234  # as many as a window has
    model, table = learned(pd.DataFrame({"value": values}), FIVE_ROWS, by=(), over=())
    own = model.columns["value: sd of 5 rows"]
    assert table["value: sd of 5 rows"].values[104] == np.log(own.smallest)
    assert own.smallest < 1e-3


def test_measures_without_a_history_are_as_usual_or_as_expected(frame):
    model, table = learned(frame, FIVE_ROWS)
    name, other = "value: mean of 5 rows", "value: step"
    scores = {name: np.where(table[name].is_null, np.nan, 7.0)}
    found = model.neutral(table, scores)
    assert set(found) == {table.names.index(each) for each in model.columns}
    mean, step = (found[table.names.index(each)].values for each in (name, other))
    np.testing.assert_array_equal(mean, np.where(table[name].is_null, 0.0, 7.0))
    usual = model.columns[other].neutral
    expected = np.where(table[other].is_null, usual, table[other].values)
    np.testing.assert_array_equal(step, expected)
    assert [each for each in table.names if model.counts_rows(each)] == ["value: rows unchanged"]
