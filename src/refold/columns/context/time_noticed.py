"""What to know of a model over time: until when it has learned, and what it cannot tell."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.base.findings import Finding
from refold.base.words import percent, printable
from refold.columns.context.context import ContextModel
from refold.columns.context.design import SEASON_DAYS
from refold.columns.context.gaps import ContextGaps
from refold.columns.context.trend import TimeAxis, seconds
from refold.columns.table import DateColumn, NumberColumn, Table

_DAY = 86_400.0
# Numbers that follow each other so closely have a level that wanders.
_WANDERS = 0.5
_STRETCHES = 5
# So many rows for each time, and no more different times: rows of one time are one observation.
_REPEATED, _FEW_TIMES = 3.0, 100


def notice_time(context: ContextModel, learned: Table, outlier: Booleans) -> Iterator[Finding]:
    """Say what was learned over time, of rows that were foreseen, and which are outliers."""
    axis, inputs = context.axis, learned.inputs
    if axis is None or inputs is None:
        return
    dated = isinstance(inputs[axis.column], DateColumn)
    yield Finding("time-span", axis.column, message=_span(context, axis, dated))
    times = seconds(inputs[axis.column], axis.column)
    different = len(np.unique(times))
    if different <= _FEW_TIMES and learned.rows >= _REPEATED * different:
        yield Finding(
            "repeated-times",
            axis.column,
            message=f"{axis.column}: {learned.rows:,} rows are of {different} different times; "
            "what all rows of one time have in common was observed so many times only.",
        )
    codes = context.groups.codes(inputs) if context.given.by else np.zeros(learned.rows, int)
    order = np.lexsort((times, codes))
    rates = [float(part.mean()) for part in np.array_split(outlier[np.argsort(times)], _STRETCHES)]
    measures = () if context.window is None else context.window.columns  # alike by themselves
    for name in (each for each in context.columns if each not in measures):
        cells = learned[name]
        assert isinstance(cells, NumberColumn)
        alike = _autocorrelation(cells.values[order], codes[order])
        if alike >= _WANDERS:
            yield Finding(
                "wandering",
                name,
                message=f"{name}: its level wanders: one row is like the next (autocorrelation "
                f"{alike:.2f}), and the rate of outliers goes from {percent(min(rates), 2)} to "
                f"{percent(max(rates), 2)} between fifths of the time. More false alarms than "
                "asked for are to be expected.",
            )


def notice_missing_times(column: str, missing: int, rows: int) -> Finding:
    """Say that rows have no time: nothing is learned from them."""
    return Finding(
        "missing-time",
        column,
        message=f"{column}: {missing:,} of {rows:,} rows have no time and were not learned. New "
        "rows without one are judged as at the end of training.",
    )


def notice_missing_groups(context: ContextModel, inputs: Table) -> Iterator[Finding]:
    """Say that rows have no group: nothing of their numbers is learned."""
    if missing := ContextGaps.of(context, inputs).no_group:
        column = context.given.by[-1]
        yield Finding(
            "missing-group",
            column,
            message=f"{column}: {missing:,} of {inputs.rows:,} rows have no group and say nothing "
            "of any. Such rows are judged by the group above, or by all rows.",
        )


def _span(context: ContextModel, axis: TimeAxis, dated: bool) -> str:
    said = f"{printable(axis.column)}: {context.learned_until}."
    if dated and axis.end - axis.begin < SEASON_DAYS * _DAY:
        said += (
            f" It is less than {SEASON_DAYS:.0f} days: a yearly season cannot be told from a trend."
        )
    return said


def _autocorrelation(z: Floats, codes: Integers) -> float:
    """Return how alike rows are that follow each other in their group."""
    pairs = (codes[1:] == codes[:-1]) & ~np.isnan(z[1:]) & ~np.isnan(z[:-1])
    before, after = np.clip(z[:-1][pairs], -5.0, 5.0), np.clip(z[1:][pairs], -5.0, 5.0)
    if len(before) < _STRETCHES or before.std() == 0.0 or after.std() == 0.0:
        return 0.0
    return float(np.corrcoef(before, after)[0, 1])
