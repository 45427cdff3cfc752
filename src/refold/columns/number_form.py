"""How the texts of a column are written as numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from math import isfinite, nan
from typing import Any, Literal, get_args

import numpy as np

from refold._typing import Floats
from refold.columns import durations

Kind = Literal["number", "duration"]

LONGEST = 64  # characters; no number is longer, and hostile texts are not looked at
SPACES = " \u00a0\u2009\u202f"
MINUS = "−–-"  # the last one last: these stand in brackets of expressions
# A mark as a form names it, and all that are taken for it.
_THOUSANDS = {"": "", ",": ",", ".": r"\.", " ": f"[{SPACES}]", "'": "['’]"}
_DECIMALS = (".", ",")
_LONGEST_UNIT = 24


@dataclass(frozen=True)
class NumberForm:
    """How the texts of a column are written as numbers.

    Parameters
    ----------
    decimal : {".", ","}, default="."
        What comes before the fraction.
    thousands : {"", ",", ".", " ", "'"}, default=""
        What may stand between groups of three digits; " " is any space.
    prefix, suffix : str, default=""
        A currency or unit that may stand before or behind, with or without a space between.
    kind : {"number", "duration"}, default="number"
        Durations such as ``01:30:00``, ``2h 15min``, ``1 day 02:00`` and ``PT5M`` are read as
        seconds; they have no other marks.

    Examples
    --------
    >>> from refold.columns.number_form import NumberForm
    >>> NumberForm(decimal=",", thousands=".", suffix="€").read(["1.234,50 €", "-2", "(3)", "€"])
    array([1234.5,   -2. ,   -3. ,    nan])
    >>> NumberForm(kind="duration").read(["90 min", "1:30:00"])
    array([5400., 5400.])
    """

    decimal: str = "."
    thousands: str = ""
    prefix: str = ""
    suffix: str = ""
    kind: Kind = "number"

    def __post_init__(self) -> None:
        if self.decimal not in _DECIMALS:
            raise ValueError(f"decimal must be '.' or ',', not {self.decimal!r}")
        if self.thousands not in _THOUSANDS or self.thousands == self.decimal:
            raise ValueError(f"thousands cannot be {self.thousands!r} beside {self.decimal!r}")
        if max(len(self.prefix), len(self.suffix)) > _LONGEST_UNIT:
            raise ValueError(f"a unit has at most {_LONGEST_UNIT} characters")
        if self.kind not in get_args(Kind):
            raise ValueError(f"kind must be 'number' or 'duration', not {self.kind!r}")

    @property
    def plain(self) -> bool:
        """Whether numbers are written as Python does, so that ``float(text)`` reads them."""
        return self == NumberForm()

    def read(self, texts: Sequence[str]) -> Floats:
        """Return the numbers; NaN where a text is no finite number that is so written.

        Parameters
        ----------
        texts : sequence of str

        Returns
        -------
        ndarray of shape (n,)
        """
        if self.plain:
            return _plain(texts)
        if self.kind == "duration":
            return durations.seconds(texts)
        pattern = _pattern(self.decimal, self.thousands, self.prefix, self.suffix)
        values = np.full(len(texts), nan)
        if self == NumberForm(decimal=",") and not any("." in text for text in texts):
            values = _plain([text.replace(",", ".") for text in texts])
        for row in np.flatnonzero(np.isnan(values)).tolist():
            values[row] = _one(pattern, texts[row])
        return values

    def as_dict(self) -> dict[str, str]:
        """Return the form as JSON can say it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, d: Mapping[str, Any]) -> NumberForm:
        """Return the form that `as_dict` wrote; ValueError where there is none such."""
        if d.keys() != asdict(cls()).keys() or not all(isinstance(v, str) for v in d.values()):
            raise ValueError(f"a form of numbers has the texts {', '.join(asdict(cls()))}")
        return cls(**d)


def _plain(texts: Sequence[str]) -> Floats:
    """Read what Python reads, but neither ``1_000`` nor digits of other scripts nor infinity."""
    together = "".join(texts)
    usual = together.isascii() and "_" not in together and max(map(len, texts), default=0) < LONGEST
    read = float if usual else _careful
    try:
        values = np.fromiter(map(read, texts), np.float64, len(texts))
    except ValueError:
        values = np.fromiter(map(_careful, texts), np.float64, len(texts))
    values[~np.isfinite(values)] = nan
    return values


def _careful(text: str) -> float:
    if len(text) > LONGEST or "_" in text or not text.strip().isascii():
        return nan
    try:
        return float(text)
    except ValueError:
        return nan


def _one(pattern: re.Pattern[str], text: str) -> float:
    if len(text) > LONGEST or (found := pattern.fullmatch(text.strip())) is None:
        return nan
    before, bracket, inner, whole, part, power, after, closed = found.groups()
    signs = [sign for sign in (before, bracket, inner, after) if sign]
    if len(signs) > 1 or bool(bracket) != bool(closed) or not (whole or part):
        return nan
    digits = "".join(filter(str.isdigit, whole or "")) or "0"
    value = float(f"{digits}.{part or '0'}{power or ''}")
    if not isfinite(value):
        return nan
    return -value if signs and signs[0] != "+" else value


@lru_cache(maxsize=256)
def _pattern(decimal: str, thousands: str, prefix: str, suffix: str) -> re.Pattern[str]:
    """Return what a number so written is; every repetition has an end and only one way to match."""
    space = f"[{SPACES}]?"
    before = f"(?:{re.escape(prefix)}{space})?" if prefix else ""
    behind = f"(?:{space}{re.escape(suffix)})?" if suffix else ""
    whole = "[0-9]{1,40}"
    if thousands:
        mark = _THOUSANDS[thousands]
        whole = f"[0-9]{{1,3}}(?:{mark}[0-9]{{3}}){{1,12}}|{whole}"
    if thousands == ",":  # lakh and crore
        whole = f"[0-9]{{1,2}}(?:,[0-9]{{2}}){{1,12}},[0-9]{{3}}|{whole}"
    return re.compile(
        f"([+{MINUS}])?{space}{before}(\\()?{space}{before}([+{MINUS}])?{space}"
        f"({whole})?(?:{re.escape(decimal)}([0-9]{{0,40}}))?([eE][+-]?[0-9]{{1,4}})?"
        f"{behind}([{MINUS}])?(\\))?{behind}"
    )
