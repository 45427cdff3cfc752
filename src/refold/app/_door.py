"""Who may come in: a browser that was given the address, and no page of somebody else."""

from __future__ import annotations

import hmac
import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from refold.app._pages import page
from refold.base.failures import sentence_of
from refold.service import RequestError, called_by

_HOSTS = ("localhost", "127.0.0.1", "[::1]")
_SAFE = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    # With no-referrer, browsers would not say where a form of our own comes from.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        b"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
]


class Door:
    """The keys of one process.

    Parameters
    ----------
    port : int
        Where it listens on this machine.

    Attributes
    ----------
    cookie : str
        The name of what a browser keeps; browsers share cookies between ports.
    """

    def __init__(self, port: int) -> None:
        self._port, self.cookie = port, f"refold-{port}"
        self._token, self.secret = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self._tickets: set[str] = set()

    def address(self) -> str:
        """Return the address for whoever started the process."""
        return f"http://127.0.0.1:{self._port}/?token={self._token}"

    def address_once(self) -> str:
        """Return one that opens once: other users see what a browser is started with."""
        ticket = secrets.token_urlsafe(24)
        self._tickets.add(ticket)
        return f"http://127.0.0.1:{self._port}/?token={ticket}"

    def opens(self, token: str) -> bool:
        """Whether a token is the right one; a ticket is so once."""
        if token in self._tickets:
            self._tickets.remove(token)
            return True
        return _same(token, self._token)

    def knows(self, cookies: str) -> bool:
        """Whether a browser was here before."""
        try:
            kept = SimpleCookie(cookies).get(self.cookie)
        except CookieError:
            return False
        return kept is not None and _same(kept.value, self.secret)


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), right.encode())


class DoorGuard:
    """Checks who asks, and turns errors into sentences."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app, self._door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answered = False

        async def sent(message: Message) -> None:
            nonlocal answered
            if message["type"] == "http.response.start":
                answered = True
                message["headers"] = [*message["headers"], *_SAFE]
            await send(message)

        headers = Headers(scope=scope)
        try:
            answer: ASGIApp = self._let_in(scope, headers) or self._app
            await answer(scope, receive, sent)
        except RequestError as error:
            await _told(error, headers)(scope, receive, sent)
        except ClientDisconnect:
            pass  # nobody is there to be told
        except Exception as error:
            if answered:
                raise
            await _told(RequestError(500, sentence_of(error)), headers)(scope, receive, sent)

    def _let_in(self, scope: Scope, headers: Headers) -> Response | None:
        """Refuse who may not ask; welcome a browser that brings the token."""
        if called_by(headers) not in _HOSTS:
            raise RequestError(421, "The page is not called by this name.")
        host = headers.get("host", "")
        if scope["method"] not in ("GET", "HEAD") and headers.get("origin") != f"http://{host}":
            raise RequestError(403, "This came from another page: nothing was done.")
        (token, *_) = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
        if token and scope["path"] == "/" and self._door.opens(token):
            welcome = RedirectResponse("/", 303)
            welcome.set_cookie(
                self._door.cookie, self._door.secret, httponly=True, samesite="strict"
            )
            return welcome
        if not self._door.knows(headers.get("cookie", "")):
            raise RequestError(
                401, "Open the address that the command refold app has printed: it has a token."
            )
        return None


def _told(error: RequestError, headers: Headers) -> Response:
    """Return what was wrong: a page for people, a document for a script."""
    if "text/html" in headers.get("accept", ""):
        return HTMLResponse(page("problem", problem=error.message), error.status)
    return JSONResponse(error.document(), error.status)
