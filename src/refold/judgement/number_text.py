"""Numbers as people read them, and how they are rounded so that what is read is true."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from refold._typing import Floats, Ranges
from refold.base.words import DIGITS, number
from refold.columns.units import is_unit

_ALL_DIGITS = 17
# What stands behind a name, and is a word or an abbreviation of another thing.
_NO_UNITS = frozenset({"in", "pp", "bp", "cc", "CC", "cl", "PS", "mn", "bn", "mio", "kn"})


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
    short = np.abs(near - away_from) < np.abs(values - away_from)
    return np.where(short, one_step(near, values - away_from, digits), near)


def one_step(values: Floats, towards: Floats, digits: int = DIGITS) -> Floats:
    """Return values with the last digit that is read one larger, or smaller, by a sign."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        places = digits - 1 - np.floor(np.log10(np.abs(values)))
        step = 10.0 ** -np.where(np.abs(values) < 1e4, places, 0.0)
        return rounded(np.nan_to_num(values + np.copysign(step, towards)), digits=digits)


def and_list(words: Sequence[str]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    *first, last = words or [""]
    return f"{', '.join(first)} and {last}" if first else last


def split_unit(feature: str) -> tuple[str, str]:
    """Split a column's name into what it is called and the unit that follows a value of it.

    Examples
    --------
    >>> from refold.judgement.number_text import split_unit
    >>> split_unit("torque [Nm]"), split_unit("weight (g)"), split_unit("body_mass_g")
    (('torque', ' Nm'), ('weight', ' g'), ('body_mass', ' g'))
    """
    match = re.fullmatch(r"(.+?)\s*\[([^\[\]]+)\]", feature)
    if match is None:
        match = re.fullmatch(r"(.+?)\s*\(([^()]+)\)|(.+?)_([^\W_]+)", feature)
        called, unit = (None, "") if match is None else (match[1] or match[3], match[2] or match[4])
        clear = len(unit) > 1 or unit == "g" or not unit.isalpha()
        if called is None or unit in _NO_UNITS or not clear or not is_unit(unit, spaced=False):
            return feature, ""
        return called, f" {unit}"
    return match[1], f" {match[2]}"


def in_data_digits(value: float, decimals: int | None, digits: int = DIGITS) -> str:
    """Return a number with the digits that its column has; of more than these the first ones.

    >>> in_data_digits(1599000.0, 0), in_data_digits(1048.36, 2), in_data_digits(2.0471, 0)
    ('1,599,000', '1048.36', '2.047')
    """
    if decimals is None or abs(value) >= 1e15 or round(value, decimals) != value:
        return number(value, digits)
    text = f"{value:,.{decimals}f}" if abs(value) >= 1e4 else f"{value:.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", "−")


def ranges_text(ranges: Ranges, digits: int = DIGITS, decimals: int | None = None) -> str:
    """Return "70.1–78.4", "−26.95 to −23.79", "0 or 1", "0–5 or 20–30".

    Examples
    --------
    >>> from refold.judgement.number_text import ranges_text
    >>> ranges_text(((0.0, 5.0), (20.0, 30.0)))
    '0–5 or 20–30'
    """
    texts = []
    for low, high in ranges:
        ends = [in_data_digits(end, decimals, digits) for end in (low, high)]
        texts.append((" to " if low < 0.0 else "–").join(dict.fromkeys(ends)))
    return " or ".join(texts)
