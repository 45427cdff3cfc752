"""Rows that come twice, that lack values together, that belong to groups, and too few of them."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Booleans
from refold.base.advice import NO_ADVICE, Advice
from refold.base.errors import UserError
from refold.base.findings import Finding, RateWarning, RowText
from refold.base.words import plural
from refold.checks._table.cell_checks import LISTED, first_names
from refold.checks._table.checked_table import CheckedColumn, CheckedTable
from refold.columns.table import Table
from refold.decisions.thresholds import auto_rate, check_supported
from refold.models.detector import Detector
from refold.models.detector.context_findings import groups_matter

_LEAST_RUN = 5  # rows
_CHANCE = 1e-6
_LEAST_TOGETHER = 5  # rows that lack the same columns
_MOST_TOGETHER = 0.4  # of the rows; a value that more have not is rather one that does not apply
_ALIKE = 0.98  # the share of rows that two columns lack which both lack
_MOST_GAPS = 1000


def notice_gaps(table: CheckedTable, derived: Collection[str | None]) -> Iterator[Finding]:
    """Find runs of rows without a value, and columns that have none in the same rows.

    A column that follows from another one, in `derived`, lacks what that lacks.
    """
    missing = [(c.name, c.missing) for c in table.used if c.name not in derived][:_MOST_GAPS]
    holes = {name: where for name, where in missing if 0 < where.sum() < table.rows}
    groups = _groups(holes)
    runs: dict[str, slice] = {}
    for names in groups:
        found = _run(holes[names[0]])
        if found is not None:
            runs |= dict.fromkeys(names, found)
        elif holes[names[0]].mean() < _MOST_TOGETHER and len(own := _own_names(names)) > 1:
            yield _together(own, holes[names[0]])
    yield from _blocks(runs, table.rows)


def _own_names(names: list[str]) -> list[str]:
    """Return the columns whose names are not made of another one's, as logarithms and lags are."""
    return [n for n in names if not any(o != n and len(o) > 2 and o in n for o in names)]


def _groups(holes: dict[str, Booleans]) -> list[list[str]]:
    """Put columns together that lack values in nearly the same rows."""
    groups: list[list[str]] = []
    for name in sorted(holes, key=lambda name: int(holes[name].sum())):
        if groups and _go_together(holes[groups[-1][0]], holes[name]):
            groups[-1].append(name)
        else:
            groups.append([name])
    return groups


def _go_together(one: Booleans, other: Booleans) -> bool:
    both, any_of = int((one & other).sum()), int((one | other).sum())
    return both >= _LEAST_TOGETHER and both >= _ALIKE * any_of


def _together(names: list[str], missing: Booleans) -> Finding:
    rows = np.flatnonzero(missing)
    return Finding(
        kind="missing-block",
        message=f"{first_names(names)} are missing together, in {len(rows):,} rows.",
        column=None,
        rows=tuple(rows[:LISTED].tolist()),
        values=tuple(names),
        advice=Advice(
            "If these rows are of another kind, such as failed measurements, leave them out."
        ),
    )


def _run(missing: Booleans) -> slice | None:
    """Return the longest run of rows without a value, if chance does not make one so long."""
    ends = np.flatnonzero(np.diff(np.concatenate([[0], missing.astype(np.int8), [0]])))
    starts, lengths = ends[::2], ends[1::2] - ends[::2]
    longest = int(lengths.argmax())
    start, length = int(starts[longest]), int(lengths[longest])
    expected = log(len(missing)) + length * log(float(missing.mean()))
    if length < _LEAST_RUN or expected > log(_CHANCE):
        return None
    return slice(start, start + length)


def _blocks(runs: dict[str, slice], rows: int) -> Iterator[Finding]:
    """Tell runs that begin or end together once; the rows are those that all of them lack."""
    left = sorted(runs, key=lambda name: runs[name].stop - runs[name].start)
    while left:
        first = runs[left[0]]
        names = [name for name in left if _same_block(first, runs[name])]
        left = [name for name in left if name not in names]
        yield _block(names, first, rows)


def _same_block(one: slice, other: slice) -> bool:
    """Whether one block lies in another, and begins or ends about where that does."""
    inside = other.start <= one.start and one.stop <= other.stop
    near = max(1, (one.stop - one.start) // 2)
    return bool(inside and min(one.start - other.start, other.stop - one.stop) <= near)


def _block(names: list[str], run: slice, rows: int) -> Finding:
    length, start = run.stop - run.start, run.start
    which = "first " if start == 0 else "last " if run.stop == rows else ""
    where = f"{'the ' if which else ''}{which}{length:,} rows one after the other"
    beginning = (", beginning in row ", start, " of the table.") if start else (".",)
    are = "is" if len(names) == 1 else "are"
    return Finding(
        kind="missing-block",
        message=RowText.of(f"{first_names(names)} {are} missing in {where}", *beginning),
        column=names[0] if len(names) == 1 else None,
        rows=tuple(range(start, min(run.stop, start + LISTED))),
        values=() if len(names) == 1 else tuple(names),
        advice=Advice(
            "If a measurement failed there, or began or ended, leave out the rows or the column."
        ),
    )


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
    again = _again(whole)  # of rows without any value gaps are told
    again = again[~np.logical_and.reduce([column.missing[again] for column in columns])]
    if len(again) == 0 or not _is_no_chance(table, columns, whole):
        return
    rows = "row is" if len(again) == 1 else "rows are"
    left_out = [column.name for column in table.columns if column.role in ("identifier", "ignore")]
    told = "; no column names the rows, so they can be called by their numbers only"
    if left_out:
        told = f", but for {', '.join(left_out[:3])}"
    yield Finding(
        kind="duplicate-rows",
        message=f"{len(again):,} {rows} the same as an earlier one{told}.",
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
        yield Finding(
            "too-few-rows",
            message=f"{plural(table.rows, 'row')} cannot be learned from: at least {_FEWEST} are "
            "needed.",
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


def notice_hidden_groups(table: CheckedTable) -> Finding | None:
    """Say that a category hides faults of numbers; a model is fitted only if it may."""
    rows = table.sample.parsed

    def outliers(faulty: Table) -> Booleans:
        model = Detector()
        model._quiet = True
        return np.asarray(model.fit(rows).predict(faulty) == -1)

    try:
        return groups_matter(rows, outliers)
    except UserError:  # nothing can be learned from it, which is said elsewhere
        return None
