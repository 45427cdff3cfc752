"""Where the lines of the small pictures go: plain numbers for the SVG in the templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refold._typing import Floats
from refold.checks import Limit, Limits
from refold.columns.table import Column, DateColumn, NumberColumn, TextColumn
from refold.explanation import number, ranges_text, split_unit

WIDE, TALL = 160, 36
_BINS, _NAMED = 32, 4
_TAIL = 0.005  # what is farther out at either end is not drawn: it would squeeze the rest
_WIDEST = 2.0  # ranges: a blind zone that is wider is cut off


@dataclass(frozen=True)
class ColumnPicture:
    """What a column holds: a histogram, or its most frequent values."""

    path: str = ""  # the bars of the histogram; empty if there is none
    ends: tuple[str, ...] = ()  # what stands below its ends
    # The most frequent values and the share of the rows that have them.
    values: tuple[tuple[str, float], ...] = ()


def column_picture(cells: Column, role: str) -> ColumnPicture | None:
    """Draw a column; None where a picture would not say anything."""
    if isinstance(cells, NumberColumn):
        return _histogram(cells.values, number)
    if isinstance(cells, DateColumn):
        return _histogram(cells.seconds, _moment(cells.has_date))
    return _values(cells) if role == "category" else None


def _histogram(values: Floats, said: object) -> ColumnPicture | None:
    seen = values[np.isfinite(values)]
    if len(seen) == 0:
        return None
    low, high = np.quantile(seen, [_TAIL, 1.0 - _TAIL])
    with np.errstate(over="ignore"):
        if not np.isfinite(high - low) or low == high:
            low, high = float(seen.min()), float(seen.max())
    assert callable(said)
    ends = (said(float(seen.min())), said(float(seen.max())))
    if low == high or not np.isfinite(high - low):
        return ColumnPicture(_bars([1.0]), ends[:1] if low == high else ends)
    counts, _ = np.histogram(seen, _BINS, (low, high))
    if not counts.any():  # of a few rows there is none between
        counts, _ = np.histogram(seen, _BINS)
    return ColumnPicture(_bars((counts / counts.max()).tolist()), ends)


def _moment(has_date: bool) -> object:
    def said(seconds: float) -> str:
        text = str(np.datetime64(int(np.floor(seconds)), "s"))
        return text[:10] if has_date else text[11:16]

    return said


def _values(cells: TextColumn) -> ColumnPicture | None:
    counts = cells.counts
    total = int(counts.sum())
    if total == 0:
        return None
    order = np.argsort(-counts, kind="stable")[:_NAMED].tolist()
    return ColumnPicture(values=tuple((cells.values[k], float(counts[k] / total)) for k in order))


def _bars(heights: Sequence[float]) -> str:
    """Return a path of bars side by side; those of few rows are still to be seen."""
    wide = WIDE / len(heights)
    path = []
    for k, height in enumerate(heights):
        if height:
            tall = max(height * TALL, 1.0)
            path.append(f"M{k * wide:.2f} {TALL}v{-tall:.2f}h{wide - 0.5:.2f}V{TALL}z")
    return "".join(path)


@dataclass(frozen=True)
class BlindZone:
    """The shifts of one column that a model misses, down to the left and up to the right."""

    # name, unit: The column.
    name: str
    unit: str
    normal: str  # what was learned
    # half, tenth: Where the zones begin, and how wide they are: more than half of the rows, and
    # more than a tenth, get away with such a shift.
    half: tuple[str, str]
    tenth: tuple[str, str]
    # down, up: What nine tenths take, in the column's own units.
    down: str
    up: str


def blind_zones(found: Limits) -> list[BlindZone]:
    """Draw the detection limits of all columns, the blindest first."""
    ordered = sorted(found, key=lambda each: -_reach(each, each.up_90) - _reach(each, each.down_90))
    return [_zone(limit) for limit in ordered]


def _zone(limit: Limit) -> BlindZone:
    name, unit = split_unit(limit.feature)
    return BlindZone(
        name=name,
        unit=unit.strip(),
        normal=f"{ranges_text(((limit.low, limit.high),))}{unit}",
        half=_span(limit, limit.down_50, limit.up_50),
        tenth=_span(limit, limit.down_90, limit.up_90),
        down=limit.shown(limit.down_90),
        up=limit.shown(limit.up_90),
    )


def _span(limit: Limit, down: float | None, up: float | None) -> tuple[str, str]:
    middle = WIDE / 2.0
    left, right = (_reach(limit, shift) / _WIDEST * middle for shift in (down, up))
    return f"{middle - left:.2f}", f"{left + right:.2f}"


def _reach(limit: Limit, shift: float | None) -> float:
    """Return how far a zone reaches, in ranges; nothing where there is no range."""
    if shift is None:
        return _WIDEST if limit.rows else 0.0
    return min(limit.relative(shift) or 0.0, _WIDEST)
