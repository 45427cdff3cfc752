"""A value beside what is normal: where it lies in words, and as a small picture."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from itertools import starmap, zip_longest
from typing import TYPE_CHECKING

from refold._typing import Floats, Ranges
from refold.base.markup import box, escaped, paragraph
from refold.base.words import outliers_among

if TYPE_CHECKING:
    from refold.explanation._explanations import Explanation
    from refold.explanation._reason import Reason

GAUGE, DOT = 120, 4.0  # the width of a gauge, half that of its mark
_THIN = 2.0  # a mark that is to be seen at all
_MOST = sys.float_info.max
_SHOWN = 10  # rows of many
# What is said of a text or a date that is odd in some respect.
_VIEWS = {
    "value": "rare",
    "unseen": "never seen",
    "shape": "of an unusual form",
    "collapsed shape": "of an unusual form",
    "character": "with a rare character",
    "hour": "at an unusual hour",
    "weekday": "on an unusual weekday",
    "form": "written in another way",
    "readable": "not readable",
    "range": "outside the time of training",
    "unreadable": "not readable",
    "": "unlikely with the other values",
}


def position(reason: Reason) -> str:
    """Say where a value lies beside what is normal and, if it is normal, what was expected."""
    if reason.missing:
        return "missing"
    if isinstance(reason.value, str):
        return _odd(reason)
    if reason.value > reason.normal[-1][1]:
        return "above normal"
    if reason.value < reason.normal[0][0]:
        return "below normal"
    if not reason.inside:
        return "between normal values"
    if reason.view == "beside":
        return _odd(reason)
    if reason.expected is None:
        return "inside its normal range, far out with others"
    return "higher than expected" if reason.value > reason.expected else "lower than expected"


def _odd(reason: Reason) -> str:
    """Say in which respect a text or a date is odd."""
    if reason.view == "beside":
        return f"rare beside {reason.beside[0].feature}"
    return _VIEWS[reason.view]


def gauge(reason: Reason) -> str:
    """Return a picture of a number beside its normal ranges, as SVG; its style is the page's.

    All values of a feature have the same scale: the normal ranges are the middle third.
    """
    edges = around(reason.normal)
    bands = (band(low, high, edges, GAUGE) for low, high in reason.normal)
    parts = [f'<path class="axis" d="M0 8H{GAUGE}"/>']
    parts += [f'<rect class="band" x="{x}" y="3" width="{wide}" height="10"/>' for x, wide in bands]
    if reason.expected is not None and not math.isnan(reason.expected):
        at = short(1.0 + across(reason.expected, edges) * (GAUGE - 2.0))
        parts.append(f'<path class="tick" d="M{at} 1V15"/>')
    if not isinstance(reason.value, str) and not math.isnan(reason.value):
        parts.append(f'<path class="mark" d="{_mark(reason.value, edges)}"/>')
    return picture(position(reason), *parts)


def pictured(reason: Reason | None, sentence: object) -> str:
    """Return what is said of a reason, with its gauge beside it if there is something to see."""
    drawn = "<span></span>"
    if reason is not None and reason.normal and not reason.missing:
        drawn = gauge(reason)
    return f'<div class="why">{drawn}{paragraph(sentence)}</div>'


def picture(title: str, *parts: str) -> str:
    """Return an SVG of the size of a gauge."""
    return (
        f'<svg class="gauge" viewBox="0 0 {GAUGE} 16" role="img"><title>{escaped(title)}</title>'
        f"{''.join(parts)}</svg>"
    )


def _mark(value: float, edges: tuple[float, float]) -> str:
    """Return the path of a dot at the value, of an arrow if it lies beyond the picture."""
    if value > edges[1]:
        return f"M{GAUGE} 8l-9-5v10z"
    if value < edges[0]:
        return "M0 8l9-5v10z"
    x = across(value, edges) * (GAUGE - 2.0 * DOT)
    return f"M{short(x)} 8a4 4 0 1 1 8 0a4 4 0 1 1-8 0z"


def around(normal: Ranges) -> tuple[float, float]:
    """Return the ends of what is looked at: from the normal range as far again to both sides."""
    low, high = normal[0][0], normal[-1][1]
    width = min(2.0 * (high / 2.0 - low / 2.0), _MOST)
    return -capped_sum(-low, width), capped_sum(high, width)


def capped_sum(a: float, b: float) -> float:
    """Add without leaving the numbers; Python's own floats overflow in silence."""
    return min(max(a + b, -_MOST), _MOST)


def band(low: float, high: float, edges: Sequence[float] | Floats, width: float) -> tuple[str, str]:
    """Return where a range begins in a picture, and how wide it is."""
    left, right = (across(value, edges) * width for value in (low, high))
    if right - left < _THIN:
        left = min(max((left + right - _THIN) / 2.0, 0.0), width - _THIN)
        right = left + _THIN
    return short(left), short(right - left)


def across(value: float, edges: Sequence[float] | Floats) -> float:
    """Return how far across the picture a value is; halves, because a width can be too large."""
    low, high = edges[0] / 2.0, edges[-1] / 2.0
    return min(max((value / 2.0 - low) / (high - low), 0.0), 1.0) if high > low else 0.5


def short(coordinate: float) -> str:
    """Return a coordinate with as few characters as a picture needs."""
    return f"{coordinate:.2f}".rstrip("0").rstrip(".")


def html_of(rows: Sequence[Explanation]) -> str:
    """Return explanations as HTML: all of a few rows, of many those that are farthest out."""
    odd = sum(row.label == -1 for row in rows)
    head = [paragraph(f"{outliers_among(odd, len(rows))}.", "head")] if len(rows) > 1 else []
    if len(rows) <= _SHOWN:
        return box(*head, *map(_row, rows))
    judged = sorted((row for row in rows if row.label), key=lambda row: -row.distance)
    rest = paragraph(f"The {_SHOWN} that are farthest out; worst(n) gives more.", "soft")
    return box(*head, *map(_row, judged[:_SHOWN]), rest)


def _row(row: Explanation) -> str:
    head = paragraph(row.headline(), {-1: "odd", 1: "fine", 0: "soft"}[row.label])
    if not row.label:
        return head
    # Behind the reasons comes what would have to change.
    return head + "".join(starmap(pictured, zip_longest(row.first(), row.because())))
