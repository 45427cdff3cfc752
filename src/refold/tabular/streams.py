"""Where bytes come from: a file or standard input, unpacked while they are read, or read ahead."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import tempfile
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO, Any, TypeVar

from refold.base.needs import needs
from refold.tabular.errors import InputError, listed

STANDARD_INPUT = "-"
HEAD = 64  # bytes that are looked at to tell what a file is

# Parquet needs to be read from its end: from a pipe it goes through a file, which must end.
_MOST_SPOOLED = 2**34
# What is in every workbook that is a ZIP archive: Excel's two kinds, and LibreOffice's.
_WORKBOOKS = {"xl/workbook.xml", "xl/workbook.bin", "content.xml"}


def _zstd(packed: IO[bytes]) -> Any:
    pa = needs("pyarrow", "parquet")
    return pa.CompressedInputStream(pa.PythonFile(packed, mode="r"), "zstd")


_CODECS: dict[bytes, tuple[str, Callable[[IO[bytes]], Any]]] = {
    b"\x1f\x8b": ("gzip", lambda packed: gzip.GzipFile(fileobj=packed)),
    b"BZh": ("bzip2", bz2.BZ2File),
    b"\xfd7zXZ\x00": ("xz", lzma.LZMAFile),
    b"\x28\xb5\x2f\xfd": ("zstd", _zstd),
}


def open_bytes(source: str) -> tuple[bytes, IO[bytes]]:
    """Open a file, or standard input for ``-``; return its first bytes and all of it, unpacked."""
    name = name_of(source)
    if source == STANDARD_INPUT:
        raw: IO[bytes] = sys.stdin.buffer
    else:
        try:
            raw = open(source, "rb")  # noqa: SIM115 - the table closes it
        except IsADirectoryError:
            raise InputError(f"{name} is a folder; one file is needed.") from None
    head, stream = _peeked(raw)
    if head.startswith(b"PK\x03\x04"):
        stream = spooled(stream, name)
        try:
            return _peeked(_unzipped(stream, name))
        except InputError:
            stream.close()
            raise
    for magic, (codec, unpack) in _CODECS.items():
        if head.startswith(magic):
            unpacked = io.BufferedReader(_Unpacked(unpack(stream), stream, name, codec))
            try:
                return _peeked(unpacked)
            except InputError:
                unpacked.close()
                raise
    return head, stream


def name_of(source: str) -> str:
    """Return what messages call a source."""
    return "standard input" if source == STANDARD_INPUT else source


def seekable(stream: IO[bytes], source: str) -> Any:
    """Return a stream that can be read from its end; a pipe is first written to a file."""
    if stream.seekable() and getattr(stream, "name", None) == source:
        stream.close()  # a file as it is on the disk: Arrow reads it without Python in between
        return needs("pyarrow", "parquet").OSFile(os.fsencode(source))
    return spooled(stream, name_of(source))


def spooled(stream: IO[bytes], name: str) -> IO[bytes]:
    """Return a stream that can be read from its end, through a file if need be."""
    if stream.seekable():
        return stream
    file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - the table closes it
    while part := stream.read(2**20):
        if file.tell() > _MOST_SPOOLED:
            file.close()
            most = _MOST_SPOOLED >> 30
            raise InputError(f"{name} has more than {most} GB: unpack it first.")
        file.write(part)
    stream.close()
    file.seek(0)
    return file


def _peeked(stream: IO[bytes]) -> tuple[bytes, IO[bytes]]:
    """Look at the first bytes and give them back."""
    head = stream.read(HEAD)
    if stream.seekable():
        stream.seek(-len(head), io.SEEK_CUR)
        return head, stream
    return head, io.BufferedReader(_Rejoined(head, stream))


class _Rejoined(io.RawIOBase):
    """A stream whose first bytes were read already."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        part = self._head[: len(room)] or self._rest.read(len(room))
        self._head = self._head[len(part) :]
        room[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._rest.close()
        super().close()


def _unzipped(stream: IO[bytes], name: str) -> IO[bytes]:
    """Return the one file of a ZIP archive, unpacked; a workbook is one too and stays as it is."""
    try:
        archive = zipfile.ZipFile(stream)
        members = {member.filename: member for member in archive.infolist()}
        if _WORKBOOKS.intersection(members):
            stream.seek(0)
            return stream
        files = [n for n, member in members.items() if not member.is_dir() and not _hidden(n)]
        if len(files) != 1:
            what = f"has several files: {listed(files)}" if files else "has no file in it"
            raise InputError(f"{name} is a ZIP archive that {what}. Pack one table, or unpack it.")
        if members[files[0]].flag_bits & 1:
            raise InputError(f"{name} is locked by a password: unpack it first.")
        return io.BufferedReader(_Unpacked(archive.open(files[0]), stream, name, "ZIP"))
    # NotImplementedError: a compression that zipfile does not know.
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{name}: the ZIP archive is damaged, cut short or of a strange kind ({error}). Copy "
            "or download the file again."
        ) from None


def _hidden(member: str) -> bool:
    """Whether a file is no data but was put there by a system."""
    return any(part.startswith((".", "__MACOSX")) for part in member.split("/"))


class _Unpacked(io.RawIOBase):
    """What a decompressor gives; its many errors become one."""

    def __init__(self, unpacker: Any, packed: IO[bytes], name: str, codec: str) -> None:
        self._unpacker, self._packed = unpacker, packed
        self._name, self._codec = name, codec

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        try:
            part = self._unpacker.read(len(room))
        except (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the disk, not what is on it
            raise InputError(
                f"{self._name}: the {self._codec} data is damaged or cut short ({error}). Copy or "
                "download the file again."
            ) from None
        room[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._unpacker.close()
        self._packed.close()
        super().close()


_Item = TypeVar("_Item")
_Made = TypeVar("_Made")


def prefetch(items: Iterator[_Item]) -> Iterator[_Item]:
    """Give the items in their order; the next one is made, in a thread, while this one is used."""
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = thread.submit(next, items, None)
            yield item


def prefetch_map(
    items: Iterator[_Item], make: Callable[[_Item], _Made], threads: int
) -> Iterator[_Made]:
    """Give what is made of each item, in their order; the next ones are made meanwhile.

    One thread reads the items, so many others make something of them. An error comes when it is its
    turn, after all that was before it.
    """

    def made(reading: Future[_Item | None]) -> _Made | None:
        return None if (item := reading.result()) is None else make(item)

    reader, makers = ThreadPoolExecutor(1), ThreadPoolExecutor(threads)
    coming: deque[Future[_Made | None]] = deque()
    try:
        while True:
            while len(coming) <= threads:
                coming.append(makers.submit(made, reader.submit(next, items, None)))
            if (item := coming.popleft().result()) is None:
                return
            yield item
    finally:
        # Nobody waits: where garbage is collected, a lock may be held that ending threads need.
        makers.shutdown(wait=False, cancel_futures=True)
        reader.shutdown(wait=False, cancel_futures=True)
