"""Zones of time: what the clock on the wall shows where a column of dates was learned."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from refold._typing import Floats
from refold.base.errors import UserError

UTC = "UTC"
# Texts said how far they are from UTC, but no zone: theirs is the clock on the wall.
LOCAL = "local"
_UTC_NAMES = frozenset({"", "Z", "UTC", "GMT", "Etc/UTC", "Etc/GMT", "+00:00", "-00:00"})
_DAY = 86_400.0
_NAME = re.compile(r"[A-Za-z0-9_+-]{1,30}(?:/[A-Za-z0-9_+-]{1,30}){0,3}|[+-][0-9]{2}:[0-9]{2}")
_FIXED = re.compile("(?:UTC)?([+-][0-9]{2}:[0-9]{2})")
_ONE_DAY = dt.timedelta(days=1)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_EARLIEST, _LATEST = -62135500000.0, 253402200000.0  # of which Python knows the day in any zone
# What stands behind minutes or seconds; a date without a time may end in "-01" too.
_OFFSET = re.compile(
    r"[0-9]:[0-9]{2}(?:[.,][0-9]{1,9})? ?(?:[AaPp]\.?[Mm]\.? ?)?"
    r"(?:(?P<utc>Z|UTC|GMT)|(?P<sign>[+-])(?P<h>[0-9]{2}):?(?P<m>[0-9]{2})?)"
)


def offsets_of_texts(texts: Sequence[str]) -> Floats:
    """Return by how many seconds the clock of each text is ahead of UTC; NaN if it does not say so.

    >>> offsets_of_texts(["2025-03-01T09:00:00Z", "2025-03-01 10:00+01:00", "2025-03-01 10:00"])
    array([   0., 3600.,   nan])
    """
    return np.array([_offset(_OFFSET.search(text)) for text in texts], dtype=np.float64)


def are_in_utc(texts: Iterable[str]) -> list[bool]:
    """Say which texts are written in UTC: they end in Z, as those of JSON do."""
    return [(found := _OFFSET.search(text)) is not None and bool(found["utc"]) for text in texts]


def zone_of_texts(texts: Sequence[str]) -> str:
    """Return the zone that texts have been written in.

    It is empty if they do not say so, and if some are in UTC and others elsewhere.
    """
    offsets = offsets_of_texts(texts)
    if not offsets[~np.isnan(offsets)].any():
        return "" if np.isnan(offsets).all() else UTC
    return "" if any(are_in_utc(texts)) else LOCAL


def zone_of_name(name: str) -> str:
    """Return the zone of a column whose type names one; UTC where nobody knows it.

    >>> zone_of_name("Etc/UTC"), zone_of_name("UTC+02:00"), zone_of_name("Europe/Berlin")
    ('UTC', '+02:00', 'Europe/Berlin')
    """
    if fixed := _FIXED.fullmatch(name):
        name = fixed[1]
    return UTC if name in _UTC_NAMES or _found(name) is None else name


def is_zone(name: str) -> bool:
    """Whether this may be the zone of a form of dates: one that a model file may name."""
    return name == "" or _NAME.fullmatch(name) is not None


def moved(seconds: Floats, offsets: Floats, zone: str) -> Floats:
    """Return what the clock in a zone shows; where the offset from UTC is not known, as it is."""
    if zone in ("", LOCAL):
        return seconds
    instants = seconds - offsets
    known = ~np.isnan(instants)
    if not known.any():
        return seconds
    out = seconds.copy()
    out[known] = instants[known] + offsets_in(zone, instants[known])
    return out


def offsets_in(zone: str, instants: Floats) -> Floats:
    """Return by how many seconds the clock in a zone is ahead of UTC at some instants."""
    if zone == UTC:
        return np.zeros(len(instants))
    if (place := _found(zone)) is None:
        raise UserError(
            f"The zone {zone!r}, in which dates were learned, is not known on this machine: "
            "pip install tzdata."
        )
    days, group = np.unique(np.floor(instants / _DAY), return_inverse=True)
    ends = np.append(days, days + 1.0) * _DAY
    begin, end = np.array([_ahead(place, each) for each in ends.tolist()]).reshape(2, -1)
    offsets = np.asarray(begin[group])
    # On a day on which clocks are changed each instant is looked up by itself.
    for k in np.flatnonzero((begin != end)[group]).tolist():
        offsets[k] = _ahead(place, float(instants[k]))
    return offsets


def _offset(found: re.Match[str] | None) -> float:
    if found is None:
        return np.nan
    if found["utc"]:
        return 0.0
    seconds = 3600.0 * int(found["h"]) + 60.0 * int(found["m"] or 0)
    return -seconds if found["sign"] == "-" else seconds


def _ahead(place: dt.tzinfo, instant: float) -> float:
    within = min(max(instant, _EARLIEST), _LATEST)
    there = (_EPOCH + dt.timedelta(seconds=within)).astimezone(place)
    return (there.utcoffset() or dt.timedelta()).total_seconds()


@lru_cache(maxsize=64)
def _found(name: str) -> dt.tzinfo | None:
    if _FIXED.fullmatch(name):
        ahead = dt.timedelta(hours=int(name[1:3]), minutes=int(name[4:]))
        return dt.timezone(-ahead if name[0] == "-" else ahead) if ahead < _ONE_DAY else None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # such as a folder of zones
        return None
