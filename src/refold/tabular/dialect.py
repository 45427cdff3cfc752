"""How a text file separates its cells, and how it writes fractions: judged by its first lines."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from refold.columns.text_cells import is_missing
from refold.tabular.cells import kind_of
from refold.tabular.heading import titles_above
from refold.tabular.marks import file_decimal

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_SAMPLE, _SAMPLE_LINES = 2**18, 200


@dataclass(frozen=True)
class Dialect:
    """What stands between cells, and between a number's whole and its fraction."""

    delimiter: str
    decimal: str

    @property
    def separator(self) -> str:
        """The separator in words."""
        return DELIMITERS.get(self.delimiter, repr(self.delimiter))

    def __str__(self) -> str:
        return f"{self.separator}, decimal commas" if self.decimal == "," else self.separator


def records(lines: Iterable[str], delimiter: str, *, strict: bool = False) -> Iterator[list[str]]:
    """Cut lines into cells; spaces before a cell do not belong to it."""
    spaces = delimiter != " "
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=spaces, strict=strict)


def guess(text: bytes, delimiter: str | None, decimal: str | None) -> Dialect:
    """Guess what was not said.

    A separator is the better, the more of the first lines it cuts into as many cells as the first
    line has that is no title, then the more of these are numbers, then the more cells there are.
    """
    lines = _lines(text)
    if delimiter is None:
        scores = {candidate: _score(lines, candidate, decimal) for candidate in DELIMITERS}
        delimiter = max(scores, key=lambda candidate: scores[candidate])
    return Dialect(delimiter, decimal or _decimal(_rows(lines, delimiter), delimiter))


def sample(text: bytes, delimiter: str) -> list[list[str]]:
    """Return the first records of a text, as far as quotes allow, without empty lines."""
    return _rows(_lines(text), delimiter)


def _lines(text: bytes) -> list[str]:
    # A character may be cut at the end of the sample.
    lines = [f"{line}\n" for line in text[:_SAMPLE].decode(errors="ignore").split("\n")]
    if len(text) > _SAMPLE and len(lines) > 1:
        lines.pop()  # it is cut
    return lines[:_SAMPLE_LINES]


def _score(lines: list[str], delimiter: str, decimal: str | None) -> tuple[float, float, int]:
    rows = _rows(lines, delimiter)
    if not rows:
        return (0.0, 0.0, 0)
    point = decimal or _decimal(rows, delimiter)
    width = len(rows[titles_above(rows, point)])
    if width == 1:
        return (0.0, 0.0, 0)
    alike = sum(len(row) == width for row in rows) / len(rows)
    cells = [cell for row in rows for cell in row]
    read = sum(is_missing(cell) or kind_of(cell, point) is not None for cell in cells)
    return (alike, read / len(cells), width)


def _rows(lines: list[str], delimiter: str) -> list[list[str]]:
    """Cut lines into cells as far as quotes allow; what is wrong is found when rows are read."""
    rows = []
    try:
        for row in records(lines, delimiter):
            if row:
                rows.append(row)
    except csv.Error:
        pass
    return rows


def _decimal(rows: list[list[str]], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    return file_decimal(cell for row in rows for cell in row)
