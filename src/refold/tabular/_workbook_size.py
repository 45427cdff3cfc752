"""How much a workbook would take, found out before anything is allocated for it."""

from __future__ import annotations

import copy
import html
import io
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import IO, NamedTuple
from xml.parsers import expat

from refold.tabular.errors import InputError

_MOST_UNPACKED = 2**32
# Above so many bytes, more than so many of one packed byte are no workbook but a bomb.
_MUCH_UNPACKED, _MOST_PER_BYTE = 2**28, 200
_PIECE = 2**20
# What cells of an .ods that stand for many may add, if it is more than so many times the sheet.
_MUCH_REPEATED, _MOST_REPEATED = 2**28, 10
_CELL = 32  # bytes of a cell, at least, and of its text
_LONGEST_RECORD = 2**24
_DIGITS = 18  # of a number of repeats: more are more than any memory has
_PLACE = re.compile(r"([A-Za-z]{1,7})([0-9]{1,12})")
# Records of an .xlsb: where the cells of a sheet begin and end, a row, and a cell of any kind.
_BEGIN_CELLS, _END_CELLS, _ROW, _CELLS = 0x91, 0x92, 0, {*range(1, 12), 62}
_SHARED_CELL, _SHARED_TEXT = 7, 19  # a cell with a text that others have too; such a text
_FIRST = 12  # bytes of a record that are looked at


@dataclass
class Span:
    """The cells of a sheet, and how far they reach."""

    rows: int = 1
    columns: int = 1
    cells: int = 0
    _row: int = field(default=0, repr=False)
    _column: int = field(default=0, repr=False)

    def begin_row(self, number: int | None = None) -> None:
        """Go to a row, counted from 1; None is the next."""
        self._row, self._column = self._row + 1 if number is None else number, 0

    def add(self, column: int | None = None, row: int | None = None) -> None:
        """Count a cell; None is the next of the row."""
        self._column = self._column + 1 if column is None else column
        self.rows = max(self.rows, self._row if row is None else row)
        self.columns, self.cells = max(self.columns, self._column), self.cells + 1


def sheet_spans(content: bytes, name: str) -> Iterator[Span]:
    """Give the span of each sheet; refuse a workbook that unpacks to too much.

    A sheet is known by what is in it, and a size by unpacking: the directory of an archive may say
    anything, and sheets may be kept under any name.
    """
    unpacked = 0
    sheets: list[_Sheet] = []
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        _check_unpacked(sum(member.file_size for member in members), len(content), name)
        binary = _names_of_binary_sheets(archive)
        for member in members:
            member = copy.copy(member)
            member.file_size = 2**62  # what is there is read, however much was declared
            found, before = False, unpacked
            with archive.open(member) as stream:
                last = b""
                while piece := stream.read(_PIECE):
                    unpacked += len(piece)
                    _check_unpacked(unpacked, len(content), name)
                    found = found or b"sheetData" in last + piece
                    last = piece[-16:]
            if member.filename == "content.xml":
                with archive.open(member) as stream:
                    yield from _repeating_spans(stream, name)
            elif found or member.filename.rpartition("/")[2] in binary:
                with archive.open(member) as stream:
                    span = _xml_span(stream) if found else _binary_span(stream)
                sheets.append(_Sheet(member, span.cells, unpacked - before, is_xml=found))
                yield span
        _check_shared(archive, sheets, name)


class _Sheet(NamedTuple):
    member: zipfile.ZipInfo
    cells: int
    size: int  # in bytes, unpacked
    is_xml: bool


def _check_shared(archive: zipfile.ZipFile, sheets: list[_Sheet], name: str) -> None:
    """Refuse a workbook in which many cells share long texts: each cell would get its own."""
    lengths = {is_xml: _shared_lengths(archive, is_xml=is_xml) for is_xml in (True, False)}
    for sheet in sheets:
        known = lengths[sheet.is_xml]
        if max(known, default=0) * sheet.cells <= _MUCH_REPEATED:
            continue
        with archive.open(sheet.member) as stream:
            shared = _xml_shared(stream) if sheet.is_xml else _binary_shared(stream)
            size = sum(known[k] for k in shared if k < len(known))
        if size > max(_MUCH_REPEATED, _MOST_REPEATED * sheet.size):
            raise InputError(
                f"{name}: texts that cells share would take more than {_MUCH_REPEATED >> 20} MB: "
                "save the sheet as CSV."
            )


def _shared_lengths(archive: zipfile.ZipFile, *, is_xml: bool) -> list[int]:
    """Return the lengths of the texts that cells share; cells have the numbers of these."""
    lengths: list[int] = []
    for member in archive.infolist():
        place = member.filename.replace("\\", "/").lower().lstrip("/")
        if place != f"xl/sharedstrings.{'xml' if is_xml else 'bin'}":
            continue
        member = copy.copy(member)
        member.file_size = 2**62
        with archive.open(member) as stream:
            lengths += _xml_lengths(stream) if is_xml else _binary_lengths(stream)
    return lengths


def _xml_lengths(stream: IO[bytes]) -> list[int]:
    lengths: list[int] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if name.rpartition(":")[2] == "si":
            lengths.append(0)

    def text(data: str) -> None:
        if lengths:
            lengths[-1] += len(data)

    _parse(stream, start, text)
    return lengths


def _binary_lengths(stream: IO[bytes]) -> list[int]:
    items = (begin for kind, begin in _records(stream) if kind == _SHARED_TEXT)
    return [int.from_bytes(begin[1:5], "little") for begin in items]


def _xml_shared(stream: IO[bytes]) -> Iterator[int]:
    """Return the numbers of the shared texts in the cells of a sheet."""
    numbers: Counter[str] = Counter()
    shared, digits = False, list[str]()

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal shared
        kind = name.rpartition(":")[2]
        if kind == "c":
            numbers["".join(digits)] += 1
            digits.clear()
            shared = attributes.get("t") == "s"

    def text(data: str) -> None:
        if shared and len(digits) < _DIGITS:
            digits.append(data.strip()[:_DIGITS])

    _parse(stream, start, text)
    numbers["".join(digits)] += 1
    known = ((int(number), count) for number, count in numbers.items() if number.isdecimal())
    return chain.from_iterable(repeat(number, count) for number, count in known)


def _binary_shared(stream: IO[bytes]) -> Iterator[int]:
    """Return the same of a binary sheet."""
    found = (begin for kind, begin in _records(stream) if kind == _SHARED_CELL)
    return (int.from_bytes(begin[8:12], "little") for begin in found)


def _check_unpacked(unpacked: int, packed: int, name: str) -> None:
    if unpacked > _MOST_UNPACKED:
        raise InputError(
            f"{name} unpacks to more than {_MOST_UNPACKED >> 30} GB: save the sheet as CSV."
        )
    if unpacked > max(_MUCH_UNPACKED, _MOST_PER_BYTE * packed):
        raise InputError(
            f"{name} has {packed:,} bytes and unpacks to more than {_MOST_PER_BYTE} times as many: "
            "save the sheet as CSV."
        )


def _names_of_binary_sheets(archive: zipfile.ZipFile) -> set[str]:
    """Return the last parts of the names of members that an .xlsb may keep its sheets in."""
    lists = [name for name in archive.namelist() if name.lower().endswith("workbook.bin.rels")]
    texts = [archive.read(name).decode("utf-8", "replace") for name in lists]
    names = {name.rpartition("/")[2] for name in archive.namelist()}
    return {name for name in names for text in texts if name in text or name in html.unescape(text)}


def _xml_span(stream: IO[bytes]) -> Span:
    span = Span()

    def start(name: str, attributes: dict[str, str]) -> None:
        kind, place = name.rpartition(":")[2], attributes.get("r", "")
        if kind == "row":
            span.begin_row(int(place) if place.isdecimal() and len(place) < 13 else None)
        elif kind == "c" and (found := _PLACE.fullmatch(place)):
            span.add(_column_number(found[1]), int(found[2]))
        elif kind == "c":
            span.add()

    _parse(stream, start)
    return span


def _repeating_spans(stream: IO[bytes], name: str) -> list[Span]:
    """Return the spans of the sheets of an .ods, where one cell may stand for a million."""
    spans: list[Span] = []
    row = column = rows = times = added = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal row, column, rows, times, added
        kind = name.rpartition(":")[2]
        given = {key.rpartition(":")[2]: value for key, value in attributes.items()}
        if kind == "table":
            spans.append(Span())
            row = 0
        elif kind == "table-row":
            rows = _repeats(given.get("number-rows-repeated", ""))
            row, column = row + rows, 0
        elif kind in ("table-cell", "covered-table-cell"):
            across = _repeats(given.get("number-columns-repeated", ""))
            column, times = column + across, rows * across
        elif kind == "s":  # so many spaces
            added += times * _repeats(given.get("c", ""))
        # Only cells with something in them count: the last rows and columns are often empty.
        if spans and (kind == "p" or "value-type" in given):
            spans[-1].add(column, row)
            added += max(times - 1, 0) * _CELL

    def text(data: str) -> None:
        nonlocal added
        added += max(times - 1, 0) * len(data)

    size = _parse(stream, start, text)
    if added > max(_MUCH_REPEATED, _MOST_REPEATED * size):
        raise InputError(
            f"{name}: cells that stand for many would take more than {_MUCH_REPEATED >> 20} MB: "
            "save the sheet as CSV."
        )
    return spans


def _repeats(number: str) -> int:
    digits = number.removeprefix("+")
    return int(digits[:_DIGITS]) if digits.isdecimal() else 1


def _parse(
    stream: IO[bytes],
    start: Callable[[str, dict[str, str]], None],
    text: Callable[[str], None] | None = None,
) -> int:
    """Go over the elements of a sheet, and its texts; return how many bytes it has."""
    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.CharacterDataHandler = start, text
    try:
        parser.ParseFile(stream)
    except expat.ExpatError as error:
        raise ValueError(f"a sheet is no XML: {error}") from None
    return parser.CurrentByteIndex


def _binary_span(stream: IO[bytes]) -> Span:
    """Go over the cells of a sheet."""
    span, within = Span(), False
    for kind, begin in _records(stream):
        if kind == _END_CELLS:
            break
        within = within or kind == _BEGIN_CELLS
        if within and len(begin) >= 4:
            number = int.from_bytes(begin[:4], "little")
            if kind == _ROW:
                span.begin_row(number + 1)
            elif kind in _CELLS:
                span.add(number + 1)
    return span


def _records(stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Give the records of a member of an .xlsb: an identifier, and what it says first."""
    while first := stream.read(1):
        kind = first[0]
        if kind & 0x80:
            kind = kind & 0x7F | (stream.read(1) or b"\0")[0] << 7
        size = 0
        for shift in (0, 7, 14, 21):
            byte = (stream.read(1) or b"\0")[0]
            size |= (byte & 0x7F) << shift
            if not byte & 0x80:
                break
        if size > _LONGEST_RECORD:
            return
        yield kind, stream.read(size)[:_FIRST]


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - 64
    return number
