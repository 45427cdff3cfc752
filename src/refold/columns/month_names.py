"""Names of months in English, German, French and Spanish, and how they are shortened."""

from __future__ import annotations

from unicodedata import combining, normalize

_NAMES = """
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


def _bare(name: str) -> str:
    """Return a name in small letters without accents and points."""
    letters = normalize("NFKD", name.lower().rstrip("."))
    return "".join(letter for letter in letters if not combining(letter))


_MONTHS = {
    _bare(name): month
    for month, names in enumerate(_NAMES.strip().splitlines(), start=1)
    for name in names.split()
}


def month_of(name: str) -> int:
    """Return the month that is so called, or 0.

    Examples
    --------
    >>> from refold.columns.month_names import month_of
    >>> month_of("März"), month_of("AOUT"), month_of("Sept."), month_of("Monday")
    (3, 8, 9, 0)
    """
    return _MONTHS.get(_bare(name), 0)
