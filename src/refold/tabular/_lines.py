"""Bytes as text: which encoding, and lines of bounded length."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from refold.base.findings import Finding
from refold.tabular.csv_dialect import last_record_end
from refold.tabular.errors import InputError
from refold.tabular.streams import prefetch_map

BLOCK = 2**22  # bytes read at a time
LONGEST_LINE = 2**24  # bytes
_AHEAD = 2  # threads: more of them would wait for the one that reads


@dataclass(frozen=True)
class Part:
    """Whole lines of a text, and what was made of them ahead of time."""

    text: bytes
    lines: int
    ahead: bool = False
    made: Any = None


class Lines:
    r"""The lines of a stream in UTF-8, one by one or all that are at hand.

    Line ends of any kind become ``"\n"``. No more than two blocks and a line are held. Text that is
    plain UTF-8 already is passed on as it is.
    """

    def __init__(self, stream: IO[bytes], name: str, say: Callable[[Finding], None]) -> None:
        self.number = 0  # lines given out so far
        self._name = name
        self._decoder = _Decoder(name, say)
        # Who waits for a pipe shall have what came through it at once.
        self._may_run_ahead = stream.seekable()
        self._change_end: Callable[[bytes], bytes] | None = None
        self._ended = False
        self._parts = self._read_parts(stream)
        self._part, self._at = Part(b"", 0), 0

    def change_end(self, change: Callable[[bytes], bytes]) -> None:
        """Have the last part of the stream changed before it is given out."""
        self._change_end = change
        if self._ended:
            text = change(self.peek().text)
            self._part, self._at = Part(text, _lines_in(text) if text else 0), 0

    def make_ahead(self, make: Callable[[bytes], Any]) -> None:
        """Make something of the parts to come, in threads, while those before are used."""
        if self._may_run_ahead and len(self._part.text) >= BLOCK:  # else there is no more
            self._parts = prefetch_map(
                self._parts, lambda part: Part(part.text, part.lines, True, make(part.text)), _AHEAD
            )

    @property
    def encoding(self) -> str:
        """How the characters so far were written, as Python calls it."""
        return self._decoder.written_as

    def at_hand(self) -> bool:
        """Whether there is text to give out without reading more."""
        return self._at < len(self._part.text)

    def fill(self) -> bool:
        """See that there is a line to give out; False at the end."""
        if not self.at_hand():
            self._part, self._at = next(self._parts, Part(b"", 0)), 0
        return self.at_hand()

    def peek(self) -> Part:
        """Return what is at hand, and keep it: whole lines, perhaps but for the last."""
        if self._at == 0:
            return self._part
        text = self._part.text[self._at :]
        return Part(text, _lines_in(text))

    def peek_line(self) -> str:
        """Return the next line at hand, and keep it."""
        return self._part.text[self._at : self._end()].decode()

    def skip(self, size: int, lines: int) -> None:
        """Give out so many bytes of what is at hand, which are so many lines."""
        self.number += lines
        self._at += size

    def skip_line(self) -> None:
        """Give out the next line, if there is one."""
        if self.fill():
            self.skip(self._end() - self._at, 1)

    def extend(self) -> bool:
        """Have twice as much at hand; False if there is no more."""
        texts, wanted = [self.peek().text], 2 * (len(self._part.text) - self._at)
        while sum(map(len, texts)) < wanted and (part := next(self._parts, None)):
            texts.append(part.text)
        text = b"".join(texts)
        self._part, self._at = Part(text, _lines_in(text)), 0
        return len(texts) > 1

    def _end(self) -> int:
        return self._part.text.find(b"\n", self._at) + 1 or len(self._part.text)

    def _read_parts(self, stream: IO[bytes]) -> Iterator[Part]:
        """Read parts, and know of the last one that it is."""
        before: Part | None = None
        for part in self._read_on(stream):
            if before is not None:
                yield before
            before = part
        self._ended = True
        if before is not None and self._change_end is not None:
            text = self._change_end(before.text)
            before = Part(text, _lines_in(text)) if text else None
        if before is not None:
            yield before

    def _read_on(self, stream: IO[bytes]) -> Iterator[Part]:
        """Read parts of whole lines; of whole records where quotes allow."""
        rest, newlines, before, in_quotes = b"", _Newlines(), 0, False
        while raw := stream.read(BLOCK):
            raw += stream.readline(BLOCK)  # to its end, as a rule: then nothing is cut and copied
            text = rest + newlines.translate(self._decoder.decode(raw, before + 1))
            cut = text.rfind(b"\n") + 1
            quotes = text.count(b'"', 0, cut)
            ends_in_quotes = in_quotes ^ (quotes % 2 == 1)
            if quotes and ends_in_quotes and (end := last_record_end(text[:cut], in_quotes)):
                cut, ends_in_quotes = end, False
            in_quotes = ends_in_quotes
            if len(text) - cut > LONGEST_LINE:
                line = before + 1 + text.count(b"\n")
                raise InputError(
                    f"{self._name}, line {line}: the line has more than {LONGEST_LINE >> 20} "
                    "million characters. Is this a table with one row per line?"
                )
            rest = text[cut:]
            if cut:
                yield (part := self._checked(text[:cut], before))
                before += part.lines
        rest += newlines.translate(self._decoder.decode(b"", before + 1, final=True))
        if rest:
            yield self._checked(rest, before)

    def _checked(self, text: bytes, before: int) -> Part:
        if b"\0" in text:
            line = before + 1 + text.count(b"\n", 0, text.index(b"\0"))
            raise InputError(
                f"{self._name}, line {line}: there is a NUL byte, so this is not a text file that "
                "can be read (UTF-16 needs a byte order mark). Save it as CSV in UTF-8."
            )
        return Part(text, _lines_in(text))


def _lines_in(text: bytes) -> int:
    newlines = int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n")))
    return newlines + (not text.endswith(b"\n"))


class _Newlines:
    r"""Line ends of Windows and of old Macs, as ``"\n"``."""

    def __init__(self) -> None:
        self._behind_return = False

    def translate(self, text: bytes) -> bytes:
        if not text:
            return text
        if self._behind_return:  # its line has ended already
            text = text.removeprefix(b"\n")
        self._behind_return = text.endswith(b"\r")
        return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


class _Decoder:
    """UTF-8 or UTF-16 by its mark; UTF-8 without; Windows' Latin alphabet where that fails."""

    def __init__(self, name: str, say: Callable[[Finding], None]) -> None:
        self._name, self._say = name, say
        self._decoder: Any = None
        self._plain = True  # so far ASCII alone, which is the same in every encoding
        self.written_as = "utf-8"

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
            self._encoding = self.written_as = "utf-16"
        elif raw.startswith(codecs.BOM_UTF8):
            raw, self._plain = raw.removeprefix(codecs.BOM_UTF8), False
            self.written_as = "utf-8-sig"
        self._decoder = codecs.getincrementaldecoder(self._encoding)()
        return raw

    def _as_latin(self, raw: bytes) -> str:
        for self._encoding in ("cp1252", "latin-1"):
            self._decoder = codecs.getincrementaldecoder(self._encoding)()
            try:
                text: str = self._decoder.decode(raw)
            except UnicodeDecodeError:
                continue
            self.written_as = self._encoding
            said = f"{self._name} is not UTF-8; it was read as {self._encoding}."
            self._say(Finding("encoding", message=said))
            return text
        raise AssertionError("latin-1 reads any byte")
