"""The cells of a column as its role has them: numbers, dates or texts, and which cannot be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.base import errors
from refold.base.once import once
from refold.columns.bring import as_texts
from refold.columns.date_form import DateForm
from refold.columns.encoding.dates import Dated
from refold.columns.number_form import NumberForm
from refold.columns.observed import Moments, Numbers, Observed, Texts

READABLE, MISSING, UNREADABLE = range(3)


@dataclass(frozen=True, eq=False)
class Figures:
    """Numbers.

    Parameters
    ----------
    values : ndarray of shape (n,)
        NaN where there is none.
    unreadable : ndarray of bool, shape (n,)
        Where something else stands.
    """

    values: Floats
    unreadable: Booleans

    @once
    def complete(self) -> bool:
        """Whether there is a number in every row."""
        return not np.isnan(self.values).any()

    @once
    def state(self) -> Integers:
        """Whether each is readable, missing or unreadable."""
        return np.where(self.unreadable, UNREADABLE, np.isnan(self.values).astype(np.int64))

    def looked_up(self, by_state: Floats) -> Floats:
        """Return for each row what a table has for its state."""
        return by_state[:1] if self.complete else by_state[self.state]


@dataclass(frozen=True, eq=False)
class Dates:
    """Dates or times."""

    dated: Dated

    @once
    def complete(self) -> bool:
        """Whether there is a date in every row."""
        return not self.state.any()

    @property
    def state(self) -> Integers:
        """Whether each is readable, missing or unreadable."""
        return self.dated.state


@dataclass(frozen=True, eq=False)
class Words:
    """Texts."""

    texts: Texts

    @once
    def complete(self) -> bool:
        """Whether there is a text in every row."""
        return bool((self.texts.codes >= 0).all())

    @once
    def state(self) -> Integers:
        """Whether each is there or missing."""
        return np.where(self.texts.codes < 0, MISSING, READABLE)


Cells = Figures | Dates | Words


def read_column(role: str, form: NumberForm | DateForm | None, column: Observed) -> Cells:
    """Read a column by its role."""
    if role == "number":
        return _figures(form if isinstance(form, NumberForm) else NumberForm(), column)
    if role == "date":
        assert form is None or isinstance(form, DateForm)
        return _dates(form, column)
    return Words(as_texts(column))


def _figures(form: NumberForm, column: Observed) -> Figures:
    if isinstance(column, Numbers):
        return Figures(column.values, np.zeros(len(column), dtype=np.bool_))
    texts = as_texts(column)
    read = form.read(texts.values)
    values = np.append(np.where(np.isfinite(read), read, np.nan), np.nan)[texts.codes]
    return Figures(values, np.isnan(values) & (texts.codes >= 0))


def _dates(form: DateForm | None, column: Observed) -> Dates:
    if isinstance(column, Moments):
        clock = column.has_clock if form is None else form.has_clock
        moments = Moments(column.seconds, column.has_date, clock)
        return Dates(Dated.of(moments, np.zeros(len(column), dtype=np.bool_), None))
    texts = as_texts(column)
    form = form or DateForm("iso", has_date=True, has_clock=True)
    seconds = np.append(form.read(texts.values), np.nan)[texts.codes]
    moments = Moments(seconds, form.has_date, form.has_clock)
    return Dates(Dated.of(moments, np.isnan(seconds) & (texts.codes >= 0), texts))


def check_finite(values: Floats, column: int, names: Sequence[str]) -> None:
    """Refuse infinity in one of the columns, in words."""
    infinite = np.isinf(values)
    if infinite.any():
        raise errors.infinite(int(infinite.argmax()), column).named(names)
