"""Rows of a body of JSON, read one after the other: what is too much ends the reading.

Decoded at once, a body of 60 MB can become 6 GB, and all that runs waits for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from refold.service.errors import RequestError
from refold.service.scoring import check_count
from refold.tabular.json_table import JsonError, decode_json, is_cut_off, parse_json

_AT_ONCE = 2**16  # characters of a document that is decoded as one
LONGEST = 2**20  # characters of a row, or of one of its cells
_WIDEST = 100_000  # columns
_SPACE = re.compile(r"[ \t\r\n]*")
# Cells of a column, as nearly all are.
_CELLS = re.compile(
    r'(?:[ \t\r\n]*(?:-?[0-9][0-9.eE+-]{0,30}|"[^"\\]{0,200}"|true|false|null)[ \t\r\n]*,){1,1000}'
)


def rows_of_json(text: str, most: int, wanted: Collection[str]) -> list[Any]:
    """Return the rows of a list of objects, one object, or an object of columns.

    Rows that are made of columns have those that are wanted, if there is one of these.
    """
    document = parse_json(text) if len(text) <= _AT_ONCE else _Reader(text, most).document()
    if isinstance(document, list):
        return document
    if not isinstance(document, dict):
        raise RequestError(400, "The body must be a list of objects, or an object of columns.")
    columns = {name: cells for name, cells in document.items() if isinstance(cells, list)}
    if not columns:
        return [document]
    for name in document:
        if name not in columns:
            raise RequestError(400, "Some columns are lists, this one is none.", column=name[:100])
    sizes = {len(cells) for cells in columns.values()}
    if len(sizes) > 1:
        raise RequestError(
            400, f"The columns have {min(sizes)} to {max(sizes)} cells, not as many each."
        )
    used = {name: cells for name, cells in columns.items() if name in wanted} or columns
    return [dict(zip(used, cells, strict=True)) for cells in zip(*used.values(), strict=True)]


def decode_row(text: str) -> Any:
    """Return the one value that a line holds."""
    if len(text) > LONGEST:
        raise _too_long()
    return parse_json(text)


class _Reader:
    """Reads a large document in pieces."""

    def __init__(self, text: str, most: int) -> None:
        self._text, self._at, self._most = text, 0, most
        self._piece, self._begin = "", 0  # a part of the text, and where it begins
        self._names: dict[str, str] = {}  # of columns: rows share them

    def document(self) -> Any:
        """Return all of it."""
        begin = self._next()
        found: Any
        if begin == "[":
            found = self._items()
        else:
            found = self._members() if begin == "{" else self._value()
        if self._next():
            raise self._wrong("Extra data")
        return found

    def _items(self) -> list[Any]:
        rows: list[Any] = []
        for _ in self._inside("]"):
            try:
                row = self._value()
            except JsonError as error:
                raise JsonError(error.problem, len(rows), error.column) from None
            if isinstance(row, dict):
                row = {self._names.setdefault(name, name): cell for name, cell in row.items()}
            rows.append(row)
            self._check_rows(rows)
        return rows

    def _members(self) -> dict[str, Any]:
        columns: dict[str, Any] = {}
        for _ in self._inside("}"):
            if self._next() != '"':
                raise self._wrong("Expecting a name")
            name = self._value()
            if self._next() != ":":
                raise self._wrong("Expecting ':'")
            self._at += 1
            if name in columns:
                raise JsonError("the key appears twice in an object", None, name)
            if len(columns) >= _WIDEST:
                raise RequestError(413, f"A row may have {_WIDEST:,} columns.")
            try:
                columns[name] = self._cells() if self._next() == "[" else self._value()
            except JsonError as error:
                column = ".".join(filter(None, (name, error.column)))
                raise JsonError(error.problem, error.row, column) from None
        return columns

    def _cells(self) -> list[Any]:
        cells: list[Any] = []
        for _ in self._inside("]"):
            while found := _CELLS.match(self._text, self._at):
                try:
                    cells += parse_json(f"[{found[0][:-1]}]")
                except json.JSONDecodeError as error:
                    self._at += error.pos - 1
                    raise self._wrong(error.msg) from None
                except JsonError as error:
                    row = len(cells) + (error.row or 0)
                    raise JsonError(error.problem, row, error.column) from None
                self._at = found.end()
                self._check_rows(cells)
            try:
                cells.append(self._value())
            except JsonError as error:
                raise JsonError(error.problem, len(cells), error.column) from None
            self._check_rows(cells)
        return cells

    def _check_rows(self, rows: list[Any]) -> None:
        if len(rows) > self._most:
            check_count(len(rows), self._most)

    def _inside(self, end: str) -> Iterator[None]:
        """Go from one thing to the next in a list or an object."""
        self._at += 1
        if self._next() == end:
            self._at += 1
            return
        while True:
            yield
            found = self._next()
            if found not in (",", end):
                raise self._wrong("Expecting ','")
            self._at += 1
            if found == end:
                return

    def _next(self) -> str:
        """Go to the next character that is no space, and return it; none is left at the end."""
        self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
        return self._text[self._at : self._at + 1]

    def _value(self) -> Any:
        """Decode what begins here; it is not longer than a piece."""
        self._next()
        at = self._at - self._begin
        if len(self._piece) - at < LONGEST and not self._is_last():
            self._begin, at = self._at, 0
            self._piece = self._text[self._at : self._at + 2 * LONGEST]
        try:
            value, end = decode_json(self._piece, at)
        except json.JSONDecodeError as error:
            if is_cut_off(error, self._piece) and not self._is_last():
                raise _too_long() from None
            self._at = self._begin + error.pos
            raise self._wrong(error.msg) from None
        if end - at >= LONGEST:
            raise _too_long()
        self._at = self._begin + end
        return value

    def _is_last(self) -> bool:
        return self._begin + len(self._piece) >= len(self._text)

    def _wrong(self, problem: str) -> json.JSONDecodeError:
        return json.JSONDecodeError(problem, self._text, self._at)


def _too_long() -> JsonError:
    return JsonError(f"it has more than {LONGEST:,} characters")
