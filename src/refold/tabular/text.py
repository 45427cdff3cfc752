"""Bytes as text: which encoding, and lines of bounded length."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from typing import IO, Any

from refold.tabular.errors import InputError

BLOCK = 2**22  # bytes read at a time
LONGEST_LINE = 2**24  # bytes


class Lines:
    r"""The lines of a stream in UTF-8, one by one or all that are at hand.

    Line ends of any kind become ``"\n"``. No more than a block and a line are held. Text that is
    plain UTF-8 already is passed on as it is.

    Parameters
    ----------
    stream : binary file
        Where to read.
    name : str
        What errors call it.
    say : callable
        Takes a sentence that the user should know.
    """

    def __init__(self, stream: IO[bytes], name: str, say: Callable[[str], None]) -> None:
        self.number = 0  # lines given out so far
        self._name = name
        self._decoder = _Decoder(name, say)
        self._blocks = self._read_blocks(stream)
        self._text, self._at = b"", 0

    def at_hand(self) -> bool:
        """Whether there is text to give out without reading more."""
        return self._at < len(self._text)

    def fill(self) -> bool:
        """See that there is a line to give out; False at the end."""
        if not self.at_hand():
            self._text, self._at = next(self._blocks, b""), 0
            self._check(self._text)
        return self.at_hand()

    def peek(self) -> bytes:
        """Return what is at hand, and keep it: whole lines, perhaps but for the last."""
        return self._text[self._at :]

    def peek_line(self) -> str:
        """Return the next line at hand, and keep it."""
        return self._text[self._at : self._end()].decode()

    def skip(self, lines: int) -> None:
        """Give out what is at hand, which is so many lines."""
        self.number += lines
        self._text, self._at = b"", 0

    def __iter__(self) -> Lines:
        return self

    def __next__(self) -> str:
        if not self.fill():
            raise StopIteration
        line = self.peek_line()
        self._at = self._end()
        self.number += 1
        return line

    def _end(self) -> int:
        return self._text.find(b"\n", self._at) + 1 or len(self._text)

    def _check(self, text: bytes) -> None:
        if b"\0" in text:
            line = self.number + 1 + text.count(b"\n", 0, text.index(b"\0"))
            raise InputError(
                f"{self._name}, line {line}: there is a NUL byte, so this is not a text file that "
                "can be read (UTF-16 needs a byte order mark). Save it as CSV in UTF-8."
            )

    def _read_blocks(self, stream: IO[bytes]) -> Iterator[bytes]:
        """Read blocks that end with a line, but for the last; those before have been given out."""
        rest, newlines = b"", _Newlines()
        while raw := stream.read(BLOCK):
            raw += stream.readline(BLOCK)  # to its end, as a rule: then nothing is cut and copied
            text = rest + newlines.translate(self._decoder.decode(raw, self.number + 1))
            cut = text.rfind(b"\n") + 1
            if len(text) - cut > LONGEST_LINE:
                line = self.number + 1 + text.count(b"\n")
                raise InputError(
                    f"{self._name}, line {line}: the line has more than {LONGEST_LINE >> 20} "
                    "million characters. Is this a table with one row per line?"
                )
            rest = text[cut:]
            if cut:
                yield text[:cut]
        rest += newlines.translate(self._decoder.decode(b"", self.number + 1, final=True), True)
        if rest:
            yield rest


class _Newlines:
    r"""Line ends of Windows and of old Macs, as ``"\n"``."""

    def __init__(self) -> None:
        self._held = b""

    def translate(self, text: bytes, final: bool = False) -> bytes:
        text, self._held = self._held + text, b""
        if b"\r" not in text:
            return text
        if text.endswith(b"\r") and not final:  # what follows may belong to it
            text, self._held = text[:-1], b"\r"
        return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


class _Decoder:
    """UTF-8 or UTF-16 by its mark; UTF-8 without; Windows' Latin alphabet where that fails."""

    def __init__(self, name: str, say: Callable[[str], None]) -> None:
        self._name, self._say = name, say
        self._decoder: Any = None
        self._plain = True  # so far ASCII alone, which is the same in every encoding

    def decode(self, raw: bytes, line: int, final: bool = False) -> bytes:
        """Return text in UTF-8; `line` is the number of its first line."""
        if self._decoder is None:
            raw = self._begin(raw)
        held = self._decoder.getstate()[0]
        if self._encoding == "utf-8" and not held and raw.isascii():
            return raw
        try:
            text: str = self._decoder.decode(raw, final)
        except UnicodeDecodeError as error:
            raw = held + raw
            plain = self._plain and raw[: error.start].isascii()
            if self._encoding != "utf-8" or not plain:
                line += raw.count(b"\n", 0, error.start)
                raise InputError(
                    f"{self._name}, line {line}: these bytes are not {self._encoding.upper()}, "
                    "though the text before is. Save the file as UTF-8."
                ) from None
            text = self._as_latin(raw)
        self._plain = self._plain and text.isascii()
        return text.encode()

    def _begin(self, raw: bytes) -> bytes:
        """Choose the encoding by a mark at the beginning, which is no text."""
        self._encoding = "utf-8"
        # The mark of UTF-32 begins with that of UTF-16; then comes a NUL, which is refused later.
        if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            self._encoding = "utf-16"
        elif raw.startswith(codecs.BOM_UTF8):
            raw, self._plain = raw.removeprefix(codecs.BOM_UTF8), False
        self._decoder = codecs.getincrementaldecoder(self._encoding)()
        return raw

    def _as_latin(self, raw: bytes) -> str:
        for self._encoding in ("cp1252", "latin-1"):
            self._decoder = codecs.getincrementaldecoder(self._encoding)()
            try:
                text: str = self._decoder.decode(raw)
            except UnicodeDecodeError:
                continue
            self._say(f"{self._name} is not UTF-8; it was read as {self._encoding}.")
            return text
        raise AssertionError("latin-1 reads any byte")
