"""How the texts of a column are written as dates, times of day, or both."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from math import nan
from typing import Any
from unicodedata import combining, normalize

import numpy as np
from numpy.typing import NDArray

from refold._typing import Booleans, Floats, Integers
from refold.columns.number_form import NumberForm
from refold.columns.zones import LOCAL, UTC, is_zone, moved, offsets_of_texts

LONGEST = 64  # characters; no date is longer, and hostile texts are not looked at
UNIX = {"unix": 1.0, "unix-ms": 1e-3}  # seconds and milliseconds since 1970
COUNTED = (*UNIX, "%Y%m%d")  # numbers, which may be written 20230131.0 too
_FIRST_DAY, _AFTER_LAST = -62135596800.0, 253402300800.0  # the years 1 to 9999
_LONGEST_FORMAT = 40
_ZONE = (
    r"(?P<z>(?: ?(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?|[A-Z]{3,4}"
    r"|\[?[A-Z][A-Za-z]{1,20}/[A-Za-z_/+-]{1,30}\]?)){0,2})"
)
_SECONDS = "(?::(?P<S>[0-9]{2})(?:[.,](?P<f>[0-9]{1,9}))?)?"
_DIRECTIVES = {
    "Y": "(?P<Y>[0-9]{4})",
    "y": "(?P<y>[0-9]{2})",
    "m": "(?P<m>[0-9]{1,2})",
    "d": "(?P<d>[0-9]{1,2})",
    "q": "(?P<q>[1-4])",
    "b": r"(?P<b>[^\W\d_]{3,12}\.?)",
    "a": r"[^\W\d_]{2,12}\.?",
    "H": "(?P<H>[0-9]{1,2})",
    "I": "(?P<I>[0-9]{1,2})",
    "M": "(?P<M>[0-9]{2})",
    "S": "(?P<S>[0-9]{2})",
    "p": r"(?P<p>[AaPp])\.?[Mm]\.?",
}
_CLOCKS = {
    "%H:%M:%S": f"(?P<H>[0-9]{{1,2}}):(?P<M>[0-9]{{2}}){_SECONDS}{_ZONE}",
    "%I:%M:%S %p": f"(?P<I>[0-9]{{1,2}}):(?P<M>[0-9]{{2}}){_SECONDS} ?{_DIRECTIVES['p']}{_ZONE}",
}
_CENTURY = 69  # years of two digits from here on are of the last century, as POSIX has it
_LAYOUTS = 64  # that are read all at once; what is left is read one by one
_FEW = 64  # texts that are quicker read one by one

# English, German, French and Spanish, in full and shortened, a line for each month.
_MONTH_NAMES = """
january jan januar jänner jän janvier janv enero ene
february feb februar februari février févr fév febrero
march mar märz maerz mär mrz mars marzo
april apr avril avr abril abr
may mai mayo
june jun juni juin junio
july jul juli juillet juil julio
august aug août agosto ago
september sep sept septembre septiembre setiembre
october oct oktober okt octobre octubre
november nov novembre noviembre
december dec dezember dez décembre déc diciembre dic
"""

Fields = dict[str, Integers]


@dataclass(frozen=True)
class DateForm:
    """How the texts of a column are written as dates, times of day, or both.

    >>> DateForm("%d.%m.%Y", True, False).read(["2.1.1970", "30.02.2020"])
    array([86400.,    nan])
    >>> DateForm("iso", True, True).read(["1970-01-01T02:00:00+02:00"])
    array([7200.])
    >>> DateForm("iso", True, True, zone="UTC").read(["1970-01-01T02:00:00+02:00"])
    array([0.])
    """

    # ``"iso"`` (``2023-01-31``, perhaps with a time behind a T or a space), ``"unix"`` or ``"unix-
    # ms"`` (a count since 1970), or as for ``strptime``: %Y %y %m %d %b %a %H %I %M %S %p, and %q
    # for the quarter. Days and months may have one digit or two, %b is a month's name in one of
    # four languages. Behind a date the time may be missing, and of ``%H:%M:%S`` the seconds; they
    # may have a fraction and a zone.
    format: str
    # has_date, has_clock: Whether they say which day it is, and what time of the day.
    has_date: bool
    has_clock: bool
    # The zone of the clock, as zones are named: cells that say how far they are from UTC are moved
    # to it. "local" where only offsets are known, empty where there were none.
    zone: str = ""

    def __post_init__(self) -> None:
        if self.format not in UNIX:
            _pattern(self.format)
        if not is_zone(self.zone):
            raise ValueError(f"{self.zone!r} is not the name of a zone, such as Europe/Helsinki")

    @property
    def clock(self) -> str:
        """The zone of the clock; counts since 1970 are in UTC."""
        return UTC if self.format in UNIX else self.zone

    @property
    def said(self) -> str:
        """The format, and the zone if it has a name."""
        return f"{self.format}, {self.zone}" if self.zone not in ("", LOCAL) else self.format

    def read(self, texts: Sequence[str]) -> Floats:
        """Return seconds since 1970, or since midnight; NaN where a text is not so written.

        They are those of the clock on the wall, in the zone of the form if it has one.
        """
        if self.format in COUNTED:
            return self.of_numbers(NumberForm().read(texts))
        pattern = _pattern(self.format)
        seconds = np.full(len(texts), nan)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        left = np.flatnonzero(lengths <= LONGEST)
        for _ in range(_LAYOUTS):
            if len(left) <= _FEW:
                break
            left = _read_like_the_first(pattern, texts, lengths, left, seconds)
        found = {row: pattern.fullmatch(texts[row].strip()) for row in left.tolist()}
        matches = {row: match for row, match in found.items() if match}
        seconds[list(matches)] = _seconds(_fields(list(matches.values()), pattern))
        return moved(seconds, offsets_of_texts(texts), self.zone) if self.zone else seconds

    def fits_any(self, texts: Sequence[str]) -> bool:
        """Whether one of a few texts has the form; it may still be no date, such as 30 February."""
        if self.format in COUNTED:
            return not np.isnan(self.read(texts)).all()
        match = _pattern(self.format).fullmatch
        return any(len(text) <= LONGEST and match(text.strip()) for text in texts)

    def of_numbers(self, values: Floats) -> Floats:
        """Return the same of numbers: counts since 1970, or 20230131 for ``%Y%m%d``.

        >>> DateForm("%Y%m%d", True, False).of_numbers(np.array([19700102.0, 7.0]))
        array([86400.,    nan])
        """
        if self.format in UNIX:
            seconds = values * UNIX[self.format]
            return np.where((seconds >= _FIRST_DAY) & (seconds < _AFTER_LAST), seconds, nan)
        if self.format not in COUNTED:
            raise ValueError(f"numbers are not dates of the form {self.format}")
        whole = (values >= 10000.0) & (values < 1e8) & (values == np.floor(values))
        days = np.where(whole, values, 0.0).astype(np.int64)
        seconds = _seconds({"Y": days // 10000, "m": days // 100 % 100, "d": days % 100})
        return np.where(whole, seconds, nan)

    def as_dict(self) -> dict[str, Any]:
        """Return the form as JSON can say it."""
        return {name: value for name, value in asdict(self).items() if name != "zone" or value}

    @classmethod
    def from_dict(cls, d: Mapping[str, Any]) -> DateForm:
        """Return the form that `as_dict` wrote; ValueError where there is none such."""
        kinds = {"format": str, "has_date": bool, "has_clock": bool, "zone": str}
        if {name: type(value) for name, value in ({"zone": ""} | dict(d)).items()} != kinds:
            raise ValueError(f"a form of dates has {', '.join(kinds)}")
        return cls(**d)


@lru_cache(maxsize=256)
def _pattern(form: str) -> re.Pattern[str]:
    """Return what a date so written is; every repetition has an end and only one way to match."""
    if form == "iso":
        return re.compile(f"{_translated('%Y-%m-%d')}(?:[T ]{_CLOCKS['%H:%M:%S']})?")
    if len(form) > _LONGEST_FORMAT or "%" not in form:
        raise ValueError(f"{form!r} is not a date format, such as %d.%m.%Y")
    for clock, pattern in _CLOCKS.items():
        date, here, behind = form.partition(clock)
        if here and (behind or not date):
            return _compiled(_translated(date) + pattern + _translated(behind), form)
        if here:
            day = date.rstrip(" ,T")
            return _compiled(
                f"{_translated(day)}(?:{_translated(date[len(day) :])}{pattern})?", form
            )
    return _compiled(_translated(form), form)


def _compiled(pattern: str, form: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error:
        raise ValueError(f"{form!r} has a part of the date twice") from None


def _translated(form: str) -> str:
    """Return a part of a format as a regular expression."""
    parts = []
    for directive, letter in re.findall("%(.)|(.)", form, re.DOTALL):
        if directive and directive not in _DIRECTIVES:
            raise ValueError(f"%{directive} is unknown; known are %{' %'.join(_DIRECTIVES)}")
        space = " {1,2}" if letter == " " else re.escape(letter)
        parts.append(_DIRECTIVES[directive] if directive else space)
    return "".join(parts)


def _read_like_the_first(
    pattern: re.Pattern[str],
    texts: Sequence[str],
    lengths: Integers,
    left: Integers,
    seconds: Floats,
) -> Integers:
    """Read all texts that have their fields where the first has them; return the others."""
    first = texts[left[0]]
    found = pattern.fullmatch(first)
    if found is None:
        stripped = pattern.fullmatch(first.strip())
        seconds[left[:1]] = _seconds(_fields([stripped], pattern)) if stripped else nan
        return left[1:]
    alike = left[lengths[left] == len(first)]
    # Not np.array(texts): the longest of all would make every one as long.
    written = np.array([texts[row] for row in alike.tolist()], dtype=f"U{len(first)}")
    letters = written.view(np.uint32).reshape(len(alike), len(first))
    same = _like(letters, found)
    seconds[alike[same]] = _seconds(_fields_like(letters[same], found))
    read = np.zeros(len(seconds), bool)
    read[alike[same]] = True
    return left[~read[left]]


def _like(letters: NDArray[np.uint32], found: re.Match[str]) -> Booleans:
    """Say which rows have a digit wherever a field of the match has one, and all else the same."""
    same = np.ones(len(letters), bool)
    inside = {place for name in found.re.groupindex for place in range(*found.span(name))}
    inside -= set(range(*found.span("b"))) if "b" in found.re.groupindex else set()
    for place, letter in enumerate(found.string):
        column = letters[:, place]
        choice = next((some for some in ("+-", "AaPp") if letter in some), letter)
        if place in inside and letter.isdigit():
            same &= (column >= ord("0")) & (column <= ord("9"))
        elif place in inside:
            same &= np.isin(column, [ord(other) for other in choice])
        else:
            same &= column == ord(letter)
    return same


def _fields_like(letters: NDArray[np.uint32], found: re.Match[str]) -> Fields:
    """Return the fields of rows that have them where the match has them."""
    fields = {name: np.repeat(v, len(letters)) for name, v in _fields([found], found.re).items()}
    for name, (start, stop) in ((name, found.span(name)) for name in fields):
        digits = letters[:, start:stop].astype(np.int64) - ord("0")
        if name == "p" and start >= 0:
            fields[name] = np.isin(letters[:, start], (ord("P"), ord("p"))).astype(np.int64)
        elif name != "b" and start >= 0:
            fields[name] = digits @ 10 ** np.arange(stop - start - 1, -1, -1)
        if name == "f" and start >= 0:
            fields[name] *= 10 ** (9 - (stop - start))
    return fields


def _fields(matches: Sequence[re.Match[str]], pattern: re.Pattern[str]) -> Fields:
    """Return what the parts of each match say; a fraction in billionths, 1 for the afternoon."""
    fields = {}
    for name in pattern.groupindex.keys() - {"z"}:
        texts = [match[name] or "" for match in matches]
        how = {"b": month_of, "p": _is_afternoon, "f": _billionths}.get(name, _whole)
        fields[name] = np.fromiter(map(how, texts), np.int64, len(texts))
    return fields


def _whole(digits: str) -> int:
    return int(digits or 0)


def _billionths(digits: str) -> int:
    return int(digits.ljust(9, "0"))


def _is_afternoon(half: str) -> int:
    return int(half in "Pp" and half != "")


def _seconds(fields: Fields) -> Floats:
    """Return seconds from fields; NaN where there is no such day or time."""
    zero = np.zeros_like(next(iter(fields.values())))
    hour = fields.get("H", zero)
    wrong = hour > 23
    if "I" in fields:
        hour = fields["I"] % 12 + 12 * fields["p"] if "p" in fields else fields["I"]
        wrong |= fields["I"] > 12
    minute, second = fields.get("M", zero), fields.get("S", zero)
    wrong |= (minute > 59) | (second > 60)
    seconds = 3600 * hour + 60 * minute + second + fields.get("f", zero) * 1e-9
    seconds = seconds + _day(fields) if "Y" in fields or "y" in fields else seconds
    return np.where(wrong, nan, seconds)


def _day(fields: Fields) -> Floats:
    """Return the seconds at the begin of days; NaN where there is no such day."""
    if "Y" in fields:
        year = fields["Y"]
    else:
        year = np.where(fields["y"] < _CENTURY, 2000, 1900) + fields["y"]
    one = np.ones_like(year)
    month, day = fields.get("b", fields.get("m", one)), fields.get("d", one)
    month = 3 * fields["q"] - 2 if "q" in fields else month
    wrong = (month < 1) | (month > 12) | (year < 1)
    months = (12 * (year - 1970) + np.where(wrong, 1, month) - 1).astype("datetime64[M]")
    first, after = (m.astype("datetime64[D]").astype(np.int64) for m in (months, months + 1))
    wrong |= (day < 1) | (day > after - first)
    return np.where(wrong, nan, 86400.0 * (first + day - 1))


def _bare(name: str) -> str:
    """Return a name in small letters without accents and points."""
    letters = normalize("NFKD", name.lower().rstrip("."))
    return "".join(letter for letter in letters if not combining(letter))


_MONTHS = {
    _bare(name): month
    for month, names in enumerate(_MONTH_NAMES.strip().splitlines(), start=1)
    for name in names.split()
}


def month_of(name: str) -> int:
    """Return the month that is so called, or 0.

    >>> month_of("März"), month_of("AOUT"), month_of("Sept."), month_of("Monday")
    (3, 8, 9, 0)
    """
    return _MONTHS.get(_bare(name), 0)
