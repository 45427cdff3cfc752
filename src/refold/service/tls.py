"""TLS: its files, and handshakes that are limited as connections are."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uvicorn.protocols.utils import get_remote_addr

from refold.base.errors import UserError
from refold.service.connections import Connections, LimitedProtocol


@dataclass(frozen=True)
class Certificate:
    """What TLS needs: a chain of certificates and its key, as PEM files."""

    certfile: Path
    keyfile: Path | None = None  # None if the first file has both

    def context(self) -> ssl.SSLContext:
        """Return what speaks TLS; files that it cannot be spoken with are refused."""
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            # A key that needs a password would be asked for at a terminal that is not there.
            context.load_cert_chain(self.certfile, self.keyfile, password="")
        except OSError as error:
            files = " and ".join(map(str, filter(None, (self.certfile, self.keyfile))))
            raise UserError(
                f"TLS cannot be spoken with {files}: {error.strerror or error}. Give a chain of "
                "certificates and the key to it, both PEM, the key without a password."
            ) from None
        return context


class TlsHandshake(asyncio.Protocol):
    """A connection until its handshake is done, and HTTP afterwards.

    By itself asyncio would count it when it is done: before, it could not be closed for another.
    """

    is_behind = False  # no answer is written yet

    def __init__(self, connections: Connections, context: ssl.SSLContext, **http: Any) -> None:
        self._all, self._context = connections, context
        self._http, self._early = LimitedProtocol(connections, **http), b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin with a client."""
        transport.pause_reading()  # what comes is for TLS, which begins with the task
        self.transport, self.client = transport, get_remote_addr(transport)
        self._all.add(self)
        self._task = self._http.loop.create_task(self._shake_hands())

    def data_received(self, data: bytes) -> None:
        """Keep what comes with the end of the handshake."""
        self._early += data

    def refuse(self, status: int, reason: str, message: str) -> None:
        """Close: nothing can be said yet."""
        self._all.count(reason, self.client)
        self.transport.abort()

    async def _shake_hands(self) -> None:
        seconds = self._all.settings.header_seconds
        try:
            secured = await self._http.loop.start_tls(
                self.transport,
                self,
                self._context,
                server_side=True,
                ssl_handshake_timeout=seconds,
                ssl_shutdown_timeout=seconds,
            )
        except (OSError, RuntimeError) as error:  # the second if it was closed before it began
            gone = isinstance(error, ConnectionResetError | RuntimeError)
            if self._all.discard(self) and not gone:
                self._all.count("TLS handshake", self.client)
            self.transport.abort()
            return
        self._all.discard(self)
        if secured is None or secured.is_closing():
            return
        secured.set_protocol(self._http)
        self._http.connection_made(secured)
        if self._early:
            self._http.data_received(self._early)
