"""Rows of a request to verdicts; what cannot be judged is a problem of its row, or an error."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from refold._typing import Integers
from refold.base.errors import UserError
from refold.base.words import quoted
from refold.columns.table import as_texts
from refold.judgement import Judge, Judgement
from refold.judgement.reading import NumberReader, TableReader
from refold.service.errors import RequestError, row_error
from refold.tabular import TableSource
from refold.tabular.features import BadCells

_LARGEST = sys.float_info.max

if TYPE_CHECKING:
    from refold.service.models import HostedModel


@dataclass(frozen=True)
class Verdicts:
    """What is said of the rows of a request."""

    found: Judgement | None  # of those that could be read
    rows: Integers  # which these are
    total: int
    problems: Mapping[int, RequestError]  # of the others


def score_objects(
    served: HostedModel,
    rows: Sequence[Any],
    problems: Mapping[int, RequestError],
    *,
    on_bad: str,
    explained: bool,
    most: int,
) -> Verdicts:
    """Judge rows that came as JSON, some of which may have known problems.

    A row with a bad cell is an error, or a problem of its row (`on_bad` is "skip"). What is of the
    right type but cannot be read, such as a text that is not a date, may be judged all the same
    ("judge"): it is unlike all that was learned.
    """
    check_count(len(rows), most)
    judge, strict = served.judge, on_bad != "judge" or served.judge.encoder is None
    problems = {**problems, **_bad_rows(rows, problems, served.cell_types, strict=strict)}
    if problems and on_bad != "skip":
        raise problems[min(problems)]
    places = np.array([k for k in range(len(rows)) if k not in problems], dtype=np.int64)
    if len(places) == 0:
        return Verdicts(None, places, len(rows), problems)
    good = [rows[k] for k in places] if problems else rows
    try:
        found = score_records(judge, good, explained=explained)
    except UserError as error:
        raise RequestError(400, str(error), row=getattr(error, "row", None)) from None
    return _readable(Verdicts(found, places, len(rows), problems), on_bad)


def score_columns(
    judge: Judge, table: TableSource, *, on_bad: str, explained: bool, most: int
) -> Verdicts:
    """Judge rows that came as columns, CSV or Arrow."""
    parts: list[Judgement] = []
    places: list[Integers] = []
    problems: dict[int, RequestError] = {}
    count = 0
    try:
        with table:
            kind = TableReader if judge.encoder is not None else NumberReader
            reader = kind(judge, table)
            for block in reader.blocks(table, reader.columns):
                check_count(count + block.rows, most)
                bad: BadCells = {}
                if isinstance(reader, NumberReader) and on_bad == "skip":
                    found = reader.judge(block, explained=explained, bad=bad)
                else:
                    found = reader.judge(block, explained=explained)
                found.distances  # noqa: B018  # errors belong to this block
                if on_bad == "error":
                    for row, column, text in _unreadable(found):
                        raise row_error(text, count + row, column)
                for row, (column, text) in bad.items():
                    problems[count + row] = row_error(text, count + row, column)
                good = np.setdiff1d(np.arange(block.rows), [*bad])
                if len(good):
                    parts.append(found.take(good))
                    places.append(count + good)
                count += block.rows
    except UserError as error:
        raise RequestError(400, str(error)) from None
    check_count(count, most)
    if not parts:
        return Verdicts(None, np.arange(0), count, problems)
    verdicts = Verdicts(Judgement.joined(parts), np.concatenate(places), count, problems)
    return _readable(verdicts, on_bad)


def score_records(judge: Judge, rows: Sequence[Any], *, explained: bool) -> Judgement:
    """Judge objects that have all columns."""
    if judge.encoder is None:
        cells = np.array([[row[name] for name in judge.names] for row in rows], dtype=np.float64)
        found = judge.rows(cells, explained=explained)
    else:
        known = [{name: row[name] for name in judge.inputs} for row in rows]
        found = judge.table(known, explained=explained)
    if explained and not judge.scorer.unexplained:
        found.attribution()  # distances come with it
    found.distances  # noqa: B018  # now: what is wrong with the rows is said here
    return found


def check_count(rows: int, most: int) -> None:
    """Refuse too many rows, and none."""
    if rows > most:
        raise RequestError(413, f"A request may have {most:,} rows; this one has more. Send parts.")
    if rows == 0:
        raise RequestError(400, "There are no rows.")


def _bad_rows(
    rows: Sequence[Any],
    known: Mapping[int, RequestError],
    columns: Mapping[str, frozenset[type]],
    *,
    strict: bool,
) -> dict[int, RequestError]:
    """Return what is wrong with rows that do not have the cells which the schema allows."""
    if not known and _all_allowed(rows, columns):  # nearly always
        return {}
    problems = {}
    for number, row in enumerate(rows):
        if number not in known and (bad := _row_problem(row, number, columns, strict=strict)):
            problems[number] = bad
    return problems


def _all_allowed(rows: Sequence[Any], columns: Mapping[str, frozenset[type]]) -> bool:
    try:
        for row in rows:
            for name, allowed in columns.items():
                cell = row[name]
                if type(cell) not in allowed or _is_too_large(cell):
                    return False
    except (KeyError, TypeError, IndexError):
        return False
    return True


def _is_too_large(cell: Any) -> bool:
    kind = type(cell)
    return (kind is float or kind is int) and not -_LARGEST <= cell <= _LARGEST and cell == cell


def _row_problem(
    row: Any, number: int, columns: Mapping[str, frozenset[type]], *, strict: bool
) -> RequestError | None:
    if not isinstance(row, dict):
        return row_error("it is not an object with the names of columns", number)
    for name, allowed in columns.items():
        if name not in row:
            said = "there is no such column"
            if not row.keys() & columns.keys():
                said += f"; the row has {', '.join(map(quoted, [*row][:3])) or 'none'}"
            return row_error(f"{said}; a missing value is null", number, name)
        cell = row[name]
        if isinstance(cell, list | dict):
            what = "a list" if isinstance(cell, list) else "an object"
            return row_error(f"it is {what}; a cell is text, a number or null", number, name)
        # A whole number that is too large can be judged: it is no number that training could have.
        if _is_too_large(cell) and (strict or type(cell) is float):
            return row_error("it is too large for a number", number, name)
        if strict and type(cell) not in allowed:
            text = quoted(cell) if isinstance(cell, str) else str(cell).lower()
            kind = "text or number" if str in allowed else "number"
            return row_error(f"{text} is not a {kind}", number, name)
    return None


def _readable(verdicts: Verdicts, on_bad: str) -> Verdicts:
    """Refuse or leave out rows with cells that are not what their column holds."""
    if on_bad == "judge" or verdicts.found is None:
        return verdicts
    problems = dict(verdicts.problems)
    for place, column, text in _unreadable(verdicts.found):
        row = int(verdicts.rows[place])
        problems.setdefault(row, row_error(text, row, column))
    if len(problems) == len(verdicts.problems):
        return verdicts
    if on_bad == "error":
        raise problems[min(problems)]
    kept = np.array([k for k, row in enumerate(verdicts.rows.tolist()) if row not in problems])
    found = verdicts.found.take(kept.astype(np.int64)) if len(kept) else None
    return Verdicts(found, verdicts.rows[kept.astype(np.int64)], verdicts.total, problems)


def _unreadable(found: Judgement) -> Iterator[tuple[int, str, str]]:
    """Yield the cells that are not what their column holds: row, column and what is wrong."""
    encoder = found.judge.encoder
    if encoder is None or found.cells is None:
        return
    for plan in encoder.inputs.used:
        cells = found.cells.as_read[plan.name]
        if cells.source is not None and cells.unreadable.any():
            for row in np.flatnonzero(cells.unreadable).tolist():
                cell = quoted(as_texts(cells).text(row) or "")
                yield row, plan.name, f"{cell} is not a {plan.role}"
