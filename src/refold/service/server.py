"""A process that serves until it is told to stop."""

from __future__ import annotations

import contextlib
import signal
import socket
import ssl
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable, Iterator
from functools import partial

import uvicorn
from starlette.applications import Starlette

from refold.base.errors import UserError
from refold.service.connections import Connections, LimitedProtocol
from refold.service.log import LibraryLog
from refold.service.settings import Settings
from refold.service.tls import TlsHandshake

# Seconds that requests in flight are waited for when the process is told to stop.
_GRACE = 30
_BACKLOG = 512  # connections that are not yet accepted
_TLS_BACKLOG = 8  # of them, in a turn of asyncio's event loop
_TLS_BYTES = 2**16  # that TLS reads at a time
_OTHER_FILES = 64  # that the process has open beside connections


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or say why there is none; port 0 is any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise UserError(
            f"{host}:{port} cannot be listened at: {error.strerror}. Choose another --port."
        ) from None
    except OverflowError:
        found.close()
        raise UserError(f"{port} is not a port: a port is a number from 0 to 65535.") from None
    found.listen(_BACKLOG)
    return found


def serve(
    app: Starlette,
    at: socket.socket,
    *,
    started: Callable[[], None],
    tls: ssl.SSLContext | None = None,
) -> None:
    """Serve until the process gets SIGTERM or SIGINT; requests in flight are finished."""
    connections = getattr(app.state, "connections", None)
    if connections is None:  # a page for one person, who reads no log
        connections = Connections(Settings(), lambda entry: None)
    else:
        LibraryLog(connections.log).install()
    connections.most = max(min(connections.most, _file_limit() - _OTHER_FILES), 1)
    http = partial(LimitedProtocol, connections)
    if tls is not None:  # asyncio has no option for it: 256 KB a connection, from its first byte on
        SSLProtocol.max_size = _TLS_BYTES
    config = uvicorn.Config(
        app,
        http=http if tls is None else partial(TlsHandshake, connections, tls),  # type: ignore[arg-type]
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=connections.settings.idle_seconds,  # type: ignore[arg-type]
        timeout_graceful_shutdown=_GRACE,
        # uvloop reads before a handshake can begin, and would lose what it has read. asyncio
        # accepts so many connections before it looks whether there are too many.
        loop="auto" if tls is None else "asyncio",
        backlog=_BACKLOG if tls is None else _TLS_BACKLOG,
    )
    server = _Server(config, started)
    server.run(sockets=[at])


class _Server(uvicorn.Server):
    """A server that says when it has started, and ends as a process that did what it was told."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for at in sockets or []:
            at.listen(_BACKLOG)
        if self.started:
            self._on_start()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at a signal; uvicorn would end by it in the end, as if it had not been heard."""
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _file_limit() -> int:
    """Raise the limit of open files as far as the system allows, and return it."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        allowed = 2**16 if most == resource.RLIM_INFINITY else min(most, 2**16)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, most))
        return allowed
    return 512  # what Windows allows
