"""Rows in the order of a column: numbers as numbers, dates as dates, texts as texts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from refold._typing import Floats, Integers
from refold.columns.number_form import NumberForm
from refold.columns.table import CellState, Column, NumberColumn, TextColumn

_KEPT = 8  # columns whose order is kept: somebody goes through pages, and tries another column
_LOOKED_AT = 100
# What can be read comes first, what is missing last.
_LAST = np.zeros(3, dtype=np.int64)
_LAST[[CellState.READABLE, CellState.UNREADABLE, CellState.MISSING]] = 0, 1, 2


@dataclass(frozen=True, eq=False)
class SortKey:
    """By what rows are sorted."""

    values: Floats  # (n,): the smaller, the earlier
    # (n,): 0 where there is a value; others come after all values, in either direction.
    last: Integers

    @classmethod
    def of(cls, values: Floats) -> SortKey:
        """Sort by numbers; NaN is missing."""
        return cls(values, np.isnan(values).astype(np.int64))

    def order(self, rows: Integers, *, down: bool) -> Integers:
        """Return rows in their order; those that are alike stay as they are."""
        values = self.values[rows]
        return rows[np.lexsort((-values if down else values, self.last[rows]))]


class SortKeys:
    """The keys of columns, made when one is first asked for; the last ones are kept."""

    def __init__(self) -> None:
        self._made, self._lock = dict[int, SortKey](), threading.Lock()

    def get(self, place: int, make: Callable[[int], SortKey]) -> SortKey:
        """Return the key of the column at a place; `make` makes it if need be."""
        with self._lock:  # of two that ask at once, one waits for what the other makes
            key = self._made.pop(place, None) or make(place)
            self._made[place] = key
            if len(self._made) > _KEPT:
                del self._made[next(iter(self._made))]
            return key


def key_of(column: Column) -> SortKey:
    """Return by what a column that was parsed sorts rows."""
    if isinstance(column.raw, NumberColumn):
        return SortKey.of(column.raw.values)
    if isinstance(column, TextColumn):
        return _of_texts(column)
    values = column.values if isinstance(column, NumberColumn) else column.seconds
    return SortKey(values, _LAST[column.state])


def _of_texts(texts: TextColumn) -> SortKey:
    numbers = _all_numbers(texts)
    ranks = _ranks(texts) if numbers is None else numbers
    return SortKey.of(np.append(ranks, np.nan)[texts.codes])


def _all_numbers(texts: TextColumn) -> Floats | None:
    """Return texts that are all numbers, such as names that count, as these."""
    form = NumberForm()
    if np.isnan(form.read(texts.values[:_LOOKED_AT])).any():
        return None
    values = form.read(texts.values)
    return None if np.isnan(values).any() else values


def _ranks(texts: TextColumn) -> Floats:
    """Return the places of texts among each other; capital letters are as small ones."""
    folded = [text.casefold() for text in texts.values]
    place = {text: float(k) for k, text in enumerate(sorted(set(folded)))}
    return np.array([place[text] for text in folded])
