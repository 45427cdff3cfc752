"""All that is kept of the rows of a table, in a model file: readable, column by column."""

from __future__ import annotations

from typing import Any

import numpy as np

from refold._typing import Integers
from refold.algorithm import chain_file
from refold.algorithm.engines import sketch_file
from refold.columns.encoding import plan_file, tally_file
from refold.columns.encoding.counts import ColumnCounts, TableCounts
from refold.columns.encoding.dates import DAYS, HOURS, DateCounts
from refold.columns.encoding.dependence import N_CODES, Slices
from refold.columns.encoding.numbers import N_ITER, NumberCounts
from refold.columns.encoding.plan import Plan
from refold.columns.encoding.texts import TextCounts
from refold.columns.table import CellState
from refold.modelfile import arrays
from refold.modelfile.fields import Field

# More rows cannot be counted exactly.
_MOST_ROWS = 2**53
_MOST_CHARACTERS = 0x110000
# Bytes that a column's folds take: shifts and scales, and what they are joined to.
_CHAIN = 4 * 8 * N_ITER
_DATES = (
    *("has_date", "has_clock", "hours", "weekdays", "states", "shapes"),
    *("low", "high"),
)


def written(counts: TableCounts) -> dict[str, Any]:
    """Return the counts as the document has them, with the plan of the columns."""
    columns, numbers = plan_file.written(counts.plan), counts.numbers
    place = {column.name: k for k, column in enumerate(counts.plan.used)}
    return {
        "rows": counts.rows,
        "columns": [
            column | _column_written(counts, place.get(column["name"])) for column in columns
        ],
        "sketch": None if numbers is None else sketch_file.written(numbers.sketch),
    }


def _column_written(counts: TableCounts, k: int | None) -> dict[str, Any]:
    if k is None:
        return {"counts": None, "beside": None}
    slices, mine = counts.slices.get(k), counts.others.get(k)
    if isinstance(mine, TextCounts):
        counted = _texts_written(mine)
    elif isinstance(mine, DateCounts):
        counted = _dates_written(mine)
    else:
        counted = {"states": counts.states(k).tolist()}
    beside = None if slices is None else arrays.encoded(slices.counts)
    return {"counts": counted, "beside": beside}


def _texts_written(counts: TextCounts) -> dict[str, Any]:
    return {
        "values": tally_file.written(counts.values),
        "shapes": tally_file.written(counts.shapes),
        "collapsed": tally_file.written(counts.collapsed),
        "characters": tally_file.counts_written(counts.characters),
    }


def _dates_written(counts: DateCounts) -> dict[str, Any]:
    some = bool(counts.low <= counts.high)
    return {
        "has_date": counts.has_date,
        "has_clock": counts.has_clock,
        "hours": counts.hours.tolist(),
        "weekdays": counts.weekdays.tolist(),
        "states": counts.states.tolist(),
        "shapes": tally_file.written(counts.shapes),
        "low": counts.low if some else None,
        "high": counts.high if some else None,
    }


def read(field: Field) -> TableCounts:
    """Return checked counts."""
    rows, columns, sketch = field.members("rows", "columns", "sketch")
    n = rows.integer(0, _MOST_ROWS)
    names = (*plan_file.MEMBERS, "counts", "beside")
    each = [dict(zip(names, item.members(*names), strict=True)) for item in columns.items()]
    plan = plan_file.read(columns, each)
    used = []
    for members, column in zip(each, plan.columns, strict=True):
        if column.role != "ignore":
            used.append(members)
            continue
        for name in ("counts", "beside"):
            if not members[name].is_null():
                members[name].refuse("must be null for a column that is ignored")
    others = {
        k: _read_column(members["counts"], column.role, n)
        for k, (members, column) in enumerate(zip(used, plan.used, strict=True))
        if column.role != "number"
    }
    return TableCounts(plan, n, _numbers(sketch, used, plan, n), others, _slices(used, plan, n))


def _read_column(field: Field, role: str, rows: int) -> ColumnCounts:
    return _dates(field, rows) if role == "date" else _texts(field, rows)


def _texts(field: Field, rows: int) -> TextCounts:
    values, shapes, collapsed, characters = field.members(
        "values", "shapes", "collapsed", "characters"
    )
    counts, rest = characters.members("counts", "rest")
    found = tally_file.read_counts(counts, rest, rows, _MOST_CHARACTERS)
    if any(len(character) != 1 for character in found):
        characters.refuse("must be single characters")
    tallies = [tally_file.read(tally, rows) for tally in (values, shapes, collapsed)]
    for tally, each in zip(tallies, (values, shapes, collapsed), strict=True):
        if (tally.rows, tally.missing) != (rows, tallies[0].missing):
            each.refuse(f"must have {rows} rows, and as many missing as the values")
    return TextCounts(tallies[0], tallies[1], tallies[2], found)


def _dates(field: Field, rows: int) -> DateCounts:
    has_date, has_clock, hours, weekdays, states, shapes, low, high = field.members(*_DATES)
    known = _counts(states, 3, rows)
    readable = int(known[CellState.READABLE])
    if low.is_null() != (readable == 0) or high.is_null() != (readable == 0):
        low.refuse("and 'high' must be there if, and only if, a row is readable")
    first, last = (float(low.number()), float(high.number())) if readable else (np.inf, -np.inf)
    if readable and not 0.0 <= last - first < np.inf:
        high.refuse("must not be below the earliest, nor too far from it")
    return DateCounts(
        has_date.boolean(),
        has_clock.boolean(),
        _counts(hours, HOURS, readable),
        _counts(weekdays, DAYS, readable),
        known,
        tally_file.read(shapes, rows),
        first,
        last,
    )


def _numbers(field: Field, used: list[dict[str, Field]], plan: Plan, n: int) -> NumberCounts | None:
    if len(plan.numbers) == 0:
        if not field.is_null():
            field.refuse("must be null where no column is one of numbers")
        return None
    states = []
    for k in plan.numbers.tolist():
        (state,) = used[k]["counts"].members("states")
        states.append(_counts(state, 3, n))
    sketch = sketch_file.read(field, len(states), empty=True)
    counts = NumberCounts(sketch, np.array(states))
    if (sketch.rows, sketch.weight) != (n, n):
        field.refuse(f"must have {n} rows of the weight 1")
    for k, (histogram, state) in enumerate(zip(sketch.histograms, states, strict=True)):
        if histogram.rows != state[CellState.READABLE]:
            place = used[plan.numbers[k]]["counts"]
            place.refuse(
                f"says {state[CellState.READABLE]} readable rows, the sketch {histogram.rows}"
            )
    if not plan.plain and all(histogram.rows for histogram in sketch.histograms):
        field.budget.charge(_CHAIN * len(states), "The folds of numbers", field.path)
        chain_file.check_evaluable(field, counts.chain)
    return counts


def _slices(used: list[dict[str, Field]], plan: Plan, n: int) -> dict[int, Slices]:
    found = {}
    for k, (members, column) in enumerate(zip(used, plan.used, strict=True)):
        beside = members["beside"]
        if beside.is_null() != (column.partner is None):
            beside.refuse("must be there if, and only if, there is a partner")
        if column.partner is not None:
            pairs = arrays.integers(beside, N_CODES, N_CODES)
            _check_total(beside, pairs, n)
            found[k] = Slices(pairs)
    return found


def _counts(field: Field, length: int, total: int) -> Integers:
    """Return checked counts that add up to so many rows."""
    counts = arrays.integers(field, length)
    _check_total(field, counts, total)
    return counts


def _check_total(field: Field, counts: Integers, total: int) -> None:
    arrays.require(field, counts, (counts >= 0) & (counts <= total), f"must be from 0 to {total}")
    if int(counts.sum()) != total:
        field.refuse(f"must add up to {total} rows, not {counts.sum()}")
