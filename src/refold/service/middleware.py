"""Middleware of all requests: what is logged, who may ask, and what errors become."""

from __future__ import annotations

import hmac
import os
import re
import time
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from refold.service.errors import RequestError
from refold.service.log import Log, places_of
from refold.service.metrics import Metrics
from refold.service.settings import Settings

REQUEST_ID, DIGEST = "X-Request-ID", "X-Model-Digest"
# Whoever watches a machine may ask these without a token.
_OPEN = ("/healthz", "/readyz")
_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
_SECURITY_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
]
# Of what has no policy of its own.
_POLICY = (
    b"content-security-policy",
    b"default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
)


class LogMiddleware:
    """Counts and logs requests, never what rows hold, and gives each an id and its answer headers.

    ``scope["refold"]`` holds the headers of the request and its id, and takes what is learned of
    it: the model that is asked, the number of rows, when all of it had come, and the status.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, log: Log) -> None:
        self._app, self._metrics, self._log = app, metrics, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin, headers = time.perf_counter(), _headers(scope)
        request_id = headers.get("x-request-id", "")
        if not _ID.fullmatch(request_id):
            request_id = os.urandom(8).hex()
        known: dict[str, Any] = {"headers": headers, "id": request_id, "model": None, "rows": None}
        known |= {"begin": begin, "status": 0}
        scope["refold"] = known

        async def send_and_note(message: Message) -> None:
            if message["type"] == "http.response.start":
                known["status"] = message["status"]
                added = [*_SECURITY_HEADERS, (b"x-request-id", request_id.encode())]
                if known["model"] is not None:
                    added.append((b"x-model-digest", known["model"].digest.encode()))
                if not any(name == _POLICY[0] for name, _ in message["headers"]):
                    added.append(_POLICY)
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await self._app(scope, receive, send_and_note)
        now, model, status = time.perf_counter(), known["model"], known["status"]
        self._metrics.answered("" if model is None else model.name, status, now - known["begin"])
        self._log(
            {
                "event": "request",
                "request_id": request_id,
                "client": str(scope["client"][0])[:100] if scope.get("client") else None,
                "method": scope["method"],
                "path": scope["path"][:200],
                "status": status,
                "model": None if model is None else model.name,
                "digest": None if model is None else model.digest,
                "rows": known["rows"],
                "ms": round(1000.0 * (now - begin), 3),
            }
        )


class RequestMiddleware:
    """Authenticates requests and turns errors into answers."""

    def __init__(self, app: ASGIApp, settings: Settings, log: Log) -> None:
        self._app, self._settings, self._log = app, settings, log
        self._token = None if settings.token is None else settings.token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        known = scope["refold"]
        try:
            self._check(scope, known["headers"])
            await self._app(scope, receive, send)
        except RequestError as error:
            # The error of a thread is held by frames that it holds, and they hold the body: memory
            # would grow until garbage is searched for, which few but large objects do not cause.
            error.__traceback__ = None
            await _error_response(error)(scope, receive, send)
        except ClientDisconnect:
            known["status"] = 499  # nobody is there to be told
        except Exception as error:  # a fault of ours: the next request must not suffer from it
            entry = {"event": "fault", "request_id": known["id"], "kind": type(error).__name__}
            self._log({**entry, "where": places_of(error)})
            error.__traceback__ = None
            if known["status"] == 0:
                failed = RequestError(500, "The service has failed; its log says where.")
                await _error_response(failed)(scope, receive, send)

    def _check(self, scope: Scope, headers: Mapping[str, str]) -> None:
        hosts = self._settings.hosts
        if hosts and host_name(headers.get("host", "")) not in hosts:
            raise RequestError(421, "The service is not called by this name.")
        check_origin(scope["method"], headers, self._settings.origins)
        if self._token is None or scope["path"] in _OPEN:
            return
        scheme, _, token = headers.get("authorization", "").partition(" ")
        right = hmac.compare_digest(token.strip().encode(), self._token)
        if scheme.lower() != "bearer" or not right:
            raise RequestError(401, "A token is needed: send Authorization: Bearer <token>.")


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


@lru_cache(maxsize=64)  # all who ask call it by a few names
def host_name(host: str) -> str:
    """Return the name in a Host header, without its port."""
    host = host.strip().lower()
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


def _headers(scope: Scope) -> dict[str, str]:
    """Return headers by name; of those that come twice the first, as Starlette does."""
    pairs = reversed(list(scope["headers"]))
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in pairs}


def _error_response(error: RequestError) -> JSONResponse:
    headers = {"Retry-After": "1"} if error.status in (429, 503) else {}
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse(error.document(), error.status, headers)
