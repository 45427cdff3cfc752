"""What users' files contain, and numbers, as they may be shown to people."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Collection
from difflib import get_close_matches

# Controls (C0, DEL, C1), marks and overrides of the direction of writing, separators of lines, and
# bytes of file names that are no text: a terminal obeys them, or cannot show them. Characters
# without width and fillers, by which two names look the same. Joiners (200c, 200d) and variation
# selectors stay: languages and emoji are written with them.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
    "\xad\u034f\u115f\u1160\u180e\u200b\u2060-\u2064\u206a-\u206f\u3164\uffa0\ufff9-\ufffb"
    "\U000e0001\U000e0020-\U000e007f]"
)


_ALL = 0.995  # what is left is next to nothing
_LONGEST = 60
_SUGGESTED = 6  # names that are told one by one
# Of an outlier whose columns have no share by themselves.
ONLY_TOGETHER = "the values are unusual only together; no single column stands out"
# How many digits of a number a person reads.
DIGITS = 4
_SMALLEST_P = 1e-6


def printable(text: str, *, lines: bool = False) -> str:
    r"""Write characters that a terminal would obey as in JSON; line feeds stay with `lines`.

    >>> print(printable("heat\x1b[2J\n°C"))
    heat\u001b[2J\u000a°C
    """
    kept = "\n" if lines else ""
    return _UNSEEN.sub(lambda found: found[0] if found[0] == kept else _escaped(found[0]), text)


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[k : k + 4]}" for k in range(0, len(units), 4))


def quoted(text: str) -> str:
    """Return a cell in quotes, as it may be shown to people: its first 60 characters.

    >>> quoted("AB-12")
    "'AB-12'"
    """
    return f"'{shortened(text)}'"


def shortened(text: str) -> str:
    """Return the first 60 characters of a cell, as they may be shown to people."""
    return printable(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")


def number(value: float, digits: int = DIGITS) -> str:
    """Return a number with the digits that a person reads, and a real minus sign.

    Examples
    --------
    >>> from refold.base.words import number
    >>> number(-1234.5678), number(0.1234567), number(0.0000912), number(38900.0, digits=6)
    ('−1235', '0.1235', '0.0000912', '38,900')
    """
    if 1e-9 <= abs(value) < 1e-4:  # where "g" writes an exponent
        places = digits - 1 - math.floor(math.log10(abs(value)))
        text = f"{value:.{places}f}".rstrip("0")
    elif abs(value) < 1e4 or abs(value) >= 1e15 or not math.isfinite(value):
        text = f"{value:.{digits}g}"
    else:
        text = f"{value:,.{max(digits - len(str(int(abs(value)))), 0)}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", "−")


def percent(share: float, digits: int = 3) -> str:
    """Return a share in percent: so many digits, and all before the point.

    >>> percent(0.12345), percent(0.996, digits=2)
    ('12.3 %', '100 %')
    """
    hundredths = 100.0 * share
    if abs(hundredths) >= 10.0 ** (digits - 1):
        return f"{hundredths:.0f} %"
    return f"{hundredths:.{digits}g} %"


def whole_percent(share: float) -> str:
    """Return a share in whole percents, rounded down: several add up to no more than all.

    >>> whole_percent(0.996), whole_percent(0.238), whole_percent(0.002)
    ('100 %', '23 %', 'less than 1 %')
    """
    if share >= _ALL:
        return "100 %"
    percents = math.floor(100.0 * share + 1e-9)
    return f"{percents} %" if percents else "less than 1 %"


def p_text(p: float) -> str:
    """Return a p-value as everything that people read has it.

    >>> p_text(1 / 2001), p_text(1e-9)
    ('p = 0.0005', 'p < 0.000001')
    """
    return f"p = {p:.2g}" if p >= _SMALLEST_P else "p < 0.000001"


def plural(count: int, word: str) -> str:
    """Return "1 row", "1,200 rows"."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def outliers_among(outliers: int, rows: int, share: str = "") -> str:
    """Return "1 of 60 rows is an outlier", "3 of 60 rows (5 %) are outliers"."""
    verb = "is an outlier" if outliers == 1 else "are outliers"
    return f"{outliers:,} of {rows:,} rows{share and f' ({share})'} {verb}"


def names_in(text: str | None) -> list[str]:
    """Read names between commas; one that has a comma itself stands in quotes.

    >>> names_in('part, "angle, deg"')
    ['part', 'angle, deg']
    """
    if text is None:
        return []
    (names,) = csv.reader([text], skipinitialspace=True)
    return list(dict.fromkeys(name.strip() for name in names))


def suggestion(name: str, known: Collection[str]) -> str:
    """Return what may have been meant, as the end of a sentence; empty if nothing is near."""
    near = get_close_matches(name, [str(each) for each in known], n=1)
    if near:
        return f" Did you mean {near[0]!r}?"
    some = ", ".join(map(repr, list(known)[:_SUGGESTED]))
    return f" There are {some}{', …' if len(known) > _SUGGESTED else ''}."
