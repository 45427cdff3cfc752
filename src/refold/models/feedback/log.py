"""All that was said of rows, in its order: where it contradicts itself the later word counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from refold._typing import Integers
from refold.base.errors import UserError
from refold.models.feedback.entry import (
    Decision,
    FeedbackEntry,
    JudgedRows,
    Kind,
    equal_rows,
    joined,
    taken,
)

# They are in the model file, and are learned anew whenever the model learns.
MOST_ROWS = 10_000


@dataclass(frozen=True, eq=False)
class FeedbackLog:
    """Entries that stand, wholly or in part; nothing is changed in place."""

    entries: tuple[FeedbackEntry, ...] = ()  # In the order in which they were made

    @classmethod
    def of(cls, entries: Iterable[FeedbackEntry]) -> FeedbackLog:
        """Return the log of entries, and see which of their rows they still go for."""
        every = tuple(entries)
        rows = sum(len(entry) * entry.times for entry in every)
        if rows > MOST_ROWS:
            raise UserError(
                f"With these there would be {rows:,} rows of feedback; a model takes "
                f"{MOST_ROWS:,}. So many belong into the training table: fit again with the rows "
                "that are normal, or undo_feedback() first."
            )
        return cls(tuple(_standing(entry, every[k + 1 :]) for k, entry in enumerate(every)))

    def plus(self, entry: FeedbackEntry) -> FeedbackLog:
        """Return the log with one more entry."""
        return FeedbackLog.of((*self.entries, entry))

    def without(self, number: int) -> FeedbackLog:
        """Return the log as if an entry had never been made; what it contradicted goes again.

        What was decided since goes with it: it was decided by a model that had the entry.
        """
        kept = list(self.entries)
        gone = kept.pop(number)
        later = number if number >= 0 else len(kept) + 1 + number
        kept[later:] = [replace(entry, decision=gone.decision) for entry in kept[later:]]
        return FeedbackLog.of(kept)

    def decided(self, decision: Decision) -> FeedbackLog:
        """Return the log of a model that has learned more, and for which only this is decided."""
        return FeedbackLog(tuple(replace(entry, decision=decision) for entry in self.entries))

    def replaced(self, number: int, entry: FeedbackEntry) -> FeedbackLog:
        """Return the log with another entry in a place."""
        entries = list(self.entries)
        entries[number] = replace(entry, standing=entries[number].standing)
        return FeedbackLog(tuple(entries))

    def mapped(self, fitting: Callable[[JudgedRows], JudgedRows]) -> FeedbackLog:
        """Return the log with rows as a function makes them, one for one."""
        entries = (replace(entry, rows=fitting(entry.rows)) for entry in self.entries)
        return FeedbackLog(tuple(entries))

    def rows(self, kind: Kind) -> tuple[JudgedRows, Integers] | None:
        """Return the rows that are accepted, or rejected, and how often each counts; or None."""
        some = [e for e in self.entries if e.kind == kind and e.standing.any()]
        if not some:
            return None
        counts = [np.full(int(entry.standing.sum()), entry.times) for entry in some]
        return joined([taken(e.rows, e.standing) for e in some]), np.concatenate(counts)


def _standing(entry: FeedbackEntry, later: tuple[FeedbackEntry, ...]) -> FeedbackEntry:
    """Return an entry with the rows of which nobody has said the opposite since."""
    standing = np.ones(len(entry), dtype=np.bool_)
    for other in later:
        if other.kind != entry.kind:
            standing &= ~equal_rows(entry.rows, other.rows)
    return replace(entry, standing=standing)
