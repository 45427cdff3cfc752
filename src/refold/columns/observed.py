"""A column as it was brought: numbers, moments in time, or texts, each different one once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from refold._typing import Booleans, Floats, Integers
from refold.base.once import once

# Words for a missing value, in small letters; spaces around them do not matter.
MISSING = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "-", "?"})
NO_VALUE = -1
LONGEST = 500  # characters of a text that are remembered
_DIGITS = 16
_BEGINNING = LONGEST - _DIGITS - 1


def is_missing(text: str) -> bool:
    """Whether a text says that there is no value."""
    return text.strip().lower() in MISSING


def kept(text: str) -> str:
    """Return a text as it is remembered, so that many of them fit into memory and a file.

    A page is told apart from another by its beginning and a checksum; half a surrogate pair, which
    no file can hold, is written as Python escapes it.
    """
    if not text.isascii():
        text = text.encode("utf-8", "backslashreplace").decode()
    if len(text) <= LONGEST:
        return text
    return f"{text[:_BEGINNING]}…{sha256(text.encode()).hexdigest()[:_DIGITS]}"


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of a numeric type.

    Parameters
    ----------
    values : ndarray of shape (n,)
        NaN where one is missing.
    """

    values: Floats

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: Integers | Booleans) -> Numbers:
        """Return some of the rows."""
        return Numbers(self.values[rows])


@dataclass(frozen=True, eq=False)
class Moments:
    """A column of a type for dates, times or both.

    Parameters
    ----------
    seconds : ndarray of shape (n,)
        By the clock on the wall, since 1970, or since midnight where there is no date; NaN where
        one is missing.
    has_date, has_clock : bool
        Whether they say which day it is, and what time of the day.
    """

    seconds: Floats
    has_date: bool
    has_clock: bool

    def __len__(self) -> int:
        return len(self.seconds)

    def take(self, rows: Integers | Booleans) -> Moments:
        """Return some of the rows."""
        return Moments(self.seconds[rows], self.has_date, self.has_clock)


@dataclass(frozen=True, eq=False)
class Texts:
    """A column of texts, categories or truth values.

    Parameters
    ----------
    values : sequence of str
        Each different text once, as it was written, none of them a word for a missing value.
    codes : ndarray of shape (n,)
        Which one a row has; -1 where it is missing.
    """

    values: Sequence[str]
    codes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.codes)

    @once
    def counts(self) -> Integers:
        """How many rows have each value."""
        seen = self.codes[self.codes >= 0]
        return np.bincount(seen, minlength=len(self.values))

    def take(self, rows: Integers | Booleans) -> Texts:
        """Return some of the rows, and the values that they have."""
        kept, codes = np.unique(self.codes[rows], return_inverse=True)
        none = int(len(kept) > 0 and kept[0] == NO_VALUE)  # it comes first
        return Texts([self.values[k] for k in kept[none:].tolist()], codes.ravel() - none)


Observed = Numbers | Moments | Texts
