"""Arrays as JSON: readable numbers where they are few, compressed bytes where they are many."""

from __future__ import annotations

import binascii
import zlib
from collections.abc import Callable
from math import isnan, nan, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold.modelfile.fields import LARGEST_INTEGER, Field
from refold.modelfile.text import LongString

Array = NDArray[Any]

# More numbers than this are written as bytes: nobody reads them, and text is larger.
READABLE = 2**14
_CHUNK = 2**16  # numbers, or characters of base64, at a time; a multiple of 4
_TYPES: dict[str, np.dtype[Any]] = {
    "float64": np.dtype("<f8"),
    "int64": np.dtype("<i8"),
    "uint8": np.dtype("u1"),
}


def written(array: Array) -> list[Any] | dict[str, Any]:
    """Return an array as the document has it."""
    return array.tolist() if array.size <= READABLE else encoded(array)


def encoded(array: Array) -> dict[str, Any]:
    """Return an array as its little-endian bytes, compressed, in base64."""
    little = np.ascontiguousarray(array, dtype=_TYPES[array.dtype.name])
    packed = zlib.compress(little.tobytes(), 6)
    return {
        "dtype": array.dtype.name,
        "shape": list(array.shape),
        "zlib": binascii.b2a_base64(packed, newline=False).decode(),
    }


def written_rows(rows: NDArray[np.float64]) -> list[Any] | dict[str, Any]:
    """Return rows of a table as the document has them: null, or NaN in bytes, is a gap."""
    if rows.size > READABLE:
        return encoded(rows)
    return [[None if isnan(value) else value for value in row] for row in rows.tolist()]


def written_column(values: NDArray[np.float64]) -> list[float | None]:
    """Return a column of a small table as the document has it: null is a gap."""
    return [None if isnan(value) else value for value in values.tolist()]


def floats(field: Field, *shape: int) -> NDArray[np.float64]:
    """Return finite numbers of this shape."""
    array = _array(field, shape, "float64")
    _check_each(field, array, np.isfinite, "must be a finite number")
    return array


def rows_of(field: Field, n: int, columns: int) -> NDArray[np.float64]:
    """Return rows of a table, NaN where there is a gap."""
    array = _array(field, (n, columns), "float64", gaps=True)
    _check_each(field, array, lambda part: ~np.isinf(part), "must be a finite number or null")
    return array


def column_of(field: Field, n: int) -> NDArray[np.float64]:
    """Return a column of a table, NaN where there is a gap."""
    array = _array(field, (n,), "float64", gaps=True)
    _check_each(field, array, lambda part: ~np.isinf(part), "must be a finite number or null")
    return array


def octets(field: Field) -> NDArray[np.uint8]:
    """Return bytes, of which there is one at least; they are always encoded."""
    _, shape, _ = field.members("dtype", "shape", "zlib")
    (axis,) = shape.items(1)
    return _array(field, (axis.integer(1),), "uint8")


def _check_each(
    field: Field, array: Array, right: Callable[[Array], NDArray[np.bool_]], problem: str
) -> None:
    """Refuse the first number that is not right; some rows at a time, for masks take memory."""
    step = max(1, _CHUNK // max(1, prod(array.shape[1:])))
    for begin in range(0, len(array), step):
        fine = right(array[begin : begin + step])
        if not fine.all():
            row, *others = np.argwhere(~fine)[0].tolist()
            at = (begin + row, *others)
            field.at(*at).refuse(f"{problem}, not {array[at].item()!r}")


def integers(field: Field, *shape: int) -> NDArray[np.int64]:
    """Return whole numbers of this shape."""
    return _array(field, shape, "int64")


def length_of(field: Field, most: int, *, least: int = 1) -> int:
    """Return how many numbers a list, readable or not, says it has."""
    if type(field.value) is list:
        length = len(field.value)
    else:
        _, shape, _ = field.members("dtype", "shape", "zlib")
        (axis,) = shape.items(1)
        length = axis.integer()
    if not least <= length <= most:
        field.refuse(f"must have from {least} to {most} numbers, not {length}")
    return length


def require(field: Field, array: Array, right: NDArray[np.bool_], problem: str) -> None:
    """Refuse the first number that is not right, by its path."""
    if not right.all():
        at = tuple(np.argwhere(~right)[0].tolist())
        field.at(*at).refuse(f"{problem}, not {array[at].item()!r}")


def _array(field: Field, shape: tuple[int, ...], dtype: str, *, gaps: bool = False) -> Array:
    # A matrix is turned round later: there are two of it then. Rows of a table stay as they are.
    copies = 1 if gaps else len(shape)
    n_bytes = _TYPES[dtype].itemsize * prod(shape) * copies
    field.budget.charge(n_bytes, "The array", field.path)
    if type(field.value) is dict:
        return _decoded(field, shape, dtype)
    if len(shape) == 1:
        return _row(_filled(field) if gaps else field, shape[0], dtype)
    rows = [_row(_filled(row) if gaps else row, shape[1], dtype) for row in field.items(shape[0])]
    return np.array(rows, dtype=dtype).reshape(shape)


def _filled(row: Field) -> Field:
    """Return a row with NaN for null."""
    if type(row.value) is not list:
        return row  # refused by its type
    return Field([nan if value is None else value for value in row.value], row.path, row.budget)


def _row(field: Field, length: int, dtype: str) -> Array:
    field.items(length)
    types = set(map(type, field.value))
    if dtype == "int64" and (types != {int} or max(map(abs, field.value)) > LARGEST_INTEGER):
        for number in range(length):
            field.item(number).integer()
    elif types != {float}:  # whole numbers may be written without a point, but must be exact
        for number in range(length):
            if type(field.value[number]) is not float:
                field.item(number).number()
    return np.array(field.value, dtype=dtype)


def _decoded(field: Field, shape: tuple[int, ...], dtype: str) -> Array:
    said, axes, data = field.members("dtype", "shape", "zlib")
    said.text((dtype,))
    for axis, length in zip(axes.items(len(shape)), shape, strict=True):
        if axis.integer() != length:
            axis.refuse(f"must be {length}, not {axis.value}")
    array: Array = np.empty(shape, dtype=_TYPES[dtype])
    try:
        _inflate(_base64(data), array.reshape(-1).view(np.uint8).data)
    except (binascii.Error, zlib.error) as error:
        data.refuse(f"cannot be decoded: {error}")
    return array.astype(dtype, copy=False)


def _base64(field: Field) -> memoryview:
    if isinstance(field.value, LongString):
        return field.value.content
    return memoryview(field.text().encode())


def _inflate(packed: memoryview, room: memoryview) -> None:
    """Fill `room` from base64; refuse more than fits, or less, without unpacking it all."""
    inflater, filled = zlib.decompressobj(), 0
    for begin in range(0, len(packed), _CHUNK):
        piece = binascii.a2b_base64(packed[begin : begin + _CHUNK], strict_mode=True)
        if begin + _CHUNK < len(packed) and len(piece) != _CHUNK // 4 * 3:
            raise binascii.Error("padding before the end")
        part = piece
        while piece or part:  # what did not fit into one part is still to come
            part = inflater.decompress(piece, _CHUNK)
            if filled + len(part) > len(room):
                raise zlib.error(f"it holds more than {len(room)} bytes")
            room[filled : filled + len(part)] = part
            filled += len(part)
            piece = inflater.unconsumed_tail
        if inflater.unused_data:
            raise zlib.error("something follows its end")
    if not inflater.eof or filled != len(room):
        raise zlib.error(f"it is cut off: {filled} of {len(room)} bytes")
