"""A comparison as people read it in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from refold.base.markup import box, escaped, grid, items, paragraph
from refold.base.words import percent, printable
from refold.checks._compare.compared_columns import ComparedColumn

if TYPE_CHECKING:
    from refold.checks._compare.comparison_result import Comparison

if TYPE_CHECKING:
    from refold.checks._compare.comparison_result import Comparison

_SHOWN = 10


def as_html(found: Comparison) -> str:
    """Return what changes, and the clearest of the changed rows."""
    parts = [paragraph(found.headline(), "head")]
    remarks = found.remarks()
    if remarks:
        parts.append(items(f"{remark}." for remark in remarks[:_SHOWN]))
    changed = found.changed_rows[:_SHOWN]
    if changed:
        rows = (
            tuple(map(escaped, (row.row, row.now, row.old, row.new, row.because())))
            for row in changed
        )
        parts.append(grid(("row", "becomes", "old", "new", "because"), rows))
    if len(changed) < found.n_changed:
        parts.append(paragraph(f"and {found.n_changed - len(changed):,} more rows", "soft"))
    return box(*parts)


_COLUMNS = 12  # that are printed


def headline(found: Comparison) -> str:
    """Say in a sentence what would change."""
    if found.changed is None or found.interval is None:
        if found.rows == 1:
            return "The only row is not judged by both models."
        return f"None of the {found.rows:,} rows is judged by both models."
    if found.same:
        return f"Nothing changes: the models say the same of all {found.judged:,} rows."
    if not found.n_changed:
        return f"No verdict changes: all {found.judged:,} rows stay what they are."
    low, high = (percent(end, 2) for end in found.interval)
    ways = [
        f"{n:,} {'becomes' if n == 1 else 'become'} {one if n == 1 else many}"
        for n, one, many in (
            (found.normal_outlier, "an outlier", "outliers"),
            (found.outlier_normal, "normal", "normal"),
        )
        if n
    ]
    verb = "changes its" if found.n_changed == 1 else "change their"
    return (
        f"{found.n_changed:,} of {found.judged:,} rows {verb} verdict "
        f"({percent(found.changed)}; in the long run {low.removesuffix(' %')} to {high}): "
        f"{' and '.join(ways)}."
    )


def not_judged(found: Comparison) -> Iterator[str]:
    """Say which rows could not be compared."""
    neither = found.rows - found.judged - found.only_old - found.only_new
    for count, why in (
        (neither, "judged by neither model: no value"),
        (found.only_old, "judged by old alone: no value in the columns of new"),
        (found.only_new, "judged by new alone: no value in the columns of old"),
    ):
        if count:
            yield f"{count:,} {'row is' if count == 1 else 'rows are'} {why}."


def lines_of(found: Comparison, rows: int) -> Iterator[str]:
    """Give all that is said, a line each, with so many of the changed rows."""
    yield headline(found)
    yield from not_judged(found)
    if found.same:
        return
    if found.judged:
        yield from ("", *_outcomes(found), "")
    yield from _models(found)
    remarks = found.remarks()
    yield from (f"Note: {remark}." for remark in remarks[:_COLUMNS])
    if len(remarks) > _COLUMNS:
        yield f"And {len(remarks) - _COLUMNS} more such notes."
    yield from _columns(found)
    yield from _rows(found, rows)


def _outcomes(found: Comparison) -> Iterator[str]:
    lines = [
        ["", "normal to new", "outlier to new"],
        ["normal to old", f"{found.normal_normal:,}", f"{found.normal_outlier:,}"],
        ["outlier to old", f"{found.outlier_normal:,}", f"{found.outlier_outlier:,}"],
    ]
    return _aligned(lines, ">")


def _models(found: Comparison) -> Iterator[str]:
    for which, model in (("old", found.old), ("new", found.new)):
        learned = f"{model.asked_for} learned from {model.rows_learned:,} rows"
        yield f"{which}: {model.rate_text()}; {learned}"
    if found.differences:
        yield f"Different: {'; '.join(map(str, found.differences))}."


def _columns(found: Comparison) -> Iterator[str]:
    """Show the columns that make the difference, or that were learned differently."""
    shown = [column for column in found.columns if column.leads or column.differs]
    shown.sort(key=lambda column: -column.leads)
    if shown:
        limits = any(side and side.limit for c in shown for side in (c.old, c.new))
        yield ""
        yield from _aligned(list(_table(shown[:_COLUMNS], limits)), "<")
    if len(shown) > _COLUMNS:
        yield f"and {len(shown) - _COLUMNS} more columns that differ"
    if found.without_limits:
        yield f"There are no detection limits. {found.without_limits}"


def _table(columns: list[ComparedColumn], limits: bool) -> Iterator[list[str]]:
    yield ["column", "first reason", "", "normal", *(["90 % noticed from"] if limits else [])]
    for column in columns:
        rows = f"{column.leads:,} row{'' if column.leads == 1 else 's'}" if column.leads else ""
        head = [printable(column.name), rows]
        for which, side in (("old", column.old), ("new", column.new)):
            normal = "—" if side is None else side.normal or side.role
            limit = "" if side is None else side.limit_text()
            yield [*head, which, normal, *([limit] if limits else [])]
            head = ["", ""]


def _rows(found: Comparison, most: int) -> Iterator[str]:
    if found.n_changed and found.unexplained:
        yield f"There are no reasons. {found.unexplained}"
    shown = found.changed_rows[:most]
    for row in shown:
        yield from ("", row.text())
    if len(shown) < found.n_changed:
        yield from ("", f"and {found.n_changed - len(shown):,} more rows")


def _aligned(lines: list[list[str]], side: str) -> Iterator[str]:
    """Put cells below each other; all but the first of a line to the right (>) or left (<)."""
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    for line in lines:
        rest = [f"{cell:{side}{w}}" for cell, w in zip(line[1:], widths[1:], strict=True)]
        yield "  ".join([f"{line[0]:<{widths[0]}}", *rest]).rstrip()
