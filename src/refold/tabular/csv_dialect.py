"""What a CSV file means: records and quotes, separators, and the marks of its numbers.

A cell in quotes may hold separators, line breaks and doubled quotes; spaces before its first quote
do not belong to it. Any other cell is what stands between separators, spaces and quotes included.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from refold._typing import Integers
from refold.columns.conversion import texts_of
from refold.columns.form_guess import (
    FormReading,
    TextSample,
    common_mark,
    decimal_mark,
    read_as_numbers,
)
from refold.columns.missing import is_missing
from refold.columns.number_form import SPACES, NumberForm
from refold.tabular._cell_text import cell_kind
from refold.tabular._layout import titles_and_names


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


_MARK = re.compile(f"[0-9][.,'’{SPACES}][0-9]")  # before fractions, or between thousands


def column_forms(
    rows: Sequence[Sequence[str]], delimiter: str
) -> list[FormReading[NumberForm] | None]:
    """Return how each column of a sample writes numbers; None of one that shows no marks.

    What a column leaves open, the others decide, and where they do not, commas between cells.
    """
    width = Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
    columns = zip(*(row for row in rows if len(row) == width), strict=True)
    samples = [
        TextSample.of(texts_of([cell for cell in column if not is_missing(cell)]))
        if any(map(_MARK.search, column))
        else None
        for column in columns
    ]
    found = [None if sample is None else _marked_form(sample, "") for sample in samples]
    proven = common_mark(each.form.decimal for each in found if each and each.rival is None)
    likely = proven or ("." if delimiter == "," else "")
    return [
        _marked_form(sample, likely) if sample and likely and each and each.rival else each
        for sample, each in zip(samples, found, strict=True)
    ]


def _marked_form(sample: TextSample, likely: str) -> FormReading[NumberForm] | None:
    found = read_as_numbers(sample, likely=likely)
    marked = found.form.thousands or decimal_mark(sample.texts, found.form)
    return found if marked and found.share >= _NUMBERS else None


def file_decimal(rows: Sequence[Sequence[str]], delimiter: str) -> str:
    """Return what stands before fractions in most columns."""
    if delimiter == ",":
        return "."
    forms = column_forms(rows[1:] or rows, delimiter)  # the first one has names, as a rule
    return common_mark(each.form.decimal for each in forms if each) or "."


DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_SAMPLE, _SAMPLE_LINES = 2**18, 200
_NUMBERS = 0.5  # the share of the cells of a column that have to be numbers


@dataclass(frozen=True)
class Dialect:
    """What stands between cells and before fractions, and how characters are written."""

    delimiter: str
    decimal: str
    encoding: str = "utf-8"

    @property
    def separator(self) -> str:
        """The separator in words."""
        return DELIMITERS.get(self.delimiter, repr(self.delimiter))

    def __str__(self) -> str:
        return f"{self.separator}, decimal commas" if self.decimal == "," else self.separator


def guess_dialect(text: bytes, delimiter: str | None, decimal: str | None) -> Dialect:
    """Guess what was not said.

    A separator is the better, the more of the first lines it cuts into as many cells as the first
    line has that is no title, then the more of these are numbers, then the more cells there are.
    """
    beginning = _beginning(text)
    if delimiter is None:
        scores = {candidate: _score(beginning, candidate, decimal) for candidate in DELIMITERS}
        delimiter = max(scores, key=lambda candidate: scores[candidate])
    return Dialect(delimiter, decimal or file_decimal(_rows(beginning, delimiter), delimiter))


def sample(text: bytes, delimiter: str) -> list[list[str]]:
    """Return the first records of a text, without empty lines; a wrong quote is a character."""
    return _rows(_beginning(text), delimiter)


def _beginning(text: bytes) -> str:
    """Return the first lines of a text, to the end of a record if quotes allow."""
    lines = text[:_SAMPLE].split(b"\n", _SAMPLE_LINES)
    beginning = b"\n".join(lines[:_SAMPLE_LINES])
    if len(beginning) < len(text) and len(lines) > 1:
        cut = beginning if len(lines) > _SAMPLE_LINES else b"\n".join(lines[:-1])
        beginning = cut[: last_record_end(cut + b"\n") or None]
    return beginning.decode(errors="ignore")  # a character may be cut


def _score(text: str, delimiter: str, decimal: str | None) -> tuple[float, float, int]:
    rows = _rows(text, delimiter)
    if not rows:
        return (0.0, 0.0, 0)
    point = decimal or file_decimal(rows, delimiter)
    width = len(rows[titles_and_names(rows, point)[0]])
    if width == 1:
        return (0.0, 0.0, 0)
    alike = sum(len(row) == width for row in rows) / len(rows)
    cells = [cell for row in rows for cell in row]
    read = sum(is_missing(cell) or cell_kind(cell, point) is not None for cell in cells)
    return (alike, read / len(cells), width)


def _rows(text: str, delimiter: str) -> list[list[str]]:
    return [record.cells for record in records(text, delimiter, strict=False)]
