"""How the texts of a column are written as numbers or durations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from math import isfinite, nan
from typing import Any, Literal, get_args

import numpy as np

from refold._typing import Floats
from refold.columns.missing import SourceFormat

Kind = Literal["number", "duration"]

LONGEST = 64  # characters; no number is longer, and hostile texts are not looked at
SPACES = " \u00a0\u2009\u202f"
MINUS = "−–-"  # the last one last: these stand in brackets of expressions
# A mark as a form names it, and all that are taken for it.
_THOUSANDS = {"": "", ",": ",", ".": r"\.", " ": f"[{SPACES}]", "'": "['’]"}
_DECIMALS = (".", ",")
_LONGEST_UNIT = 24
# A whole number with a mark between its thousands does not begin with a zero.
_GROUPED = "[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}}){{1,12}}"
GROUPED_POINTS = rf"[+-]?{_GROUPED.format(mark=r'[.]')}"


@dataclass(frozen=True)
class NumberForm:
    """How the texts of a column are written as numbers.

    >>> NumberForm(decimal=",", thousands=".", suffix="€").read(["1.234,50 €", "-2", "(3)", "€"])
    array([1234.5,   -2. ,   -3. ,    nan])
    >>> NumberForm(kind="duration").read(["90 min", "1:30:00"])
    array([5400., 5400.])
    """

    decimal: str = "."  # what comes before the fraction
    thousands: str = ""  # what may stand between groups of three digits; " " is any space
    # prefix, suffix: A currency or unit that may stand before or behind, with or without a space
    # between.
    prefix: str = ""
    suffix: str = ""
    # Durations such as ``01:30:00``, ``2h 15min``, ``1 day 02:00`` and ``PT5M`` are read as
    # seconds; they have no other marks.
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

    def __str__(self) -> str:
        if self.kind == "duration":
            return "durations"
        said = f"decimal {'commas' if self.decimal == ',' else 'points'}"
        named = {",": "commas", ".": "points", " ": "spaces", "'": "apostrophes"}
        if self.thousands:
            said += f", {named[self.thousands]} between thousands"
        unit = self.prefix or self.suffix
        return f"{said}, {unit}" if unit else said

    @property
    def marks_text(self) -> str:
        """How numbers are written, without the unit; empty for plain ones."""
        bare = replace(self, prefix="", suffix="")
        return "" if bare.plain else str(bare)

    @property
    def plain(self) -> bool:
        """Whether numbers are written as Python does, so that ``float(text)`` reads them."""
        return self == NumberForm()

    def read(self, texts: Sequence[str]) -> Floats:
        """Return the numbers; NaN where a text is no finite number that is so written."""
        if self.plain:
            return _plain(texts)
        if self.kind == "duration":
            return np.fromiter(map(_duration, texts), np.float64, len(texts))
        pattern = _pattern(self.decimal, self.thousands, self.prefix, self.suffix)
        values = np.full(len(texts), nan)
        if self in _COMMA and not any("." in text for text in texts):
            values = _plain([text.replace(",", ".") for text in texts])
        for row in np.flatnonzero(np.isnan(values)).tolist():
            values[row] = _one(pattern, texts[row])
        return values

    @property
    def mark(self) -> str:
        """What stands between thousands, as a regular expression."""
        return _THOUSANDS[self.thousands]

    @property
    def grouped(self) -> str:
        """What a whole number with such marks is, as a regular expression."""
        return _GROUPED.format(mark=self.mark)

    def in_file(self, written: SourceFormat) -> NumberForm:
        """Return the form of a file for which the user has said its marks; else this one."""
        decimal = written.decimal_mark or self.decimal
        if self.kind == "duration" or not (written.decimal or written.thousands):
            return self
        other = "," if decimal == "." else "."
        return replace(self, decimal=decimal, thousands=written.thousands or other)

    def as_dict(self) -> dict[str, str]:
        """Return the form as JSON can say it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, d: Mapping[str, Any]) -> NumberForm:
        """Return the form that `as_dict` wrote; ValueError where there is none such."""
        if d.keys() != asdict(cls()).keys() or not all(isinstance(v, str) for v in d.values()):
            raise ValueError(f"a form of numbers has the texts {', '.join(asdict(cls()))}")
        return cls(**d)


_COMMA = (NumberForm(decimal=","), NumberForm(decimal=",", thousands="."))


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
        whole = f"{_GROUPED.format(mark=mark)}|{whole}"
    if thousands == ",":  # lakh and crore
        whole = f"[1-9][0-9]?(?:,[0-9]{{2}}){{1,12}},[0-9]{{3}}|{whole}"
    return re.compile(
        f"([+{MINUS}])?{space}{before}(\\()?{space}{before}([+{MINUS}])?{space}"
        f"({whole})?(?:{re.escape(decimal)}([0-9]{{0,40}}))?([eE][+-]?[0-9]{{1,4}})?"
        f"{behind}([{MINUS}])?(\\))?{behind}"
    )


# ---- durations ---------------------------------------------------------------------------------

_UNITS_OF_TIME = {
    0.001: "ms millisecond milliseconds msec",
    1.0: "s sec secs second seconds sek sekunde sekunden seconde secondes segundo segundos",
    60.0: "m min mins minute minutes minuten minuto minutos",
    3600.0: "h hr hrs hour hours std stunde stunden heure heures hora horas",
    86400.0: "d day days tag tage tagen jour jours día días dia dias",
    604800.0: "w wk wks week weeks woche wochen semaine semaines semana semanas",
}
_SECONDS = {word: unit for unit, words in _UNITS_OF_TIME.items() for word in words.split()}
_NUMBER = "[0-9]{1,12}(?:[.,][0-9]{1,9})?"
_PART = re.compile(rf"({_NUMBER}) ?([^\W\d_]{{1,12}})\.?")
_PARTS = re.compile(rf"(?:{_PART.pattern}(?:, ?| |(?=[0-9])|$)){{1,6}}")
_DAYS = r"(?:([0-9]{1,7}) ?(?:d|days?|tage?|jours?|días?|dias?),? ?\+?)"
_CLOCK = re.compile(rf"{_DAYS}?([0-9]{{1,6}}):([0-5]?[0-9])(?::([0-5]?[0-9]))?([.,][0-9]{{1,9}})?")
_SIGNED = f"-?{_NUMBER}"  # pandas counts on from whole days here too: P-1DT23H
_ISO = re.compile(
    f"p(?:({_SIGNED})w)?(?:({_SIGNED})d)?(?:t(?:({_SIGNED})h)?(?:({_SIGNED})m)?(?:({_SIGNED})s)?)?"
)


def _duration(text: str) -> float:
    """Return how long a text says, in seconds; NaN where it is no duration.

    Of two numbers with a colon between the first is minutes, as in ``3:45``, behind days hours.
    A number without a unit is no duration.
    """
    if len(text) > LONGEST:
        return nan
    text = text.strip().lower()
    sign = -1.0 if text[:1] in ("-", "−") else 1.0
    text = text[1:] if text[:1] in ("-", "−", "+") else text
    if found := _CLOCK.fullmatch(text):
        days, *clock = found.groups()
        # Python and pandas count on from whole days: -1 day, 23:00:00 is an hour before 0.
        if days:
            return sign * 86400.0 * int(days) + _clock(*clock, hours=True)
        return sign * _clock(*clock)
    if text[:1] == "p":
        return sign * _iso(text)
    if _PARTS.fullmatch(text):
        return sign * _parts(_PART.findall(text))
    return nan


def _clock(
    first: str, second: str, third: str | None, fraction: str | None, *, hours: bool = False
) -> float:
    if third is None and not hours:
        return 60.0 * int(first) + int(second) + _decimal(fraction)
    return 3600.0 * int(first) + 60.0 * int(second) + int(third or 0) + _decimal(fraction)


def _iso(text: str) -> float:
    found = _ISO.fullmatch(text)
    if found is None or not any(found.groups()):
        return nan
    units = (604800.0, 86400.0, 3600.0, 60.0, 1.0)
    return sum(unit * _decimal(part) for unit, part in zip(units, found.groups(), strict=True))


def _parts(parts: list[tuple[str, str]]) -> float:
    """Add up the parts, of which each has a smaller unit than the one before."""
    units = [_SECONDS.get(word) for _, word in parts]
    known = [unit for unit in units if unit is not None]
    if len(known) < len(units) or known != sorted(set(known), reverse=True):
        return nan
    if [word for _, word in parts] == ["m"]:  # metres
        return nan
    return sum(unit * _decimal(number) for unit, (number, _) in zip(known, parts, strict=True))


def _decimal(text: str | None) -> float:
    return float(text.replace(",", ".")) if text else 0.0
