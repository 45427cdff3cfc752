"""What to look at in columns of numbers, at the shares, sizes and distances that decide it."""

import numpy as np
import pytest

from refold.columns.box import Box
from refold.columns.extremes import extremes_of
from refold.columns.table import TextColumn
from refold.columns.table_findings import (
    _beyond_tail,
    find_absurd_cells,
    find_far_cells,
    find_odd_columns,
    find_single_values,
    unreadable_finding,
)


def kinds(column, weights=None):
    return [found.kind for found in find_odd_columns(column[:, None], weights, ["x"])]


def test_twenty_even_steps_count_rows():
    (found,) = find_odd_columns(0.5 * np.arange(20.0)[:, None] + 3.0, None, ["x"])
    assert (found.kind, found.values) == ("running-number", (3.0, 12.5))
    assert "x runs from 3 to 12.5 in even steps" in str(found)
    assert kinds(0.5 * np.arange(19.0)) == []
    assert kinds(np.append(np.arange(600.0), 3.0)) == []  # its first rows would be even
    weights = np.append(np.ones(20), 0.0)  # what counts for nothing is not looked at
    assert kinds(np.append(np.arange(20.0), 7.0), weights) == ["running-number"]
    assert kinds(np.append(np.arange(20.0), 7.0), np.ones(21)) == []


def mostly(usual, times, others):
    return np.random.default_rng(0).permutation(np.append(np.full(times, usual), others))


HALVES = np.append(np.arange(-24.0, 0.0), np.arange(1.0, 26.0)) + 0.5  # 49 values around zero


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (mostly(0.25, 51, HALVES), True),
        (mostly(0.25, 49, HALVES), False),  # half of the rows
        (mostly(0.0, 51, HALVES - 0.5), False),  # whole numbers may well repeat
        (mostly(-14.25, 51, np.resize(HALVES[:10], 49)), False),  # beside the largest other
        (mostly(-14.0, 51, np.resize(HALVES[8:18], 49)), True),  # ten others
        (mostly(-14.0, 51, np.resize(HALVES[8:17], 49)), False),  # a choice among few
        (mostly(0.0, 51, 76.0 + 2.0 * np.arange(49.0)), True),  # more than half way to their median
        (mostly(0.0, 51, 48.0 + 2.0 * np.arange(49.0)), False),  # they begin half way
        (mostly(0.0, 51, -76.0 - 2.0 * np.arange(49.0)), True),
        (mostly(0.0, 51, -48.0 - 2.0 * np.arange(49.0)), False),
        (mostly(0.25, 2000, np.resize(HALVES, 1800)), True),
    ],
)
def test_one_value_of_most_rows_is_said_unless_it_is_natural(column, said):
    assert kinds(column) == ["one-value"] * said


def test_one_value_is_counted_by_weights_and_among_cells_that_are_there():
    column = mostly(0.25, 30, HALVES)
    assert kinds(column) == []
    weights = np.where(column == 0.25, 3.0, 1.0)
    assert kinds(column, weights) == ["one-value"]
    assert kinds(np.append(mostly(0.25, 51, HALVES), np.full(300, np.nan))) == ["one-value"]
    for rows, said in ((20, ["one-value"]), (19, [])):
        some = np.append(np.full(rows - 10, 0.25), HALVES[20:30])
        assert kinds(some, np.where(some == 0.25, 3.0, 1.0)) == said
    few = np.append(np.full(9, 0.25), HALVES[20:30])
    assert kinds(np.append(few, np.full(30, np.nan))) == []
    (found,) = find_odd_columns(mostly(0.25, 51, HALVES)[:, None], None, ["x"])
    assert "x is 0.25 in 51 % of the rows and has 49 other values." in str(found)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([1000.0], "x 1000 in row 300 is far from all others"),
        ([1000.0, 1001.0], "x 1000 in row 300 and 1001 in row 301 are far"),
        ([1000.0, 1001.0, 1002.5], "x 1000 in row 300, 1001 in row 301 and 1002.5 in row 302 are"),
    ],
)
def test_cells_beyond_a_gap_are_named_with_their_rows(cells, said, rng):
    column = rng.uniform(-1.0, 1.0, size=300)
    for sign in (1.0, -1.0):
        X = sign * np.append(column, cells)[:, None]
        edges, ones = extremes_of(X, np.ones(len(X))), np.ones(len(X))
        (found,) = find_absurd_cells(Box.of(edges, X, ones), ["x"], learned=True)
        assert sorted(found.values) == sorted(sign * np.array(cells))
        assert set(found.rows) == set(range(300, 300 + len(cells)))
        if sign > 0.0:
            assert str(found).startswith(said)
            assert f"the next is {column.max():.6g}" in str(found)
        bare = Box.of(tuple(edge.without_rows() for edge in edges), X, ones)
        (found,) = find_absurd_cells(bare, ["x"], learned=False)
        assert found.rows == ()
        assert " in row" not in str(found)
    (far,) = find_far_cells(np.append(X, [[np.nan]], axis=0), ["x"])
    assert far.values == found.values
    both = np.append(column, [-900.0, 900.0])[:, None]
    box = Box.of(extremes_of(both, None), both, np.ones(302))
    assert [f.values for f in find_absurd_cells(box, ["x"], learned=True)] == [(-900.0,), (900.0,)]


def test_beside_one_value_nothing_is_far():
    X = np.append(np.zeros(300), [5.0])[:, None]
    box = Box.of(extremes_of(X, None), X, np.ones(301))
    assert len(box.apart[0].values) == 1
    assert list(find_absurd_cells(box, ["x"], learned=True)) == []
    assert list(find_far_cells(np.full((30, 1), np.nan), ["x"])) == []


BULK = np.concatenate([-np.ones(50), np.zeros(11), np.full(44, 0.5)])  # its median is 0
STEEP = 0.6 * np.exp(np.arange(6.0) / 2.0)  # half steps of logarithms, their mean is 1.25


@pytest.mark.parametrize(
    ("tail", "cells", "beyond"),
    [
        (np.ones(6), [5.0], False),
        (np.ones(6), [5.1], True),  # more than five times as far as the next
        (STEEP, [STEEP[-1] * 12.0], False),  # ln 12 is less than twice the mean of the logarithms
        (STEEP, [STEEP[-1] * 12.5], True),
        (STEEP, [STEEP[-1] * 5.5, STEEP[-1] * 7.0], True),  # of two cells each counts
        (STEEP, [STEEP[-1] * 4.9, STEEP[-1] * 7.0], False),
        (np.append(STEEP, STEEP[-1] * np.ones(5)), [STEEP[-1] * 6.0], True),  # six say it
        (np.append(STEEP, STEEP[-1] * np.ones(4)), [STEEP[-1] * 6.0], True),
    ],
)
def test_a_cell_is_farther_than_a_long_tail_explains(tail, cells, beyond):
    column = np.concatenate([BULK, tail, cells, [np.nan]])
    column = np.append(column, -np.ones(np.sum(column > 0.0) - np.sum(column < 0.0)))
    for sign in (1.0, -1.0):
        for shift in (0.0, 8.0):
            far = sign * np.array(cells) + shift
            assert _beyond_tail(sign * column + shift, far) == beyond


def test_too_few_cells_to_know_a_tail_explain_nothing():
    for inner, beyond in (([1.0, 1.0], True), ([1.0, 1.0, 1.0], False)):
        column = np.array([-1.0] * 9 + [0.0] * 9 + inner + [4.0])
        assert _beyond_tail(column, np.array([4.0])) == beyond


def test_a_column_with_a_value_in_one_row_is_said():
    X = np.full((30, 3), np.nan)
    X[7, 0], X[[0, 1], 1], X[1, 2] = 4.5, 1.0, 2.0
    found = list(find_single_values(X, ["a", "b", "c"]))
    assert [(each.column, each.rows, each.values) for each in found] == [
        ("a", (7,), (4.5,)),
        ("c", (1,), (2.0,)),
    ]
    assert [each.kind for each in find_odd_columns(X[:, [0]], None, ["a"])] == ["single-value"]
    assert list(find_odd_columns(X[7:8, :2], None, ["a", "b"])) == []
    assert list(find_single_values(np.ones((30, 1)), ["a"])) == []
    for dtype in (int, float):
        assert list(find_single_values(np.ones((1, 1), dtype=dtype), ["a"])) == []


def test_unreadable_cells_are_counted_and_shown():
    column = TextColumn(["soon", "late", "x", "y", "z", "w"], np.arange(120) % 6)
    found = unreadable_finding("due", "date", column, np.arange(1, 120))
    assert "due has 119 cells that are not dates, such as 'late' in row 1 of" in str(found)
    assert found.rows == tuple(range(1, 101))
    assert found.values == ("late", "x", "y", "z", "w")
    one = unreadable_finding("due", "number", column, np.array([3]))
    assert "due has a cell that is not a number, such as 'y' in row 3" in str(one)
