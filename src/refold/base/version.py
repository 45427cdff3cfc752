"""Which refold this is, and which others keep their objects alike."""

from __future__ import annotations

from importlib.metadata import version

VERSION = version("refold")


def series(number: str) -> str:
    """Return the part of a version that changes when objects of one cannot be used by another.

    >>> series("2.1.5"), series("0.4.1")
    ('2', '0.4')
    """
    major, minor, *_ = number.split(".")
    return major if major != "0" else f"{major}.{minor}"
