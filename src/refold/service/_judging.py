"""Rows of a request to verdicts; what cannot be judged is a problem of its row, or an error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refold._typing import Floats, Integers
from refold.base.errors import UserError
from refold.judgement import Judge, Judgement
from refold.judgement.reading import NumberReader, TableReader
from refold.service._errors import RequestError
from refold.service._rows import Objects
from refold.tabular import TableSource

_CELLS = {str, int, float, bool, type(None)}
_NUMBERS = {int, float, type(None)}
_ALWAYS_NUMBERS = {int, float}
_LARGEST = 2**1023  # of an integer: larger ones may be no double
_LONGEST = 100  # characters of a cell or name that are repeated


@dataclass(frozen=True)
class Verdicts:
    """What is said of the rows of a request.

    Parameters
    ----------
    found : Judgement or None
        Of those that could be read; None if there are none.
    rows : ndarray of int
        Which these are.
    total : int
        How many rows there were.
    problems : mapping of int to RequestError
        What is wrong with the others.
    """

    found: Judgement | None
    rows: Integers
    total: int
    problems: Mapping[int, RequestError]


def judge_objects(
    judge: Judge, objects: Objects, *, skip: bool, explained: bool, most: int
) -> Verdicts:
    """Judge rows that came as JSON; with `skip` bad ones are problems, else errors."""
    rows = objects.rows
    check_count(len(rows), most)
    problems = {row: _problem(text, row) for row, text in objects.problems.items()}
    problems |= _bad_rows(judge, rows, problems)
    if problems and not skip:
        raise problems[min(problems)]
    good, places = rows, np.arange(len(rows))
    if problems:
        places = np.array([k for k in range(len(rows)) if k not in problems], dtype=np.int64)
        good = [rows[k] for k in places]
    found = _judged(judge, good, explained=explained) if good else None
    return Verdicts(found, places, len(rows), problems)


def one_of(judge: Judge, objects: Objects) -> list[float] | None:
    """Return the numbers of a request that is one row of them, all there; None of any other."""
    if not judge.plain or len(objects.rows) != 1:
        return None
    kinds = _plain_kinds(objects.rows, judge.names)
    if kinds is None or not kinds <= _ALWAYS_NUMBERS:
        return None
    (row,) = objects.rows
    cells = [row[name] for name in judge.names]
    return None if int in kinds and max(map(abs, cells)) > _LARGEST else cells


def _bad_rows(
    judge: Judge, rows: Sequence[Any], known: Mapping[int, RequestError]
) -> dict[int, RequestError]:
    """Return what is wrong with rows that are no objects of cells the model can take."""
    kinds = _plain_kinds(rows, judge.names)
    if kinds == {float}:  # all there, all numbers: nearly always
        return {}
    problems = {}
    if kinds is None:
        for number, row in enumerate(rows):
            if number not in known and (bad := _row_problem(row, number, judge.names)):
                problems[number] = bad
    if judge.encoder is None:
        problems |= _no_numbers(rows, {**known, **problems}, judge.names)
    return problems


def judge_table(judge: Judge, table: TableSource, *, explained: bool, most: int) -> Verdicts:
    """Judge rows that came as columns."""
    parts: list[Judgement] = []
    count = 0
    try:
        with table:
            kind = TableReader if judge.encoder is not None else NumberReader
            reader = kind(judge, table)
            for block in reader.blocks(table, reader.columns):
                count += block.rows
                check_count(count, most)
                parts.append(reader.judge(block, explained=explained))
                parts[-1].distances  # noqa: B018  # errors belong to this block
    except UserError as error:
        raise RequestError(400, str(error)) from None
    check_count(count, most)
    return Verdicts(Judgement.joined(parts), np.arange(count), count, {})


def objects_of(table: TableSource, judge: Judge, most: int) -> Objects:
    """Return the rows of CSV as JSON would have them: bad ones can be told from others then."""
    rows: list[Any] = []
    try:
        with table:
            for block in table.blocks(nulls=True):
                check_count(len(rows) + block.rows, most)
                columns = {
                    name: column.to_pylist()
                    for name, column in block.with_plain_numbers().columns.items()
                }
                rows += [
                    dict(zip(columns, cells, strict=True))
                    for cells in zip(*columns.values(), strict=True)
                ]
    except UserError as error:
        raise RequestError(400, str(error)) from None
    if judge.encoder is None:
        for row in rows:
            row.update((name, _number(row[name])) for name in judge.names if name in row)
    return Objects(rows)


def _number(cell: Any) -> Any:
    """Return the number that a text is, or the text."""
    try:
        return float(cell)
    except (TypeError, ValueError):
        return cell


def check_count(rows: int, most: int) -> None:
    """Refuse too many rows, and none."""
    if rows > most:
        raise RequestError(413, f"A request may have {most:,} rows; this one has more. Send parts.")
    if rows == 0:
        raise RequestError(400, "There are no rows.")


def _plain_kinds(rows: Sequence[Any], names: Sequence[str]) -> set[type] | None:
    """Return the types of the cells if all rows have all columns, and cells that may be judged."""
    try:
        cells = [row[name] for row in rows for name in names]
    except (KeyError, TypeError, IndexError):
        return None
    kinds = set(map(type, cells))
    endless = float in kinds and (math.inf in cells or -math.inf in cells)
    return kinds if kinds <= _CELLS and not endless else None


def _row_problem(row: Any, number: int, names: Sequence[str]) -> RequestError | None:
    """Return what is wrong with a row whatever the model is."""
    if not isinstance(row, dict):
        return _problem("it is no object with the names of columns", number)
    for name in names:
        if name not in row:
            return _problem("there is no such column; a missing value is null", number, name)
        cell = row[name]
        if type(cell) not in _CELLS:
            what = "a list" if isinstance(cell, list) else "an object"
            return _problem(f"it is {what}; a cell is text, a number or null", number, name)
        if isinstance(cell, float) and not np.isfinite(cell):
            return _problem("it is too large for a number", number, name)
    return None


def _no_numbers(
    rows: Sequence[Any], known: Mapping[int, RequestError], names: Sequence[str]
) -> dict[int, RequestError]:
    """Return the rows with cells that a model of numbers cannot take."""
    problems: dict[int, RequestError] = {}
    for number, row in enumerate(rows):
        if number in known:
            continue
        for name in names:
            cell = row[name]
            if type(cell) not in _NUMBERS:
                said = repr(cell)[:_LONGEST]
                problems[number] = _problem(f"{said} is not a number", number, name)
                break
            if type(cell) is int and abs(cell) > _LARGEST:
                problems[number] = _problem("it is too large for a number", number, name)
                break
    return problems


def _judged(judge: Judge, rows: list[dict[str, Any]], *, explained: bool) -> Judgement:
    try:
        if judge.encoder is None:
            found = judge.rows(_numbers(rows, judge.names), explained=explained)
        else:
            known = [{name: row[name] for name in judge.names} for row in rows]
            found = judge.table(known, explained=explained)
        if explained and not judge.scorer.unexplained:
            found.attribution()  # distances come with it
        found.distances  # noqa: B018  # now: what is wrong with the rows is said here
    except UserError as error:
        raise RequestError(400, str(error), row=getattr(error, "row", None)) from None
    return found


def _numbers(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> Floats:
    cells = [[np.nan if (cell := row[name]) is None else cell for name in names] for row in rows]
    return np.array(cells, dtype=np.float64)


def _problem(text: str, row: int, column: str | None = None) -> RequestError:
    """Return an error that says where it is."""
    where = f"row {row}" + ("" if column is None else f", column {column[:_LONGEST]!r}")
    return RequestError(400, f"{where}: {text}.", row=row, column=column)
