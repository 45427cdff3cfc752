"""A column of texts: which values, shapes and characters its rows have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.algorithm import kernels
from refold.base.once import once
from refold.columns.encoding.shapes import LOOKED_AT, count_shapes, example_of, shapes_of
from refold.columns.encoding.surprise import MANY, LeftOut, Surprise
from refold.columns.encoding.value_counts import ValueCounts
from refold.columns.table import TextColumn

VIEWS = ("value", "shape", "collapsed shape", "character")
# Values that show how rare the rarest character of a value usually is; more would not tell more.
_ENOUGH_VALUES = 2**12


@dataclass(frozen=True, eq=False)
class TextCounts:
    """What is kept of the rows."""

    # values, shapes, collapsed: Their texts, and what these look like.
    values: ValueCounts = field(default_factory=ValueCounts)
    shapes: ValueCounts = field(default_factory=ValueCounts)
    collapsed: ValueCounts = field(default_factory=ValueCounts)
    characters: Mapping[str, int] = field(default_factory=dict)  # how many rows have each character

    @classmethod
    def of(cls, texts: TextColumn) -> TextCounts:
        """Count a column."""
        counts = texts.counts
        missing = len(texts) - int(counts.sum())
        return cls(
            ValueCounts.of(texts.values, counts, missing),
            *count_shapes(texts.values, counts, missing),
            _characters(list(texts.values), counts),
        )

    def plus(self, other: TextCounts) -> TextCounts:
        """Return the counts of the rows of both."""
        return self._with(other, ValueCounts.plus, 1)

    def minus(self, other: TextCounts) -> TextCounts:
        """Return the counts without those rows."""
        return self._with(other, ValueCounts.minus, -1)

    def _with(
        self, other: TextCounts, both: Callable[[ValueCounts, ValueCounts], ValueCounts], sign: int
    ) -> TextCounts:
        characters = dict(self.characters)
        for character, count in other.characters.items():
            characters[character] = characters.get(character, 0) + sign * count
        return TextCounts(
            both(self.values, other.values),
            both(self.shapes, other.shapes),
            both(self.collapsed, other.collapsed),
            {character: count for character, count in characters.items() if count > 0},
        )

    @property
    def missing(self) -> int:
        """How many rows have no value."""
        return self.values.missing

    @once
    def usual_forms(self) -> tuple[str, str]:
        """Texts, for people to read, of the usual shape and of the usual collapsed shape."""
        usual = self.shapes.most_usual, self.collapsed.most_usual
        shape, collapsed = (example_of(each, self.values.counts) for each in usual)
        return shape, collapsed

    @once
    def surprises(self) -> tuple[Surprise, Surprise, Surprise]:
        """How surprising counts of values, shapes and collapsed shapes are."""
        return Surprise.of(self.values), Surprise.of(self.shapes), Surprise.of(self.collapsed)

    @once
    def rarest(self) -> Characters:
        """How rare the rarest characters of the rows are."""
        values = sorted(self.values.counts)
        if len(values) > _ENOUGH_VALUES:
            drawn = np.random.RandomState(0).choice(len(values), _ENOUGH_VALUES, replace=False)
            values = [values[k] for k in np.sort(drawn)]
        counts = self.values.counts_of(values)
        ascii_rows = _ascii_rows(self.characters)
        rarest = _rarest(self.characters, ascii_rows, values)
        return Characters(self.characters, ascii_rows, rarest, counts)

    def views(
        self, texts: TextColumn, *, left_out: LeftOut = False, without: Collection[str] = ()
    ) -> Floats:
        """Return how surprising each different text is in each view, and, last, a missing one.

        Rows find theirs by ``texts.codes``. In the views `without`, a text that was never counted
        does not surprise: languages that cannot tell them of a new text know them of all others.
        """
        value, shape, run = self.surprises
        out = np.zeros((len(texts.values) + 1, len(VIEWS)))
        have = self.values.counts_of(texts.values)
        out[:, 0] = value.of_rows(np.append(have, self.missing), left_out=left_out)
        codes, different = shapes_of(texts.values)
        alike, collapsed = shapes_of(different, collapsed=True)
        out[:-1, 1] = shape.of_rows(self.shapes.counts_of(different), left_out=left_out)[codes]
        of_collapsed = run.of_rows(self.collapsed.counts_of(collapsed), left_out=left_out)
        out[:-1, 2] = of_collapsed[alike[codes]]
        out[:-1, 3] = self.rarest.of_texts(texts.values, left_out=left_out)
        for k in (k for k, view in enumerate(VIEWS) if view in without):
            out[:-1, k] *= have > 0
        return out

    def new(self, texts: TextColumn) -> Booleans:
        """Say which texts were never counted, and last, never, a missing one."""
        return np.append(self.values.counts_of(texts.values) == 0, False)


@dataclass(frozen=True, eq=False)
class Characters:
    """How surprising the rarest character of a text is.

    T(r) is the mean over rows of min(1, (r + 1)/r_row), r_row being how many rows have the rarest
    character of that row.
    """

    rows_with: Mapping[str, int]  # how many rows have each character
    ascii_rows: Integers  # (128,): the same of the first 128
    rarest: Integers  # r_row of different texts
    counts: Integers  # how many rows have each of these texts

    def of_texts(self, texts: Sequence[str], *, left_out: LeftOut = False) -> Floats:
        """Return the surprise of each text."""
        have = _rarest(self.rows_with, self.ascii_rows, texts)
        # As for values: what learns from these must not tell new rows from those counted.
        if len(self.rarest) == 0:
            return np.zeros(len(have))
        if left_out == "exactly":
            different, group = np.unique(have, return_inverse=True)
            others = np.array([self._share_without_one(each) for each in different.tolist()])
            return np.asarray(np.maximum(-np.log(others), 0.0)[group])
        r = have - 1 if left_out else np.where(have > MANY, have - 1, have)
        known, asked = self._shares, r.tolist()
        for new in set(asked).difference(known):
            known[new] = self._share(new)
        share = np.fromiter(map(known.__getitem__, asked), np.float64, len(asked))
        return np.asarray(np.maximum(-np.log(share), 0.0))

    @cached_property
    def _rows(self) -> float:
        return float(self.counts.sum())

    @cached_property
    def _shares(self) -> dict[int, float]:
        """T(r) of the numbers r that were asked for."""
        return {}

    def _share_without_one(self, have: int) -> float:
        """Return T(r) of the other rows, of a row whose rarest character so many rows have."""
        rest = have - 1
        up_to = rest if rest > MANY else rest + 1
        few = up_to / np.maximum(np.where(self.rarest == have, rest, self.rarest), 1)
        own = min(1.0, up_to / max(rest, 1))
        share = (float(np.minimum(1.0, few) @ self.counts) - own) / max(self._rows - 1.0, 1.0)
        return min(max(share, 1e-300), 1.0)

    def _share(self, r: int) -> float:
        usual = np.minimum(1.0, (r + 1.0) / np.maximum(self.rarest, 1))
        return max(float((usual * self.counts).sum()) / self._rows, 1e-300)


def _characters(texts: list[str], counts: Integers) -> dict[str, int]:
    """Count the rows that have each character."""
    rows_with, others = kernels.characters(texts, counts, looked_at=LOOKED_AT)
    found = {chr(code): int(rows_with[code]) for code in np.flatnonzero(rows_with)}
    for k in others:
        for character in set(texts[k][:LOOKED_AT]):
            found[character] = found.get(character, 0) + int(counts[k])
    return found


def _ascii_rows(rows_with: Mapping[str, int]) -> Integers:
    out = np.zeros(kernels.ASCII, dtype=np.int64)
    for character, rows in rows_with.items():
        if character.isascii():
            out[ord(character)] = rows
    return out


def _rarest(rows_with: Mapping[str, int], ascii_rows: Integers, texts: Sequence[str]) -> Integers:
    """Return how many rows have the rarest character of each text."""
    out = kernels.rarest(list(texts), ascii_rows, looked_at=LOOKED_AT)
    for k in np.flatnonzero(out < 0).tolist():
        out[k] = min(rows_with.get(character, 0) for character in set(texts[k][:LOOKED_AT]))
    return out
