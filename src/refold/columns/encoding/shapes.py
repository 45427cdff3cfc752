"""What a text looks like: ``AB-1234`` is ``AA-9999``, and ``A+-9+`` whatever its length."""

from __future__ import annotations

import re
from collections.abc import Sequence

# What is looked at of a text: its form is told by then, and a page takes no longer than a line.
LOOKED_AT = 128
_RUN = re.compile(r"([Aa9 ])\1+")


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


def exact_shapes(texts: Sequence[str]) -> list[str]:
    """Return the shapes of texts, a character for each."""
    return [text[:LOOKED_AT].translate(_LETTERS) for text in texts]


def collapsed_shapes(shapes: Sequence[str]) -> list[str]:
    """Return shapes with runs of letters and digits as one and a plus."""
    return [_RUN.sub(r"\1+", shape) for shape in shapes]
