"""Bytes as text: which encoding, and lines of bounded length."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from typing import IO

from refold.tabular.errors import InputError

BLOCK = 2**22  # bytes read at a time
LONGEST_LINE = 2**24  # characters


class Lines:
    r"""The lines of a stream, one by one or all that are at hand.

    Line ends of any kind become ``"\n"``. No more than a block and a line are held.

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
        self._texts = _texts(stream, name, say)
        self._text, self._at = "", 0

    def at_hand(self) -> bool:
        """Whether there is text to give out without reading more."""
        return self._at < len(self._text)

    def fill(self) -> bool:
        """See that there is a line to give out; False at the end."""
        return self.at_hand() or self._read()

    def peek(self) -> str:
        """Return what is at hand, and keep it: whole lines, perhaps but for the last."""
        return self._text[self._at :]

    def peek_line(self) -> str:
        """Return the next line at hand, and keep it."""
        end = self._text.find("\n", self._at) + 1 or len(self._text)
        return self._text[self._at : end]

    def take(self) -> str:
        """Give out what is at hand."""
        text = self.peek()
        self.number += text.count("\n") + (not text.endswith("\n"))
        self._text, self._at = "", 0
        return text

    def __iter__(self) -> Lines:
        return self

    def __next__(self) -> str:
        if not self.fill():
            raise StopIteration
        line = self.peek_line()
        self._at += len(line)
        self.number += 1
        return line

    def _read(self) -> bool:
        self._text, self._at = next(self._texts, ""), 0
        self._check(self._text)
        return bool(self._text)

    def _check(self, text: str) -> None:
        if "\0" in text:
            line = self.number + 1 + text.count("\n", 0, text.index("\0"))
            raise InputError(
                f"{self._name}, line {line}: there is a NUL byte, so this is not a text file that "
                "can be read (UTF-16 needs a byte order mark). Save it as CSV in UTF-8."
            )


def _texts(stream: IO[bytes], name: str, say: Callable[[str], None]) -> Iterator[str]:
    """Read blocks that end with a line, but for the last."""
    decoder, newlines = _Decoder(name, say), io.IncrementalNewlineDecoder(None, translate=True)
    rest, line = "", 1
    while raw := stream.read(BLOCK):
        text = rest + newlines.decode(decoder.decode(raw))
        cut = text.rfind("\n") + 1
        if len(text) - cut > LONGEST_LINE:
            line += text.count("\n")
            raise InputError(
                f"{name}, line {line}: the line has more than {LONGEST_LINE >> 20} million "
                "characters. Is this a table with one row per line?"
            )
        rest = text[cut:]
        line += text.count("\n", 0, cut)
        if cut:
            yield text[:cut]
    rest += newlines.decode(decoder.decode(b"", final=True), final=True)
    if rest:
        yield rest


class _Decoder:
    """UTF-8 or UTF-16 by its mark; UTF-8 without; Windows' Latin alphabet where that fails."""

    def __init__(self, name: str, say: Callable[[str], None]) -> None:
        self._name, self._say = name, say
        self._decoder: codecs.IncrementalDecoder | None = None
        self._plain = True  # so far ASCII alone, which is the same in every encoding
        self._lines = 0

    def decode(self, raw: bytes, final: bool = False) -> str:
        if self._decoder is None:
            self._encoding = _encoding_of(raw)
            self._decoder = codecs.getincrementaldecoder(self._encoding)()
        held = self._decoder.getstate()[0]
        try:
            text = self._decoder.decode(raw, final)
        except UnicodeDecodeError as error:
            raw = held + raw
            if self._encoding != "utf-8" or not self._plain:
                line = self._lines + raw.count(b"\n", 0, error.start) + 1
                raise InputError(
                    f"{self._name}, line {line}: these bytes are not "
                    f"{self._encoding.removesuffix('-sig').upper()}, though the text before is. "
                    "Save the file as UTF-8."
                ) from None
            text = self._as_latin(raw)
        self._plain = self._plain and text.isascii()
        self._lines += text.count("\n")
        return text

    def _as_latin(self, raw: bytes) -> str:
        for self._encoding in ("cp1252", "latin-1"):
            self._decoder = codecs.getincrementaldecoder(self._encoding)()
            try:
                text = self._decoder.decode(raw)
            except UnicodeDecodeError:
                continue
            self._say(f"{self._name} is not UTF-8; it was read as {self._encoding}.")
            return text
        raise AssertionError("latin-1 reads any byte")


def _encoding_of(raw: bytes) -> str:
    if raw.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    # The mark of UTF-32 begins with that of UTF-16; then comes a NUL, which is refused later.
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8"
