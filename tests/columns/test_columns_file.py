"""Columns in a model file: what is written is read again, and every bound is exact."""

import copy
import json

import numpy as np
import pytest

from refold.columns.box import Box
from refold.columns.columns_file import (
    extremes_written,
    read_extremes,
    read_summary,
    read_table,
    summary_written,
    table_written,
)
from refold.columns.conversion import texts_of
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.encoding_file import counts_written, read_counts
from refold.columns.encoding.plan import Plan
from refold.columns.extremes import MOST_LEVELS, extremes_of
from refold.columns.summary import Summary
from refold.columns.table import DateColumn, NumberColumn, Table
from refold.modelfile.errors import ModelFileError
from refold.modelfile.fields import Field
from refold.modelfile.json_text import Budget
from refold.modelfile.layout import to_json
from tests.modelfile.conftest import packed, put, unpacked


def written(document):
    """A document with arrays in it, as the next reader has it."""
    return unpacked(json.loads(to_json(document, Budget(10**9))))


def field(document):
    return Field(json.loads(json.dumps(packed(document))), "it", Budget(10**9))


def check(reader, document, path, allowed, refused):
    """Values at a bound are read, those beyond it are refused."""
    for value in allowed:
        changed = copy.deepcopy(document)
        put(changed, path, value)
        reader(field(changed))
    for value in refused:
        changed = copy.deepcopy(document)
        put(changed, path, value)
        with pytest.raises(ModelFileError) as caught:
            reader(field(changed))
        assert caught.value.where.startswith("it")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return np.column_stack(
        [np.append(rng.normal(size=99), 1e4), rng.integers(0, 3, 100), rng.exponential(size=100)]
    )


def same(one, other):
    for name in ("values", "weights", "rows"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_edges_are_read_as_they_were(rows):
    edges = extremes_of(rows, np.ones(100))
    again = read_extremes(field(written(extremes_written(edges))), 3)
    for one, other in zip(edges, again, strict=True):
        same(one.low, other.low)
        same(one.high, other.high)
        assert (one.levels is None) == (other.levels is None)
        if one.levels is not None:
            same(one.levels, other.levels)


EDGES = {
    "low.values[0]": ([-9.0], [np.inf, 99.0]),
    "low.weights[0]": ([1e-9], [0.0, -1.0]),
    "low.rows[0]": ([-1, 0], [-2]),
    "low.lengths": ([], [np.array([6, 3, 4]), np.array([5, 3]), np.array([-1, 3, 5])]),
    "has_levels": ([[True, True, False]], [[True], [0, 1, 0]]),
    "levels.lengths": ([], [np.array([0, 2, 0]), np.array([MOST_LEVELS + 1, 0, 0])]),
}


@pytest.mark.parametrize("path", EDGES)
def test_edges_beyond_a_bound_are_refused(path, rows):
    document = written(extremes_written(extremes_of(rows, np.ones(100))))
    check(lambda each: read_extremes(each, 3), document, path, *EDGES[path])


def test_a_summary_is_read_as_it_was(rows):
    summary = Summary.of(rows, None)
    again = read_summary(field(written(summary_written(summary))), 3)
    for name in ("rows", "weight", "sampled"):
        assert getattr(again, name) == getattr(summary, name)
    for name in ("missing", "low", "high", "quantiles", "resolution"):
        np.testing.assert_array_equal(getattr(again, name), getattr(summary, name))
    for name in ("low", "high", "unit", "middle"):
        np.testing.assert_array_equal(getattr(again.box, name), getattr(summary.box, name))
    for one, other in zip(again.box.levels, summary.box.levels, strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(again.box.apart, summary.box.apart, strict=True):
        same(one, other)
    assert isinstance(again.box, Box)
    assert len(again.box.apart[0].values) == 1


SUMMARY = {
    "rows": ([100, 10**6], [0, 99, 1.5]),  # at least as many as were sampled
    "sampled": ([1, 100], [0, 101]),
    "weight": ([1e-300], [0.0]),
    "missing[0]": ([0.0], [-1.0]),
    "low[0]": ([-10.0], [0.0, 1e9]),
    "high[1]": ([2.0, 3.0], [1.0, -1.0]),
    "quantiles[0][2]": ([], [-1.0, 1e9]),
    "quantiles[100][2]": ([], [0.0, 99.0]),
    "box.low[1]": ([2.0], [2.5]),
    "box.unit[0]": ([1e-300], [0.0]),
    "box.middle[0]": ([0.0], [-1.0]),
    "box.levels.values[0]": ([0.5], [1.0]),
    "box.apart.rows[0]": ([-1], [-2]),
    "box.apart.weights[0]": ([0.5], [0.0]),
    "box.apart.lengths": ([], [np.array([11, 0, 0]), np.array([0, 0, 0])]),
}


@pytest.mark.parametrize("path", SUMMARY)
def test_a_summary_beyond_a_bound_is_refused(path, rows):
    document = written(summary_written(Summary.of(rows, None)))
    check(lambda each: read_summary(each, 3), document, path, *SUMMARY[path])


@pytest.fixture(scope="module")
def table():
    columns = [
        texts_of(["a", "b", ""] * 20),
        NumberColumn(np.append(np.arange(59.0) % 7.0, np.nan)),
        DateColumn(np.arange(60.0) * 3600.0, has_date=True, has_clock=True),
        texts_of([f"{'pq'[k % 2]}" for k in range(60)]),
    ]
    return Table(["w", "x", "t", "v"], columns, 60)


def test_rows_are_read_as_they_were(table):
    again = read_table(field(written(table_written(table))), 60)
    assert (again.names, again.rows, again.guessed) == (table.names, 60, True)
    np.testing.assert_array_equal(again["x"].values, table["x"].values)
    np.testing.assert_array_equal(again["t"].seconds, table["t"].seconds)
    assert (again["t"].has_date, again["t"].has_clock) == (True, True)
    assert [again["w"].text(k) for k in range(3)] == ["a", "b", None]


LATEST = 2.0**63 / 1e6
TABLE = {
    "rows": ([], [-1, 59, 61]),
    "columns[0].name": (["z"], ["x", None, 1]),
    "columns[0].codes[0]": ([-1, 1], [-2, 2]),
    "columns[1].numbers[0]": ([1e300], [np.inf]),
    "columns[1].kind": (["duration", "number"], ["date", 1]),
    "columns[2].seconds[0]": ([LATEST, -LATEST, np.nan], [2.0 * LATEST, -1.01 * LATEST]),
    "columns[2].has_date": ([False], [None, 1]),
}


@pytest.mark.parametrize("path", TABLE)
def test_rows_beyond_a_bound_are_refused(path, table):
    document = written(table_written(table))
    check(lambda each: read_table(each, 60), document, path, *TABLE[path])
    with pytest.raises(ModelFileError, match="rows"):
        read_table(field(document), 59)


@pytest.fixture(scope="module")
def counts(table):
    plan, parsed = Plan.of(table, {})
    return TableCounts.of(plan, parsed)


def test_counts_are_read_as_they_were(counts, table):
    again = read_counts(field(written(counts_written(counts, Budget(10**9)))))
    assert again.plan == counts.plan or again.plan.columns == counts.plan.columns
    assert again.rows == counts.rows
    mine, theirs = counts.encode(table), again.encode(table)
    for name in ("numbers", "indicators", "magnitudes", "novel", "judged"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))


W, T = "columns[0].counts", "columns[2].counts"
COUNTS = {
    "rows": ([], [-1, 59, 61, 2**53 + 1]),
    "columns[0].role": ([], ["words", "ignore", "number"]),
    "columns[0].truth": ([True], [None]),
    "columns[1].truth": ([False], [True]),
    "columns[0].frequent": (
        [["a"], [f"v{k}" for k in range(46)]],
        [["a", "a"], [f"v{k}" for k in range(47)], [1]],
    ),
    "columns[0].missing": (
        [["x"], [f"v{k}" for k in range(256)]],
        [["x", "x"], [f"v{k}" for k in range(257)]],
    ),
    "columns[1].edges": (
        [[], [float(k) for k in range(9)]],
        [[float(k) for k in range(10)], [1.0, 1.0], [2.0, 1.0]],
    ),
    "columns[0].partner": ([], [0, 4, -1]),
    f"{W}.values.missing": ([], [19, 21]),
    f"{W}.values.level": ([0, 64], [-1, 65]),
    f"{W}.values.error": ([0, 60], [-1, 61]),
    f"{W}.values.rows": ([], [59, 61]),
    f"{W}.values.counts": ([], [{"a": 20, "b": 21}, {"a": 0, "b": 40}, {"a": 40, "b": 0.5}]),
    f"{W}.values.rest": ([], [{"texts": [], "counts": []}, 1]),
    f"{W}.characters.counts": ([{"a": 1, "b": 60}], [{"ab": 1}, {"": 1}, {"a": 61}, {"a": 0}]),
    "columns[1].counts.states": ([], [[60, 0, 0], [59, 1], [59, 2, 0], [58, 1, 1]]),
    f"{T}.states": ([], [[59, 1, 0], [60, 0]]),
    f"{T}.hours": ([], [[60] + [0] * 22, [0] * 24, [61, -1] + [0] * 22]),
    f"{T}.low": ([-1.0, 59.0 * 3600.0], [None, 59.0 * 3600.0 + 1.0, "0"]),
    f"{T}.high": ([0.0], [-1.0, None]),
    "sketch": ([], [None]),
}


@pytest.mark.parametrize("path", COUNTS)
def test_counts_beyond_a_bound_are_refused(path, counts):
    document = written(counts_written(counts, Budget(10**9)))
    check(read_counts, document, path, *COUNTS[path])


def test_the_folds_of_numbers_are_within_the_memory_that_reading_may_take(table):
    many = {f"x{k}": NumberColumn(np.arange(60.0) % (k + 3)) for k in range(40)}
    wide = Table([*many, "w"], [*many.values(), table["w"]], 60)
    plan, parsed = Plan.of(wide, dict.fromkeys(many, "number"))
    counted = TableCounts.of(plan, parsed)
    folds = 40 * 4 * 8 * 101  # shifts and scales of 101 levels, and what they are joined to
    with pytest.raises(ModelFileError, match="The folds of numbers"):
        counts_written(counted, Budget(folds - 1))
    counts_written(counted, Budget(folds))
