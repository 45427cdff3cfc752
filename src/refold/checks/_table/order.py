"""Whether the rows at the end of a table are like those at its beginning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from refold._typing import Floats, Integers
from refold.base.advice import Advice
from refold.base.findings import Finding
from refold.base.words import number, percent, quoted
from refold.checks._table.table import CheckedColumn, CheckedTable
from refold.monitoring.statistics import holm, same_distribution, same_share

_SPLITS = (0.25, 0.5, 0.75)  # after such a part of the rows something may have changed
_LEAST_ROWS = 40
_CHANCE = 1e-3  # of one false finding in the whole table
_LEAST = 0.25  # the distance of the distributions that is worth a word
_SORTED = 0.99  # the share of steps that go one way, where rows are ordered by the column
_FREQUENT = 20  # values of a column whose shares are compared


class Change(NamedTuple):
    """Where a column changes most: what is said of some rows before, and of how many after."""

    p_value: float
    split: float
    what: str
    before: float
    after: float

    @property
    def distance(self) -> float:
        """By how much the shares differ."""
        return abs(self.before - self.after)


def notice_order(table: CheckedTable) -> Iterator[Finding]:
    """Find columns whose values are others at the end than at the beginning.

    Yields
    ------
    Finding
        ``"drift"``, at most one for a column, the largest first.
    """
    some = table.sample
    if some.rows < _LEAST_ROWS:
        return
    changes = [(column.name, _change(column)) for column in some.used]
    found = [(name, change) for name, change in changes if change is not None]
    if not found:
        return
    adjusted = holm(np.array([change.p_value for _, change in found]))
    kept = [
        (name, change)
        for (name, change), p in zip(found, adjusted.tolist(), strict=True)
        if p <= _CHANCE and change.distance >= _LEAST
    ]
    for name, change in sorted(kept, key=lambda each: -each[1].distance):
        yield _said(name, change, table.rows)


def _change(column: CheckedColumn) -> Change | None:
    if column.numbers is not None:
        return _of_numbers(column.numbers)
    if column.texts is not None and column.role == "category":
        return _of_texts(column)
    return None


def _of_numbers(values: Floats) -> Change | None:
    """Compare the distributions of numbers before and after."""
    rows = np.flatnonzero(~np.isnan(values))
    seen = values[rows]
    if len(seen) < _LEAST_ROWS or _is_sorted(seen):
        return None
    order = np.argsort(seen, kind="stable")
    last = np.flatnonzero(np.append(np.diff(seen[order]) != 0.0, True))  # of equal values
    best = None
    for split in _SPLITS:
        early = rows < split * len(values)
        n, m = int(early.sum()), int((~early).sum())
        if min(n, m) == 0:
            continue
        before, after = (np.cumsum(part[order])[last] for part in (early, ~early))
        k = int(np.abs(before / n - after / m).argmax())
        shares = float(before[k] / n), float(after[k] / m)
        p = float(len(_SPLITS) * same_distribution(abs(shares[0] - shares[1]), n, m))
        if best is None or p < best.p_value:
            best = Change(p, split, f"at most {number(seen[order[last[k]]])}", *shares)
    return best


def _is_sorted(values: Floats) -> bool:
    steps = np.diff(values)
    return max(float(np.mean(steps >= 0.0)), float(np.mean(steps <= 0.0))) >= _SORTED and bool(
        len(np.unique(values)) > 2
    )


def _of_texts(column: CheckedColumn) -> Change | None:
    """Compare the shares of frequent values before and after."""
    texts = column.texts
    assert texts is not None
    rows = np.flatnonzero(texts.codes >= 0)
    codes = texts.codes[rows]
    if len(codes) < _LEAST_ROWS or _blocks(codes) <= 2 * np.count_nonzero(texts.counts):
        return None
    often = np.argsort(-texts.counts, kind="stable")[:_FREQUENT]
    best = None
    for split in _SPLITS:
        early = rows < split * len(texts.codes)
        n, m = int(early.sum()), int((~early).sum())
        if min(n, m) == 0:
            continue
        before, after = (
            np.bincount(codes[part], minlength=len(texts.values))[often] for part in (early, ~early)
        )
        p = len(_SPLITS) * len(often) * same_share(before, n, after, m)
        k = int(np.argmax(np.abs(before / n - after / m)))
        shares = float(before[k] / n), float(after[k] / m)
        if best is None or p[k] < best.p_value:
            best = Change(float(p[k]), split, quoted(texts.values[int(often[k])]), *shares)
    return best


def _blocks(codes: Integers) -> int:
    """Return how many runs of equal values there are; where rows are ordered by them, one each."""
    return 1 + int(np.count_nonzero(np.diff(codes)))


def _said(name: str, change: Change, rows: int) -> Finding:
    first = round(change.split * rows)
    before, after = (percent(share, 2) for share in (change.before, change.after))
    return Finding(
        kind="drift",
        message=f"{name} is {change.what} in {before} of the first {first:,} rows and in {after} "
        f"of the other {rows - first:,}.",
        column=name,
        values=(change.what, before, after),
        advice=Advice(
            "If rows are in the order of time, what is normal has changed: learn from rows of "
            "the time that counts. If they are ordered otherwise, nothing is wrong."
        ),
    )
