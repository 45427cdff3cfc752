"""What is odd about a cell beside one other cell of its row, in words."""

from __future__ import annotations

from refold.base.words import printable, quoted
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.date_words import WEEKDAYS, oclock, of_rows
from refold.columns.encoding.dates import DateCounts
from refold.columns.encoding.dependence import NONE, OTHER
from refold.columns.role_findings import shown


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
    which = (
        ""
        if counts.plan.used[column].frequent and own < OTHER
        else f", {code_words(counts, column, own)}"
    )
    rows = of_rows(int(slice_[own]), slice_)
    return f"is rare where {name} is {code_words(counts, partner, beside)} ({rows}{which})"


def code_words(counts: TableCounts, column: int, code: int) -> str:
    """Say what a code of a column stands for, behind "is"."""
    plan, others = counts.plan.used[column], counts.others.get(column)
    if code == NONE:
        return "missing"
    if isinstance(others, DateCounts):
        return oclock(code) if others.has_clock else f"a {WEEKDAYS[code]}"
    if plan.role == "number":
        return _between(plan.edges, code)
    return "none of the frequent values" if code == OTHER else quoted(plan.frequent[code])


def _between(edges: tuple[float, ...], code: int) -> str:
    if not edges:
        return "any number"
    if code == 0:
        return f"below {shown(edges[0])}"
    if code == len(edges):
        return f"{shown(edges[-1])} or more"
    return f"from {shown(edges[code - 1])} to below {shown(edges[code])}"
