"""How each column was read, and what is known of it over all rows."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

import narwhals.stable.v2 as nw

from refold.base.findings import Finding
from refold.base.words import printable, shortened
from refold.columns.date_form import DateForm
from refold.columns.encoding import dates, numbers, texts
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.dates import DateCounts
from refold.columns.encoding.texts import TextCounts
from refold.columns.number_form import NumberForm
from refold.columns.role_findings import moment
from refold.columns.table import CellState


@dataclass(frozen=True)
class ColumnInfo:
    """What a column was taken for, and what is known of it: over all rows, not over a sample."""

    name: str  #: what it is called
    #: "number", "category", "text", "identifier", "date" or "ignore"; "context" if it says what is
    #: normal for a row and is not judged itself
    role: str
    views: tuple[str, ...]  #: in which respects its cells are looked at
    #: How many different values a column of texts has; about, if there are very many
    distinct: int | None
    missing: int  #: how many rows have none
    unreadable: int  #: how many rows have something else than the column's role says
    beside: str | None  #: the column that it is looked at beside
    noticed: tuple[Finding, ...]  #: what stood out
    #: How its texts are read: decimal and thousands marks, durations, the format of dates
    form: str = ""
    unit: str = ""  #: what stands before or behind its numbers
    #: Words and numbers that stand for a missing value, beside empty cells
    missing_words: tuple[str, ...] = ()
    #: low, high: the smallest and the largest number, the first and the last moment
    low: float | str | None = None
    high: float | str | None = None
    example: str = ""  #: a usual value

    @property
    def reading(self) -> str:
        """How it was read, in a few words: "number, decimal commas, €", "category, 3 values"."""
        values = ""
        if self.distinct is not None:
            values = f"{self.distinct:,} value{'' if self.distinct == 1 else 's'}"
        return ", ".join(filter(None, [self.role, self.form, printable(self.unit), values]))


class ColumnInfos(list[ColumnInfo]):
    """How the columns of a table were read.

    Examples
    --------
    >>> from refold import Detector
    >>> rows = [{"price": f"€ {k % 9 + 1},50", "machine": "AB"[k % 2]} for k in range(60)]
    >>> print(Detector().fit(rows).columns_)
    price: number, decimal commas, €, 1.5 to 9.5, such as 5.5
    machine: category, 2 values, such as A
    """

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return one line per column as a dataframe of pandas, polars or pyarrow."""
        shown = [f.name for f in fields(ColumnInfo) if f.name not in ("views", "noticed")]
        lines = {name: [_plain(getattr(column, name)) for column in self] for name in shown}
        schema: dict[str, Any] = dict.fromkeys(shown, nw.String())
        schema |= {"missing": nw.Int64(), "unreadable": nw.Int64(), "distinct": nw.Float64()}
        return nw.from_dict(lines, schema, backend=backend).to_native()

    def __str__(self) -> str:
        return "\n".join(map(_line, self))

    __repr__ = __str__


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return ", ".join(value)
    return f"{value:.10g}" if isinstance(value, float) else value


def _line(column: ColumnInfo) -> str:
    parts = [column.reading]
    if column.low is not None:
        parts.append(f"{_plain(column.low)} to {_plain(column.high)}")
    if column.missing:
        parts.append(f"{column.missing:,} missing")
    if column.missing_words:
        parts.append(f"missing: {', '.join(column.missing_words)}")
    parts.append(f"such as {shortened(column.example)}" if column.example else "")
    return f"{printable(column.name)}: {', '.join(filter(None, parts))}"


def column_info(counts: TableCounts, k: int, noticed: tuple[Finding, ...]) -> ColumnInfo:
    """Return what is known of a column in use."""
    plan, own, states = counts.plan.used[k], counts.others.get(k), counts.states(k)
    form = plan.form
    low, high, example = _ends(counts, k)
    return ColumnInfo(
        plan.name,
        plan.role,
        numbers.VIEWS
        if own is None
        else (dates.VIEWS if isinstance(own, DateCounts) else texts.VIEWS),
        own.values.distinct if isinstance(own, TextCounts) else None,
        int(states[CellState.MISSING]),
        int(states[CellState.UNREADABLE]),
        None if plan.partner is None else counts.plan.names[plan.partner],
        noticed,
        form.marks_text if isinstance(form, NumberForm) else form.said if form else "",
        form.prefix or form.suffix if isinstance(form, NumberForm) else "",
        plan.missing,
        low,
        high,
        example,
    )


def _ends(counts: TableCounts, k: int) -> tuple[float | str | None, float | str | None, str]:
    """Return the smallest and the largest value of all rows, and a usual one."""
    own, form = counts.others.get(k), counts.plan.used[k].form
    if isinstance(own, TextCounts):
        return None, None, max(own.values.counts, key=own.values.counts.__getitem__, default="")
    if isinstance(own, DateCounts):
        if own.low > own.high:
            return None, None, ""
        shown = form if isinstance(form, DateForm) else DateForm("iso", own.has_date, own.has_clock)
        low, high = (moment(seconds, shown) for seconds in (own.low, own.high))
        return low, high, low
    assert counts.numbers is not None
    place = counts.plan.numbers.tolist().index(k)
    histogram = counts.numbers.sketch.histograms[place]
    if histogram.rows == 0:
        return None, None, ""
    centroids, weights = histogram.centroids()
    middle = int((weights.cumsum() >= weights.sum() / 2).argmax())
    return float(histogram.low), float(histogram.high), f"{centroids[middle]:.6g}"
