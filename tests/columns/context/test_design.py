"""Features of the context, one by one, against pandas and loops over rows."""

import numpy as np
import pandas as pd
import pytest

from refold.base.errors import UserError
from refold.columns.context import design
from refold.columns.context.design import (
    CalendarFeatures,
    Design,
    GroupIndex,
    LevelFeatures,
    NumberFeatures,
    group_keys,
)
from refold.columns.table import DateColumn, NumberColumn, Table, TextColumn
from tests.columns.tables import texts

DAY = 86_400.0


def groups(n, rng, missing=0.2):
    sites, machines = (
        [None if rng.random() < missing else f"{letter}{rng.integers(0, k)}" for _ in range(n)]
        for letter, k in (("S", 9), ("M", 3))
    )
    return Table(["site", "machine"], [texts(sites), texts(machines)], n), sites, machines


@pytest.mark.parametrize("names", [["site"], ["machine", "site"], ["site", "machine"]])
def test_each_row_has_the_key_of_its_values_and_none_where_one_is_missing(names, rng):
    for n in (0, 1, 40):
        table, *_ = groups(n, rng)
        keys, codes = group_keys(table, names)
        assert len(set(keys)) == len(keys) == len(set(codes[codes >= 0].tolist()))
        for row in range(n):
            values = tuple(table[name].text(row) for name in names)
            assert (keys[codes[row]] if codes[row] >= 0 else None) == (
                None if None in values else values
            )
    # Values that a part of a table does not have are no keys.
    part = table.take(np.arange(2))
    assert len(group_keys(part, names)[0]) <= 2


@pytest.mark.parametrize("names", [["site"], ["site", "site"]])
def test_values_that_no_row_has_are_no_keys(names):
    table = Table(["site"], [TextColumn(["a", "b", "c"], np.array([2, 0, 2]))], 3)
    keys, codes = group_keys(table, names)
    assert [keys[k] for k in codes] == [(value,) * len(names) for value in "cac"]
    assert len(keys) == 2


def test_groups_keep_their_numbers_when_others_come(rng):
    first, later = groups(20, rng)[0], groups(60, rng)[0]
    index = GroupIndex.learn(first, ["site", "machine"])
    both = index.plus(later)
    assert list(both.keys)[: len(index.keys)] == list(index.keys)
    assert sorted(both.keys.values()) == list(range(len(both.keys)))
    keys, codes = group_keys(later, ["site", "machine"])
    for own, code in zip(index.codes(later), codes, strict=True):
        assert own == (index.keys.get(keys[code], -1) if code >= 0 else -1)
    assert (both.codes(later) >= 0).tolist() == (codes >= 0).tolist()


def test_a_level_has_a_feature_of_its_own_as_long_as_there_are_not_too_many(rng, monkeypatch):
    monkeypatch.setattr(design, "MOST_LEVELS", 3)
    often = texts(["a"] * 2 + ["b"] * 5 + ["c"] * 4 + ["d"] * 3 + [None])
    table = Table(["x"], [often], 15)
    found = LevelFeatures.learn(table, ["x"])
    assert found.levels == {("b",): 0, ("c",): 1, ("d",): 2}
    x = found.of(table).toarray()
    assert x.shape == (15, 3) == (15, *found.blocks)
    assert x.tolist() == [[float(often.text(k) == v) for v in "bcd"] for k in range(15)]
    few = LevelFeatures.learn(Table(["x"], [texts(["e", "c"])], 2), ["x"])
    more = few.plus(found)
    assert more.levels == {("e",): 0, ("c",): 1, ("b",): 2}
    assert few.plus_rows(table) == more
    np.testing.assert_array_equal(few.within(more).toarray(), np.eye(2, 3))
    np.testing.assert_array_equal(
        found.within(more).toarray(), [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    )


def test_a_number_is_a_line_and_ramps_between_its_quantiles(rng):
    values = np.append(rng.exponential(size=200), np.nan)
    table = Table(["x"], [NumberColumn(values)], 201)
    found = NumberFeatures.learn(table, "x")
    assert found.blocks == (1, 10)
    new = np.append(rng.exponential(size=20), [-5.0, 50.0, np.nan])
    x = found.of(Table(["x"], [NumberColumn(new)], 23)).toarray()
    seen = values[:200]
    full = np.where(np.isnan(new), seen.mean(), new)
    np.testing.assert_allclose(x[:, 0], (full - seen.mean()) / seen.std())
    knots = np.quantile(seen, np.linspace(0.0, 1.0, 11))
    for k in range(10):
        np.testing.assert_allclose(x[:, k + 1], np.interp(full, knots[k : k + 2], [0.0, 1.0]))
    constant = NumberFeatures.learn(Table(["x"], [NumberColumn(np.full(5, 3.0))], 5), "x")
    assert constant.blocks == (1,)
    x = constant.of(Table(["x"], [NumberColumn(np.array([3.0, 4.5, np.nan]))], 3)).toarray()
    assert x.tolist() == [[0.0], [1.5], [0.0]]
    assert NumberFeatures("x", 0.0, 1.0, np.array([0.0, 1.0])).blocks == (1, 1)


def calendar(times, date=True, clock=True):
    seconds = (times - pd.Timestamp("1970-01-01")) / pd.Timedelta("1s")
    column = DateColumn(np.append(seconds.to_numpy(), np.nan), date, clock)
    return Table(["t"], [column], len(times) + 1)


@pytest.mark.parametrize(("days", "seasonal"), [(549.9, False), (550.0, True)])
def test_a_date_is_its_hour_weekday_end_of_month_and_season(days, seasonal):
    begin = pd.Timestamp("1969-08-03 00:30")
    times = pd.DatetimeIndex([*(begin + pd.to_timedelta(np.linspace(0.0, days, 900), "D"))])
    table = calendar(times)
    found = CalendarFeatures.learn(table, "t")
    assert found.blocks == (24, 24, 7, 1, *((6,) if seasonal else ()))
    x = found.of(table).toarray()
    assert x.shape[1] == sum(found.blocks)
    np.testing.assert_allclose(x[-1], 0.0)  # a missing date has none
    x = x[:-1]
    np.testing.assert_array_equal(x[:, :24], np.eye(24)[times.hour])
    weekend = times.day_of_week >= 5
    np.testing.assert_array_equal(x[:, 24:48], np.eye(24)[times.hour] * weekend[:, None])
    np.testing.assert_array_equal(x[:, 48:55], np.eye(7)[times.day_of_week])
    np.testing.assert_array_equal(x[:, 55], times.is_month_end)
    if seasonal:
        turn = 2.0 * np.pi * (times - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=365.2425)
        waves = [wave(k * turn.to_numpy()) for k in (1, 2, 3) for wave in (np.sin, np.cos)]
        np.testing.assert_allclose(x[:, 56:], np.column_stack(waves), atol=1e-9)


def test_a_clock_has_hours_alone_and_a_day_no_hours():
    times = pd.date_range("2026-01-30", periods=5, freq="D")
    clock = CalendarFeatures.learn(calendar(times, date=False), "t")
    assert (clock.blocks, clock.seasonal) == ((24,), False)
    day = CalendarFeatures.learn(calendar(times, clock=False), "t")
    assert day.blocks == (7, 1)
    ends = day.of(calendar(times, clock=False)).toarray()[:, 7]
    assert ends.tolist() == [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]


def test_a_design_is_a_constant_and_its_parts(rng):
    table, *_ = groups(30, rng)
    numbers = Table(["x"], [NumberColumn(rng.normal(size=30))], 30)
    table = Table.hstack([table, numbers])
    parts = (LevelFeatures.learn(table, ["machine"]), NumberFeatures.learn(table, "x"))
    whole = Design(parts)
    x = whole.of(table).toarray()
    assert x.shape[1] == sum(whole.blocks) == 1 + 3 + 11
    np.testing.assert_array_equal(x[:, 0], 1.0)
    np.testing.assert_array_equal(x[:, 1:4], parts[0].of(table).toarray())
    np.testing.assert_array_equal(x[:, 4:], parts[1].of(table).toarray())
    assert Design(()).of(table).toarray().tolist() == [[1.0]] * 30
    new = Table.hstack([Table(["site"], [texts(["S9"] * 30)], 30), table.select(["machine", "x"])])
    wider = whole.plus_rows(new)
    assert wider.blocks == [1, 3, 1, 10]
    np.testing.assert_allclose(x @ whole.within(wider).toarray(), wider.of(table).toarray())
    assert whole.plus(wider).blocks == wider.blocks
    other = NumberFeatures.learn(Table(["x"], [NumberColumn(np.arange(30.0))], 30), "x")
    for apart in (Design(parts[:1]), Design((parts[0], other)), Design(parts[::-1])):
        with pytest.raises(UserError, match="decided apart"):
            whole.plus(apart)
