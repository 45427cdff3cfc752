"""What is odd about a cell beside one other cell of its row, in words."""

from __future__ import annotations

from refold.base.words import number, printable, quoted
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.date_words import WEEKDAYS, oclock, of_rows
from refold.columns.encoding.dates import DateCounts
from refold.columns.encoding.dependence import NONE, OTHER

_RARE = 0.05


def beside_words(counts: TableCounts, column: int, own: int, beside: int) -> str:
    """Say how rare a cell is where another is what it is.

    Parameters
    ----------
    counts : TableCounts
        What is known of the columns.
    column : int
        The column, which has a partner.
    own, beside : int
        The codes of the cell and of its partner's.
    """
    partner = counts.plan.used[column].partner
    assert partner is not None
    slice_ = counts.slices[column].counts[beside]
    name = printable(counts.plan.names[partner])
    have = int(slice_[own])
    rare = "rare" if have <= _RARE * slice_.sum() else "less usual"
    said = f"is {rare} where {name} is {code_words(counts, partner, beside)}"
    rows = of_rows(have, slice_)
    if own < len(counts.plan.used[column].frequent):
        return f"{said} ({rows})"
    if own == OTHER:
        return f"{said} ({rows} {'have' if have > 1 else 'has'} one as rare)"
    return f"{said} ({rows} {'are' if have > 1 else 'is'} {code_words(counts, column, own)})"


def code_words(counts: TableCounts, column: int, code: int) -> str:
    """Say what a code of a column stands for, behind "is"."""
    plan, others = counts.plan.used[column], counts.others.get(column)
    if code == NONE:
        return "missing"
    if isinstance(others, DateCounts):
        return oclock(code) if others.has_clock else f"a {WEEKDAYS[code]}"
    if plan.role == "number":
        return _between(plan.edges, code)
    return "a rare value" if code == OTHER else quoted(plan.frequent[code])


def _between(edges: tuple[float, ...], code: int) -> str:
    if not edges:
        return "any number"
    if code == 0:
        return f"below {number(edges[0])}"
    if code == len(edges):
        return f"{number(edges[-1])} or more"
    return f"from {number(edges[code - 1])} to below {number(edges[code])}"
