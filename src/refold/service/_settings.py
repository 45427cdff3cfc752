"""What a service allows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a service asks of its clients, and how much it takes from them.

    Limits of headers and connections hold for `run`, that is ``refold serve`` and ``refold app``;
    other ASGI servers have their own.

    Parameters
    ----------
    token : str or None, default=None
        What every request must bring as ``Authorization: Bearer …``; None is nothing.
    hosts : tuple of str, default=()
        The names by which the service may be called, without ports; any if there are none. A page
        of somebody else, open in a browser on this machine, calls it by another name.
    origins : tuple of str, default=()
        The web pages that may call it from a browser (CORS), such as ``https://line4.example``.
    max_body : int, default=64 MB
        Bytes of one request.
    max_rows : int, default=100_000
        Rows of one request.
    max_explained : int, default=1_000
        Rows of one request with ``explain=full``.
    max_requests : int, default=64
        Requests that are worked on at a time.
    seconds : float, default=60.0
        How long a request may take to arrive, and again to be answered.
    max_header : int, default=16 KB
        Bytes of the request line and headers of one request.
    max_header_lines : int, default=100
        Headers of one request.
    header_seconds : float, default=10.0
        How long a connection may take to send a complete header.
    idle_seconds : float, default=15.0
        How long a connection may be idle between two requests.
    max_connections : int, default=1_000
        Open connections. One more closes the connection that has waited longest.
    drift : bool, default=True
        Whether what was scored is compared with what was learned.
    """

    token: str | None = None
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    max_body: int = 64 * 2**20
    max_rows: int = 100_000
    max_explained: int = 1_000
    max_requests: int = 64
    seconds: float = 60.0
    max_header: int = 16 * 2**10
    max_header_lines: int = 100
    header_seconds: float = 10.0
    idle_seconds: float = 15.0
    max_connections: int = 1_000
    drift: bool = True
