"""Bodies that are larger when unpacked: gzip, Parquet and Arrow, within the limits of a request."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from itertools import product
from typing import Any

from refold.base.needs import needs
from refold.service.errors import RequestError
from refold.service.scoring import check_count
from refold.tabular.arrow_table import ParquetTable

_GZIP = 31  # what zlib calls it
_RECORD_BATCH, _DICTIONARY_BATCH = 3, 2  # messages of Arrow IPC that hold rows


def gunzip(body: bytes, most: int) -> bytes:
    """Unpack a body, as far as a request may be large."""
    parts: list[bytes] = []
    size = 0
    try:
        while body:  # a file may have several members
            member = zlib.decompressobj(_GZIP)
            part = member.decompress(body, most - size + 1)
            size += len(part)
            if size > most:
                raise _too_large(most)
            if not member.eof:
                raise RequestError(400, "The body is cut short: its gzip has no end.")
            parts.append(part)
            body = member.unused_data
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
    """Refuse what its footer says is too large."""
    pa = needs("pyarrow", "app")
    try:
        found = needs("pyarrow.parquet", "app").read_metadata(io.BytesIO(body))
    except (pa.ArrowException, OSError):
        return  # whoever opens it says what is wrong
    check_count(found.num_rows, most_rows)
    size = 0
    for k, j in product(range(found.num_row_groups), range(found.num_columns)):
        column, width = found.row_group(k).column(j), found.schema.column(j).length
        check_count(max(column.num_values, 1), most_rows)  # of a list there are more than rows
        size += max(column.total_uncompressed_size, column.num_values * max(width, 0))
    if size > most_bytes:
        raise _too_large(most_bytes)


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
