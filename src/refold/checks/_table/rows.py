"""Rows that come twice, and too few of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold.base.advice import NO_ADVICE, Advice
from refold.base.errors import UserError
from refold.base.findings import Finding, RateWarning
from refold.checks._table.cells import LISTED
from refold.checks._table.table import CheckedColumn, CheckedTable
from refold.decisions.thresholds import check_supported
from refold.models.detector import Detector
from refold.models.detector.learned import auto_rate

_LEAST_COLUMNS = 3
_BY_CHANCE = 10.0  # times as many pairs of equal rows as chance makes are no chance
# Where rows may be too few for a fault in one column: only then a model is fitted to see.
_ROWS_PER_COLUMN, _MORE_ROWS, _BEYOND_THRESHOLD = 3, 50, 5.0
_FEWEST = 2  # rows that a model learns from
_MOST_ROWS, _MOST_COLUMNS = 1000, 100


def notice_duplicates(table: CheckedTable) -> Iterator[Finding]:
    """Find rows that are the same as an earlier one, where that is no chance."""
    columns = [column for column in table.used if column.role not in ("identifier", "ignore")]
    if len(columns) < _LEAST_COLUMNS or table.rows < 2:
        return
    whole = _keys(columns)
    again = _again(whole)
    if len(again) == 0 or not _is_no_chance(table, columns, whole):
        return
    rows = "row is" if len(again) == 1 else "rows are"
    left_out = [column.name for column in table.columns if column.role in ("identifier", "ignore")]
    but = f", but for {', '.join(left_out[:3])}" if left_out else ""
    yield Finding(
        kind="duplicate-rows",
        message=f"{len(again):,} {rows} the same as an earlier one{but}.",
        rows=tuple(again[:LISTED].tolist()),
        advice=Advice(
            "If they were recorded twice, leave them out: rows that come twice look more "
            "normal than they are."
        ),
    )


def _keys(columns: Iterable[CheckedColumn]) -> NDArray[np.uint64]:
    """Return a number for each row; the same for rows that are, and else hardly ever."""
    keys = np.zeros(1, dtype=np.uint64)
    for column in columns:
        keys = _mixed(keys + column.bits)
    return keys


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread values over all numbers (splitmix64)."""
    out = bits + np.uint64(0x9E3779B97F4A7C15)
    out = (out ^ (out >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    out = (out ^ (out >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return out ^ (out >> np.uint64(31))


def _again(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the rows whose key an earlier one has."""
    _, first = np.unique(keys, return_index=True)
    later = np.ones(len(keys), dtype=np.bool_)
    later[first] = False
    return np.flatnonzero(later)


def _is_no_chance(
    table: CheckedTable, columns: list[CheckedColumn], whole: NDArray[np.uint64]
) -> bool:
    """Whether rows that agree in all other columns agree in a fine one far too often.

    That is the column in which two rows agree least often, and the others are those that do not
    follow from it.
    """
    some = {column.name: column for column in table.sample.columns}
    agree = [_pairs(some[column.name].bits) for column in columns]
    fine = int(np.argmin(agree))
    chance = agree[fine] / (table.sample.rows * (table.sample.rows - 1) / 2.0)
    others = _keys(column for k, column in enumerate(columns) if k != fine)
    return _pairs(whole) > _BY_CHANCE * chance * _pairs(others) + 0.5


def _pairs(keys: NDArray[np.uint64]) -> float:
    """Return how many pairs of rows have the same key."""
    _, counts = np.unique(keys, return_counts=True)
    return float((counts * (counts - 1.0)).sum() / 2.0)


def notice_too_few(
    X: Any, table: CheckedTable, alpha: float | None, roles: Mapping[str, str]
) -> Iterator[Finding]:
    """Find that there are too few rows for the rate, or for so many columns.

    Nothing but a model tells the latter: one is fitted, to at most 1,000 rows and 100 columns, if
    there are fewer than three rows for each column and 50 more, or fewer than five lie beyond the
    threshold.
    """
    if table.rows < _FEWEST:
        rows = "1 row" if table.rows == 1 else f"{table.rows:,} rows"
        yield Finding(
            "too-few-rows",
            message=f"{rows} cannot be learned from: at least {_FEWEST} are needed.",
            advice=Advice("Add normal rows; with 100 or more a model can be trusted."),
        )
        return
    used = [column.name for column in table.used]
    rate = auto_rate(table.rows) if alpha is None else alpha
    try:
        check_supported(rate, table.rows)
    except UserError as error:
        yield Finding("too-few-rows", message=error.args[0], advice=error.advice or NO_ADVICE)
        return
    few = table.rows < _ROWS_PER_COLUMN * min(len(used), _MOST_COLUMNS) + _MORE_ROWS
    scarce = rate * (table.rows + 1.0) < _BEYOND_THRESHOLD * (1.0 - 1e-12)
    if not used or table.rows > _MOST_ROWS or not (few or scarce):
        return
    unused = dict.fromkeys(used[_MOST_COLUMNS:], "ignore")
    yield from _of_model(X, rate, {**roles, **unused})


def _of_model(X: Any, rate: float, roles: Mapping[str, str]) -> Iterator[Finding]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RateWarning)
        try:
            model = Detector(alpha=rate, roles=dict(roles)).fit(X)
        except ValueError:  # what is wrong with the rows is said by the other findings
            return
    yield from (found for found in model.noticed_ if found.kind == "too-few-rows")
