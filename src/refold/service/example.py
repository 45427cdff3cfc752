"""A row that a model would get: the usual value of each column, changed until it is normal."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from refold.columns.date_form import UNIX
from refold.columns.encoding.column_info import ColumnInfo
from refold.columns.encoding.plan import ColumnPlan
from refold.explanation import explain
from refold.judgement import Judge

_TRIED = 3  # times that values are changed


def example_row(model: Any, judge: Judge) -> dict[str, Any]:
    """Return a row of usual values; it is normal unless no such row was found.

    No training row is in a model, so none can be shown.
    """
    if judge.encoder is None:
        return _row_of_numbers(judge)
    known = {column.name: column for column in model.columns_}
    plans = judge.encoder.inputs.used
    usual = dict.fromkeys(judge.inputs) | {
        plan.name: _usual(plan, known[plan.name]) for plan in plans if plan.role != "date"
    }
    dates = {plan.name: _dates(known[plan.name]) for plan in plans if plan.role == "date"}
    first = None
    for k in range(max(map(len, dates.values()), default=1)):
        row = usual | {name: found[k % len(found)] for name, found in dates.items()}
        first = first or dict(row)
        if _made_normal(model, judge, row):
            return row
    assert first is not None
    return first


def _made_normal(model: Any, judge: Judge, row: dict[str, Any]) -> bool:
    """Change what is needed for a row to be normal; say whether it is."""
    for _ in range(_TRIED):
        found = judge.table([row], explained=True)
        if not found.outlier[0]:
            return True
        changes = () if judge.scorer.unexplained else explain(model, found)[0].changes
        row |= {cell.feature: _plain(cell.value) for cell in changes if cell.feature in row}
    return False


def _row_of_numbers(judge: Judge) -> dict[str, Any]:
    if judge.summary is None:
        return dict.fromkeys(judge.names, 0)
    quantiles = judge.summary.quantiles
    middle = quantiles[len(quantiles) // 2]
    return {name: _plain(value) for name, value in zip(judge.names, middle.tolist(), strict=True)}


def _usual(plan: ColumnPlan, known: ColumnInfo) -> Any:
    """Return the usual value of a column, as it would be sent."""
    if plan.role == "number":
        if known.example:
            return _plain(float(known.example))
        return _plain(plan.edges[len(plan.edges) // 2]) if plan.edges else None
    return known.example or (plan.frequent[0] if plan.frequent else None)


def _dates(column: ColumnInfo) -> list[str | int | None]:
    """Return dates of a column as they may be sent: in the middle of training, and its first."""
    if not isinstance(column.low, str) or not isinstance(column.high, str):
        return [None]
    clock_only = "-" not in column.low
    day = "1970-01-01 " if clock_only else ""
    low, high = (datetime.fromisoformat(day + text) for text in (column.low, column.high))
    moments = ((low + (high - low) / 2).replace(microsecond=0), low)
    if column.form in UNIX:
        unit = UNIX[column.form]
        return [round(when.replace(tzinfo=UTC).timestamp() / unit) for when in moments]
    forms = [column.form]
    if column.form in ("", "iso"):
        forms = ["%Y-%m-%d" if ":" not in column.low else "%Y-%m-%d %H:%M:%S"]
        forms = ["%H:%M:%S"] if clock_only else [*forms, forms[0].replace(" ", "T")]
    forms += [form.replace(":%S", "") for form in forms]  # seconds may be left out
    return [
        when.strftime(form.replace("%q", str((when.month + 2) // 3)))
        for when in moments
        for form in dict.fromkeys(forms)
    ]


def _plain(value: Any) -> Any:
    """Return a number with the digits that a person would type, without .0."""
    if not isinstance(value, float):
        return value
    short = float(f"{value:.6g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short
