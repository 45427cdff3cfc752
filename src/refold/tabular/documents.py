"""JSON: a list of rows, rows line by line, or an object of columns."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping
from typing import IO, Any

from refold.base.needs import needs
from refold.tabular.errors import InputError, quoted
from refold.tabular.held import HeldTable
from refold.tabular.table import How, checked_names
from refold.tabular.typed import typed, written

_PIECE = 2**20  # characters read at a time
_LARGEST = 2**28  # characters of one value: a row, or columns all in one
_BATCH = 2**14  # rows that are held as Python's objects
_BETWEEN = re.compile(r"[\s,]*")
_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[\s*(?:\{|\]|$)|\{\s*(?:\"|\}|$))")
# What is wrong with a value of which only a part has been read.
_UNFINISHED = ("Unterminated string", "Invalid \\escape", "Invalid \\uXXXX escape")


class JsonTable(HeldTable):
    """A list of objects, objects one after the other (NDJSON), or an object of columns.

    Objects within a row become columns such as ``size.width``; a key that a row does not have is a
    missing value.
    """

    format = "JSON"

    def __init__(self, stream: IO[bytes], source: str, how: How) -> None:
        super().__init__(stream, source, how)
        pa = needs("pyarrow", "parquet")
        columns = _ColumnsOf(self.name)
        for row in self._rows(_Values(stream, self.name)):
            columns.add(row)
        arrays = columns.arrays()
        names = checked_names(list(arrays), self.name)
        held = pa.table(list(arrays.values()), names=list(names))
        self._hold(held, lambda k: f"row {k + 1}")

    @staticmethod
    def recognizes(head: bytes) -> bool:
        """Whether it begins as objects, or a list of them, do."""
        return _BEGINS.match(head) is not None

    def _rows(self, values: _Values) -> Iterator[Mapping[str, Any]]:
        first = next(values, None)
        second = next(values, None)
        if first is None:
            raise InputError(f"{self.name} is an empty list; there are no columns.")
        if second is None and not values.listed and isinstance(first, dict):
            yield from self._alone(first)
            return
        yield self._row(first, 1)
        if second is not None:
            yield self._row(second, 2)
        for number, value in enumerate(values, 3):
            yield self._row(value, number)

    def _row(self, value: Any, number: int) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise InputError(
                f"{self.name}, row {number}: {quoted(json.dumps(value))} is no object with the "
                "names of columns."
            )
        return value

    def _alone(self, document: dict[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Read what is one object: rows under a name, columns, or a single row."""
        lists = {name: value for name, value in document.items() if isinstance(value, list)}
        rows = document.get("data", next(iter(lists.values())) if len(lists) == 1 else None)
        if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
            yield from rows
            return
        numbered = _by_row(document)
        columns = lists if len(lists) == len(document) else numbered
        if not columns:
            yield document
            return
        if len(lengths := {len(column) for column in columns.values()}) > 1:
            raise InputError(
                f"{self.name}: its columns have {min(lengths)} to {max(lengths)} cells, not as "
                "many each."
            )
        for cells in zip(*columns.values(), strict=True):
            yield dict(zip(columns, cells, strict=True))


def _by_row(document: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the columns that pandas writes: each an object with the numbers of the rows."""
    columns = {}
    for name, column in document.items():
        if not isinstance(column, dict) or list(column) != [str(k) for k in range(len(column))]:
            return {}
        columns[name] = list(column.values())
    return columns


class _ColumnsOf:
    """Columns that grow by rows, whose keys may come late."""

    def __init__(self, name: str) -> None:
        self._name, self._rows = name, 0
        self._cells: dict[str, list[Any]] = {}
        self._parts: dict[str, list[Any]] = {}
        self._held = 0  # rows that are in parts

    def add(self, row: Mapping[str, Any]) -> None:
        self._rows += 1
        for name, value in self._flat(row):
            cells = self._cells.get(name)
            if cells is None:
                cells = self._cells[name] = []
            cells += [None] * (self._rows - self._held - 1 - len(cells))
            cells.append(value)
        if self._rows - self._held >= _BATCH:
            self._pack()

    def _flat(self, row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        for name, value in row.items():
            if isinstance(value, dict):
                for inner, cell in value.items():
                    yield f"{name}.{inner}", self._cell(f"{name}.{inner}", cell)
            else:
                yield name, self._cell(name, value)

    def _cell(self, name: str, value: Any) -> Any:
        if isinstance(value, list | dict):
            what = "a list" if isinstance(value, list) else "an object within an object"
            raise InputError(
                f"{self._name}, row {self._rows}, column {name!r}: it holds {what}. A cell must be "
                "text, a number, true, false or null."
            )
        return value

    def _pack(self) -> None:
        """Hold what came so far as Arrow does: in a tenth of the memory."""
        pa, rows = needs("pyarrow", "parquet"), self._rows - self._held
        for name, cells in self._cells.items():
            cells += [None] * (rows - len(cells))
            before = [pa.nulls(self._held)] if self._held else []
            self._parts.setdefault(name, before).append(typed(cells))
            cells.clear()
        self._held = self._rows

    def arrays(self) -> dict[str, Any]:
        self._pack()
        return {name: _joined(parts) for name, parts in self._parts.items()}


def _joined(parts: list[Any]) -> Any:
    """Join parts of a column, whose types may differ."""
    pa = needs("pyarrow", "parquet")
    kinds = {part.type for part in parts if not pa.types.is_null(part.type)}
    if len(kinds) > 1:
        numbers = kinds <= {pa.int64(), pa.float64()}
        kind = pa.float64() if numbers else pa.string()
        parts = [part.cast(kind) if numbers else _as_text(part) for part in parts]
    else:
        kind = next(iter(kinds), pa.null())
        parts = [part.cast(kind) for part in parts]
    return pa.chunked_array(parts, kind)


def _as_text(part: Any) -> Any:
    texts = [None if cell is None else written(cell) for cell in part.to_pylist()]
    return needs("pyarrow", "parquet").array(texts, "string")


class _Values:
    """The values of a list, or those that follow each other, read one by one."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream, self._name = codecs.getreader("utf-8-sig")(stream), name
        self._decoder = json.JSONDecoder()
        self._text, self._at, self._before = "", 0, 1  # lines before the text
        self._ended = self._closed = False
        self._between()
        self.listed = self._text[self._at : self._at + 1] == "["
        self._at += self.listed

    def __iter__(self) -> _Values:
        return self

    def __next__(self) -> Any:
        if self._between():
            if self.listed and not self._closed:
                raise self._wrong("the list does not end", self._at)
            raise StopIteration
        if self.listed and self._text[self._at] == "]":
            self._at += 1
            self._closed = True
            if not self._between():
                raise self._wrong("there is something after the end of the list", self._at)
            raise StopIteration
        piece = _PIECE
        while True:
            try:
                value, self._at = self._decoder.raw_decode(self._text, self._at)
                return value
            except json.JSONDecodeError as error:
                unfinished = error.msg.startswith(_UNFINISHED) or error.pos > len(self._text) - 16
                if not unfinished or not self._more(piece):
                    raise self._wrong(error.msg, error.pos) from None
                piece *= 2  # so that a long value is not read again and again
            except RecursionError:
                raise self._wrong("it is nested too deeply", self._at) from None

    def _between(self) -> bool:
        """Go to the next value; say whether there is none."""
        while True:
            self._at = _BETWEEN.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return False
            if not self._more(_PIECE):
                return True

    def _more(self, size: int) -> bool:
        if self._ended:
            return False
        if len(self._text) - self._at > _LARGEST:
            raise self._wrong(
                f"a value has more than {_LARGEST >> 20} million characters", self._at
            )
        try:
            text = self._stream.read(size)
        except UnicodeDecodeError:
            raise self._wrong("this is not UTF-8", len(self._text)) from None
        self._before += self._text.count("\n", 0, self._at)
        self._text, self._at = self._text[self._at :] + text, 0
        self._ended = not text
        return not self._ended

    def _wrong(self, problem: str, at: int) -> InputError:
        line = self._before + self._text.count("\n", 0, at)
        return InputError(f"{self._name}, line {line}: this is not JSON: {problem}.")
