"""Whether rows should be judged by their group or time: what a model without a context misses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaincinv

from refold._typing import Booleans, Floats, Integers
from refold.base.advice import Advice
from refold.base.findings import Finding
from refold.base.words import percent, printable
from refold.columns.context.trend import FEWEST_TIMES
from refold.columns.row_numbers import record_times
from refold.columns.table import DateColumn, NumberColumn, Table, TextColumn

if TYPE_CHECKING:
    from refold.models.detector.estimator import Detector

# Says which rows are outliers.
Outliers = Callable[[Table], Booleans]

# Groups that matter: so many values of so many rows, within which numbers are spread by less than
# this share of all, and of faults of so many of their standard deviations fewer are seen.
_FEWEST_GROUPS, _FEWEST_OF_GROUP = 8, 8
_WITHIN, _FAULT, _SEEN = 0.5, 6.0, 0.5
_ROWS_TRIED = 300
# A trend that matters: a model of the first nine tenths calls so many times the rate outliers.
ALPHA_TRIED, _TIMES, _SURELY, _CHANCE = 0.05, 3.0, 1.5, 1e-3
_MOST_ROWS, _FEWEST_ROWS = 2_000, 200
_MOST_COLUMNS = 100  # of each kind are looked at


def groups_matter(table: Table, outliers: Outliers) -> Finding | None:
    """Say that a category hides faults: these are inside the range of all its values together."""
    numbers = [(n, c.values) for n, c in table.items() if isinstance(c, NumberColumn)]
    texts = [(n, c) for n, c in table.items() if isinstance(c, TextColumn)]
    best: tuple[float, str, str, Floats, Integers] | None = None
    for group, cells in texts[:_MOST_COLUMNS]:
        codes = _large_groups(cells)
        if len(np.unique(codes[codes >= 0])) < _FEWEST_GROUPS:
            continue
        for name, values in numbers[:_MOST_COLUMNS]:
            spread, share = _within(values, codes)
            if share < (_WITHIN if best is None else best[0]):
                best = share, group, name, spread, codes
    if best is None:
        return None
    share, group, name, spread, codes = best
    shifted = _with_faults(table, name, spread, codes)
    if shifted is None:
        return None
    seen = float(outliers(shifted).mean())
    if seen >= _SEEN:
        return None
    return Finding(
        kind="groups",
        column=group,
        values=(name,),
        message=f"{group}: {printable(name)} differs between its values: within one of them the "
        f"standard deviation is {percent(share, 2)} of that of all rows. Of values that are wrong "
        f"by {_FAULT:g} such standard deviations {percent(seen, 2)} are noticed.",
        advice=Advice("To judge rows by what is normal for their group", "by", value=group),
    )


def _large_groups(cells: TextColumn) -> Integers:
    """Return the group of each row; -1 where it has few rows."""
    large = np.append(cells.counts >= _FEWEST_OF_GROUP, False)
    return np.where(large[cells.codes], cells.codes, -1)


def _within(values: Floats, codes: Integers) -> tuple[Floats, float]:
    """Return the standard deviation within the group of each row, and its share of all."""
    rows = np.flatnonzero((codes >= 0) & ~np.isnan(values))
    out = np.full(len(values), np.nan)
    if len(rows) < _FEWEST_ROWS:
        return out, np.inf
    x, group = values[rows], codes[rows]
    n = np.bincount(group)
    mean = np.bincount(group, x) / np.maximum(n, 1)
    squares = np.bincount(group, (x - mean[group]) ** 2)
    out[rows] = np.sqrt(squares / np.maximum(n - 1, 1))[group]
    whole = float(np.std(x))
    within = float(np.sqrt(squares.sum() / max(len(x) - np.count_nonzero(n), 1)))
    # A number that a group fixes says the same as the group.
    return out, within / whole if within > 1e-9 * whole > 0.0 else np.inf


def _with_faults(table: Table, name: str, spread: Floats, codes: Integers) -> Table | None:
    """Return rows whose number is off by six standard deviations of its group, inside its range."""
    cells = table[name]
    assert isinstance(cells, NumberColumn)
    low, high = np.nanquantile(cells.values, [0.01, 0.99])
    rows = np.flatnonzero((codes >= 0) & (spread > 0.0))
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), _ROWS_TRIED)).astype(np.int64)]
    x, off = cells.values[rows], _FAULT * spread[rows]
    moved = np.where(x + off <= high, x + off, x - off)
    inside = (moved >= low) & (moved <= high)
    if inside.sum() < _ROWS_TRIED // 10:
        return None
    place = table.names.index(name)
    faulty = NumberColumn(moved[inside])
    return table.take(rows[inside]).with_columns({place: faulty})


def trend_matters(table: Table, model: Callable[[Sequence[str]], Detector]) -> Finding | None:
    """Say that the last rows are no longer like the first ones, by a date that the table has."""
    dates = {
        name: cells.seconds
        for name, cells in table.items()
        if isinstance(cells, DateColumn) and cells.has_date
    }
    found = [name for name in record_times(dates) if len(np.unique(dates[name])) >= FEWEST_TIMES]
    if not found:
        return None
    name, seconds = found[0], dates[found[0]]
    order = np.argsort(seconds, kind="stable")[: np.count_nonzero(~np.isnan(seconds))]
    if len(order) < _FEWEST_ROWS:
        return None
    some = np.linspace(0, len(order) - 1, min(len(order), _MOST_ROWS)).astype(np.int64)
    rows = table.take(order[some]).select([other for other in table.names if other != name])
    return _last_tenth(rows, name, model)


def _last_tenth(
    rows: Table, date: str, model: Callable[[Sequence[str]], Detector]
) -> Finding | None:
    end = rows.rows * 9 // 10
    first, last = rows.take(np.arange(end)), rows.take(np.arange(end, rows.rows))
    moved = _moved_most(first, last)
    if moved is None:
        return None
    odd = int((model(rows.names).fit(first).predict(last) == -1).sum())
    if odd < _TIMES * ALPHA_TRIED * last.rows:
        return None
    if betaincinv(odd, last.rows - odd + 1, _CHANCE) <= _SURELY * ALPHA_TRIED:
        return None
    return Finding(
        kind="trend",
        column=date,
        values=(moved,),
        message=f"{date}: {printable(moved)} changes with it: a model of the first nine tenths "
        f"calls {percent(odd / last.rows, 2)} of the last tenth outliers, where "
        f"{percent(ALPHA_TRIED, 2)} was asked for.",
        advice=Advice("To expect trend and calendar", "over", value=date),
    )


def _moved_most(first: Table, last: Table) -> str | None:
    """Return the number whose median differs most between the first rows and the last."""
    moved = {}
    for name, cells in first.items():
        if isinstance(cells, NumberColumn):
            before, after = (_known(part, name) for part in (first, last))
            if len(before) and len(after):
                low, middle, high = np.quantile(before, [0.25, 0.5, 0.75])
                moved[name] = abs(float(np.median(after) - middle)) / max(float(high - low), 1e-300)
    return max(moved, key=lambda name: moved[name]) if moved else None


def _known(rows: Table, name: str) -> Floats:
    cells = rows[name]
    assert isinstance(cells, NumberColumn)
    return cells.values[~cells.is_null]
