"""Columns that repeat the calendar of the time are found, and no others."""

import numpy as np
import pandas as pd
import pytest

from refold.columns.context.calendar_columns import calendar_columns
from refold.columns.conversion import to_table
from refold.columns.encoding.plan import Plan

# Every 137 minutes for two years, before 1970 too.
TIMES = pd.date_range("1969-03-05 00:11", periods=8_000, freq="137min").to_series(
    index=range(8_000)
)
PARTS = {
    "year": TIMES.dt.year,
    "quarter": TIMES.dt.quarter,
    "month": TIMES.dt.month,
    "week": TIMES.dt.isocalendar().week.astype(int),
    "day of the month": TIMES.dt.day,
    "day of the year": TIMES.dt.day_of_year,
    "weekday": TIMES.dt.day_of_week,
    "hour": TIMES.dt.hour,
    "minute": TIMES.dt.minute,
}
LOCAL = TIMES.dt.tz_localize("UTC").dt.tz_convert("Europe/Helsinki")


def found(**columns):
    frame = pd.DataFrame({"time": TIMES, **columns})
    roles = {name: "category" for name, cells in columns.items() if cells.dtype == object}
    plan, table = Plan.of(to_table(frame), {"time": "date", **roles}, dependence=False)
    return {
        each.column: each.message.partition(" repeats the ")[2].partition(" of time")[0]
        for each in calendar_columns(plan.parse(table), "time", list(columns))
    }


@pytest.mark.parametrize("part", PARTS)
def test_each_part_of_the_calendar_is_what_pandas_calls_it(part):
    assert found(x=PARTS[part]) == {"x": part}


@pytest.mark.parametrize(
    ("part", "column"),
    [
        ("month", PARTS["month"] - 1),  # as in JavaScript
        ("weekday", PARTS["weekday"] % 7 + 1),
        ("weekday", (PARTS["weekday"] + 1) % 7),  # Sunday is 0
        ("hour", LOCAL.dt.hour),  # two or three hours ahead
        ("day of the month", LOCAL.dt.day),
        ("month", LOCAL.dt.month),
        ("weekday", LOCAL.dt.day_name().astype(object)),
        ("month", TIMES.dt.month_name().astype(object)),
        ("quarter", ("Q" + PARTS["quarter"].astype(str)).astype(object)),
        ("hour", PARTS["hour"].where(PARTS["hour"].index % 40 > 0, 99)),  # with errors
    ],
)
def test_it_may_be_counted_otherwise_be_local_or_have_names(part, column):
    assert found(x=column) == {"x": part}


def test_what_depends_on_the_calendar_only_is_no_part_of_it():
    rng = np.random.default_rng(0)
    hour = PARTS["hour"]
    others = {
        "shift": pd.Series(np.where(hour < 8, "night", "day"), dtype=object),
        "load": hour + rng.integers(0, 3, len(hour)),
        "temperature": 20.0 + 5.0 * np.sin(hour / 24 * 2 * np.pi),
        "count": pd.Series(rng.integers(0, 24, len(hour))),
        "always": pd.Series(np.full(len(hour), 3)),
        "machine": pd.Series(rng.choice(list("ABCDEFG"), len(hour)), dtype=object),
    }
    assert found(**others) == {}


def test_a_year_that_is_always_the_same_repeats_the_time_but_another_constant_does_not():
    frame = pd.DataFrame({"time": TIMES[-300:], "year": TIMES[-300:].dt.year, "line": 7})
    plan, table = Plan.of(to_table(frame), {}, dependence=False)
    (only,) = calendar_columns(plan.parse(table), "time", ["year", "line"])
    assert only.column == "year"


def changed(column, share, to):
    """The same with another value in a share of the rows, here and there."""
    some = np.random.default_rng(0).permutation(len(column)) < round(share * len(column))
    return column.where(~some, to)


@pytest.mark.parametrize(
    ("part", "share", "repeats"),
    [
        ("year", 0.05, True),
        ("year", 0.06, False),
        ("day of the month", 0.05, True),
        ("day of the month", 0.06, False),
    ],
)
def test_one_cell_in_twenty_may_be_wrong(part, share, repeats):
    column = changed(PARTS[part], share, 99)
    assert found(x=column) == ({"x": part} if repeats else {})
    assert found(x=column + 0.5) == {}


@pytest.mark.parametrize(("share", "repeats"), [(0.25, True), (0.26, False)])
def test_of_names_a_quarter_may_be_others(share, repeats):
    names = changed(TIMES.dt.day_name().astype(object), share, "Sunday")
    wrong = (names != TIMES.dt.day_name()).mean()
    again = found(x=names)
    assert (again == {"x": "weekday"}) == (wrong <= 0.25)
    assert repeats or wrong > 0.2


def test_twenty_rows_and_three_values_show_that_a_column_repeats_the_calendar():
    def part_of(times, column):
        frame = pd.DataFrame({"time": times, "x": column})
        plan, table = Plan.of(to_table(frame), {"time": "date"}, dependence=False)
        parsed = plan.parse(table)
        return [each.column for each in calendar_columns(parsed, "time", ["x"])]

    days = pd.Series(pd.date_range("2026-01-01", periods=20, freq="11D"))
    assert part_of(days, days.dt.month) == ["x"]
    assert part_of(days[:19], days[:19].dt.month) == []
    missing = days.dt.month.astype(float).where(days.index > 0)
    assert part_of(days, missing) == []
    for months, repeats in ((3, True), (2, False)):
        some = pd.Series(pd.date_range("2026-01-01", f"2026-{months:02}-28", freq="D"))
        assert bool(part_of(some, some.dt.month)) == repeats
    plain = pd.DataFrame({"time": np.arange(30.0), "x": np.arange(30.0) % 7})
    plan, table = Plan.of(to_table(plain), {}, dependence=False)
    assert list(calendar_columns(plan.parse(table), "x", [])) == []


@pytest.mark.parametrize(("others", "repeats"), [(359, True), (360, False)])
def test_there_are_no_more_names_than_days_of_a_year(others, repeats):
    names = TIMES.dt.day_name().astype(object)
    names[:others] = [f"n{k}" for k in range(others)]
    assert found(x=names) == ({"x": "weekday"} if repeats else {})
