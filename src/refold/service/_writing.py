"""Answers that leave in one piece: a client is then woken once, and the system called once."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class OneWrite(HttpToolsProtocol):
    """HTTP as uvicorn speaks it, but for how it writes: head and body of an answer go together."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin with a client."""
        super().connection_made(_Gathered(transport, self.loop))  # type: ignore[arg-type]


class _Gathered:
    """A transport that writes once what it was given in one turn of the loop.

    Parameters
    ----------
    transport : Transport
        What writes; all but writing and closing is its own affair.
    loop : event loop
        Whose turns these are.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write something, before this turn of the loop ends."""
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        """Write what was given, and close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts and not self._transport.is_closing():
            self._transport.writelines(parts)
