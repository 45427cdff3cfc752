"""From bytes to JSON values, in bounded memory, whatever the bytes are; how large files may be.

Long strings (encoded arrays) are not copied: they are cut out and stay where they are, a view of
the file. What is left is small; how much memory its values can take is known from its punctuation
before it is parsed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from refold.modelfile.errors import ModelFileError, TooLargeError

# A larger file is refused unread.
MOST_BYTES = 64 * 2**20
# What a file, what is made of its text and the arrays in it may take together. Python's own
# overhead and passing copies stay below what is missing to 320 MB. A Detector of 60 rows and 2,000
# columns takes 220, though its file is small.
MEMORY = 300 * 2**20
# With its arrays a large file may take so many times its size; one of 2,000 columns takes ten.
_TIMES = 12
MOST_MEMORY = _TIMES * MOST_BYTES


def memory_for(size: int) -> int:
    """Return how much memory reading a file of so many bytes may take.

    >>> memory_for(2**20) >> 20, memory_for(40 * 2**20) >> 20
    (300, 480)
    """
    return max(MEMORY, _TIMES * size)


class Budget:
    """Memory that is charged before it is used."""

    def __init__(self, memory: int = MEMORY) -> None:
        self._memory = self._left = memory

    def allow(self, memory: int) -> None:
        """Let it take so much altogether from now on."""
        self._left += memory - self._memory
        self._memory = memory

    @property
    def used(self) -> int:
        """How many bytes have been charged."""
        return self._memory - self._left

    def has(self, n_bytes: int) -> bool:
        """Whether so much is left."""
        return n_bytes <= self._left

    def charge(self, n_bytes: int, what: str, where: str = "") -> None:
        """Refuse the file if it would take more than is left."""
        self._left -= n_bytes
        if self._left < 0:
            raise TooLargeError(
                f"{what} would need more memory than the {self._memory >> 20} MB that such a file "
                "may take; no file that refold writes does",
                where=where,
            )


def content_of(path: Path) -> bytearray:
    """Return a file's bytes; of one that is too large no more than is needed to know."""
    try:
        file = path.open("rb", buffering=0)
    except IsADirectoryError:
        raise ModelFileError("This is a folder, not a model file") from None
    with file:
        info = os.fstat(file.fileno())
        known = stat.S_ISREG(info.st_mode) and info.st_size > 0  # a pipe does not say how long
        if known and info.st_size > MOST_BYTES:
            _refuse_size()
        content = bytearray((info.st_size if known else MOST_BYTES) + 1)
        filled = 0
        with memoryview(content) as room:
            while count := file.readinto(room[filled:]):
                filled += count
    if filled == len(content):
        _refuse_size()
    del content[filled:]
    return content


def _refuse_size() -> None:
    raise ModelFileError(
        f"The file has more than {MOST_BYTES >> 20} MB; no model file that refold writes has"
    )


Raw = bytes | bytearray

# A string of more bytes than this is an encoded array.
LONG = 4096
_DEEPEST = 16  # a model has 5 levels of brackets
_SEGMENT = 2**16  # bytes of text that are looked at together
_DIGITS = 20  # of the largest whole number in 64 bits, with its sign

# A string, to the end of the file if it is never closed: each byte is then looked at once only.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_NO_SPACE = re.compile(_STRING.pattern + rb'|[^ \t\r\n"]++', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_CHECKSUM = re.compile(rb',\s*+"sha256"\s*+:\s*+"[0-9a-f]{64}"\s*+\}\s*+')
_BACKSLASH = ord("\\")
_TAKEN = object()

# At most this many bytes of Python objects for a string, and per character of the text: a number
# with its place in a list that is growing; a list; an object; a key with its pair, its place and
# the parser's memory of it.
_STRING_COST = 224
_COST = {b",": 64, b"[": 144, b"{": 320, b":": 320}


@dataclass(frozen=True)
class Refused:
    """A value that JSON or this format does not have; reported where it stands."""

    problem: str


@dataclass(frozen=True)
class LongString:
    """A long string, still in the file's bytes."""

    content: memoryview


class Scanned(NamedTuple):
    """A document before it is parsed.

    `text` has a short mark in the place of each long string, `strings` has those strings; `digest`
    is the SHA-256 of the content.
    """

    text: bytes
    strings: dict[str, LongString]
    digest: str


def scan(raw: Raw, budget: Budget) -> Scanned:
    """Take the long strings out of a document, and charge what its values will take."""
    budget.charge(len(raw), "The file")
    view, segments = memoryview(raw), list(_segments(raw, budget))
    short = sum(end - begin for begin, end, long in segments if not long)
    # The text put together, without strings, and as characters: four bytes if not all are ASCII.
    budget.charge((3 if raw.isascii() else 6) * short, "Its text")
    mark = secrets.token_hex(8)  # no file can hold it on purpose
    pieces: list[bytes | memoryview] = []
    strings: dict[str, LongString] = {}
    for begin, end, long in segments:
        if long:
            name = f"{mark}-{len(strings)}"
            strings[name] = LongString(view[begin + 1 : end - 1])
            pieces.append(f'"{name}"'.encode())
        else:
            pieces.append(view[begin:end])
    text = b"".join(pieces)
    budget.charge(sum(text.count(mark) * cost for mark, cost in _COST.items()), "Its values")
    return Scanned(text, strings, _digest(raw, segments))


def _segments(raw: Raw, budget: Budget) -> Iterator[tuple[int, int, bool]]:
    """Yield where each long string begins and ends, and the text between them in small parts.

    A part ends outside strings; one without strings may be long, and is cut anywhere.
    """
    begin = last = count = 0
    while (start := raw.find(b'"', last)) >= 0:
        end, count = _end_of_string(raw, start), count + 1
        long = end - start > LONG
        if long or start - last > _SEGMENT or end - begin > _SEGMENT:
            budget.charge(count * _STRING_COST, "Its values")
            count = 0
            yield begin, last, False
            for at in range(last, start, _SEGMENT):
                yield at, min(at + _SEGMENT, start), False
            begin = start
        if long:
            yield start, end, True
            begin = end
        last = end
    budget.charge(count * _STRING_COST, "Its values")
    yield begin, last, False
    for at in range(last, len(raw), _SEGMENT):
        yield at, min(at + _SEGMENT, len(raw)), False


def _end_of_string(raw: Raw, start: int) -> int:
    """Return where the string that begins here ends; a quote after a backslash may be in it."""
    quote = raw.find(b'"', start + 1)
    if quote > 0 and raw[quote - 1] != _BACKSLASH:
        return quote + 1
    string = _STRING.match(raw, start)
    assert string is not None
    return string.end()


def _digest(raw: Raw, segments: list[tuple[int, int, bool]]) -> str:
    """Hash a document's bytes without white space outside strings.

    The member ``sha256``, the last one, is left out with the comma before it.
    """
    comma = max(raw.rfind(b","), 0)  # nothing after the last one but the checksum
    signed = _CHECKSUM.fullmatch(raw, comma)
    content, total = memoryview(raw)[: comma if signed else None], hashlib.sha256()
    for begin, end, long in segments:
        part = content[begin:end]
        total.update(part if long else b"".join(_NO_SPACE.findall(part)))
    total.update(b"}" if signed else b"")
    return total.hexdigest()


def parse_document(raw: Raw, budget: Budget) -> tuple[Any, str]:
    """Return the values in a file's bytes, and the checksum of its content.

    What JSON does not allow stands among the values as Refused.
    """
    if not raw:
        raise ModelFileError("The file is empty")
    if raw.startswith(b"\xef\xbb\xbf"):
        raise ModelFileError("The file begins with a byte order mark; save it as plain UTF-8")
    scanned = scan(raw, budget)
    _check_depth(scanned.text)
    try:
        text = scanned.text.decode()
    except UnicodeDecodeError as error:
        raise ModelFileError(f"The file is not UTF-8 text: {error.reason}") from None
    return _values(text, scanned.strings), scanned.digest


def _check_depth(text: bytes) -> None:
    """Refuse brackets that are nested deeply, before a parser follows them."""
    depth = 0
    for bracket in _STRING.sub(b"", text).translate(None, _NOT_BRACKETS):
        depth += 1 if bracket in b"[{" else -1
        if depth > _DEEPEST:
            raise ModelFileError(f"Brackets are nested more than {_DEEPEST} deep")


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
