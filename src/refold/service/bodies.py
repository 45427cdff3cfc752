"""Bodies that are larger when unpacked: gzip, Parquet and Arrow, within the limits of a request."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from typing import Any

from refold.base.needs import needs
from refold.service.errors import RequestError
from refold.service.scoring import check_count
from refold.tabular.arrow_table import ParquetTable

_Wanted = dict[int, "_Wanted"]  # fields of a struct, with those of the structs in them

_GZIP = 31  # what zlib calls it
_GZIP_PIECE = 2**14  # bytes that are unpacked at a time
_GZIP_MEMBERS = 10_000  # of a body; each takes time, however little is in it
# Types of Thrift's compact protocol.
_TRUTHS, _BYTE, _INTEGERS, _DOUBLE, _BYTES, _LISTS, _STRUCT = (
    (1, 2),
    3,
    (4, 5, 6),
    7,
    8,
    (9, 10),
    12,
)
_DEEPEST = 8
# Fields of the header of a Parquet page, and of the description of a column in the footer.
_UNPACKED, _PACKED = 2, 3
_VALUES, _ALL_UNPACKED, _ALL_PACKED, _DATA, _DICTIONARY = 5, 6, 7, 9, 11
# Where these descriptions are: row groups, their columns, what is said of one.
_GROUPS, _COLUMNS, _SAID = 4, 1, 3
_FOOTER: _Wanted = {
    _GROUPS: {
        _COLUMNS: {
            _SAID: {_VALUES: {}, _ALL_UNPACKED: {}, _ALL_PACKED: {}, _DATA: {}, _DICTIONARY: {}}
        }
    }
}
_RECORD_BATCH, _DICTIONARY_BATCH = 3, 2  # messages of Arrow IPC that hold rows


def gunzip(body: bytes, most: int) -> bytes:
    """Unpack a body, as far as a request may be large."""
    parts: list[bytes] = []
    size, members, rest, at = 0, 0, b"", 0
    try:
        while rest or at < len(body):  # a file may have several members
            member, members = zlib.decompressobj(_GZIP), members + 1
            if members > _GZIP_MEMBERS:
                raise RequestError(413, f"A gzip may have {_GZIP_MEMBERS:,} members.")
            # In pieces: what a member leaves is copied.
            while not member.eof and (rest or at < len(body)):
                if not rest:
                    rest, at = body[at : at + _GZIP_PIECE], at + _GZIP_PIECE
                parts.append(member.decompress(rest, most - size + 1))
                size += len(parts[-1])
                if size > most:
                    raise _too_large(most)
                rest = member.unconsumed_tail or member.unused_data
            if not member.eof:
                raise RequestError(400, "The body is cut short: its gzip has no end.")
    except zlib.error:
        raise RequestError(400, "The body is not gzip, though Content-Encoding says so.") from None
    return b"".join(parts)


class RequestParquet(ParquetTable):
    """Parquet of a request: a text that comes in many rows is kept once."""

    def _open(self) -> Any:
        schema = super()._open()
        parquet, types = needs("pyarrow.parquet", "app"), needs("pyarrow.types", "app")
        texts = [
            field.name for field in schema if types.is_string(field.type) or _is_large(field.type)
        ]
        self._file = parquet.ParquetFile(
            self._stream, pre_buffer=False, buffer_size=2**16, read_dictionary=texts
        )
        return self._file.schema_arrow


def _is_large(kind: Any) -> bool:
    types = needs("pyarrow.types", "app")
    return any(is_kind(kind) for is_kind in (types.is_large_string, types.is_binary))


def check_parquet(body: bytes, most_rows: int, most_bytes: int) -> None:
    """Refuse what its footer or the headers of its pages say is too large.

    What the footer says of columns is read here: pyarrow would end the process if their statistics
    do not fit them.
    """
    pa = needs("pyarrow", "app")
    try:
        found = needs("pyarrow.parquet", "app").read_metadata(io.BytesIO(body))
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        return  # whoever opens it says what is wrong
    check_count(found.num_rows, most_rows)
    size = 0
    try:
        for group in _footer(body)[_GROUPS]:
            for j, column in enumerate(group[_COLUMNS]):
                said, width = column[_SAID], found.schema.column(j).length
                check_count(max(said[_VALUES], 1), most_rows)  # of a list there are more than rows
                values = said[_VALUES] * max(width, 0)
                size += max(said[_ALL_UNPACKED], _pages_size(body, said), values)
    except (IndexError, KeyError, TypeError, ValueError):
        raise RequestError(400, "The request is damaged: it is no Parquet.") from None
    if size > most_bytes:
        raise _too_large(most_bytes)


def _footer(body: bytes) -> dict[int, Any]:
    size = int.from_bytes(body[-8:-4], "little")
    return _ThriftReader(body, len(body) - 8 - size).struct(_FOOTER)


def _pages_size(body: bytes, said: dict[int, int]) -> int:
    """Return how many bytes the pages of a column take, by their own headers.

    Readers unpack pages as large as these headers say, whatever the footer says.
    """
    at = min(said[_DATA], said.get(_DICTIONARY, 0) or said[_DATA])
    end, size = at + said[_ALL_PACKED], 0
    while at < end:
        reader = _ThriftReader(body, at)
        header = reader.struct({_UNPACKED: {}, _PACKED: {}})
        if header[_UNPACKED] < 0 or header[_PACKED] < 0:
            raise ValueError(at)
        at, size = reader.at + header[_PACKED], size + header[_UNPACKED]
    return size


class _ThriftReader:
    """Reads structs of Thrift's compact protocol; of what is not wanted it only finds the end."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self.at = data, at
        if at < 0:
            raise ValueError(at)

    def struct(self, wanted: _Wanted, depth: int = 0) -> dict[int, Any]:
        """Read a struct; return the fields wanted: integers, structs and lists of these."""
        found: dict[int, Any] = {}
        field = 0
        while kind := self._byte():
            step, kind = kind >> 4, kind & 15
            field = field + step if step else self._integer()
            value = self._value(kind, wanted.get(field, {}), depth)
            if field in wanted:
                found[field] = value
        return found

    def _value(self, kind: int, wanted: _Wanted, depth: int) -> Any:
        if kind in _INTEGERS:
            return self._integer()
        if kind == _STRUCT and depth < _DEEPEST:
            return self.struct(wanted, depth + 1)
        if kind in _LISTS and depth < _DEEPEST:
            return self._list(wanted, depth + 1)
        if kind == _BYTES:
            length = self._varint()
            self.at += length
        elif kind in (_BYTE, _DOUBLE):
            self.at += 1 if kind == _BYTE else 8
        elif kind not in _TRUTHS:
            raise ValueError(kind)
        return None

    def _list(self, wanted: _Wanted, depth: int) -> list[Any]:
        head = self._byte()
        count, kind = head >> 4, head & 15
        if count == 15:
            count = self._varint()
        kind = _BYTE if kind in _TRUTHS else kind  # in a list, a truth value is a byte
        items = (self._value(kind, wanted, depth) for _ in range(count))
        if wanted:
            return list(items)
        for _ in items:
            pass
        return []

    def _byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 128:
            value, shift = value | (byte & 127) << shift, shift + 7
            if shift > 63:
                raise ValueError(self.at)
        return value | byte << shift

    def _integer(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)


def check_arrow(body: bytes, most_rows: int, most_bytes: int) -> None:
    """Refuse an Arrow IPC stream whose batches are too large, before any is unpacked."""
    rows = size = 0
    for message in _messages(body):
        try:
            kind, more, unpacked = _batch_size(memoryview(message.metadata), message.body)
        except (struct.error, IndexError):
            raise RequestError(400, "The request is damaged: it is no Arrow IPC.") from None
        rows += more if kind == _RECORD_BATCH else 0
        size += unpacked
        if rows > most_rows:
            check_count(rows, most_rows)
        if size > most_bytes:
            raise _too_large(most_bytes)


def _messages(body: bytes) -> Iterator[Any]:
    pa = needs("pyarrow", "app")
    try:
        yield from needs("pyarrow.ipc", "app").MessageReader.open_stream(pa.py_buffer(body))
    except (pa.ArrowException, OSError):
        return  # whoever opens it says what is wrong


def _batch_size(message: memoryview, body: Any) -> tuple[int, int, int]:
    """Return the type of a message, and how many rows and bytes it holds when unpacked.

    The header of a message is a FlatBuffer; that of a compressed batch says where its buffers are,
    and each buffer begins with its size.
    """
    root = _FlatTable(message, struct.unpack_from("<I", message)[0])
    kind = root.number(1, "<B")
    if kind not in (_RECORD_BATCH, _DICTIONARY_BATCH):
        return kind, 0, 0
    batch = root.table(2)
    if kind == _DICTIONARY_BATCH:
        batch = batch.table(1)
    rows = batch.number(0, "<q")
    if body is None or not batch.has(3):  # it is not compressed
        return kind, rows, 0 if body is None else len(body)
    data, sizes = memoryview(body), 0
    for offset, length in batch.structs(2, "<qq"):
        if length:
            (size,) = struct.unpack_from("<q", data, offset)
            sizes += length if size < 0 else size
    return kind, rows, sizes


class _FlatTable:
    """A table of a FlatBuffer: fields by their number."""

    def __init__(self, data: memoryview, at: int) -> None:
        self._data, self._at = data, at
        self._fields = at - struct.unpack_from("<i", data, at)[0]
        self._size = struct.unpack_from("<H", data, self._fields)[0]

    def _offset(self, field: int) -> int:
        place = 4 + 2 * field
        if place >= self._size:
            return 0
        found: int = struct.unpack_from("<H", self._data, self._fields + place)[0]
        return found

    def has(self, field: int) -> bool:
        return self._offset(field) != 0

    def number(self, field: int, form: str) -> int:
        offset = self._offset(field)
        return int(struct.unpack_from(form, self._data, self._at + offset)[0]) if offset else 0

    def _target(self, field: int) -> int:
        offset = self._offset(field)
        if not offset:
            raise IndexError(field)
        at = self._at + offset
        return at + int(struct.unpack_from("<I", self._data, at)[0])

    def table(self, field: int) -> _FlatTable:
        return _FlatTable(self._data, self._target(field))

    def structs(self, field: int, form: str) -> Iterator[tuple[Any, ...]]:
        at = self._target(field)
        (count,) = struct.unpack_from("<I", self._data, at)
        for k in range(count):
            yield struct.unpack_from(form, self._data, at + 4 + k * struct.calcsize(form))


def _too_large(most: int) -> RequestError:
    return RequestError(
        413, f"A request may have {most:,} bytes when unpacked. Send the rows in parts."
    )
