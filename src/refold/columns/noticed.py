"""Columns that somebody who knows the table should look at before a model learns from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.base.findings import Finding
from refold.columns.box import Box
from refold.columns.edges import UNKNOWN, edges_of
from refold.columns.summary import SAMPLED_ROWS

_LEAST_ROWS = 20  # fewer than these are a running number, or one value, by chance
_FIRST_ROWS = 512  # enough to see that nearly every column is neither
_REGULAR = 0.9  # the share of steps of a running number that are alike: rows may have been left out
_OTHER_VALUES = 10  # beside its usual value; a column with fewer is a choice among few


def notice_columns(
    X: NDArray[Any], weights: Floats | None, names: Sequence[str]
) -> Iterator[Finding]:
    """Find columns that count the rows, and columns of which more than half is one value.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training rows.
    weights : ndarray of shape (n,) or None
        How many times each counts.
    names : sequence of str
        What the columns are called.

    Yields
    ------
    Finding
        ``"running-number"`` or ``"one-value"``; the message begins with the name.
    """
    if weights is not None:
        X, weights = X[weights > 0.0], weights[weights > 0.0]
    if len(X) < _LEAST_ROWS:
        return
    for j in map(int, np.flatnonzero(_may_count(X[:_FIRST_ROWS]))):
        if _counts(X[:, j]):
            yield _running_number(X[:, j], names[j])
    w = None if weights is None else _drawn(weights, SAMPLED_ROWS)
    likely = _may_repeat(_drawn(X, _FIRST_ROWS)) if w is None else np.ones(X.shape[1])
    for j in map(int, np.flatnonzero(likely)):
        yield from _one_value(_drawn(X[:, j], SAMPLED_ROWS), w, names[j])


def absurd_cells(box: Box, names: Sequence[str], *, learned: bool) -> Iterator[Finding]:
    """Find single cells that are far from all other values of their column.

    Parameters
    ----------
    box : Box
        What was learned of each column.
    names : sequence of str
        What the columns are called.
    learned : bool
        Whether the model takes them as normal all the same.

    Yields
    ------
    Finding
        ``"absurd-cell"``, one for each cell.
    """
    for name, apart, middle in zip(names, box.apart, box.middle, strict=True):
        if middle == 0.0:  # nearly all rows have one value: there is no measure of far
            continue
        for value, row in zip(apart.values.tolist(), apart.rows.tolist(), strict=True):
            where = f" in row {row:,}" if row != UNKNOWN else ""
            yield Finding(
                kind="absurd-cell",
                message=f"{name} {value:.6g}{where} is far from all others.",
                column=name,
                rows=(row,) if row != UNKNOWN else (),
                values=(value,),
                advice="If it is an error, mend or leave out the cell: up to it everything passes "
                "as normal."
                if learned
                else "It is not taken as normal. If it is an error, mend it or leave it empty.",
            )


def far_cells(X: Floats, names: Sequence[str]) -> Iterator[Finding]:
    """Find cells far from all others of their column in all rows of a table, one by one.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows; NaN where there is no value.
    names : sequence of str
        What the columns are called.

    Yields
    ------
    Finding
        ``"absurd-cell"``, as `absurd_cells` says it.
    """
    some = _drawn(X, SAMPLED_ROWS)
    for j in map(int, np.flatnonzero(~np.isnan(X).all(axis=0))):
        box = Box.of(edges_of(X[:, [j]], None), some[:, [j]], np.ones(len(some)))
        yield from absurd_cells(box, [names[j]], learned=False)


def _drawn(rows: NDArray[Any], number: int) -> NDArray[Any]:
    """Return so many of the rows, always the same: tables have periods, so not every n-th."""
    if len(rows) <= number:
        return rows
    return rows[np.random.default_rng(0).choice(len(rows), number, replace=False)]


def _may_count(X: NDArray[Any]) -> NDArray[np.bool_]:
    """Say of each column whether it goes only up, or only down."""
    with np.errstate(over="ignore"):  # from one end of the numbers to the other
        steps = np.diff(X.astype(np.float64), axis=0)
    return np.asarray((steps > 0.0).all(axis=0) | (steps < 0.0).all(axis=0))


def _counts(values: NDArray[Any]) -> bool:
    """Whether values go up, or down, by the same step nearly everywhere; sorted ones do not."""
    if not _may_count(values[:, None])[0]:
        return False
    steps = np.diff(values.astype(np.float64))
    step = float(np.median(steps))
    slack = 1e-3 * abs(step) + 4.0 * np.spacing(float(np.abs(values).max()))
    return bool(np.mean(np.abs(steps - step) <= slack) >= _REGULAR)


def _running_number(values: NDArray[Any], name: str) -> Finding:
    first, last = float(values[0]), float(values[-1])
    return Finding(
        kind="running-number",
        message=f"{name} runs from {first:.10g} to {last:.10g} in even steps, like a row number.",
        column=name,
        values=(first, last),
        advice="New rows will lie beyond it: leave it out unless it is a measurement.",
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
    if share <= 0.5 or len(found) <= _OTHER_VALUES:
        return
    yield Finding(
        kind="one-value",
        message=f"{name} is {usual:.6g} in {100.0 * share:.0f} % of the rows and has "
        f"{len(found) - 1:,} other values.",
        column=name,
        values=(usual,),
        advice=f"If {usual:.6g} stands for a missing value, leave the cell empty.",
    )
