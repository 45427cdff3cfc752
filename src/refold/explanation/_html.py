"""Explanations in a notebook: the verdict of each row, and its reasons beside what is normal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import starmap, zip_longest
from typing import TYPE_CHECKING

from refold.base.markup import box, said
from refold.explanation.gauges import pictured

if TYPE_CHECKING:
    from refold.explanation._explanations import Explanation

_SHOWN = 10


def html_of(rows: Sequence[Explanation]) -> str:
    """Return explanations as HTML: all of a few rows, of many those that are farthest out."""
    odd = sum(row.label == -1 for row in rows)
    head = [said(f"{odd:,} of {len(rows):,} rows are outliers.", "head")] if len(rows) > 1 else []
    if len(rows) <= _SHOWN:
        return box(*head, *map(_row, rows))
    judged = sorted((row for row in rows if row.label), key=lambda row: -row.distance)
    rest = said(f"The {_SHOWN} that are farthest out; worst(n) gives more.", "soft")
    return box(*head, *map(_row, judged[:_SHOWN]), rest)


def _row(row: Explanation) -> str:
    head = said(row.headline(), {-1: "odd", 1: "fine", 0: "soft"}[row.label])
    if not row.label:
        return head
    # Behind the reasons comes what would have to change.
    return head + "".join(starmap(pictured, zip_longest(row.first(), row.because())))
