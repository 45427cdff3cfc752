"""Cells that have types of their own, as columns of one type each."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from refold.base.needs import needs
from refold.columns.conversion import text_of
from refold.columns.missing import is_missing
from refold.columns.table import EXACT

_LARGEST = 2**63


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
    return pa.array([None if cell is None else text_of(cell) for cell in cells], pa.string())


def _numbers(cells: Sequence[Any]) -> Any:
    pa = needs("pyarrow", "parquet")
    if any(type(cell) is int and not -_LARGEST <= cell < _LARGEST for cell in cells):
        return pa.array([None if cell is None else text_of(cell) for cell in cells], pa.string())
    whole = all(
        cell is None or (abs(cell) <= EXACT and (type(cell) is int or cell.is_integer()))
        for cell in cells
    )
    known = [cell for cell in cells if cell is not None]
    if not whole and all(type(cell) is int for cell in known):
        return pa.array(cells, pa.int64())
    if whole:
        return pa.array([None if cell is None else int(cell) for cell in cells], pa.int64())
    floats = [None if cell is None else float(cell) for cell in cells]
    return pa.array(floats, pa.float64(), from_pandas=True)


def _kinds() -> list[tuple[type, Any]]:
    pa = needs("pyarrow", "parquet")
    return [
        (str, pa.string()),
        (bool, pa.bool_()),
        (dt.datetime, pa.timestamp("us")),
        (dt.time, pa.time64("us")),
        (dt.timedelta, pa.duration("us")),
    ]
