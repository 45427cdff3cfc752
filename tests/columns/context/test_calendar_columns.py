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
