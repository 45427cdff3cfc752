"""Arrays and lists of texts as the document has them: compressed bytes in base64."""

from __future__ import annotations

import binascii
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold.modelfile.fields import Field
from refold.modelfile.json_text import Budget, LongString

Array = NDArray[Any]

# What numbers are in a model, by their kind, and what they may be written as, the smallest first.
_WIDE = {"f": "float64", "i": "int64", "u": "uint8"}
_SMALLER: dict[str, tuple[str, ...]] = {
    "float64": ("int8", "int16", "int32", "float32", "float64"),
    "int64": ("int8", "int16", "int32", "int64"),
    "uint8": ("uint8",),
}
# Numbers by which it is seen early that a type does not hold them all.
_GLANCE = 64
# Bytes at four places by which it is told whether compression is worth its time: it saves a tenth.
_PROBE, _WORTH = 2**10, 0.9
_CHUNK = 2**16  # characters of base64, or bytes, at a time; a multiple of 4
# Memory for an array, by its bytes in the model: itself, and what it is made of.
_COPIES = 2
# Memory for a text and its places in lists and dictionaries, without its letters.
_OVERHEAD = 224


@dataclass(frozen=True)
class NullableArray:
    """An array in which NaN is a missing value."""

    array: NDArray[np.float64]


@dataclass(frozen=True)
class StringArray:
    """Texts too many for people to read."""

    texts: Sequence[str]


def pack_array(array: Array) -> dict[str, Any]:
    """Return an array as an object: its little-endian bytes, row by row, compressed, in base64."""
    small = _smallest(np.ascontiguousarray(array, dtype=_WIDE[array.dtype.kind]))
    content = small.astype(small.dtype.newbyteorder("<"), copy=False).tobytes()
    packed = zlib.compress(content, 1 if _is_compressible(content) else 0)
    return {
        "dtype": small.dtype.name,
        "shape": list(array.shape),
        "zlib": binascii.b2a_base64(packed, newline=False).decode(),
    }


def _is_compressible(content: bytes) -> bool:
    size = len(content)
    if size <= 4 * _PROBE:
        return True
    probe = b"".join(content[size * k // 8 : size * k // 8 + _PROBE] for k in (1, 3, 5, 7))
    return len(zlib.compress(probe, 1)) < _WORTH * len(probe)


def _smallest(array: Array) -> Array:
    """Return the same numbers in the smallest type, bit for bit: -0.0 is no whole number."""

    def holds(name: str, some: Array) -> bool:
        return some.astype(name).astype(some.dtype).tobytes() == some.tobytes()

    first = array.reshape(-1)[:_GLANCE]
    with np.errstate(all="ignore"):
        types = _SMALLER[array.dtype.name]
        return array.astype(next(t for t in types if holds(t, first) and holds(t, array)))


def pack_texts(texts: Sequence[str]) -> dict[str, Any]:
    """Return texts as an object: their lengths in characters, and all of them after each other."""
    return {
        "lengths": np.fromiter(map(len, texts), np.int64, len(texts)),
        "utf8": np.frombuffer("".join(texts).encode(), np.uint8),
    }


def charge(budget: Budget, shape: Sequence[int], itemsize: int, where: str) -> None:
    """Charge what it takes to read an array."""
    budget.charge(_COPIES * itemsize * prod(shape), "The array", where)


def charge_texts(budget: Budget, n: int, n_bytes: int, *, ascii_only: bool, where: str) -> None:
    """Charge what it takes to read texts: Python takes one byte or four for a letter."""
    budget.charge(n * _OVERHEAD + (1 if ascii_only else 4) * n_bytes * 2, "The texts", where)


def floats(
    field: Field,
    *shape: int,
    least: float = -inf,
    most: float = inf,
    above: float = -inf,
    rising: bool = False,
) -> NDArray[np.float64]:
    """Return finite numbers of this shape; with `rising` each is above the one before it."""
    array = _array(field, shape, "float64")
    require(field, array, np.isfinite(array), "must be a finite number")
    _check_bounds(field, array, least, most, above)
    if rising:
        require_rising(field, array)
    return array


def rows_of(field: Field, *shape: int) -> NDArray[np.float64]:
    """Return cells of a table, NaN where one is missing."""
    array = _array(field, shape, "float64")
    require(field, array, ~np.isinf(array), "must be a finite number or NaN")
    return array


def integers(
    field: Field, *shape: int, least: float = -inf, most: float = inf, rising: bool = False
) -> NDArray[np.int64]:
    """Return whole numbers of this shape; with `rising` each is above the one before it."""
    array = _array(field, shape, "int64")
    _check_bounds(field, array, least, most, -inf)
    if rising:
        require_rising(field, array)
    return array


def length_of(field: Field, most: int, *, least: int = 1) -> int:
    """Return how many numbers an array says it has."""
    _, shape, _ = field.members("dtype", "shape", "zlib")
    (axis,) = shape.items(1)
    length = axis.integer()
    if not least <= length <= most:
        field.refuse(f"must have from {least} to {most} numbers, not {length}")
    return length


def starts(field: Field, n: int, most: int, *, least: int = 0) -> list[int]:
    """Return where each of `n` lists of these lengths begins in what they are joined to.

    The last is the length of all together.
    """
    return [0, *np.cumsum(integers(field, n, least=least, most=most)).tolist()]


def texts(field: Field, most: int) -> list[str]:
    """Return texts, no two of them the same."""
    lengths, utf8 = field.members("lengths", "utf8")
    n, size = length_of(lengths, most, least=0), length_of(utf8, 2**40, least=0)
    content = _array(utf8, (size,), "uint8")
    charge_texts(field.budget, n, size, ascii_only=bool((content < 128).all()), where=field.path)
    try:
        whole = content.tobytes().decode()
    except UnicodeDecodeError as error:
        utf8.refuse(f"is not UTF-8 text: {error.reason}")
    ends = starts(lengths, n, len(whole))
    if ends[-1] != len(whole):
        lengths.refuse(f"must add up to the {len(whole)} characters of the text, not {ends[-1]}")
    found = [whole[begin:end] for begin, end in pairwise(ends)]
    check_different(field, found)
    return found


def check_different(field: Field, texts: Sequence[str]) -> None:
    """Refuse a text that is there twice, by its place in a list."""
    if len(set(texts)) == len(texts):
        return
    first: dict[str, int] = {}
    for number, text in enumerate(texts):
        if first.setdefault(text, number) != number:
            field.at(number).refuse(f"{text[:60]!r} is item {first[text]} already")


def require(field: Field, array: Array, right: NDArray[np.bool_], problem: str) -> None:
    """Refuse the first number that is not right, by its path."""
    if not right.all():
        at = tuple(np.argwhere(~right)[0].tolist())
        field.at(*at).refuse(f"{problem}, not {array[at].item()!r}")


def require_rising(field: Field, array: Array, begins: Sequence[int] = (0,)) -> None:
    """Refuse a number that is not above the one before it; lists begin at `begins` anew."""
    rising = np.ones(len(array), dtype=np.bool_)
    rising[1:] = array[1:] > array[:-1]
    rising[[begin for begin in begins if begin < len(array)]] = True
    require(field, array, rising, "must be above the one before it")


def _check_bounds(field: Field, array: Array, least: float, most: float, above: float) -> None:
    if array.size == 0:
        return
    low, high = array.min(), array.max()
    if low < least:
        require(field, array, array >= least, f"must be at least {least!r}")
    if high > most:
        require(field, array, array <= most, f"must be at most {most!r}")
    if low <= above:
        require(field, array, array > above, f"must be above {above!r}")


def _array(field: Field, shape: tuple[int, ...], dtype: str) -> Array:
    """Return the numbers of an array, once its declared size is what it must be and affordable."""
    stored, axes, data = field.members("dtype", "shape", "zlib")
    name = stored.text(_SMALLER[dtype])
    for axis, length in zip(axes.items(len(shape)), shape, strict=True):
        if axis.integer() != length:
            axis.refuse(f"must be {length}, not {axis.value}")
    charge(field.budget, shape, np.dtype(dtype).itemsize, field.path)
    array: Array = np.empty(shape, dtype=np.dtype(name).newbyteorder("<"))
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
        text = packed[begin : begin + _CHUNK]
        piece = binascii.a2b_base64(text, strict_mode=True)
        if begin + _CHUNK < len(packed):
            if len(piece) != _CHUNK // 4 * 3:
                raise binascii.Error("padding before the end")
        elif binascii.b2a_base64(piece[-(len(piece) % 3 or 3) :], newline=False) != text[-4:]:
            raise binascii.Error("bits beyond the last byte")
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
