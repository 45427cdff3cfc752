"""Sets of words that are written one behind the other."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text.

    Examples
    --------
    >>> from refold.columns.word_set import word_set
    >>> sorted(word_set("kg m s"))
    ['kg', 'm', 's']
    """
    return frozenset(text.split())
