"""What a text looks like: ``AB-1234`` is ``AA-9999``, and ``A+-9+`` whatever its length."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import cycle, islice

import numpy as np

from refold._typing import Integers
from refold.algorithm import kernels
from refold.columns.encoding.value_counts import ValueCounts

# What is looked at of a text: its form is told by then, and a page takes no longer than a line.
LOOKED_AT = 128
_RUN = re.compile(r"([Aa9 ])\1+")
_TRIED = 2000  # texts that are looked at for an example


class _Letters(dict[int, str]):
    """Every letter as A or a, every digit as 9; what was asked for is remembered."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character.isdecimal():
            shape = "9"
        elif character.isalpha():
            shape = "A" if character.isupper() else "a"
        else:
            shape = " " if character.isspace() else character
        if len(self) < 10_000:
            self[code] = shape
        return shape


_LETTERS = _Letters()


def shape_of(text: str, *, collapsed: bool = False) -> str:
    """Return the shape of a text, a character for each; or runs of letters or digits as one.

    >>> shape_of("AB-1234"), shape_of("AB-1234", collapsed=True)
    ('AA-9999', 'A+-9+')
    """
    shape = text[:LOOKED_AT].translate(_LETTERS)
    return _RUN.sub(r"\1+", shape) if collapsed else shape


def example_of(shape: str, texts: Iterable[str] = ()) -> str:
    """Return a text of this shape for people to read: one of some, or one made up.

    >>> example_of("A+-9+", ["ab", "AB-77"]), example_of("99.99.9999"), example_of("A+ 99a")
    ('AB-77', '12.11.2026', 'ABC 12a')
    """
    collapsed = "+" in shape
    for text in islice(texts, _TRIED):
        if shape_of(text) == shape or (collapsed and shape_of(text, collapsed=True) == shape):
            return text
    pairs = cycle(("12", "11", "10", "09"))  # a date, whichever way it is written

    def filled(found: re.Match[str]) -> str:
        sign, run = found[1], found[0]
        length = 3 if run.endswith("+") else len(run)
        if sign == "9":
            if length == 2:
                return next(pairs)
            return "2026" if length == 4 else "123456789"[:length]
        if sign == " ":
            return " " * length
        if length == 1 and found.string[found.start() - 1 : found.start()] == "9":
            return {"A": "Z" if found.end() == len(found.string) else "T"}.get(sign, sign)
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:length]
        return letters if sign == "A" else letters.lower()

    return re.sub(r"([Aa9 ])(?:\1*\+|\1*)", filled, shape)


def shapes_of(texts: Sequence[str], *, collapsed: bool = False) -> tuple[Integers, list[str]]:
    """Return which shape each text has, and the different shapes."""
    texts = list(texts)
    codes, shapes = kernels.shapes(texts, collapsed=collapsed, looked_at=LOOKED_AT)
    others = np.flatnonzero(codes < 0).tolist()  # not ASCII
    if not others:
        return codes, shapes
    place = {shape: code for code, shape in enumerate(shapes)}
    for k in others:
        codes[k] = place.setdefault(shape_of(texts[k], collapsed=collapsed), len(place))
    return codes, list(place)


def count_shapes(
    texts: Sequence[str], counts: Integers, missing: int
) -> tuple[ValueCounts, ValueCounts]:
    """Count the shapes of texts that so many rows have, and the collapsed ones."""
    codes, shapes = shapes_of(texts)
    alike, collapsed = shapes_of(shapes, collapsed=True)
    rows = _rows_by(codes, counts, len(shapes))
    of_collapsed = _rows_by(alike, rows, len(collapsed))
    return ValueCounts.of(shapes, rows, missing), ValueCounts.of(collapsed, of_collapsed, missing)


def _rows_by(codes: Integers, counts: Integers, n: int) -> Integers:
    return np.bincount(codes, weights=counts, minlength=n).astype(np.int64)
