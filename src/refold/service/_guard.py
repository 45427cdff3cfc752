"""Who may ask, and what is written down of it: around all that the service does."""

from __future__ import annotations

import hmac
import time
import traceback
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from refold.service._errors import RequestError
from refold.service._log import Log
from refold.service._metrics import Metrics
from refold.service._settings import Settings

# Whoever watches a machine may ask these without a token.
_OPEN = ("/healthz", "/readyz")


class Guard:
    """Checks who asks, turns errors into answers, counts and logs; never what rows hold."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics, log: Log) -> None:
        self._app, self._settings, self._metrics, self._log = app, settings, metrics, log
        self._token = None if settings.token is None else settings.token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0
        known = scope["refold"] = {"model": "", "rows": None, "started": started}

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *_SAFE]
            await send(message)

        try:
            self._check(scope)
            await self._app(scope, receive, sent)
        except RequestError as error:
            headers = {"Retry-After": "1"} if error.status in (429, 503) else {}
            if error.status == 401:
                headers["WWW-Authenticate"] = "Bearer"
            answer = JSONResponse(error.document(), error.status, headers)
            await answer(scope, receive, sent)
        except ClientDisconnect:
            status = 499  # nobody is there to be told
        except Exception as error:  # a fault of ours: the next request must not suffer from it
            self._log({"event": "fault", "kind": type(error).__name__, "where": places_of(error)})
            if status == 0:
                answer = JSONResponse({"error": "The service has failed; its log says where."}, 500)
                await answer(scope, receive, sent)
        seconds = time.perf_counter() - known["started"]
        self._metrics.answered(known["model"], status, seconds)
        self._log(
            {
                "event": "request",
                "method": scope["method"],
                "path": scope["path"][:200],
                "status": status,
                "model": known["model"] or None,
                "rows": known["rows"],
                "ms": round(1000.0 * (time.perf_counter() - started), 3),
            }
        )

    def _check(self, scope: Scope) -> None:
        given = first_of(scope["headers"])
        host = given.get(b"host", b"").decode("latin-1")
        if self._settings.hosts and host_name(host) not in self._settings.hosts:
            raise RequestError(421, "The service is not called by this name.")
        if self._token is None or scope["path"] in _OPEN:
            return
        scheme, _, token = given.get(b"authorization", b"").decode("latin-1").partition(" ")
        right = hmac.compare_digest(token.strip().encode(), self._token)
        if scheme.lower() != "bearer" or not right:
            raise RequestError(401, "A token is needed: send Authorization: Bearer <token>.")


_SAFE = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (
        b"content-security-policy",
        b"default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
    ),
]


def places_of(error: Exception) -> list[str]:
    """Return where an error happened; what it says may hold values of rows."""
    return [f"{each.name}:{each.lineno}" for each in traceback.extract_tb(error.__traceback__)]


def check_origin(method: str, headers: Mapping[str, str], allowed: Collection[str] = ()) -> None:
    """Refuse what pages of other origins send; browsers say where a request comes from.

    Links to a page are followed: who links it cannot read it, and a GET changes nothing.
    """
    origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
    if "*" in allowed or (origin is not None and origin in allowed):
        return
    if origin is not None:
        foreign = origin.partition("://")[2] != headers.get("host", "")
    else:
        link = method in ("GET", "HEAD") and headers.get("sec-fetch-mode") == "navigate"
        foreign = site not in ("same-origin", "none") and not link
    if foreign:
        raise RequestError(403, "This came from a page of another origin: nothing was done.")


def first_of(headers: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Return headers by name; of those that come twice the first, as Starlette does."""
    return dict(reversed(list(headers)))


@lru_cache(maxsize=64)  # all who ask call it by a few names
def host_name(host: str) -> str:
    """Return the name in a Host header, without its port."""
    host = host.strip().lower()
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]
