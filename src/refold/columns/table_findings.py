"""Columns that somebody who knows the table should look at before a model learns from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats, Integers
from refold.base.advice import Advice, set_role
from refold.base.findings import Finding, RowText
from refold.base.words import number, quoted
from refold.columns.box import Box
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.texts import TextCounts
from refold.columns.extremes import UNKNOWN, extremes_of
from refold.columns.row_numbers import evenly_spaced, monotonic
from refold.columns.summary import SAMPLED_ROWS
from refold.columns.table import CellState, Table, TextColumn, as_texts

_LEAST_ROWS = 20  # fewer than these are a running number, or one value, by chance
_FIRST_ROWS = 512  # enough to see that nearly every column is neither
# Cells beside the outermost ones that say how long the tail of a column is; how many times as far
# out, and how many steps of such a tail, an absurd cell is.
_TAIL, _FARTHER, _STEPS = 6, 5.0, 2.0
_APART = 0.5  # of the way to the median of the others, from a usual value to the next
_DIGITS = 6  # of a cell that is named
_OTHER_VALUES = 10  # beside its usual value; a column with fewer is a choice among few


def find_odd_columns(
    X: NDArray[Any], weights: Floats | None, names: Sequence[str]
) -> Iterator[Finding]:
    """Find columns with a single value, those that count the rows, those of mostly one value."""
    if weights is not None:
        X, weights = X[weights > 0.0], weights[weights > 0.0]
    if len(X) > 1:
        yield from find_single_values(X, names)
    if len(X) < _LEAST_ROWS:
        return
    for j in map(int, np.flatnonzero(monotonic(X[:_FIRST_ROWS]))):
        if evenly_spaced(X[:, j]):
            yield _running_number(X[:, j], names[j])
    w = None if weights is None else _drawn(weights, SAMPLED_ROWS)
    likely = _may_repeat(_drawn(X, _FIRST_ROWS)) if w is None else np.ones(X.shape[1])
    for j in map(int, np.flatnonzero(likely)):
        yield from _one_value(_drawn(X[:, j], SAMPLED_ROWS), w, names[j])


def find_absurd_cells(box: Box, names: Sequence[str], *, learned: bool) -> Iterator[Finding]:
    """Find single cells far from all other values of their column, at either end.

    `learned` is whether the model takes them as normal all the same.
    """
    for j, (name, apart) in enumerate(zip(names, box.apart, strict=True)):
        if box.middle[j] == 0.0:  # nearly all rows have one value: there is no measure of far
            continue
        for beside, beyond in (
            (float(box.low[j]), apart.values < box.low[j]),
            (float(box.high[j]), apart.values > box.high[j]),
        ):
            if beyond.any():
                cells = apart.values[beyond].tolist(), apart.rows[beyond].tolist()
                yield _far(name, *cells, beside, learned=learned)


def _far(
    name: str, values: list[float], rows: list[int], beside: float, *, learned: bool
) -> Finding:
    cells: list[str | int] = []
    for k, (value, row) in enumerate(zip(values, rows, strict=True)):
        before = name if k == 0 else " and" if k == len(values) - 1 else ","
        cells.append(f"{before} {number(value, _DIGITS)}")
        cells += [] if row == UNKNOWN else [" in row ", row]
    alone = len(values) == 1
    far, it = ("is far from", "it is") if alone else ("are far from", "they are")
    them, an_error = ("it", "an error") if alone else ("them", "errors")
    return Finding(
        kind="absurd-cell",
        message=RowText.of(*cells, f" {far} all others: the next is {number(beside, _DIGITS)}."),
        column=name,
        rows=tuple(row for row in rows if row != UNKNOWN),
        values=tuple(values),
        advice=Advice(
            f"If {it} {an_error}, mend or leave out {them}: up to {them} everything passes as "
            "normal."
            if learned
            else f"{it.capitalize()} not taken as normal. If {it} {an_error}, mend {them} or leave "
            f"{them} empty."
        ),
    )


def find_far_cells(X: Floats, names: Sequence[str]) -> Iterator[Finding]:
    """Find cells far from all others of their column, and farther than its own tail explains."""
    some = _drawn(X, SAMPLED_ROWS)
    for j in map(int, np.flatnonzero(~np.isnan(X).all(axis=0))):
        box = Box.of(extremes_of(X[:, [j]], None), some[:, [j]], np.ones(len(some)))
        for found in find_absurd_cells(box, [names[j]], learned=False):
            if _beyond_tail(X[:, j], np.array(found.values, dtype=np.float64)):
                yield found


def _beyond_tail(values: Floats, cells: Floats) -> bool:
    """Whether outermost cells are farther from the others than the tail of the column explains.

    They lie several times as far from the median as the next cell, and the step is too wide for a
    long tail: there the logarithms of the distances fall in exponential steps (Rényi), whose mean
    the next cells tell (Hill).
    """
    seen = values[~np.isnan(values)]
    median = float(np.median(seen))
    up = 1.0 if cells[0] > median else -1.0
    inner = up * (seen[~np.isin(seen, cells)] / 2.0 - median / 2.0)
    tail = np.sort(inner[inner > 0.0])[-_TAIL:]
    if len(tail) < _TAIL // 2:
        return True
    with np.errstate(over="ignore"):
        step = float((up * (cells / 2.0 - median / 2.0)).min() / tail[-1])
    steepness = float(np.log(tail / tail[0]).mean())
    return step > _FARTHER and len(cells) * float(np.log(step)) > _STEPS * steepness


def _drawn(rows: NDArray[Any], number: int) -> NDArray[Any]:
    """Return so many of the rows, always the same: tables have periods, so not every n-th."""
    if len(rows) <= number:
        return rows
    return rows[np.random.default_rng(0).choice(len(rows), number, replace=False)]


def find_single_values(X: NDArray[Any], names: Sequence[str]) -> Iterator[Finding]:
    """Find columns that have a value in one row alone, as ``find_odd_columns`` does."""
    if X.dtype.kind != "f" or not np.isnan(X[:2]).any():
        return  # a column with one value has none in one of two rows
    observed = ~np.isnan(X)
    for j in map(int, np.flatnonzero(observed.sum(axis=0) == 1)):
        row = int(observed[:, j].argmax())
        yield Finding(
            kind="single-value",
            message=f"{names[j]} has a value in one of {len(X):,} rows, row {row:,}: how far "
            "another value is from it cannot be learned.",
            column=names[j],
            rows=(row,),
            values=(float(X[row, j]),),
            advice=Advice("Leave the column out, or add rows that have a value there."),
        )


def _running_number(values: NDArray[Any], name: str) -> Finding:
    first, last = float(values[0]), float(values[-1])
    return Finding(
        kind="running-number",
        message=f"{name} runs from {first:.10g} to {last:.10g} in even steps, like a row number.",
        column=name,
        values=(first, last),
        advice=Advice("New rows will lie beyond it: leave it out unless it is a measurement."),
    )


def _may_repeat(X: NDArray[Any]) -> NDArray[np.bool_]:
    """Say of each column whether its median is a large part of its values."""
    ordered = np.sort(X.astype(np.float64), axis=0)  # missing values come last
    seen = np.sum(~np.isnan(ordered), axis=0)
    median = ordered[seen // 2, np.arange(X.shape[1])]
    return np.asarray(np.sum(ordered == median, axis=0) > 0.4 * seen)


def _one_value(values: NDArray[Any], weights: Floats | None, name: str) -> Iterator[Finding]:
    seen = ~np.isnan(values)
    if seen.sum() < _LEAST_ROWS:
        return
    found, group = np.unique(values[seen], return_inverse=True)
    counts = np.bincount(group, None if weights is None else weights[seen])
    usual, share = float(found[counts.argmax()]), float(counts.max() / counts.sum())
    if share <= 0.5 or len(found) <= _OTHER_VALUES or _is_natural(found, int(counts.argmax())):
        return
    yield Finding(
        kind="one-value",
        message=f"{name} is {usual:.6g} in {100.0 * share:.0f} % of the rows and has "
        f"{len(found) - 1:,} other values.",
        column=name,
        values=(usual,),
        advice=Advice(f"If {usual:.6g} stands for a missing value, leave the cell empty."),
    )


def _is_natural(found: NDArray[Any], usual: int) -> bool:
    """Whether one of the different values may be that of most rows.

    Any is of whole numbers, and the smallest or largest where the others begin beside it: counts
    and amounts are often 0.
    """
    if 0 < usual < len(found) - 1:
        return bool((found == np.floor(found)).all())
    others = np.delete(found, usual)
    beside = others[0] if usual == 0 else others[-1]
    return bool(abs(beside - found[usual]) <= _APART * abs(np.median(others) - found[usual]))


def find_unreadable_cells(counts: TableCounts, table: Table) -> Iterator[Finding]:
    """Find columns with cells that cannot be read, and those with more values than are kept."""
    table = counts.plan.parse(table)
    for k, column in enumerate(counts.plan.used):
        if counts.states(k)[CellState.UNREADABLE]:
            odd = np.flatnonzero(table.columns[k].unreadable)
            yield unreadable_finding(column.name, column.role, as_texts(table.columns[k]), odd)
        counted = counts.others.get(k)
        if isinstance(counted, TextCounts) and counted.values.level:
            tally = counted.values
            yield Finding(
                kind="many-values",
                message=f"{column.name} has about {tally.distinct:,} different values; "
                f"{len(tally.counts):,} of them are kept, all that more than {tally.error:,} rows "
                "have and a sample of the others.",
                column=column.name,
                advice=Advice("A value that is not kept counts as a new one."),
            )


def unreadable_finding(name: str, role: str, texts: TextColumn, odd: Integers) -> Finding:
    """Say that the cells in the rows `odd` are not what their column holds: numbers or dates."""
    row = int(odd[0])
    text = quoted(texts.values[int(texts.codes[row])])
    what = "number" if role == "number" else "date"
    cells = len(odd)
    times = f"{cells:,} cells that are not {what}s" if cells > 1 else f"a cell that is not a {what}"
    return Finding(
        kind="unreadable",
        message=RowText.of(f"{name} has {times}, such as {text} in row ", row, " of the table."),
        column=name,
        rows=tuple(odd[:100].tolist()),
        values=tuple(dict.fromkeys(texts.values[int(texts.codes[r])] for r in odd[:5].tolist())),
        advice=set_role(
            f"If they stand for missing values, leave them empty or name them; if {name} holds "
            f"other things than {what}s",
            name,
            "category",
        ),
    )
