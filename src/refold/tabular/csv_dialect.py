"""How a text file separates its cells, and how it writes fractions: judged by its first lines."""

from __future__ import annotations

from dataclasses import dataclass

from refold.columns.missing import is_missing
from refold.tabular._cells import kind_of
from refold.tabular._csv_records import last_record_end, records
from refold.tabular._layout import titles_and_names
from refold.tabular._marks import file_decimal

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


def guess(text: bytes, delimiter: str | None, decimal: str | None) -> Dialect:
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
