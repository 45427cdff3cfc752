"""The last rows of each group: what a stream remembers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.base.errors import UserError

# Of more groups than this, those that were heard of longest ago are forgotten.
MOST_GROUPS = 100_000
_Key = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Past:
    """Rows that follow each other, of one or several groups."""

    groups: Integers  # (n,): the group of each row, by its number
    times: Floats  # (n,): when it was; 0 where only the order of rows counts
    since: Floats  # (n,): when the first row of its group was
    values: Floats  # (n, d): its numbers
    # (n, d): how many rows up to this one have its value; NaN of rows that are new.
    unchanged: Floats

    @classmethod
    def of(cls, groups: Integers, times: Floats, values: Floats) -> Past:
        """Take rows of which nothing else is known."""
        nothing = np.full(len(groups), np.nan)
        return cls(groups, times, nothing, values, np.full(values.shape, np.nan))

    @staticmethod
    def concat(parts: Sequence[Past]) -> Past:
        """Return the rows of all."""
        members = zip(*(vars(part).values() for part in parts), strict=True)
        return Past(*(np.concatenate(each) for each in members))

    def take(self, rows: Integers | Booleans | slice) -> Past:
        """Return some of the rows."""
        return Past(*(each[rows] for each in vars(self).values()))


@dataclass(eq=False)
class History:
    """The last rows of each group, as many as a window needs: it grows with groups, not rows."""

    most_groups: int = MOST_GROUPS
    _rows: dict[_Key, Past] = field(default_factory=dict)
    _new: dict[_Key, Past] = field(default_factory=dict)

    def before(self, keys: Sequence[_Key], rows: Past, over: Sequence[str]) -> Past:
        """Return what is known of the groups of new rows, which must not be earlier."""
        earliest = np.full(len(keys), np.inf)
        np.minimum.at(earliest, rows.groups, rows.times)
        parts = [rows.take(slice(0, 0))]
        for group, key in enumerate(keys):
            known = self._rows.get(key)
            if known is None:
                continue
            if over and earliest[group] < known.times[-1]:
                of = f" of {' '.join(key)}" if key else ""
                raise UserError(
                    f"over={over[0]!r} runs backwards: a row{of} is earlier than the last one that "
                    "was judged. Give rows in the order of time, or begin a new stream."
                )
            parts.append(replace(known, groups=np.full(len(known.times), group)))
        return Past.concat(parts)

    def keep(self, keys: Sequence[_Key], rows: Past, kept: Booleans) -> None:
        """Take some of the rows, sorted by group and time, to be kept by `commit`."""
        bounds = np.searchsorted(rows.groups, np.arange(len(keys) + 1)).tolist()
        self._new = {
            key: rows.take(slice(begin, end)).take(kept[begin:end])
            for key, begin, end in zip(keys, bounds[:-1], bounds[1:], strict=True)
            if begin < end
        }

    def commit(self) -> None:
        """Keep what was taken last: the rows were judged without an error."""
        for key, rows in self._new.items():
            self._rows.pop(key, None)  # to the end: it was heard of last
            self._rows[key] = rows
        self._new = {}
        while len(self._rows) > self.most_groups:
            del self._rows[next(iter(self._rows))]
