"""Cells that have types of their own, as columns of one type each."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from refold.base.needs import needs
from refold.columns.missing import is_missing

_LARGEST = 2**63
_EXACT = 2**53  # whole numbers up to here are what they say, also as floats


def typed(cells: Sequence[Any]) -> Any:
    """Return Python's values as an Arrow column; None is missing.

    Numbers, truth values, moments and texts stay what they are. A column that mixes them is text,
    as a person would write it, but for words that say that a value is missing.
    """
    pa = needs("pyarrow", "parquet")
    kinds = set(map(type, cells)) - {type(None)}
    if str in kinds and len(kinds) > 1:
        known = [None if isinstance(cell, str) and is_missing(cell) else cell for cell in cells]
        if str not in (fewer := set(map(type, known)) - {type(None)}):
            cells, kinds = known, fewer
    if not kinds:
        return pa.nulls(len(cells))
    if kinds <= {int, float}:
        return _numbers(cells)
    if dt.date in kinds and kinds <= {dt.date, dt.datetime}:
        midnight = dt.time()
        cells = [dt.datetime.combine(c, midnight) if type(c) is dt.date else c for c in cells]
        kinds = {dt.datetime}
    for allowed, kind in _kinds():
        if kinds == {allowed}:
            return pa.array(cells, kind)
    return pa.array([None if cell is None else cell_text(cell) for cell in cells], pa.string())


def cell_text(cell: Any) -> str:
    """Write a value as a person would: 12 and not 12.0, a day without midnight."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _EXACT:
        return str(int(cell))
    if isinstance(cell, dt.datetime):
        return str(cell).removesuffix(" 00:00:00")
    return str(cell)


def _numbers(cells: Sequence[Any]) -> Any:
    pa = needs("pyarrow", "parquet")
    whole = all(
        cell is None or (abs(cell) <= _EXACT and (type(cell) is int or cell.is_integer()))
        for cell in cells
    )
    known = [cell for cell in cells if cell is not None]
    if not whole and all(type(cell) is int and -_LARGEST <= cell < _LARGEST for cell in known):
        return pa.array(cells, pa.int64())
    if whole:
        return pa.array([None if cell is None else int(cell) for cell in cells], pa.int64())
    return pa.array(
        [None if cell is None else _float(cell) for cell in cells], pa.float64(), from_pandas=True
    )


def _float(cell: float) -> float:
    try:
        return float(cell)
    except OverflowError:  # a whole number of more than 308 digits
        return float("inf") if cell > 0 else float("-inf")


def _kinds() -> list[tuple[type, Any]]:
    pa = needs("pyarrow", "parquet")
    return [
        (str, pa.string()),
        (bool, pa.bool_()),
        (dt.datetime, pa.timestamp("us")),
        (dt.time, pa.time64("us")),
        (dt.timedelta, pa.duration("us")),
    ]
