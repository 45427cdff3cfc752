"""What a CSV file means: separators, records, cells and quotes.

A cell in quotes may hold separators, line breaks and doubled quotes; spaces before its first quote
do not belong to it. Any other cell is what stands between separators, spaces and quotes included.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from refold._typing import Integers


class Record(NamedTuple):
    """A record of a text: its cells, its first line (from 0), and where the next one begins."""

    cells: list[str]
    line: int
    end: int


class QuoteError(ValueError):
    """Quotes that are not right: in which line from 0, and whether more text may mend it."""

    def __init__(self, line: int, unclosed: bool) -> None:
        self.line, self.unclosed = line, unclosed
        super().__init__(line, unclosed)


@cache
def _cell_pattern(delimiter: str, strict: bool) -> re.Pattern[str]:
    between = re.escape(delimiter)
    quote = '"' if delimiter == " " else ' *+"'
    plain = f"(?!{quote})" if strict else ""
    return re.compile(
        rf'(?:{quote}()([^"]*+(?:""[^"]*+)*+)"|({plain}[^{between}\n]*+))({between}|\n|\Z)'
    )


def records(text: str, delimiter: str, *, strict: bool = True) -> Iterator[Record]:
    """Give the records of a text, without empty lines.

    If not `strict`, a quote that is not right is a character like any other.
    """
    match_cell = _cell_pattern(delimiter, strict).match
    cells, line, first, at = list[str](), 0, 0, 0
    while at < len(text) or cells:
        found = match_cell(text, at)
        if found is None:
            unclosed = re.compile(r'[^"]*+(?:""[^"]*+)*+\Z').match(text, text.index('"', at) + 1)
            raise QuoteError(first, unclosed is not None)
        in_quotes, quoted, plain, end = found.groups()
        at = found.end()
        if in_quotes is None:
            cells.append(plain)
        else:
            cells.append(quoted.replace('""', '"'))
            line += quoted.count("\n")
        if end == delimiter:
            continue
        if len(cells) > 1 or cells[0] or in_quotes is not None:
            yield Record(cells, first, at)
        line += 1
        cells, first = [], line


def record_lines(text: bytes) -> Integers:
    """Return the first line, from 0, of every record of a text with quotes around whole cells."""
    newlines, outside = _newlines(text)
    ends = newlines[outside]
    if not text.endswith(b"\n"):
        ends = np.append(ends, len(text))
    starts = np.concatenate([[0], ends[:-1] + 1])
    return np.searchsorted(newlines, starts[ends > starts])


def last_record_end(text: bytes, in_quotes: bool = False) -> int:
    """Return where the last line of a text ends that does not end within quotes; 0 if none does."""
    newlines, outside = _newlines(text)
    ends = newlines[outside ^ in_quotes]
    return int(ends[-1]) + 1 if len(ends) else 0


def _newlines(text: bytes) -> tuple[Integers, NDArray[np.bool_]]:
    """Return where lines end, and which of them not within quotes."""
    codes = np.frombuffer(text, np.uint8)
    newlines = np.flatnonzero(codes == ord("\n"))
    quotes = np.flatnonzero(codes == ord('"'))
    return newlines, np.searchsorted(quotes, newlines) % 2 == 0


def quotes_surround_cells(text: bytes, delimiter: str) -> bool:
    """Whether every quote opens or closes a cell, or is written twice within one (RFC 4180)."""
    codes = np.frombuffer(text, np.uint8)
    edge, end = (codes == ord("\n")) | (codes == ord(delimiter)), len(codes) - 1
    at = np.flatnonzero(codes == ord('"'))
    if len(at) % 2:
        return False
    opens, closes = at[::2], at[1::2]
    begins, ends = edge[opens - 1], edge[np.minimum(closes + 1, end)]
    begins[0] |= opens[0] == 0
    ends[-1] |= closes[-1] == end
    twice = closes[:-1] + 1 == opens[1:]  # then it is one quote, within a cell
    begins[1:] |= twice
    ends[:-1] |= twice
    return bool(begins.all() and ends.all())
