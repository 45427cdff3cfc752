"""The body of a request: not too large, and not too slowly."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from refold.service._errors import RequestError
from refold.service._rows import JSON, KINDS
from refold.service._settings import Settings

# Bodies that are held at a time, in those of the largest size.
_AT_ONCE = 8
# What curl -d says of whatever it sends.
_CURL = "application/x-www-form-urlencoded"


class BodyReader:
    """How many bytes of bodies are held: many clients that send slowly must not fill the memory."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._bytes = settings, 0

    async def read(self, receive: Receive) -> bytes:
        """Return all of a body."""
        held, parts, more = 0, [], True
        try:
            async with asyncio.timeout(self._settings.seconds):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ClientDisconnect
                    part, more = message.get("body", b""), message.get("more_body", False)
                    held += len(part)
                    self._bytes += len(part)
                    self._check(held)
                    parts.append(part)
        except TimeoutError:
            raise RequestError(
                408, f"The request did not arrive within {self._settings.seconds:g} seconds."
            ) from None
        finally:
            self._bytes -= held
        return b"".join(parts)

    def _check(self, held: int) -> None:
        if held > self._settings.max_body:
            raise too_large(self._settings.max_body)
        if self._bytes > _AT_ONCE * self._settings.max_body:
            raise RequestError(503, "Too much is being sent at a time. Try again in a moment.")


def kind_of(content_type: str | None) -> str:
    """Return the format of a body."""
    kind = (content_type or JSON).partition(";")[0].strip().lower()
    if kind == _CURL:
        return JSON
    if kind not in KINDS:
        raise RequestError(415, f"Rows are sent as {', '.join(KINDS)}, not as {kind[:100]!r}.")
    return kind


def too_large(most: int) -> RequestError:
    """Return what is said of a body that is too large."""
    return RequestError(413, f"A request may have {most:,} bytes. Send the rows in parts.")


def check_plain(encoding: str | None) -> None:
    """Refuse a body that is packed."""
    packed = (encoding or "identity").lower()
    if packed != "identity":
        raise RequestError(415, f"The body is packed ({packed[:40]}): send it as it is.")


def check_size(declared: bytes, most: int) -> None:
    """Refuse a body that is said to be too large, before any of it comes."""
    if declared.isdigit() and int(declared) > most:
        raise too_large(most)
