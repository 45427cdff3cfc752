"""Single cells that are no values: far from all others, a mark for none, or something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from refold._typing import Floats
from refold.base.advice import Advice
from refold.base.findings import Finding, RowText
from refold.base.words import printable
from refold.checks._table.checked_table import CheckedColumn, CheckedTable
from refold.columns import role_findings as words
from refold.columns import sentinels
from refold.columns.table import DateColumn, as_texts
from refold.columns.table_findings import find_far_cells, unreadable_finding

# So many rows of a finding are listed.
LISTED = 100
_SEVERAL = 3  # cells of a row are one finding
_NAMED = 5


def notice_cells(table: CheckedTable) -> Iterator[Finding]:
    """Find cells that should be looked at one by one."""
    for column in table.columns:
        yield from _infinite(column)
        if column.values is not None:
            marks = list(_sentinels(column))
            yield from marks
            known = {value for found in marks for value in found.values}
            yield from (f for f in _absurd(column) if f.values[0] not in known)
        if len(column.unreadable):
            texts = as_texts(column.observed)
            yield unreadable_finding(column.name, column.role, texts, column.unreadable)


def absurd_rows(cells: Sequence[Finding]) -> Iterator[Finding]:
    """Tell of a row that is absurd in several columns, such as a total, once."""
    rows = Counter(f.rows for f in cells if f.kind == "absurd-cell")
    told: set[tuple[int, ...]] = set()
    for found in cells:
        if found.kind != "absurd-cell" or rows[found.rows] < _SEVERAL or len(found.rows) != 1:
            yield found
        elif found.rows not in told:
            told.add(found.rows)
            names = [f.column for f in cells if f.kind == "absurd-cell" and f.rows == found.rows]
            yield Finding(
                kind="absurd-cell",
                message=RowText.of(
                    "row ",
                    found.rows[0],
                    f" is far from all others in {len(names):,} columns: "
                    f"{first_names([str(name) for name in names])}.",
                ),
                rows=found.rows,
                values=tuple(str(name) for name in names),
                advice=Advice("If it is a total or an error, leave it out."),
            )


def _infinite(column: CheckedColumn) -> Iterator[Finding]:
    rows = column.infinite
    if len(rows):
        more = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
        yield Finding(
            kind="absurd-cell",
            message=RowText.of(
                f"{column.name} is infinite in row ", int(rows[0]), f" of the table{more}."
            ),
            column=column.name,
            rows=tuple(rows[:LISTED].tolist()),
            values=("infinity",),
            advice=Advice("No model takes it: leave the cell empty."),
        )


def _sentinels(column: CheckedColumn) -> Iterator[Finding]:
    values = column.values
    assert values is not None
    seen = values[~np.isnan(values)]
    if len(seen) == 0:
        return
    if isinstance(column.cells, DateColumn):
        if column.cells.has_date:
            for day, rows in sentinels.date_sentinels(*np.unique(seen, return_counts=True)):
                seconds = float(np.datetime64(day, "s").astype(np.int64))
                yield _listed(words.sentinel(column.name, day, rows), values, seconds)
    elif sentinels.may_be_sentinel(float(seen.min())) or sentinels.may_be_sentinel(
        float(seen.max())
    ):
        for value, rows in sentinels.number_sentinels(*np.unique(seen, return_counts=True)):
            yield _listed(words.sentinel(column.name, value, rows), values, value)


def _listed(found: Finding, values: Floats, value: float) -> Finding:
    return replace(found, rows=tuple(np.flatnonzero(values == value)[:LISTED].tolist()))


def _absurd(column: CheckedColumn) -> Iterator[Finding]:
    """Find cells far from all others."""
    values = column.values
    assert values is not None
    for found in find_far_cells(values[:, None], [column.name]):
        yield _as_moment(column.cells, found) if isinstance(column.cells, DateColumn) else found


def first_names(names: Sequence[str]) -> str:
    """Return the names of columns; of many the first ones."""
    return ", ".join(map(printable, names[:_NAMED])) + (", …" if len(names) > _NAMED else "")


def _as_moment(cells: DateColumn, found: Finding) -> Finding:
    """Write a moment as people do."""
    (seconds,) = found.values
    assert isinstance(seconds, float)
    whole = str(np.datetime64(int(seconds), "s"))
    day, _, clock = whole.partition("T")
    said = " ".join([day] * cells.has_date + [clock] * cells.has_clock)
    message = found.message.replace(f"{seconds:.6g}", said, 1)
    return replace(found, values=(said,), message=message)
