"""From bytes to JSON values, in bounded memory, whatever the bytes are.

Long strings (encoded arrays) are not copied: they are cut out and stay where they are, a view of
the file. What is left is small; how much memory its values can take is known from its punctuation
before it is parsed.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from refold.modelfile.budget import Budget
from refold.modelfile.errors import ModelFileError

Raw = bytes | bytearray

# A string of more bytes than this is an encoded array.
LONG = 4096
_DEEPEST = 16  # a model has 5 levels of brackets
_DIGITS = 20  # of the largest whole number in 64 bits, with its sign

# A string, to the end of the file if it is never closed: each byte is then looked at once only.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_TAKEN = object()
_SPACE = b" \t\r\n"
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_CHECKSUM = re.compile(rb',\s*+"sha256"\s*+:\s*+"[0-9a-f]{64}"\s*+\}\s*+')

# At most this many bytes of Python objects per character of the text: a number with its place in a
# list that is growing; a list; an object; a key with its pair, its place and the parser's memory
# of it; half a string.
_COST = {b",": 64, b"[": 144, b"{": 320, b":": 320, b'"': 112}


@dataclass(frozen=True)
class Refused:
    """A value that JSON or this format does not have; reported where it stands."""

    problem: str


@dataclass(frozen=True)
class LongString:
    """A long string, still in the file's bytes."""

    content: memoryview


def parse(raw: Raw, budget: Budget) -> Any:
    """Return the values in a file's bytes; what JSON does not allow stands there as Refused."""
    budget.charge(len(raw), "The file")
    if not raw:
        raise ModelFileError("The file is empty")
    if raw.startswith(b"\xef\xbb\xbf"):
        raise ModelFileError("The file begins with a byte order mark; save it as plain UTF-8")
    budget.charge(sum(raw.count(mark) * cost for mark, cost in _COST.items()), "Its values")
    pieces, long = _cut(raw, budget)
    try:
        text = b"".join(pieces).decode()
    except UnicodeDecodeError as error:
        raise ModelFileError(f"The file is not UTF-8 text: {error.reason}") from None
    del pieces
    return _values(text, long)


def check_sum(raw: Raw, wanted: str) -> None:
    """Refuse a document whose content is not what it was when it was written."""
    found = digest(raw)
    if found != wanted:
        raise ModelFileError(
            f"the content has the checksum {found}, the file says {wanted}: it was damaged or "
            "edited",
            where="sha256",
        )


def digest(raw: Raw) -> str:
    """Return the SHA-256 of a document: of its bytes without white space outside strings.

    The member ``sha256``, the last one, is left out with the comma before it.
    """
    content = memoryview(raw)
    comma = max(raw.rfind(b","), 0)  # nothing after the last one but the checksum
    signed = _CHECKSUM.fullmatch(raw, comma)
    if signed:
        content = content[:comma]
    total, begin = hashlib.sha256(), 0
    for start, end in _strings(content):
        total.update(bytes(content[begin:start]).translate(None, _SPACE))
        total.update(content[start:end])
        begin = end
    total.update(b"}" if signed else b"")
    return total.hexdigest()


def _cut(raw: Raw, budget: Budget) -> tuple[list[bytes], dict[str, LongString]]:
    """Return the text with a short mark in the place of each long string, and those strings."""
    view, begin = memoryview(raw), 0
    # The pieces, put together, and as text: a byte for each character, four if not all are ASCII.
    copies = 3 if raw.isascii() else 6
    mark = secrets.token_hex(8)  # no file can hold it on purpose
    pieces: list[bytes] = []
    long: dict[str, LongString] = {}
    depth = 0
    for start, end in _strings(raw):
        budget.charge((start - begin) * copies, "Its text")
        outside = bytes(view[begin:start])
        depth = _depth(outside, depth)
        pieces.append(outside)
        if end - start > LONG:
            name = f"{mark}-{len(long)}"
            long[name] = LongString(view[start + 1 : end - 1])
            pieces.append(f'"{name}"'.encode())
        else:
            budget.charge((end - start) * copies, "Its text")
            pieces.append(bytes(view[start:end]))
        begin = end
    return pieces, long


def _strings(raw: Raw | memoryview) -> Iterator[tuple[int, int]]:
    """Yield where each string begins and ends; last an empty one at the end of the file."""
    for string in _STRING.finditer(raw):
        yield string.span()
    yield len(raw), len(raw)


def _depth(outside: bytes, depth: int) -> int:
    """Follow the nesting through text that is not in a string."""
    brackets = outside.translate(None, _NOT_BRACKETS)
    for bracket in brackets:
        depth += 1 if bracket in b"[{" else -1
        if depth > _DEEPEST:
            raise ModelFileError(f"Brackets are nested more than {_DEEPEST} deep")
    return depth


def _values(text: str, long: dict[str, LongString]) -> Any:
    decoder = json.JSONDecoder(
        object_pairs_hook=lambda pairs: _object(pairs, long),
        parse_constant=lambda literal: Refused(f"{literal} is not a number"),
        parse_int=_integer,
    )
    try:
        document = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise ModelFileError(
            f"The file is not JSON: {error.msg}, line {error.lineno}, column {error.colno}"
        ) from None
    if long:
        raise ModelFileError(f"A text of more than {LONG} bytes stands where no array can be")
    return document


def _object(pairs: list[tuple[str, Any]], long: dict[str, LongString]) -> dict[str, Any] | Refused:
    """Make an object of its members, and take the long strings out of `long` into it."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        twice = next(key for key, _ in pairs if fields.pop(key, _TAKEN) is _TAKEN)
        return Refused(f"has the key {twice!r} more than once")
    if long:
        for key, value in pairs:
            if isinstance(value, str) and value in long:
                fields[key] = long.pop(value)
    return fields


def _integer(literal: str) -> int | Refused:
    if len(literal) > _DIGITS:
        return Refused(f"a number of {len(literal)} digits is too large")
    return int(literal)
