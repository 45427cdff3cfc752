"""Further words for missing values, as a user names them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from refold.base.needs import needs
from refold.columns.frames import is_number, is_text
from refold.tabular._cells import kind_of, number_of


class Absent:
    """Words and numbers that say that a value is missing, beside those that always do.

    Parameters
    ----------
    words : sequence of str
        Small and capital letters are alike, and space around them does not matter. A number is
        meant however it is written: -999 is also -999.0 and -999,00.
    """

    def __init__(self, words: Sequence[str]) -> None:
        stripped = [word.strip() for word in words]
        numbers = [w for w in stripped if kind_of(w, ".") == "number"]
        self._values = sorted({number_of(word, ".") for word in numbers})
        forms = [*map(re.escape, stripped), *map(_forms, numbers)]
        self._pattern = rf"(?i)^\s*(?:{'|'.join(forms)})\s*$"
        self._any = bool(stripped)

    def __bool__(self) -> bool:
        return self._any

    def without(self, column: Any) -> Any:
        """Return an Arrow column with null in such cells."""
        pa, pc = needs("pyarrow", "parquet"), needs("pyarrow.compute", "parquet")
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if is_text(column.type):
            said = pc.match_substring_regex(column, self._pattern)
        elif is_number(column.type) and self._values and not pa.types.is_boolean(column.type):
            said = pc.is_in(column.cast(pa.float64(), safe=False), pa.array(self._values))
        else:
            return column
        return pc.if_else(pc.fill_null(said, False), pa.scalar(None, column.type), column)


def _forms(number: str) -> str:
    """Return a pattern of other ways to write a number; one with an exponent has none."""
    if "e" in number.lower():
        return re.escape(number)
    whole, _, fraction = number.partition(".")
    sign, digits = r"\+?", whole.lstrip("+-").lstrip("0")
    if whole.startswith("-"):
        sign = "-"
    fraction = fraction.rstrip("0")
    tail = f"[.,]{fraction}0*" if fraction else "(?:[.,]0*)?"
    return f"{sign}0{'*' if digits or fraction else '+'}{digits}{tail}"
