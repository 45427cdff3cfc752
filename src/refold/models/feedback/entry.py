"""Rows that somebody has judged, and one thing that was said of them and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal, NamedTuple, cast

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.base.words import plural
from refold.columns.table import Column, DateColumn, NumberColumn, Table, TextColumn
from refold.decisions.thresholds import Calibration

JudgedRows = Floats | Table


def taken(rows: JudgedRows, which: Integers | Booleans) -> JudgedRows:
    """Return some of the rows, by number or by mask; a number may come more than once."""
    return rows.take(which) if isinstance(rows, Table) else rows[which]


def joined(parts: Sequence[JudgedRows]) -> JudgedRows:
    """Return the rows of several tables with the same columns."""
    if isinstance(parts[0], Table):
        return Table.concat(cast("Sequence[Table]", parts))
    return np.concatenate(cast("Sequence[Floats]", parts))


def equal_rows(rows: JudgedRows, others: JudgedRows) -> Booleans:
    """Say which rows are, cell by cell, among others; a gap equals a gap."""
    keys = _keys(joined([rows, others]))
    return np.isin(keys[: len(rows)], keys[len(rows) :])


def _keys(rows: JudgedRows) -> Integers:
    """Return a number for each row, the same for equal ones; that others share one is hopeless."""
    columns: Sequence[Column | Floats] = rows.columns if isinstance(rows, Table) else list(rows.T)
    random = np.random.RandomState(0)
    keys = np.zeros(len(rows), dtype=np.int64)
    for column in columns:
        keys += _codes(column) * random.randint(1, 2**62, dtype=np.int64)  # it wraps around
    return keys


def _codes(column: Column | Floats) -> Integers:
    """Return a number for each cell of a column, the same for equal ones."""
    if isinstance(column, TextColumn):
        return column.codes
    if isinstance(column, NumberColumn):
        column = column.values
    elif isinstance(column, DateColumn):
        column = column.seconds
    return np.unique(column, return_inverse=True)[1].astype(np.int64)  # all NaN are one


Kind = Literal["accepted", "rejected"]
# A note is a sentence or two, not a document.
LONGEST_NOTE = 1000


class Verdict(NamedTuple):
    """What a model says of rows at a time."""

    distances: Floats  #: how far out each is
    threshold: float  #: the model's threshold at that time

    @property
    def labels(self) -> Integers:
        """1 for normal, -1 for not."""
        return np.where(self.distances <= self.threshold, 1, -1)


class Decision(NamedTuple):
    """What ``calibrate`` and ``tune_threshold`` have set; None is what the model has by itself."""

    threshold: float | None
    alpha: float | None
    calibration: Calibration | None


@dataclass(frozen=True, eq=False)
class FeedbackEntry:
    """Rows that somebody has called normal, or not, and what the model said before and after.

    ``str(entry)`` says it in words.
    """

    kind: Kind  # what was said of them
    rows: JudgedRows  # (n, d): the rows, as the model takes them
    times: int  # as how many rows each was learned
    time: str  # when it was said, UTC, such as ``"2026-01-31T12:00:00Z"``
    note: str  # why, in the words of whoever said it
    # before, after: ``distances``, ``threshold`` and ``labels`` of the rows by the model as it was
    # before, and right after.
    before: Verdict
    after: Verdict
    # What was set before, by ``calibrate`` and ``tune_threshold``; undoing comes back to it.
    decision: Decision
    # Which rows it still goes for; of the others the opposite was said later.
    standing: Booleans = field(default_factory=lambda: np.ones(0, dtype=np.bool_))

    @classmethod
    def now(
        cls,
        kind: Kind,
        rows: JudgedRows,
        times: int,
        note: str,
        verdict: Verdict,
        decision: Decision,
    ) -> FeedbackEntry:
        """Return an entry of this second, which has changed nothing yet."""
        time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        standing = np.ones(len(rows), dtype=np.bool_)
        return cls(kind, rows, times, time, note, verdict, verdict, decision, standing)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        said = f"{plural(len(self), 'row')} {self.kind}"
        if self.times > 1:
            said += f"{', each' if len(self) > 1 else ''} as {self.times:,} rows"
        said += f"; {'; '.join(self._outcome())}"
        if withdrawn := int((~self.standing).sum()):
            said += f". The opposite was said of {_these(withdrawn, len(self))} later"
        return f"{said}." if not self.note else f"{said}. Note: {self.note}"

    def __repr__(self) -> str:
        return f"<FeedbackEntry {self.time}: {self}>"

    def settled(self, after: Verdict) -> FeedbackEntry:
        """Return the same with what the model says afterwards."""
        return replace(self, after=after)

    def _outcome(self) -> list[str]:
        """Say what became of the rows."""
        normal, before = self.after.labels == 1, self.before.labels == 1
        if self.kind == "rejected":
            missed = normal.nonzero()[0]
            if len(missed) == 0:
                return [f"{_these(len(self), len(self))} {_is(len(self))} {_outlier(len(self))}"]
            return [
                f"{_these(len(missed), len(self))} {_is(len(missed))} taken as normal "
                f"({self._distances(missed)}): tune_threshold() looks for a better limit"
            ]
        said, n = [], len(self)
        if before.any():
            count = int(before.sum())
            said.append(f"{_these(count, n)} {'was' if count == 1 else 'were'} normal already")
        if count := int((normal & ~before).sum()):
            more = f"{'one' if count == 1 else count} more" if before.any() else _these(count, n)
            said.append(f"{more} {_is(count)} normal now")
        if len(still := np.flatnonzero(~normal)):
            like = "it" if len(still) == 1 else "them"
            said.append(
                f"{_these(len(still), n)} {_is(len(still))} still {_outlier(len(still))}: rows "
                f"like {like} are rare, {self._distances(still)}"
            )
        return said

    def _distances(self, rows: Integers) -> str:
        """Give the distances of a row, or of the farthest of several."""
        worst = rows[np.argmax(self.after.distances[rows])]
        before, after = (f"{v.distances[worst]:.3g}" for v in (self.before, self.after))
        moved = after if before == after else f"{before} → {after}"
        most = "distance" if len(rows) == 1 else "distances up to"
        return f"{most} {moved}, limit {self.after.threshold:.3g}"


def in_short(entries: Sequence[FeedbackEntry]) -> str:
    """Say how many rows are accepted and rejected, and when that was said last; "" if none are.

    Examples
    --------
    >>> in_short([])
    ''
    """
    counts = {
        kind: sum(int(entry.standing.sum()) for entry in entries if entry.kind == kind)
        for kind in ("accepted", "rejected")
    }
    said = [f"{plural(n, 'row')} {kind}" for kind, n in counts.items() if n]
    return f"{', '.join(said)}; the last feedback is of {entries[-1].time}" if said else ""


def _these(n: int, of: int) -> str:
    """Name n of so many rows."""
    if n == of:
        return "it" if n == 1 else "all"
    return "one" if n == 1 else f"{n:,} of them"


def _is(n: int) -> str:
    return "is" if n == 1 else "are"


def _outlier(n: int) -> str:
    return "an outlier" if n == 1 else "outliers"
