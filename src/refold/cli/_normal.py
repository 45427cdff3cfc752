"""What is normal of the columns of a table, as plain values."""

from __future__ import annotations

from heapq import nsmallest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from refold.columns.encoding.counts import TableCounts
    from refold.columns.encoding.dates import DateCounts
    from refold.columns.encoding.texts import TextCounts
    from refold.columns.summary import Summary

_FREQUENT = 10  # values that are named


def normal_of_columns(counts: TableCounts, summary: Summary | None) -> dict[str, dict[str, Any]]:
    """Return what is normal of each column that is learned, by its name.

    Of numbers that is ``normal``, their ranges; of texts ``frequent``, values and in how many rows
    they are; of dates ``from`` and ``to``.
    """
    from refold.columns.encoding.dates import DateCounts
    from refold.columns.encoding.texts import TextCounts
    from refold.explain import normal_ranges

    names = counts.plan.names
    ranges = [] if summary is None else normal_ranges(summary)
    found: dict[str, dict[str, Any]] = {
        names[k]: {"normal": [[float(low), float(high)] for low, high in ranges[place]]}
        for place, k in enumerate(counts.plan.numbers.tolist())
    }
    for k, counted in counts.others.items():
        if isinstance(counted, TextCounts):
            found[names[k]] = {"frequent": _frequent(counted)}
        elif isinstance(counted, DateCounts):
            found[names[k]] = _span(counted)
    return found


def _frequent(counts: TextCounts) -> list[dict[str, Any]]:
    order = nsmallest(_FREQUENT, counts.values.counts.items(), key=lambda item: (-item[1], item[0]))
    return [{"value": value, "rows": rows} for value, rows in order]


def _span(counts: DateCounts) -> dict[str, Any]:
    from refold.columns.date_form import DateForm
    from refold.columns.role_findings import moment

    if counts.low > counts.high:  # no row has one
        return {}
    form = DateForm("iso", has_date=counts.has_date, has_clock=counts.has_clock)
    return {"from": moment(counts.low, form), "to": moment(counts.high, form)}
