"""Columns of a clean table as somebody sees them who knows how errors get in.

What a column is, is decided here by plain rules and by nothing of what is being tested.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np

from refold._typing import Floats

# Closed: few values, which all rows share, so that another one is an error.
_MOST_VALUES, _MOST_ONCE = 100, 1 / 200
# A category repeats its values at least so often on average; text and codes of their own do not.
_REPEATS = 5
_MOSTLY = 0.95
_CODE = re.compile(r"[A-Z0-9][A-Z0-9_./-]+")

_CLOCKS = ("", " %H:%M:%S", "T%H:%M:%SZ", "T%H:%M:%S", " %H:%M", "T%H:%M")
FORMATS = tuple(day + clock for day in ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y") for clock in _CLOCKS)


def shape(text: str) -> str:
    """Return what a text looks like: ``AB-1234`` like ``AA-9999``.

    Examples
    --------
    >>> from refold.studies.tables.columns import shape
    >>> shape("N824mq")
    'A999aa'
    """
    return re.sub("[0-9]", "9", re.sub("[a-z]", "a", re.sub("[A-Z]", "A", text)))


@dataclass(frozen=True, eq=False)
class CleanColumn:
    """A column of texts as they were written, and what they are."""

    name: str  # its name
    texts: Sequence[str]  # those of the training rows, without missing ones
    missing: float = 0.0  # the share of training rows that have none
    elsewhere: frozenset[str] = frozenset()  # what is written in rows that are not for training

    @cached_property
    def counts(self) -> Counter[str]:
        """How many training rows have each text."""
        return Counter(self.texts)

    @cached_property
    def known(self) -> frozenset[str]:
        """All that is written anywhere in the column."""
        return self.elsewhere.union(self.counts)

    @cached_property
    def shapes(self) -> frozenset[str]:
        """What the texts look like."""
        return frozenset(map(shape, self.known))

    @cached_property
    def numbers(self) -> Floats | None:
        """The texts as numbers; None if one of them is none, or all are the same."""
        try:
            values = np.array([float(text) for text in self.texts])
        except ValueError:
            return None
        varied = len(values) > 0 and np.isfinite(values).all() and values.min() < values.max()
        return values if varied else None

    @cached_property
    def decimals(self) -> int:
        """With how many decimals most of its numbers are written."""
        return Counter(len(text.partition(".")[2]) for text in self.texts).most_common(1)[0][0]

    @cached_property
    def format(self) -> str | None:
        """How its dates are written; None if it has none."""
        return next((form for form in FORMATS if _all_read(self.counts, form)), None)

    @cached_property
    def moments(self) -> list[datetime]:
        """Its dates, one for each training row."""
        assert self.format is not None
        read = {text: datetime.strptime(text, self.format) for text in self.counts}
        return [read[text] for text in self.texts]

    @cached_property
    def spread(self) -> float:
        """How far the middle four fifths of its numbers reach, of its dates in seconds.

        The range if these are all the same; infinite if it is too large for a number.
        """
        values = self.numbers
        if values is None:
            values = np.array(self.moments, dtype="datetime64[s]").astype(float)
        with np.errstate(over="ignore", invalid="ignore"):
            low, high = np.quantile(values, [0.1, 0.9])
            found = float(high - low or values.max() - values.min())
        return found if np.isfinite(found) else np.inf

    @property
    def has_clock(self) -> bool:
        """Whether it has dates with a time of the day."""
        return self.format is not None and "%H" in self.format

    @cached_property
    def is_text(self) -> bool:
        """Whether it has neither numbers nor dates."""
        return bool(self.counts) and not _all_read(self.counts) and self.format is None

    @property
    def is_category(self) -> bool:
        """Whether its texts are values that rows share."""
        return self.is_text and 1 < len(self.counts) <= len(self.texts) / _REPEATS

    @property
    def is_closed(self) -> bool:
        """Whether it is a category that new rows have no new values of."""
        once_only = sum(count == 1 for count in self.counts.values())
        few = len(self.counts) <= _MOST_VALUES and once_only <= _MOST_ONCE * len(self.texts)
        return self.is_category and few

    @cached_property
    def is_code(self) -> bool:
        """Whether its texts are capital letters and digits, such as N824MQ or JFK."""
        codes = sum(n for text, n in self.counts.items() if _CODE.fullmatch(text))
        return self.is_text and codes >= _MOSTLY * len(self.texts)


def _all_read(texts: Iterable[str], form: str | None = None) -> bool:
    """Whether all are dates written in this way, or without one numbers."""
    try:
        for text in texts:
            float(text) if form is None else datetime.strptime(text, form)
    except ValueError:
        return False
    return True
