"""Missing values that do not come by chance: in runs of rows, and in several columns at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import log

import numpy as np

from refold._typing import Booleans
from refold.base.advice import Advice
from refold.base.findings import Finding
from refold.base.words import printable
from refold.checks._table.cells import LISTED
from refold.checks._table.table import CheckedTable

_LEAST_RUN = 5  # rows
_CHANCE = 1e-6
_LEAST_TOGETHER = 5  # rows that lack the same columns
_MOST_TOGETHER = 0.4  # of the rows; a value that more have not is rather one that does not apply
_ALIKE = 0.98  # the share of rows that two columns lack which both lack
_MOST_COLUMNS = 1000
_NAMED = 5


def notice_gaps(table: CheckedTable, derived: Collection[str | None]) -> Iterator[Finding]:
    """Find runs of rows without a value, and columns that have none in the same rows.

    A column that follows from another one, in `derived`, lacks what that lacks.
    """
    missing = [(c.name, c.missing) for c in table.used if c.name not in derived][:_MOST_COLUMNS]
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
        message=f"{_listed(names)} are missing together, in {len(rows):,} rows.",
        column=None,
        rows=tuple(rows[:LISTED].tolist()),
        values=tuple(names),
        advice=Advice(
            "If these rows are of another kind, such as failed measurements, leave them out."
        ),
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(printable, names[:_NAMED])) + (", …" if len(names) > _NAMED else "")


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
    beginning = f", beginning in row {start:,} of the table." if start else "."
    are = "is" if len(names) == 1 else "are"
    return Finding(
        kind="missing-block",
        message=f"{_listed(names)} {are} missing in {where}{beginning}",
        column=names[0] if len(names) == 1 else None,
        rows=tuple(range(start, min(run.stop, start + LISTED))),
        values=() if len(names) == 1 else tuple(names),
        advice=Advice(
            "If a measurement failed there, or began or ended, leave out the rows or the column."
        ),
    )
