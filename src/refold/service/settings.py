"""What a service allows."""

from __future__ import annotations

from dataclasses import dataclass

from refold.service.webhook import WebhookTarget


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a service asks of its clients, and how much it takes from them.

    Limits of headers and connections hold for `run`, that is ``refold serve`` and ``refold app``;
    other ASGI servers have their own.
    """

    # What every request must bring as ``Authorization: Bearer …``; None is nothing.
    token: str | None = None
    # The names by which the service may be called, without ports; any if there are none. A page of
    # somebody else, open in a browser on this machine, calls it by another name.
    hosts: tuple[str, ...] = ()
    # The web pages that may call it from a browser (CORS), such as ``https://line4.example``.
    origins: tuple[str, ...] = ()
    max_body: int = 64 * 2**20  # bytes of one request
    max_rows: int = 100_000  # rows of one request
    max_explained: int = 1_000  # rows of one request with ``explain=full``
    max_requests: int = 64  # requests that are worked on at a time
    seconds: float = 60.0  # how long a request may take to arrive, and again to be answered
    max_header: int = 16 * 2**10  # bytes of the request line and headers of one request
    max_header_lines: int = 100  # headers of one request
    header_seconds: float = 10.0  # how long a connection may take to send a complete header
    idle_seconds: float = 15.0  # how long a connection may be idle between two requests
    # Open connections. One more closes the connection that has waited longest.
    max_connections: int = 1_000
    drift: bool = True  # whether what was scored is compared with what was learned
    webhook: WebhookTarget | None = None  # who is told of incidents and changes
