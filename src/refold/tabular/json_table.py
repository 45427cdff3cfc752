"""JSON: a list of rows, rows line by line, or an object of columns."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import IO, Any, NoReturn

from refold.base.errors import UserError
from refold.base.needs import needs
from refold.columns.conversion import text_of
from refold.columns.records import columns_of_records, flat_records, refuse_sparse
from refold.tabular._typed import typed
from refold.tabular.errors import InputError, cell_repr
from refold.tabular.table_source import HeldTable, ReadOptions, check_width, checked_names

_PIECE = 2**20  # characters read at a time
_LARGEST = 2**28  # characters of one value: a row, or columns all in one
_BATCH = 2**14  # rows that are held as Python's objects
_SPACE = re.compile(r"[ \t\r\n]*")
_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[\s*(?:\{|\[|\]|$)|\{\s*(?:\"|\}|$))")
# What is wrong with a value of which only a part has been read.
_UNFINISHED = ("Unterminated string", "Invalid \\escape", "Invalid \\uXXXX escape")


class JsonTable(HeldTable):
    """A list of objects, objects one after the other (NDJSON), or an object of columns.

    Objects within a row become columns such as ``size.width``; a key that a row does not have is a
    missing value. A column with lists can only be passed on.
    """

    format = "JSON"

    def __init__(self, stream: IO[bytes], source: str, how: ReadOptions) -> None:
        super().__init__(stream, source, how)
        self._columns = _GrowingColumns(self.name)
        values = enumerate(self._rows(_Values(stream, self.name)), 1)
        rows = (self._object(value, number) for number, value in values)
        while batch := list(islice(rows, _BATCH)):
            try:
                self._columns.add(batch)
            except UserError as error:
                raise InputError(f"{self.name}: {error}") from None
        arrays = self._columns.arrays()
        names = checked_names(list(arrays), self.name)
        held = needs("pyarrow", "parquet").table(list(arrays.values()), names=list(names))
        self._hold(held, lambda k: f"row {k + 1}")
        self.lists = {
            name: f"{self.name}, row {row}, column {name!r}: a list is neither learned nor judged"
            for name, row in self._columns.lists.items()
        }

    @staticmethod
    def recognizes(head: bytes) -> bool:
        """Whether it begins as objects, or a list of them or of lists, do."""
        return _BEGINS.match(head) is not None

    def _rows(self, values: _Values) -> Iterator[Any]:
        first, second = next(values, None), next(values, None)
        if first is None:
            raise InputError(f"{self.name} is an empty list; there are no columns.")
        if second is None and not values.listed and isinstance(first, dict):
            try:
                return rows_of_object(first)
            except ValueError as error:
                raise InputError(f"{self.name}: {error}.") from None
        return chain([first] if second is None else [first, second], values)

    def _object(self, row: Any, number: int) -> dict[str, Any]:
        if not isinstance(row, dict):
            raise InputError(
                f"{self.name}, row {number}: {cell_repr(json.dumps(row))} is not an object with "
                "the names of columns."
            )
        return row


def rows_of_object(document: dict[str, Any]) -> Iterator[Any]:
    """Return the rows of one object: rows under a name, columns, or a single row."""
    lists = {name: value for name, value in document.items() if isinstance(value, list)}
    rows = document.get("data", next(iter(lists.values())) if len(lists) == 1 else None)
    if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
        return iter(rows)
    columns = lists if len(lists) == len(document) else _columns_of_pandas(document)
    if not columns:
        return iter([document])
    if len(lengths := {len(column) for column in columns.values()}) > 1:
        raise ValueError(
            f"its columns have {min(lengths)} to {max(lengths)} cells, not as many each"
        )
    return (dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True))


def _columns_of_pandas(document: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the columns that pandas writes: each an object with the numbers of the rows."""
    columns = {}
    for name, column in document.items():
        if not isinstance(column, dict) or list(column) != [str(k) for k in range(len(column))]:
            return {}
        columns[name] = list(column.values())
    return columns


class _GrowingColumns:
    """Columns that grow by rows, whose keys may come late; held as Arrow does, in little memory."""

    def __init__(self, file: str) -> None:
        self._file, self._rows, self._values = file, 0, 0
        self._parts: dict[str, list[Any]] = {}
        self.lists: dict[str, int] = {}  # columns that hold lists, and the first row with one

    def add(self, batch: list[dict[str, Any]]) -> None:
        nulls = needs("pyarrow", "parquet").nulls
        records = flat_records(batch, self._rows + 1)
        self._values += sum(map(len, records))
        names = dict.fromkeys([*self._parts, *chain.from_iterable(records)])
        check_width(len(names), self._file)
        refuse_sparse(self._rows + len(batch), len(names), self._values)
        cells = columns_of_records(records)
        for name in names:
            before = [nulls(self._rows)] if self._rows else []
            part = self._typed(name, cells[name]) if name in cells else nulls(len(batch))
            self._parts.setdefault(name, before).append(part)
        self._rows += len(batch)

    def _typed(self, name: str, cells: list[Any]) -> Any:
        if list in map(type, cells):
            row = next(k for k, cell in enumerate(cells, self._rows + 1) if type(cell) is list)
            self.lists.setdefault(name, row)
            cells = [json.dumps(c, ensure_ascii=False) if type(c) is list else c for c in cells]
        return typed(cells)

    def arrays(self) -> dict[str, Any]:
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
    texts = [None if cell is None else text_of(cell) for cell in part.to_pylist()]
    return needs("pyarrow", "parquet").array(texts, "string")


# ---- one rule of what JSON is, for files and requests ------------------------------------------


class JsonError(ValueError):
    """A text that is no JSON: the problem, and its row (from 0) and column if they are known."""

    def __init__(self, problem: str, row: int | None = None, column: str = "") -> None:
        self.problem, self.row, self.column = problem, row, column
        place = ["" if row is None else f"row {row + 1}", f"column {column!r}" if column else ""]
        super().__init__(": ".join(filter(None, [", ".join(filter(None, place)), problem])))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle all parts."""
        return type(self), (self.problem, self.row, self.column)


def decode_json(text: str, at: int = 0) -> tuple[Any, int]:
    """Return the value that begins at a place of a text, and where it ends.

    NaN, Infinity and keys that appear twice in an object are no JSON.

    >>> decode_json('{"a": 1}')
    ({'a': 1}, 8)
    >>> try:
    ...     decode_json('[{"a": 1}, {"a": NaN}]')
    ... except JsonError as error:
    ...     print(error)
    row 2, column 'a': NaN is not a number in JSON; a missing value is null
    """
    try:
        return _STRICT.raw_decode(text, at)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise JsonError("it is nested too deeply") from None
    except ValueError:
        path, problem = _first_problem(_MARKING.raw_decode(text, at)[0])
        row = next((step for step in path if isinstance(step, int)), None)
        column = ".".join(step for step in path if isinstance(step, str))
        raise JsonError(problem, row, column) from None


def is_cut_off(error: json.JSONDecodeError, text: str) -> bool:
    """Whether more text may mend what is wrong: only a part of the value has been read."""
    return error.msg.startswith(_UNFINISHED) or error.pos > len(text) - 16


def parse_json(text: str) -> Any:
    """Return the one value that a text holds; ValueError says why there is none.

    >>> parse_json(' [1, 2] ')
    [1, 2]
    """
    value, end = decode_json(text, _after_space(text, 0))
    if (end := _after_space(text, end)) < len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    return value


def _after_space(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]


class _Problem(str):
    """Stands in a document where something is wrong, and says what."""

    __slots__ = ()


def _refused(word: str) -> NoReturn:
    raise ValueError(word)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("twice")
    return found


def _marked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        found[key] = _Problem("the key appears twice in an object") if key in found else value
    return found


def _marked_number(digits: str) -> int | _Problem:
    try:
        return int(digits)
    except ValueError:  # Python reads 4,300 of them, unless it is told otherwise
        return _Problem(f"a number has {len(digits):,} digits")


_STRICT = json.JSONDecoder(parse_constant=_refused, object_pairs_hook=_unique)
_MARKING = json.JSONDecoder(
    parse_constant=lambda word: _Problem(
        f"{word} is not a number in JSON; a missing value is null"
    ),
    parse_int=_marked_number,
    object_pairs_hook=_marked,
)


def _first_problem(document: Any) -> tuple[list[int | str], str]:
    """Return the first mark in a document, and the keys and places that lead to it.

    Without recursion: a document may be nested more deeply than functions may call each other.
    """
    stack: list[tuple[Any, Any]] = [(None, document)]  # where, as (where its parent is, key)
    while stack:
        where, value = stack.pop()
        if isinstance(value, _Problem):
            path = []
            while where is not None:
                where, key = where
                path.append(key)
            return path[::-1], value
        inside: Iterable[tuple[Any, Any]] = ()
        if isinstance(value, dict | list):
            inside = value.items() if isinstance(value, dict) else enumerate(value)
        stack.extend(reversed([((where, key), each) for key, each in inside]))
    raise AssertionError("Both decoders refuse the same.")


class _Values:
    """The values of a list, or those that follow each other, read one by one."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream, self._name = codecs.getreader("utf-8-sig")(stream), name
        self._text, self._at, self._before, self._given = "", 0, 1, 0  # lines before the text
        self._ended = self._closed = False
        self.listed = self._next_character() == "["
        self._at += self.listed

    def __iter__(self) -> _Values:
        return self

    def __next__(self) -> Any:
        if self._closed or ((character := self._next_character()) == "" and not self.listed):
            raise StopIteration
        if self.listed and character == "]":
            self._at, self._closed = self._at + 1, True
            if self._next_character():
                raise self._wrong("there is something after the end of the list", self._at)
            raise StopIteration
        if self.listed and self._given and character:
            if character != ",":
                raise self._wrong("a comma is missing between two rows", self._at)
            self._at += 1
            character = self._next_character()
        if not character:
            raise self._wrong("the list does not end", self._at)
        self._given += 1
        return self._value()

    def _value(self) -> Any:
        piece = _PIECE
        while True:
            try:
                value, self._at = decode_json(self._text, self._at)
                return value
            except json.JSONDecodeError as error:
                if not is_cut_off(error, self._text) or not self._more(piece):
                    raise self._wrong(error.msg, error.pos) from None
                piece *= 2  # so that a long value is not read again and again
            except JsonError as error:
                row = "" if "row" in str(error) else f"row {self._given}, "
                raise self._wrong(f"{row}{error}", self._at) from None

    def _next_character(self) -> str:
        """Go to the next character that is no space, and return it; none is left at the end."""
        while True:
            self._at = _after_space(self._text, self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more(_PIECE):
                return ""

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
