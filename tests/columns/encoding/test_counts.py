"""Counts of a whole table: what is novel to it, and rows left out of the folds of numbers."""

import numpy as np
import pytest

from refold.columns.conversion import texts_of
from refold.columns.date_form import DateForm
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.dates import DateCounts
from refold.columns.encoding.numbers import NumberCounts
from refold.columns.encoding.plan import Plan
from refold.columns.parsing import parse
from refold.columns.table import DateColumn, Table

ROLES = {"number": "number", "date": "date", "text": "text"}


def table(numbers, dates, words):
    columns = [texts_of(cells) for cells in (numbers, dates, words)]
    return Table(list(ROLES), columns, len(numbers))


def usual(rows):
    return (
        [f"{k * k % 17}.5" for k in range(rows)],
        [f"2020-01-{1 + k * 7 % 28:02}" for k in range(rows)],
        [("red", "green")[k * k % 3 % 2] for k in range(rows)],
    )


def counted(rows, change=None):
    cells = [list(column) for column in usual(rows)]
    for column, row, cell in change or ():
        cells[column][row] = cell
    plan, parsed = Plan.of(table(*cells), ROLES)
    return TableCounts.of(plan, parsed)


NEW = table(["1.5", "", "x"], ["2020-01-02", "", "x"], ["red", "", "blue"])


def novel(counts):
    return counts.encode(NEW).novel.tolist()


def test_what_twenty_rows_never_had_is_novel():
    assert novel(counted(20)) == [[False] * 3, [True] * 3, [True] * 3]
    # Of texts it takes ten rows for each value, and each of them three times.
    assert novel(counted(19)) == [[False] * 3, [False] * 3, [False] * 3]


@pytest.mark.parametrize(
    ("column", "cell", "known"),
    [
        (0, "", [[False] * 3, [False, True, True], [True] * 3]),
        (1, "x", [[False] * 3, [True] * 3, [True, False, True]]),
        (2, "", [[False] * 3, [True, True, False], [True, True, False]]),  # others may come
    ],
)
def test_what_a_row_had_is_not_novel(column, cell, known):
    counts = counted(300, [(column, 3, cell)])
    assert novel(counts) == known
    assert counts.novel_left_out == (2.0 if column == 2 else 1.0)
    assert counted(300).novel_left_out == 0.0


@pytest.mark.parametrize(("rows", "left_out"), [(21, 1.0), (20, 0.0)])
def test_a_row_left_out_would_be_novel_to_twenty_others(rows, left_out):
    assert counted(rows, [(0, 3, "")]).novel_left_out == left_out


@pytest.mark.parametrize(("rows", "rare"), [(500, True), (499, False)])
def test_where_each_new_row_brings_a_first_gap_none_is_novel(rows, rare):
    counts = counted(rows, [(0, 3, ""), (1, 4, "")])  # two columns of 500 rows: 4 in 1,000
    assert novel(counts)[1] == [False, False, rare]
    assert novel(counts)[2] == [True, True, True]  # what cannot be read never came
    assert counts.novel_left_out == (2.0 if rare else 0.0)


def test_counts_of_parts_are_those_of_the_whole():
    cells = [list(column) for column in usual(60)]
    cells[0][3], cells[1][40], cells[2][50] = "", "x", ""
    plan, parsed = Plan.of(table(*cells), ROLES)
    whole = TableCounts.of(plan, parsed)
    assert [whole.states(k).tolist() for k in range(3)] == [[59, 1, 0], [59, 0, 1], [59, 1, 0]]
    first, rest = (
        TableCounts.of(plan, parsed.take(rows)) for rows in (np.arange(20), np.arange(20, 60))
    )
    both, back = first.plus(rest), whole.minus(rest)
    for mine, theirs in ((both, whole), (back, first)):
        assert mine.rows == theirs.rows
        for k in range(3):
            assert mine.states(k).tolist() == theirs.states(k).tolist()
        encoded, expected = (each.encode(NEW) for each in (mine, theirs))
        np.testing.assert_array_equal(encoded.novel, expected.novel)
        np.testing.assert_allclose(encoded.numbers, expected.numbers)
    np.testing.assert_allclose(both.encode(NEW).magnitudes, whole.encode(NEW).magnitudes)


def test_a_row_without_any_value_is_not_judged():
    counts = counted(60)
    rows = table(["", "", "1.5"], ["", "x", ""], ["", "", ""])
    assert counts.encode(rows).judged.tolist() == [False, True, True]


def test_a_row_with_all_numbers_is_as_far_out_beside_rows_with_gaps(rng):
    X = rng.normal(size=(57, 3))
    counts = NumberCounts.of(X, np.zeros(3, dtype=np.int64))
    alone = counts.magnitudes(X[1:])
    X[0, 1] = np.nan
    beside = counts.magnitudes(X)
    np.testing.assert_array_equal(beside[1:], alone)
    assert beside[0, 1] == 0.0


def test_numbers_are_folded_by_the_rows_of_other_parts(rng):
    X = rng.normal(size=(57, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    none = np.zeros(3, dtype=np.int64)
    found = NumberCounts.of(X, none).left_out(X)
    for part in range(10):
        rows = np.arange(57) % 10 == part
        others = NumberCounts.of(X[~rows], none)
        np.testing.assert_allclose(found[rows], others.magnitudes(X[rows]), atol=1e-6)
    rare = np.where(
        np.arange(57)[:, None] == [5, 99, 99], X, np.where([True, False, False], np.nan, X)
    )
    counts = NumberCounts.of(rare, none)  # without its part a column has no value
    others = NumberCounts.of(rare[np.arange(57) % 10 != 7], none)
    found = counts.left_out(rare)
    np.testing.assert_array_equal(found[5::10], counts.magnitudes(rare[5::10]))
    np.testing.assert_allclose(found[7::10], others.magnitudes(rare[7::10]), atol=1e-6)
    few = NumberCounts.of(X[:4], none).left_out(X[:4])
    for row in range(4):
        others = NumberCounts.of(np.delete(X[:4], row, axis=0), none)
        np.testing.assert_allclose(few[[row]], others.magnitudes(X[[row]]), atol=1e-6)


@pytest.mark.parametrize(("rows", "alone"), [(10_000, True), (10_001, False)])
def test_among_more_than_ten_thousand_rows_one_moves_nothing(rows, alone, rng):
    X = rng.normal(size=(rows, 1))
    counts = NumberCounts.of(X, np.zeros(1, dtype=np.int64))
    assert (counts.left_out(X) != counts.magnitudes(X)).any() == alone


def test_numbers_are_readable_missing_or_unreadable_and_some_end_at_zero(rng):
    X = np.column_stack([rng.exponential(size=60), -rng.exponential(size=60), rng.normal(size=60)])
    X = np.column_stack([X, np.full(60, np.nan)])
    X[:3, 0] = np.nan
    counts = NumberCounts.of(X, np.array([1, 0, 0, 60]))
    assert counts.states.tolist() == [[57, 2, 1], [60, 0, 0], [60, 0, 0], [0, 0, 60]]
    assert counts.plus(counts).minus(counts).states.tolist() == counts.states.tolist()
    floor, ceiling = counts.zero_ends
    assert floor.tolist() == [0.0, -np.inf, -np.inf, -np.inf]
    assert ceiling.tolist() == [np.inf, 0.0, np.inf, np.inf]


DAY = 86_400.0


def test_dates_are_counted_by_hour_and_weekday_and_how_they_are_written():
    form = DateForm("%d.%m.%Y %H:%M:%S", True, True)
    cells = ["05.01.1970 10:00", "6.1.1970 10:30", "05.01.1970 23:00", "soon", ""]
    dates = parse(texts_of(cells), "date", form)
    counts = DateCounts.of(dates)
    assert (counts.hours[10], counts.hours[23], counts.hours.sum()) == (2, 1, 3)
    assert counts.weekdays.tolist() == [2, 1, 0, 0, 0, 0, 0]
    assert (counts.states.tolist(), counts.missing) == ([3, 1, 1], 1)
    assert (counts.low, counts.high) == (4 * DAY + 36_000.0, 5 * DAY + 37_800.0)
    assert counts.shapes.counts == {"99.99.9999 99:99": 2, "9.9.9999 99:99": 1, "aaaa": 1}
    assert counts.has_range
    assert counts.span == counts.high - counts.low
    twice = counts.plus(counts)
    assert (twice.hours.sum(), twice.states.tolist(), twice.high) == (6, [6, 2, 2], counts.high)
    back = twice.minus(counts)
    assert (back.hours.tolist(), back.shapes.counts) == (
        counts.hours.tolist(),
        counts.shapes.counts,
    )
    later = DateCounts.of(DateColumn(np.array([9.0 * DAY]), True, True))
    assert (counts.plus(later).low, counts.plus(later).high) == (counts.low, 9.0 * DAY)
    nothing = DateCounts.of(DateColumn(np.array([np.nan]), True, True))
    assert not nothing.has_range
    assert DateCounts.of(DateColumn(np.array([5.0, 7.0]), True, False)).span == DAY
    assert DateCounts.of(DateColumn(np.array([5.0, 7.0]), False, True)).span == 3600.0


@pytest.mark.parametrize("ranged", [True, False])
def test_dates_beyond_all_are_as_far_as_a_part_of_the_span(ranged):
    seconds = np.repeat([0.0, 10.0 * DAY], 30)
    counts = DateCounts.of(DateColumn(seconds, has_date=True, has_clock=False))
    new = DateColumn(np.array([-5.0, 0.0, 5.0, 10.0, 12.5, np.nan]) * DAY, True, False)
    views = counts.views(new, ranged=ranged)
    np.testing.assert_allclose(views[:, 4], [0.5, 0.0, 0.0, 0.0, 0.25 * ranged, 0.0])
    assert (views[:, 0] == 0.0).all()  # there is no clock
    assert (views[:5, 1] > 0.0).tolist() == [True, False, True, False, True]
    assert views[5, 1] == 0.0
    assert (views[:, 3] > 0.0).tolist() == [False] * 5 + [True]
    clock = DateCounts.of(DateColumn(np.repeat([3600.0, 7200.0], 30), False, True))
    found = clock.views(
        DateColumn(np.array([3600.0, 9000.0, 36_000.0]), False, True), ranged=ranged
    )
    assert (found[:, 0] > 0.0).tolist() == [False, False, True]
    assert (found[:, 1:] == 0.0).all()


@pytest.mark.parametrize(("alone", "novel"), [(1, True), (2, False)])
def test_where_texts_that_one_row_has_are_no_rarity_none_is_novel(alone, novel):
    columns = [["red", "green"] * 200 for _ in range(3)]
    for k in range(alone):
        columns[k][7] = "blue"
    table = Table(list("abc"), [texts_of(cells) for cells in columns], 400)
    counts = TableCounts.of(*Plan.of(table, {}))
    new = Table(list("abc"), [texts_of(["red"]), texts_of(["red"]), texts_of(["blue"])], 1)
    assert counts.encode(new).novel.tolist() == [[False, False, novel]]
