"""What the columns of a table are taken for, and all that is counted of them, in a model file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, get_args

import numpy as np

from refold._typing import Integers
from refold.algorithm.algorithm_file import check_evaluable, read_sketch, sketch_written
from refold.columns.columns_file import read_table, table_written
from refold.columns.date_form import DateForm
from refold.columns.encoding.counts import ColumnCounts, TableCounts
from refold.columns.encoding.dates import DAYS, HOURS, DateCounts
from refold.columns.encoding.dependence import BINS, FREQUENT, N_CODES, ContingencyTable
from refold.columns.encoding.numbers import N_ITER, NumberCounts
from refold.columns.encoding.plan import ColumnPlan, Plan
from refold.columns.encoding.state import TableState
from refold.columns.encoding.texts import TextCounts
from refold.columns.encoding.value_counts import MOST_VALUES, ValueCounts
from refold.columns.number_form import NumberForm
from refold.columns.roles import Role
from refold.columns.table import CellState, Table
from refold.modelfile import arrays
from refold.modelfile.document import findings_written, read_findings
from refold.modelfile.fields import Field
from refold.modelfile.json_text import Budget

# Of so many values the counts are for people to read; of others they are bytes.
MOST_READABLE = 2**8
# More rows cannot be counted exactly.
_MOST_ROWS = 2**53
_MOST_CHARACTERS = 0x110000
# One value in 2**64 would be in the sample.
_MOST_LEVELS = 64
# Bytes that a column's folds take: shifts and scales, and what they are joined to.
_CHAIN = 4 * 8 * N_ITER
_PLAN = (
    *("name", "role", "form", "ranged", "frequent", "edges", "partner", "missing", "kept"),
    *("truth", "noticed"),
)
_MOST_WORDS = 2**8
_TALLIES = ("values", "shapes", "collapsed")


def state_written(state: TableState, budget: Budget) -> dict[str, Any]:
    """Return what was learned of a table as two members of the document, one of which is null."""
    if state.counts is None:
        return {"table": None, "waiting": table_written(Table.concat(state.waiting))}
    return {"table": counts_written(state.counts, budget), "waiting": None}


def read_state(table: Field, waiting: Field, roles: Mapping[str, str], n_init: int) -> TableState:
    """Return checked counts of a table, or the rows that wait until it is known what they are."""
    if table.is_null() == waiting.is_null():
        waiting.refuse("must be there if, and only if, 'table' is null")
    if waiting.is_null():
        return TableState(roles, n_init, (), read_counts(table))
    rows = read_table(waiting, n_init - 1)
    if rows.rows == 0 or not rows.columns:
        waiting.refuse("must have rows and columns")
    return TableState(roles, n_init, (rows,))


def counts_written(counts: TableCounts, budget: Budget) -> dict[str, Any]:
    """Return the counts as the document has them, with the plan of the columns."""
    plan, numbers = counts.plan, counts.numbers
    place = {column.name: k for k, column in enumerate(plan.used)}
    if numbers is not None:
        budget.charge(_CHAIN * len(plan.numbers), "The folds of numbers", "table.sketch")
    return {
        "rows": counts.rows,
        "columns": [
            _plan_written(column, plan) | _column_written(counts, place.get(column.name))
            for column in plan.columns
        ],
        "sketch": None if numbers is None else sketch_written(numbers.sketch),
    }


def _plan_written(column: ColumnPlan, plan: Plan) -> dict[str, Any]:
    return {
        "name": column.name,
        "role": column.role,
        "form": None if column.form is None else column.form.as_dict(),
        "ranged": column.ranged,
        "frequent": list(column.frequent),
        "edges": list(column.edges),
        "partner": column.partner,
        "missing": list(column.missing),
        "kept": list(column.kept),
        "truth": column.truth,
        **({"whole": True} if column.whole else {}),
        "noticed": findings_written([each for each in plan.noticed if each.column == column.name]),
    }


def _column_written(counts: TableCounts, k: int | None) -> dict[str, Any]:
    if k is None:
        return {"counts": None, "beside": None}
    slices, mine = counts.contingency_tables.get(k), counts.others.get(k)
    if isinstance(mine, TextCounts):
        counted = {name: tally_written(getattr(mine, name)) for name in _TALLIES}
        counted["characters"] = _values_written(mine.characters)
    elif isinstance(mine, DateCounts):
        counted = _dates_written(mine)
    else:
        counted = {"states": counts.states(k).tolist()}
    return {"counts": counted, "beside": None if slices is None else slices.counts}


def _dates_written(counts: DateCounts) -> dict[str, Any]:
    some = bool(counts.low <= counts.high)
    return {
        "has_date": counts.has_date,
        "has_clock": counts.has_clock,
        "hours": counts.hours.tolist(),
        "weekdays": counts.weekdays.tolist(),
        "states": counts.states.tolist(),
        "shapes": tally_written(counts.shapes),
        "low": counts.low if some else None,
        "high": counts.high if some else None,
    }


def tally_written(tally: ValueCounts) -> dict[str, Any]:
    """Return a tally as the document has it."""
    return {
        "rows": tally.rows,
        "missing": tally.missing,
        "level": tally.level,
        "error": tally.error,
        **_values_written(tally.counts),
    }


def _values_written(counts: Mapping[str, int]) -> dict[str, Any]:
    """Return how often values came, the most frequent first."""
    order = sorted(counts.items(), key=itemgetter(1), reverse=True)
    often, rest = order[:MOST_READABLE], order[MOST_READABLE:]
    others = {
        "texts": arrays.StringArray([text for text, _ in rest]),
        "counts": np.array([count for _, count in rest], dtype=np.int64),
    }
    return {"counts": dict(often), "rest": others if rest else None}


def plan_written(plan: Plan) -> list[dict[str, Any]]:
    """Return what columns are taken for as the document has it."""
    return [_plan_written(column, plan) for column in plan.columns]


def read_plan(field: Field) -> Plan:
    """Return checked columns."""
    each = [_members(item, *_PLAN) for item in field.items()]
    return _read_plan(field, each)


def read_counts(field: Field) -> TableCounts:
    """Return checked counts."""
    rows, columns, sketch = field.members("rows", "columns", "sketch")
    n = rows.integer(0, _MOST_ROWS)
    each = [_members(item, *_PLAN, "counts", "beside") for item in columns.items()]
    plan = _read_plan(columns, each)
    used = []
    for members, column in zip(each, plan.columns, strict=True):
        if column.role != "ignore":
            used.append(members)
            continue
        for name in ("counts", "beside"):
            if not members[name].is_null():
                members[name].refuse("must be null for a column that is ignored")
    others = {
        k: (_read_dates if column.role == "date" else _read_texts)(members["counts"], n)
        for k, (members, column) in enumerate(zip(used, plan.used, strict=True))
        if column.role != "number"
    }
    return TableCounts(plan, n, _numbers(sketch, used, plan, n), others, _slices(used, plan, n))


def _members(column: Field, *names: str) -> dict[str, Field]:
    """Return the members of a column; of texts it may say how whole numbers are written."""
    column.object()
    names = (*names, "whole") if "whole" in column.value else names
    return dict(zip(names, column.members(*names), strict=True))


def _read_plan(field: Field, columns: Sequence[dict[str, Field]]) -> Plan:
    """Return a checked plan, given the members of each column."""
    plan = Plan(
        tuple(map(_read_column_plan, columns)),
        tuple(found for members in columns for found in read_findings(members["noticed"])),
    )
    arrays.check_different(field, [column.name for column in plan.columns])
    if not plan.used:
        field.refuse("must have one that is not ignored")
    _check_partners(columns, plan)
    return plan


def _read_column_plan(members: dict[str, Field]) -> ColumnPlan:
    role = next(r for r in get_args(Role) if r == members["role"].text(get_args(Role)))
    partner, frequent = members["partner"], members["frequent"]
    texts = [item.text() for item in frequent.items()]
    if len(texts) > FREQUENT:
        frequent.refuse(f"must have at most {FREQUENT} texts, not {len(texts)}")
    arrays.check_different(frequent, texts)
    return ColumnPlan(
        members["name"].text(),
        role,
        _read_form(members["form"], role),
        members["ranged"].boolean(),
        tuple(texts),
        _read_edges(members["edges"]),
        None if partner.is_null() else partner.integer(0),
        _read_words(members["missing"]),
        _read_words(members["kept"]),
        _read_truth(members["truth"], role),
        "whole" in members and _read_whole(members["whole"], role),
    )


def _read_words(field: Field) -> tuple[str, ...]:
    words = [item.text() for item in field.items()]
    if len(words) > _MOST_WORDS:
        field.refuse(f"must have at most {_MOST_WORDS} texts, not {len(words)}")
    arrays.check_different(field, words)
    return tuple(words)


def _read_truth(field: Field, role: Role) -> bool:
    if (truth := field.boolean()) and role != "category":
        field.refuse(f"must be false for the role {role!r}")
    return truth


def _read_whole(field: Field, role: Role) -> bool:
    if (whole := field.boolean()) and role not in ("category", "text", "identifier"):
        field.refuse(f"must be false for the role {role!r}")
    return whole


def _read_form(field: Field, role: Role) -> NumberForm | DateForm | None:
    if field.is_null():
        return None
    if role == "ignore":
        field.refuse(f"must be null for the role {role!r}")
    field.object()
    of_dates = role == "date" or (role != "number" and "format" in field.value)
    form = DateForm if of_dates else NumberForm
    for name, value in field.value.items():
        if type(value) is not bool:
            field.member(name).text()
    try:
        return form.from_dict(field.value)
    except ValueError as error:
        field.refuse(str(error))


def _read_edges(field: Field) -> tuple[float, ...]:
    edges = [float(item.number()) for item in field.items()]
    if len(edges) > BINS - 1:
        field.refuse(f"must have at most {BINS - 1} numbers, not {len(edges)}")
    arrays.require_rising(field, np.array(edges))
    return tuple(edges)


def _check_partners(columns: Sequence[dict[str, Field]], plan: Plan) -> None:
    """Only a column in use has a partner, another one in use; in a table of numbers none has."""
    place = {column.name: k for k, column in enumerate(plan.used)}
    for members, column in zip(columns, plan.columns, strict=True):
        own = place.get(column.name)
        if column.partner is None:
            continue
        if own is None or plan.plain:
            members["partner"].refuse("must be null for what is looked at alone")
        if column.partner == own or column.partner >= len(plan.used):
            members["partner"].refuse("must be another column that is not ignored")


def _read_texts(field: Field, rows: int) -> ColumnCounts:
    *tallies, characters = field.members(*_TALLIES, "characters")
    counts, rest = characters.members("counts", "rest")
    found = _read_values(counts, rest, rows, _MOST_CHARACTERS)
    if any(len(character) != 1 for character in found):
        characters.refuse("must be single characters")
    values, shapes, collapsed = (read_tally(tally, rows) for tally in tallies)
    for tally, each in zip((values, shapes, collapsed), tallies, strict=True):
        if (tally.rows, tally.missing) != (rows, values.missing):
            each.refuse(f"must have {rows} rows, and as many missing as the values")
    return TextCounts(values, shapes, collapsed, found)


def _read_dates(field: Field, rows: int) -> ColumnCounts:
    has_date, has_clock, hours, weekdays, states, shapes, low, high = field.members(
        "has_date", "has_clock", "hours", "weekdays", "states", "shapes", "low", "high"
    )
    known = _read_listed(states, 3, rows)
    readable = int(known[CellState.READABLE])
    if low.is_null() != (readable == 0) or high.is_null() != (readable == 0):
        low.refuse("and 'high' must be there if, and only if, a row is readable")
    first, last = (float(low.number()), float(high.number())) if readable else (np.inf, -np.inf)
    if readable and not 0.0 <= last - first < np.inf:
        high.refuse("must not be below the earliest, nor too far from it")
    return DateCounts(
        has_date.boolean(),
        has_clock.boolean(),
        _read_listed(hours, HOURS, readable),
        _read_listed(weekdays, DAYS, readable),
        known,
        read_tally(shapes, rows),
        first,
        last,
    )


def read_tally(field: Field, most: int) -> ValueCounts:
    """Return a checked tally of at most so many rows."""
    total, missing, level, error, counts, rest = field.members(
        "rows", "missing", "level", "error", "counts", "rest"
    )
    rows = total.integer(0, most)
    tally = ValueCounts(
        _read_values(counts, rest, rows, MOST_VALUES),
        rows,
        missing.integer(0, rows),
        level.integer(0, _MOST_LEVELS),
        error.integer(0, rows),
    )
    counted = sum(tally.counts.values()) + tally.missing
    if tally.level == 0 and counted != rows:
        counts.refuse(f"and what is missing add up to {counted}, there are {rows} rows")
    return tally


def _read_values(counts: Field, rest: Field, rows: int, most: int) -> dict[str, int]:
    """Return checked counts of at most so many texts, each of which some of the rows have."""
    found = {text: count.integer(1, rows) for text, count in counts.entries()}
    if not rest.is_null():
        listed, numbers = rest.members("texts", "counts")
        others = arrays.texts(listed, most)
        how_many = arrays.integers(numbers, len(others), least=1, most=rows)
        for number, text in enumerate(others):
            if text in found:
                listed.at(number).refuse("is counted already")
        found |= zip(others, how_many.tolist(), strict=True)
    if len(found) > most:
        counts.refuse(f"and the rest are {len(found)} texts; at most {most} are kept")
    return found


def _numbers(field: Field, used: list[dict[str, Field]], plan: Plan, n: int) -> NumberCounts | None:
    if len(plan.numbers) == 0:
        if not field.is_null():
            field.refuse("must be null where no column is one of numbers")
        return None
    states = []
    for k in plan.numbers.tolist():
        (state,) = used[k]["counts"].members("states")
        states.append(_read_listed(state, 3, n))
    sketch = read_sketch(field, len(states), empty=True)
    counts = NumberCounts(sketch, np.array(states))
    if (sketch.rows, sketch.weight) != (n, n):
        field.refuse(f"must have {n} rows of the weight 1")
    for k, (histogram, state) in enumerate(zip(sketch.histograms, states, strict=True)):
        readable = state[CellState.READABLE]
        if histogram.rows != readable:
            place = used[plan.numbers[k]]["counts"]
            place.refuse(f"says {readable} readable rows, the sketch {histogram.rows}")
    field.budget.charge(_CHAIN * len(states), "The folds of numbers", field.path)
    if not plan.plain and all(histogram.rows for histogram in sketch.histograms):
        check_evaluable(field, counts.chain)
    return counts


def _slices(used: list[dict[str, Field]], plan: Plan, n: int) -> dict[int, ContingencyTable]:
    found = {}
    for k, (members, column) in enumerate(zip(used, plan.used, strict=True)):
        beside = members["beside"]
        if beside.is_null() != (column.partner is None):
            beside.refuse("must be there if, and only if, there is a partner")
        if column.partner is not None:
            pairs = arrays.integers(beside, N_CODES, N_CODES, least=0, most=n)
            _check_total(beside, pairs, n)
            found[k] = ContingencyTable(pairs)
    return found


def _read_listed(field: Field, length: int, total: int) -> Integers:
    """Return checked counts, a list for people to read, that add up to so many rows."""
    counts = np.array([item.integer(0, total) for item in field.items(length)], dtype=np.int64)
    _check_total(field, counts, total)
    return counts


def _check_total(field: Field, counts: Integers, total: int) -> None:
    found = sum(counts.ravel().tolist())
    if found != total:
        field.refuse(f"must add up to {total} rows, not {found}")
