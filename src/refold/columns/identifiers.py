"""Values that are names: codes, identifiers, and texts that count up."""

from __future__ import annotations

import re

import numpy as np

from refold._typing import Floats
from refold.columns.name_hints import says_code, says_time
from refold.columns.row_numbers import is_row_number, is_whole
from refold.columns.table import TextColumn

_LONG_CODE = 9  # digits; numbers that all have as many, or more, are telephone numbers and the like
_LONGEST_IDENTIFIER = 64  # characters
_DIGITS = 0.9  # the share of identifiers that have a digit
_COUNTED = re.compile(r"(.*?)([0-9]{1,15})", re.DOTALL)
_FIRST_ROWS = 50_000  # of texts, to see whether they count up
_NEARLY_ALL = 0.99  # the share of the cells that have to be written so


def are_written_as_codes(name: str, texts: list[str]) -> bool:
    """Whether numbers are written as codes are: with zeros before them, or all very long."""
    digits = [text for text in texts if text.isdigit()]
    if len(digits) < _NEARLY_ALL * len(texts):
        return False
    lengths = {len(text) for text in digits}
    if len(lengths) == 1 and min(lengths) >= _LONG_CODE and len(digits) > 1:
        return not says_time(name)
    padded = sum(text[0] == "0" and len(text) > 1 for text in digits)
    return padded > (1.0 - _NEARLY_ALL) * len(digits)


def are_named_as_codes(name: str, values: Floats) -> bool:
    """Whether the name says that whole numbers are names; a choice of two is a number."""
    if not says_code(name) or not is_whole(values) or values.min() < 0.0:
        return False
    return len(np.unique(values)) > 2


def look_like_identifiers(texts: list[str]) -> bool:
    """Whether texts are single words with digits."""
    alike = [len(text) <= _LONGEST_IDENTIFIER and not re.search(r"\s", text) for text in texts]
    with_digits = sum(bool(re.search("[0-9]", text)) for text in texts)
    return all(alike) and with_digits >= _DIGITS * len(texts)


def count_up(column: TextColumn) -> bool:
    """Whether texts are the same but for a number at the end that counts the rows."""
    codes = column.codes[column.codes >= 0][:_FIRST_ROWS]
    texts = [column.values[code].strip() for code in codes.tolist()]
    ends = [
        _COUNTED.fullmatch(text) if len(text) <= _LONGEST_IDENTIFIER else None for text in texts
    ]
    found = [match for match in ends if match]
    if len(found) < len(texts) or len({match[1] for match in found}) > 1:
        return False
    return is_row_number(np.array([float(match[2]) for match in found]), named=True)
