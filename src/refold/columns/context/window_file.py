"""What is looked at over a window, in a model file."""

from __future__ import annotations

from typing import Any

from refold.columns.context.context import ContextColumns
from refold.columns.context.window import (
    FEWEST_ROWS,
    MEASURES,
    MOST_ROWS,
    Window,
    WindowColumn,
    WindowModel,
)
from refold.modelfile.fields import Field


def window_written(model: WindowModel) -> dict[str, Any]:
    """Return a window as the document has it."""
    columns = {name: dict(vars(column)) for name, column in model.columns.items()}
    return {**vars(model.window), "columns": columns}


def read_window(field: Field, given: ContextColumns) -> WindowModel:
    """Return a checked window."""
    rows, seconds, columns = field.members("rows", "seconds", "columns")
    if rows.is_null() == seconds.is_null():
        field.refuse("must have either 'rows' or 'seconds'")
    window = Window(
        None if rows.is_null() else rows.integer(FEWEST_ROWS, MOST_ROWS),
        None if seconds.is_null() else seconds.positive(),
    )
    if window.seconds is not None and not given.over:
        seconds.refuse("must be null without a time")
    return WindowModel(
        window,
        given.by,
        given.over,
        {name: _read_column(column) for name, column in columns.entries()},
    )


def _read_column(field: Field) -> WindowColumn:
    column, measure, middle, smallest, neutral = field.members(
        "column", "measure", "middle", "smallest", "neutral"
    )
    return WindowColumn(
        column.text(),
        next(name for name in MEASURES if name == measure.text(MEASURES)),
        float(middle.number()),
        smallest.positive(),
        float(neutral.number()),
    )
