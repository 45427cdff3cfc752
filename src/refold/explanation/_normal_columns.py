"""What is normal of the columns of a table, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import nsmallest
from typing import Any

from refold.base.words import quoted
from refold.columns.date_form import DateForm
from refold.columns.encoding.dates import DateCounts
from refold.columns.encoding.encoder import TableEncoder
from refold.columns.encoding.texts import TextCounts
from refold.columns.role_findings import moment
from refold.columns.summary import Summary
from refold.judgement.normal import normal_of
from refold.judgement.number_text import ranges_text

_FREQUENT = 10  # values that are kept
_SHOWN = 3  # and named in a few words


def normal_of_columns(encoder: TableEncoder, summary: Summary | None) -> dict[str, dict[str, Any]]:
    """Return what is normal of each column that is learned, by its name.

    Of numbers that is ``normal``, their ranges, and ``decimals``, the digits behind their point;
    or, where rows are judged in their context, ``deviations``, by how many standard deviations they
    may differ from what is expected; of texts ``frequent``, values and in how many rows they are;
    of dates ``from`` and ``to``.
    """
    counts, scored = encoder.counts, encoder.scored
    names = counts.plan.names
    normal = None if summary is None else normal_of(summary)
    found: dict[str, dict[str, Any]] = {}
    for place, k in enumerate(counts.plan.numbers.tolist()):
        assert normal is not None
        ranges = [[float(low), float(high)] for low, high in normal.ranges[place]]
        if names[k] in scored:
            found[names[k]] = {"deviations": ranges}
        else:
            found[names[k]] = {"normal": ranges, "decimals": normal.decimals[place]}
    for k, counted in counts.others.items():
        if isinstance(counted, TextCounts):
            found[names[k]] = {"frequent": _frequent(counted)}
        elif isinstance(counted, DateCounts):
            found[names[k]] = _span(counted)
    return found


def normal_text(column: Mapping[str, Any]) -> str:
    """Say what is normal of a column, given as plain values, in a few words: "1–2.5 kg"."""
    if "normal" in column:
        unit = f" {column['unit']}" if column.get("unit") else ""
        return f"{ranges_text(column['normal'], decimals=column.get('decimals'))}{unit}"
    if "deviations" in column:
        return f"{ranges_text(column['deviations'])} standard deviations from what is expected"
    if "from" in column:
        return f"{column['from']} to {column['to']}"
    frequent = column.get("frequent", [])[:_SHOWN]
    said = ", ".join(quoted(each["value"]) for each in frequent)
    more = (column.get("distinct") or 0) - len(frequent)
    return f"{said} and {more:,} more" if more > 0 else said


def _frequent(counts: TextCounts) -> list[dict[str, Any]]:
    order = nsmallest(_FREQUENT, counts.values.counts.items(), key=lambda item: (-item[1], item[0]))
    return [{"value": value, "rows": rows} for value, rows in order]


def _span(counts: DateCounts) -> dict[str, Any]:
    if counts.low > counts.high:  # no row has one
        return {}
    form = DateForm("iso", has_date=counts.has_date, has_clock=counts.has_clock)
    return {"from": moment(counts.low, form), "to": moment(counts.high, form)}
