"""Drift in a notebook: the verdict, and each column that differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from refold.base.markup import box, folded, grid, said, shown

if TYPE_CHECKING:
    from refold.monitoring._result import ColumnDrift, Drift

_FIRST, _MOST = 10, 100


def html_of(found: Drift) -> str:
    """Return what was found as HTML: columns that have changed first."""
    differing = found.differing()
    parts = [said(found.meaning, "head"), said(found.rates())]
    if found.empty:
        parts.append(said(f"{found.empty:,} rows have no value at all and could not be judged."))
    if differing:
        parts.append(_table(differing[:_FIRST]))
    if rest := differing[_FIRST:_MOST]:
        parts.append(folded(f"{len(rest):,} more columns", _table(rest)))
    if len(differing) > _MOST:
        parts.append(said(f"And {len(differing) - _MOST:,} more, not shown.", "soft"))
    return box(*parts)


def _table(features: Sequence[ColumnDrift]) -> str:
    rows = (
        (
            shown(feature.name),
            "changed" if feature.changed else "differs",
            shown(feature.how()),
        )
        for feature in features
    )
    return grid(("column", "", "how"), rows)
