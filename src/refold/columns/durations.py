"""Durations as people write them, in seconds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import nan

import numpy as np

from refold._typing import Floats

_LONGEST = 64
_WORDS = {
    0.001: "ms millisecond milliseconds msec",
    1.0: "s sec secs second seconds sek sekunde sekunden seconde secondes segundo segundos",
    60.0: "m min mins minute minutes minuten minuto minutos",
    3600.0: "h hr hrs hour hours std stunde stunden heure heures hora horas",
    86400.0: "d day days tag tage tagen jour jours día días dia dias",
    604800.0: "w wk wks week weeks woche wochen semaine semaines semana semanas",
}
_SECONDS = {word: seconds for seconds, words in _WORDS.items() for word in words.split()}
_NUMBER = "[0-9]{1,12}(?:[.,][0-9]{1,9})?"
_PART = re.compile(rf"({_NUMBER}) ?([^\W\d_]{{1,12}})\.?")
_PARTS = re.compile(rf"(?:{_PART.pattern}(?:, ?| |(?=[0-9])|$)){{1,6}}")
_DAYS = "(?:([0-9]{1,7}) ?(?:d|days?|tage?|jours?|días?|dias?),? ?)"
_CLOCK = re.compile(rf"{_DAYS}?([0-9]{{1,6}}):([0-5]?[0-9])(?::([0-5]?[0-9]))?([.,][0-9]{{1,9}})?")
_ISO = re.compile(
    f"p(?:({_NUMBER})w)?(?:({_NUMBER})d)?(?:t(?:({_NUMBER})h)?(?:({_NUMBER})m)?(?:({_NUMBER})s)?)?"
)


def seconds(texts: Sequence[str]) -> Floats:
    """Return how long each text says; NaN where it is no duration.

    Of two numbers with a colon between the first is minutes, as in ``3:45``, behind days hours.
    A number without a unit is no duration.

    Examples
    --------
    >>> from refold.columns.durations import seconds
    >>> seconds(["01:30:00", "2h 15min", "1 day 02:00", "PT5M", "3:45", "90"])
    array([ 5400.,  8100., 93600.,   300.,   225.,    nan])
    """
    return np.fromiter(map(_one, texts), np.float64, len(texts))


def _one(text: str) -> float:
    if len(text) > _LONGEST:
        return nan
    text = text.strip().lower()
    sign = -1.0 if text[:1] in ("-", "−") else 1.0
    text = text.lstrip("+-−") if text[:1] in ("-", "−", "+") else text
    if found := _CLOCK.fullmatch(text):
        return sign * _clock(*found.groups())
    if text[:1] == "p":
        return sign * _iso(text)
    if _PARTS.fullmatch(text):
        return sign * _parts(_PART.findall(text))
    return nan


def _clock(
    days: str | None, first: str, second: str, third: str | None, fraction: str | None
) -> float:
    if third is None and days is None:
        return 60.0 * int(first) + int(second) + _number(fraction)
    rest = 3600.0 * int(first) + 60.0 * int(second) + int(third or 0) + _number(fraction)
    return 86400.0 * int(days or 0) + rest


def _iso(text: str) -> float:
    found = _ISO.fullmatch(text)
    if found is None or not any(found.groups()):
        return nan
    units = (604800.0, 86400.0, 3600.0, 60.0, 1.0)
    return sum(unit * _number(part) for unit, part in zip(units, found.groups(), strict=True))


def _parts(parts: list[tuple[str, str]]) -> float:
    """Add up the parts, of which each has a smaller unit than the one before."""
    units = [_SECONDS.get(word) for _, word in parts]
    known = [unit for unit in units if unit is not None]
    if len(known) < len(units) or known != sorted(set(known), reverse=True):
        return nan
    if [word for _, word in parts] == ["m"]:  # metres
        return nan
    return sum(unit * _number(number) for unit, (number, _) in zip(known, parts, strict=True))


def _number(text: str | None) -> float:
    return float(text.replace(",", ".")) if text else 0.0
