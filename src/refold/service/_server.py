"""A process that serves until it is told to stop."""

from __future__ import annotations

import contextlib
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn
from starlette.types import ASGIApp

from refold.base.errors import UserError
from refold.service._writing import OneWrite

# Seconds that requests in flight are waited for when the process is told to stop.
_GRACE = 30
_WAITING = 2048  # connections that are not yet accepted


def bound(host: str, port: int) -> socket.socket:
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
        raise UserError(f"{port} is no port: it is a number from 0 to 65535.") from None
    found.listen(_WAITING)
    return found


def run(app: ASGIApp, at: socket.socket, *, started: Callable[[], None]) -> None:
    """Serve until the process gets SIGTERM or SIGINT; requests in flight are finished."""
    _allow_many_files()
    config = uvicorn.Config(
        app,
        http=OneWrite,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=_GRACE,
        backlog=_WAITING,
    )
    server = _Server(config, started)
    server.run(sockets=[at])


class _Server(uvicorn.Server):
    """A server that says when it has started, and ends as a process that did what it was told."""

    def __init__(self, config: uvicorn.Config, told: Callable[[], None]) -> None:
        super().__init__(config)
        self._told = told

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._told()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at a signal; uvicorn would end by it in the end, as if it had not been heard."""
        told = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in told}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _allow_many_files() -> None:
    """Let the process have as many connections as the system allows: slow clients hold theirs."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 2**16), most))
