"""Missing values that do not come by chance: in runs of rows, and in several columns at once."""

from __future__ import annotations

from collections.abc import Iterator
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
_ALIKE = 0.98  # the share of rows that two columns lack which both lack
_MOST_COLUMNS = 1000
_NAMED = 5


def notice_gaps(table: CheckedTable) -> Iterator[Finding]:
    """Find runs of rows without a value, and columns that have none in the same rows.

    Yields
    ------
    Finding
        ``"missing-block"``: at most one for a column, and one for columns that go together.
    """
    missing = ((column.name, column.missing) for column in table.used)
    holes = {name: where for name, where in missing if 0 < where.sum() < table.rows}
    groups = _groups(holes)
    for names in groups:
        yield from _run(names[0], holes[names[0]])
        if len(names) > 1:
            yield _together(names, holes[names[0]])


def _groups(holes: dict[str, Booleans]) -> list[list[str]]:
    """Put columns together that lack values in nearly the same rows."""
    groups: list[list[str]] = []
    for name in sorted(list(holes)[:_MOST_COLUMNS], key=lambda name: int(holes[name].sum())):
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
    named = ", ".join(map(printable, names[:_NAMED])) + (", …" if len(names) > _NAMED else "")
    return Finding(
        kind="missing-block",
        message=f"{named} are missing together, in {len(rows):,} rows.",
        column=None,
        rows=tuple(rows[:LISTED].tolist()),
        values=tuple(names),
        advice=Advice(
            "If these rows are of another kind, such as failed measurements, leave them out."
        ),
    )


def _run(name: str, missing: Booleans) -> Iterator[Finding]:
    """Find the longest run of rows without a value, if chance does not make one so long."""
    ends = np.flatnonzero(np.diff(np.concatenate([[0], missing.astype(np.int8), [0]])))
    starts, lengths = ends[::2], ends[1::2] - ends[::2]
    longest = int(lengths.argmax())
    start, length = int(starts[longest]), int(lengths[longest])
    expected = log(len(missing)) + length * log(float(missing.mean()))
    if length < _LEAST_RUN or expected > log(_CHANCE):
        return
    where = f"the last {length:,} rows" if start + length == len(missing) else f"{length:,} rows"
    first = f"the first {length:,} rows" if start == 0 else where
    yield Finding(
        kind="missing-block",
        message=f"{name} is missing in {first} one after the other"
        + (f", beginning in row {start:,} of the table." if start else "."),
        column=name,
        rows=tuple(range(start, min(start + length, start + LISTED))),
        advice=Advice(
            "If a measurement failed there, or began or ended, leave out the rows or the column."
        ),
    )
