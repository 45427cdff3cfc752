"""What a CSV file means: records and quotes, separators, and the marks of its numbers.

A cell in quotes may hold separators, line breaks and doubled quotes; spaces before its first quote
do not belong to it. Any other cell is what stands between separators, spaces and quotes included.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from refold._typing import Integers
from refold.columns.missing import is_missing
from refold.columns.number_form import NumberForm
from refold.tabular._cells import kind_of
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


_SPACES = " '’\u00a0\u202f"
_KINDS = {"’": "'", "\u00a0": " ", "\u202f": " "}
_PLAIN = re.compile(r"[+-]?([0-9]*)([.,])([0-9]+)(?:[eE][+-]?[0-9]+)?")
_GROUPED = re.compile(rf"[+-]?[0-9]{{1,3}}([.,{_SPACES}])[0-9]{{3}}(?:\1[0-9]{{3}})*([.,][0-9]+)?")


def evidence(cell: str) -> tuple[NumberForm | None, str]:
    """Say how a number must be written, and otherwise which mark leaves it open.

    ``1,5`` has a decimal comma and ``1,234,567`` or ``1,234.5`` none; ``1,234`` may or may not.
    """
    cell = cell.strip()
    grouped = _GROUPED.fullmatch(cell)
    if grouped:
        mark, fraction = grouped.groups()
        if fraction and fraction[0] != mark:
            return NumberForm(fraction[0], _KINDS.get(mark, mark)), ""
        if fraction is None and (mark in _SPACES or cell.count(mark) > 1):
            return NumberForm("." if mark == "," else ",", mark) if mark in ".," else None, ""
    plain = _PLAIN.fullmatch(cell)
    if not plain:
        return None, ""
    whole, mark, fraction = plain.groups()
    may_be_thousands = len(fraction) == 3 and 1 <= len(whole) <= 3 and whole[0] != "0"
    return (None, mark) if may_be_thousands and "e" not in cell.lower() else (NumberForm(mark), "")


def own_marks(
    names: Sequence[str], rows: Sequence[Sequence[str]], decimal: str, delimiter: str
) -> tuple[dict[str, NumberForm], dict[str, tuple[str, str]]]:
    """Return the forms of columns that are not written as the file is, and what stays open.

    Most of a column's own cells decide; where these leave open what a mark means, the other columns
    do. What they leave open too is to be said: an example, and how it was read.
    """
    columns = zip(*(row for row in rows if len(row) == len(names)), strict=True)
    found = {name: _evidence_of(cells) for name, cells in zip(names, columns, strict=False)}
    proven = {form.decimal for form, _ in found.values() if form}
    own, readings = {}, {}
    for name, (form, marks) in found.items():
        if form and form != NumberForm(decimal):
            own[name] = form
        if form or len(marks) != 1:
            continue
        (mark,) = marks
        known = next(iter(proven)) if len(proven) == 1 else ""
        if not proven and delimiter == ",":
            known = "."
        if known and mark != known:
            own[name] = NumberForm(known, mark)
        elif not known and decimal == mark:
            readings[name] = (f"1{mark}234", "1.234")
    return own, readings


def _evidence_of(cells: Iterable[str]) -> tuple[NumberForm | None, set[str]]:
    """Say how the first cells of a column write numbers, or which marks they leave open."""
    seen = [evidence(cell) for cell in cells]
    certain = [form for form, _ in seen if form]
    decimals = Counter(form.decimal for form in certain)
    if not certain or 2 * max(decimals.values()) == len(certain):
        return None, {mark for _, mark in seen if mark}
    decimal = decimals.most_common(1)[0][0]
    thousands = max(form.thousands for form in certain if form.decimal == decimal)
    return NumberForm(decimal, thousands), set()


def file_decimal(cells: Iterable[str]) -> str:
    """Return what stands before fractions in most cells; those that are certain count first."""
    seen = [evidence(cell) for cell in cells]
    certain = [marks.decimal for marks, _ in seen if marks]
    marks = certain or [mark for _, mark in seen if mark]
    return "," if 2 * marks.count(",") > len(marks) else "."


DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_SAMPLE, _SAMPLE_LINES = 2**18, 200


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
    return Dialect(delimiter, decimal or _decimal(_rows(beginning, delimiter), delimiter))


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
    point = decimal or _decimal(rows, delimiter)
    width = len(rows[titles_and_names(rows, point)[0]])
    if width == 1:
        return (0.0, 0.0, 0)
    alike = sum(len(row) == width for row in rows) / len(rows)
    cells = [cell for row in rows for cell in row]
    read = sum(is_missing(cell) or kind_of(cell, point) is not None for cell in cells)
    return (alike, read / len(cells), width)


def _rows(text: str, delimiter: str) -> list[list[str]]:
    return [record.cells for record in records(text, delimiter, strict=False)]


def _decimal(rows: list[list[str]], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    return file_decimal(cell for row in rows for cell in row)
