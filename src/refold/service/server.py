"""A process that serves until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from refold.base.errors import UserError
from refold.service.connections import Connections, LimitedProtocol
from refold.service.log import LibraryLog
from refold.service.settings import Settings

# Seconds that requests in flight are waited for when the process is told to stop.
_GRACE = 30
_BACKLOG = 512  # connections that are not yet accepted
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


@dataclass(frozen=True)
class Certificate:
    """What TLS needs: a chain of certificates and its key, as PEM files."""

    certfile: Path
    keyfile: Path | None = None  # None if the first file has both

    def check(self) -> None:
        """Refuse files that TLS cannot be spoken with."""
        try:
            # A key that needs a password would be asked for at a terminal that is not there.
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certfile, self.keyfile, password="")
        except OSError as error:
            files = " and ".join(map(str, filter(None, (self.certfile, self.keyfile))))
            raise UserError(
                f"TLS cannot be spoken with {files}: {error.strerror or error}. Give a chain of "
                "certificates and the key to it, both PEM, the key without a password."
            ) from None


def serve(
    app: Starlette,
    at: socket.socket,
    *,
    started: Callable[[], None],
    certificate: Certificate | None = None,
) -> None:
    """Serve until the process gets SIGTERM or SIGINT; requests in flight are finished."""
    connections = getattr(app.state, "connections", None)
    if connections is None:  # a page for one person, who reads no log
        connections = Connections(Settings(), lambda entry: None)
    else:
        LibraryLog(connections.log).install()
    connections.most = max(min(connections.most, _file_limit() - _OTHER_FILES), 1)
    config = uvicorn.Config(
        app,
        http=partial(LimitedProtocol, connections),  # type: ignore[arg-type]
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=connections.settings.idle_seconds,  # type: ignore[arg-type]
        timeout_graceful_shutdown=_GRACE,
        backlog=_BACKLOG,
        ssl_certfile=None if certificate is None else certificate.certfile,
        ssl_keyfile=None if certificate is None else certificate.keyfile,
        loop="auto" if certificate is None else "asyncio",  # see _Server
    )
    server = _Server(config, started, connections.settings.header_seconds)
    server.run(sockets=[at])


class _Server(uvicorn.Server):
    """A server that says when it has started, and ends as a process that did what it was told."""

    def __init__(
        self, config: uvicorn.Config, started: Callable[[], None], handshake_seconds: float
    ) -> None:
        super().__init__(config)
        self._on_start, self._handshake_seconds = started, handshake_seconds

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        if self.config.is_ssl:  # uvicorn has no option for it, and a minute is the default
            loop = asyncio.get_running_loop()
            limited = partial(loop.create_server, ssl_handshake_timeout=self._handshake_seconds)
            loop.create_server = limited  # type: ignore[method-assign]
        await super().startup(sockets)
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
