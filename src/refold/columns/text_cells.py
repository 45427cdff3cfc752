"""Texts as they are remembered, and words that stand for a missing value."""

from __future__ import annotations

from hashlib import sha256

# Words for a missing value, in small letters; spaces around them do not matter.
MISSING_WORDS = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "-", "?"})
LONGEST = 500  # characters of a text that are remembered
_DIGITS = 16
_BEGINNING = LONGEST - _DIGITS - 1


def is_missing(text: str) -> bool:
    """Whether a text says that there is no value."""
    return text.strip().lower() in MISSING_WORDS


def kept(text: str) -> str:
    """Return a text as it is remembered, so that many of them fit into memory and a file.

    A page is told apart from another by its beginning and a checksum; half a surrogate pair, which
    no file can hold, is written as Python escapes it.
    """
    if not text.isascii():
        text = text.encode("utf-8", "backslashreplace").decode()
    if len(text) <= LONGEST:
        return text
    return f"{text[:_BEGINNING]}…{sha256(text.encode()).hexdigest()[:_DIGITS]}"


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text.

    Examples
    --------
    >>> from refold.columns.text_cells import word_set
    >>> sorted(word_set("kg m s"))
    ['kg', 'm', 's']
    """
    return frozenset(text.split())
