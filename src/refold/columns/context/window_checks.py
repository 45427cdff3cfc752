"""Tables that rows in a window cannot be told of: in which order they came is not clear."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from refold.base.errors import UserError
from refold.columns.context.design import group_keys
from refold.columns.table import DateColumn, Table

if TYPE_CHECKING:
    from refold.columns.context.window import SortedRows, WindowModel

_SAME_TIME = 0.01  # of all rows


def check_dates(model: WindowModel, table: Table) -> None:
    """Refuse a duration where there is no date."""
    for name in model.over:
        if isinstance(table[name], DateColumn):
            return
        raise UserError(
            f"window={str(model.window)!r} is a duration, and over={name!r} holds numbers: "
            "name a date column, or set the window to a number of rows."
        )
    raise UserError(
        f"window={str(model.window)!r} is a duration: name the column of the time with over=, "
        "or set the window to a number of rows."
    )


def check_order(model: WindowModel, table: Table) -> None:
    """Refuse rows in the opposite order of a date, where no column says when they were."""
    if model.over:
        return
    groups = group_keys(table, model.by)[1] if model.by else np.zeros(table.rows, dtype=np.int64)
    for name, cells in table.items():
        if isinstance(cells, DateColumn) and cells.has_date:
            order = np.lexsort((np.arange(table.rows), groups))
            steps = np.diff(cells.seconds[order])[np.diff(groups[order]) == 0]
            if (steps < 0.0).any() and not (steps > 0.0).any():
                raise UserError(
                    f"{name} runs backwards from row to row, and window= takes rows in their "
                    f"order. Name the time: over={name!r}, or sort the rows."
                )


def check_times(model: WindowModel, rows: SortedRows) -> None:
    """Refuse a table in which many rows of a group have the time of another."""
    same = rows.same_time
    if not model.over or same.sum() <= _SAME_TIME * len(same):
        return
    group = f" and {', '.join(model.by)}" if model.by else ""
    more = "another column that tells them apart" if model.by else "the column of the group"
    raise UserError(
        f"over={model.over[0]!r}: {int(same.sum()):,} of {rows.total:,} rows have the same "
        f"time{group} as another, such as row {int(rows.places[1:][same].min()):,}. A window "
        f"needs rows one after another: add {more} to by=, or leave window= out."
    )
