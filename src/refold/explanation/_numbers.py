"""Numbers as people read them, and how they are rounded so that what is read is true."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from refold._typing import Floats, Ranges
from refold.base.words import DIGITS, number

_ALL_DIGITS = 17


def as_read(value: float, digits: int = DIGITS) -> float:
    """Return the number that somebody reads."""
    return float(number(value, digits).replace("−", "-").replace(",", ""))


def in_full(value: float) -> str:
    """Return a number with all its digits, if it has few: what is read is the number itself."""
    return number(value, digits_that(lambda digits: as_read(value, digits) == value))


def digits_that(show: Callable[[int], bool]) -> int:
    """Return how many digits are needed to show something, all if need be."""
    return next((digits for digits in range(DIGITS, _ALL_DIGITS) if show(digits)), _ALL_DIGITS)


def rounded(values: Floats, away_from: Floats | None = None, digits: int = DIGITS) -> Floats:
    """Return values as they are read; those that would come nearer to others one digit farther."""
    near = np.array([as_read(v, digits) for v in values.tolist()])
    if away_from is None:
        return near
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        places = digits - 1 - np.floor(np.log10(np.abs(values)))
        step = 10.0 ** -np.where(np.abs(values) < 1e4, places, 0.0)
        beyond = near + np.copysign(step, values - away_from)
    short = np.abs(near - away_from) < np.abs(values - away_from)
    return np.where(short, rounded(np.nan_to_num(beyond), digits=digits), near)


def listed(words: Sequence[str]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def split_unit(feature: str) -> tuple[str, str]:
    """Split "torque [Nm]" into the name and what follows a value of it.

    Examples
    --------
    >>> from refold.explanation import split_unit
    >>> split_unit("torque [Nm]")
    ('torque', ' Nm')
    """
    match = re.fullmatch(r"(.+?)\s*\[([^\[\]]+)\]", feature)
    return (match[1], f" {match[2]}") if match else (feature, "")


def ranges_text(ranges: Ranges, digits: int = DIGITS) -> str:
    """Return "70.1–78.4", "−26.95 to −23.79", "0 or 1", "0–5 or 20–30".

    Examples
    --------
    >>> from refold.explanation import ranges_text
    >>> ranges_text(((0.0, 5.0), (20.0, 30.0)))
    '0–5 or 20–30'
    """
    return " or ".join(_range_text(low, high, digits) for low, high in ranges)


def _range_text(low: float, high: float, digits: int) -> str:
    ends = [number(low, digits), number(high, digits)]
    if ends[0] == ends[1]:
        return ends[0]
    return (" to " if low < 0.0 else "–").join(ends)
