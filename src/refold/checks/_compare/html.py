"""A comparison as a few lines of HTML, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refold.base.markup import box, grid, items, said, shown

if TYPE_CHECKING:
    from refold.checks._compare.result import Comparison

_SHOWN = 10


def as_html(found: Comparison) -> str:
    """Return what changes, and the clearest of the changed rows."""
    parts = [said(found.headline(), "head")]
    remarks = found.remarks()
    if remarks:
        parts.append(items(f"{remark}." for remark in remarks[:_SHOWN]))
    changed = found.changed_rows[:_SHOWN]
    if changed:
        rows = (
            tuple(map(shown, (row.row, row.now, row.old, row.new, row.because())))
            for row in changed
        )
        parts.append(grid(("row", "becomes", "old", "new", "because"), rows))
    if len(changed) < found.n_changed:
        parts.append(said(f"and {found.n_changed - len(changed):,} more rows", "soft"))
    return box(*parts)
