"""HTTP connections with limits: on headers, on waiting, and on their number."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections import Counter
from itertools import islice
from typing import Any, Protocol

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from refold.service.log import Log
from refold.service.settings import Settings

# Why connections are closed.
REASONS = (
    *("connections", "header bytes", "header lines", "header time"),
    *("idle", "invalid HTTP", "unread answer", "TLS handshake"),
)
# What is parsed of a connection until it is the turn of others: bytes, and pieces of bodies.
_BYTES, _PIECES = 2**16, 64
_PART = 2**12  # bytes that are parsed before these are looked at
_TURNS = 4  # connections that send more than that, of which so many go on at a time
_FRAME = 32  # bytes around a piece of a body that are no extension
_EMPTY_LINE = re.compile(rb"\n\r?\n")
_LOGGED_EVERY = 1.0  # seconds: a flood of connections must not become a flood of lines


class Connection(Protocol):
    """What is limited in number."""

    @property
    def transport(self) -> asyncio.Transport:
        """What is closed to end it."""

    @property
    def client(self) -> tuple[str, int] | None:
        """Who is at the other end."""

    @property
    def is_behind(self) -> bool:
        """Whether its client does not read what it has asked for."""

    def refuse(self, status: int, reason: str, message: str) -> None:
        """Say why it is closed, if that can be said, and close it."""


class Connections:
    """The connections of a server, and how many of them were closed at a limit, by reason."""

    def __init__(self, settings: Settings, log: Log) -> None:
        self.settings, self.log = settings, log
        self.most = settings.max_connections  # the server lowers it where files are scarce
        self.refused: Counter[str] = Counter()
        self._open: set[Connection] = set()
        self._waiting: dict[Connection, None] = {}  # for a whole request, the oldest first
        self._greedy: dict[LimitedProtocol, None] = {}  # have sent much, and wait for their turn
        self._giving_turns = False
        self._logged: dict[str, tuple[float, int]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def add(self, new: Connection) -> None:
        """Count a new connection; at the limit, the one that has waited longest is closed.

        If none waits, it is one that sends more requests than it reads answers.
        """
        self._open.add(new)
        if len(self._open) > self.most:
            behind = (each for each in self._open if each.is_behind)
            oldest = next(iter(self._waiting), None) or next(behind, None)
            if oldest is None:
                new.refuse(503, "connections", "There are too many connections. Try again.")
                return
            self.discard(oldest)
            oldest.transport.abort()
            self.count("connections", oldest.client)
        self._waiting[new] = None

    def discard(self, gone: Connection) -> bool:
        """Forget a connection that is closed; say whether it was known."""
        known = gone in self._open
        self._open.discard(gone)
        self._waiting.pop(gone, None)
        self._greedy.pop(gone, None)  # type: ignore[call-overload]
        return known

    def working(self, connection: Connection) -> None:
        """Note that a whole request has come: the connection is no longer one that waits."""
        self._waiting.pop(connection, None)

    def waiting(self, connection: Connection) -> None:
        """Note that a request is answered."""
        if connection in self._open:
            self._waiting[connection] = None

    def queue(self, greedy: LimitedProtocol) -> None:
        """Let a connection that has sent much go on when it is its turn.

        However many there are, a turn of the event loop takes as long: others are answered.
        """
        self._greedy[greedy] = None
        if not self._giving_turns:
            self._giving_turns = True
            greedy.loop.call_soon(self._give_turns)

    def _give_turns(self) -> None:
        self._giving_turns = False
        turns = list(islice(self._greedy, _TURNS))
        for each in turns:
            self._greedy.pop(each, None)
            each.data_received(b"")
        for each in islice(self._greedy, 1):  # others wait
            self.queue(each)

    def count(
        self, reason: str, client: tuple[str, int] | None, request_id: str | None = None
    ) -> None:
        """Count a connection that is closed for a reason, and log the first in a while.

        If it was answered, the answer has the request id.
        """
        self.refused[reason] += 1
        logged, known = self._logged.get(reason, (-_LOGGED_EVERY, 0))
        now = time.monotonic()
        if now - logged >= _LOGGED_EVERY:
            total = self.refused[reason]
            self._logged[reason] = now, total
            entry = {"event": "connection refused", "reason": reason, "count": total - known}
            asked = {"request_id": request_id, "client": client[0] if client else None}
            self.log({**entry, **asked})


class _Transport:
    """A transport that calls the system once for what is written in one turn of the event loop.

    Header and body of an answer then go together, which takes half the time of a small one. While
    it is `full`, because what was read is not parsed yet, nothing more is read, whoever asks.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []
        self.full = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def resume_reading(self) -> None:
        if not self.full:
            self._transport.resume_reading()

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts and not self._transport.is_closing():
            self._transport.writelines(parts)


class LimitedProtocol(HttpToolsProtocol):
    """HTTP as uvicorn speaks it, within limits.

    Bytes are handed to the parser only as long as it gets on: what it has not made a complete
    header or a piece of a body of is at most `max_header` bytes. That holds for trailers too, and
    for the extensions of all chunks of a body together.
    """

    def __init__(
        self,
        connections: Connections,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._all, self._limits = connections, connections.settings
        self._unparsed, self._in_header, self._pending = 0, False, memoryview(b"")
        self._left = 0  # bytes of the body that are to come, if the header says it
        self._pieces = 0  # of bodies, in this turn
        self._timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin with a client."""
        self._way = _Transport(transport, self.loop)
        super().connection_made(self._way)  # type: ignore[arg-type]
        self._all.add(self)
        self._wait_for_header()

    def connection_lost(self, exc: Exception | None) -> None:
        """End with a client."""
        self._all.discard(self)
        self._stop_timer()
        if self._write_timer is not None:
            self._write_timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what has come, as far as it is the turn of this connection."""
        rest = memoryview(bytes(self._pending) + data) if data else self._pending
        self._pending, self._pieces, later = memoryview(b""), 0, len(rest) - _BYTES
        while rest and not self.transport.is_closing():
            if self.pipeline or self._pieces > _PIECES or len(rest) <= later:
                self._keep(rest)
                return
            allowed = self._limits.max_header - self._unparsed
            if allowed <= 0:
                most = f"{self._limits.max_header:,} bytes"
                self.refuse(431, "header bytes", f"The header of a request may have {most}.")
                return
            # An empty line ends a header: no part begins more than one request.
            size = min(allowed, _PART)
            end = None if self._left >= size else _EMPTY_LINE.search(rest, 0, size)
            part = rest[: size if end is None else end.end()]
            rest = rest[len(part) :]
            self._unparsed += len(part)
            self._pieces += 1
            self._parse(part)
        if self.transport.is_closing():
            return
        if self._way.full:
            self._way.full = False
            if not self.flow.read_paused:
                self._way.resume_reading()
        if self._timer is None and self._is_waiting():
            self._wait_for_header()

    def _keep(self, rest: memoryview) -> None:
        """Go on with the rest when it is the turn of this connection again, and read no more."""
        self._pending = rest
        if not self._way.full:
            self._way.full = True
            self._way.pause_reading()
        if not self.pipeline:  # else when a request is answered
            self._all.queue(self)

    def _parse(self, data: bytes | memoryview) -> None:
        """Give bytes to the parser; an offer to speak another protocol is not taken.

        Clients offer HTTP/2 so (Java's does by default), and go on in HTTP/1.1. The parser would
        take what follows the header for that protocol: it gets the header again without the offer.
        """
        self._unset_keepalive_if_required()
        while True:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as offer:
                (end,) = offer.args
                data = self._head_without_offer() + bytes(data[end:])
            except httptools.HttpParserError:
                self.send_400_response("")
                return
            else:
                return

    def _head_without_offer(self) -> bytes:
        version = self.scope["http_version"].encode()
        first = b"%s %s HTTP/%s" % (self.scope["method"].encode(), self.url, version)
        headers = (b"%s: %s" % pair for pair in self.headers if pair[0] != b"upgrade")
        return b"\r\n".join([first, *headers, b"", b""])

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._in_header = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; a trailer, which comes after the body, is dropped."""
        if not self._in_header:
            return
        if len(self.headers) >= self._limits.max_header_lines:
            raise ValueError("too many headers")  # the parser stops, and asks for an answer
        if name.lower() == b"content-length" and value.isdigit():
            self._left = int(value[:18])
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin to answer, unless the header comes again: see `_parse`."""
        self._unparsed, self._in_header = 0, False
        self._stop_timer()
        method, version = self.parser.get_method(), self.parser.get_http_version()
        if method == b"CONNECT":
            raise ValueError(method)  # this is no proxy
        if self.parser.should_upgrade():
            self.scope |= {"method": method.decode(), "http_version": version}
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        self._unparsed = max(self._unparsed - len(body) - _FRAME, 0)
        self._pieces += 1
        self._left -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._unparsed = self._left = 0
        if not self.parser.should_upgrade():
            self._all.working(self)
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        if self._pending:
            self._all.queue(self)
        if not self.pipeline:
            self._all.waiting(self)
            if self._in_header and self._timer is None:  # the next request has begun
                self._wait_for_header()

    def pause_writing(self) -> None:
        """Wait until the client reads its answer, but not for ever."""
        super().pause_writing()
        self._write_timer = self.loop.call_later(self._limits.seconds, self._unread)

    def resume_writing(self) -> None:
        """Go on: the client has read most of its answer."""
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()

    def _unread(self) -> None:
        self._all.count("unread answer", self.client)
        self.transport.abort()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, unless its client still reads an answer."""
        if self.flow.write_paused:
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )
        elif self.transport.get_write_buffer_size():
            self._unread()
        else:
            super().timeout_keep_alive_handler()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, or has too many headers."""
        if self._in_header and self.headers and len(self.headers) >= self._limits.max_header_lines:
            most = self._limits.max_header_lines
            self.refuse(431, "header lines", f"A request may have {most} headers.")
        else:
            self.refuse(400, "invalid HTTP", "This is not a valid HTTP request.")

    def refuse(self, status: int, reason: str, message: str) -> None:
        """Say what is wrong, unless another answer is under way, and close."""
        request_id = os.urandom(8).hex()  # its own may not have come
        waiting = self._is_waiting()
        if not waiting and not self.pipeline and not self.cycle.response_started:
            self.cycle.disconnected = waiting = True  # its body is wrong: it has no other answer
        self._all.count(reason, self.client, request_id if waiting else None)
        if waiting:
            body = json.dumps({"error": message}).encode()
            head = b"content-type: application/json\r\nconnection: close\r\n"
            head += b"x-request-id: %s\r\ncontent-length: %d\r\n\r\n"
            head %= request_id.encode(), len(body)
            self.transport.write(STATUS_LINE[status] + head + body)
        self.transport.close()

    @property
    def is_behind(self) -> bool:
        """Whether requests wait for others of the same connection, or answers to be read."""
        waits = bool(self.pipeline) or bool(self._pending)
        return waits or (self.flow is not None and self.flow.write_paused)

    def _is_waiting(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _wait_for_header(self) -> None:
        self._timer = self.loop.call_later(self._limits.header_seconds, self._waited)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _waited(self) -> None:
        self._timer = None
        if not self._is_waiting():
            self._wait_for_header()  # a request before this one is still being answered
        elif self._unparsed or self._in_header:
            seconds = f"{self._limits.header_seconds:g} seconds"
            self.refuse(408, "header time", f"No complete header came within {seconds}.")
        elif not self.transport.is_closing():
            self._all.count("idle", self.client)
            self.transport.close()
