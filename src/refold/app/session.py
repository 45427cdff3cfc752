"""Authentication of the one browser that uses the app."""

from __future__ import annotations

import hmac
import secrets
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from refold.app.browser import render_page
from refold.base.errors import sentence_of
from refold.service import RequestError, check_origin, host_name

_HOSTS = ("localhost", "127.0.0.1", "[::1]")
_FORM = "application/x-www-form-urlencoded"
_SECURITY_HEADERS = [
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


class Session:
    """The secrets of one process.

    Parameters
    ----------
    port : int
        Where it listens on this machine.

    Attributes
    ----------
    root : str
        The path of all pages. It is random, and the cookie is bound to it: browsers send cookies to
        every port of a host, but only below their path.
    """

    def __init__(self, port: int) -> None:
        self._port, self.root = port, f"/{secrets.token_urlsafe(24)}"
        self._token, self._secret = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self._one_time_tokens: set[str] = set()

    def address(self) -> str:
        """Return the address for whoever started the process."""
        return f"http://127.0.0.1:{self._port}/?token={self._token}"

    def address_once(self) -> str:
        """Return one that opens once: other users see what a browser is started with."""
        token = secrets.token_urlsafe(24)
        self._one_time_tokens.add(token)
        return f"http://127.0.0.1:{self._port}/?token={token}"

    def accepts(self, token: str) -> bool:
        """Whether a token is the right one; a token for one time is so once."""
        if token in self._one_time_tokens:
            self._one_time_tokens.remove(token)
            return True
        return _equal(token, self._token)

    def knows(self, path: str, cookies: str) -> bool:
        """Whether a request brings both secrets, in its path and in its cookie."""
        first = "/" + path.removeprefix("/").partition("/")[0]
        given = [cookie.strip() for cookie in cookies.split(";")]
        return _equal(first, self.root) and any(_equal(each, self._cookie) for each in given)

    def welcome(self) -> Response:
        """Return the answer to the right token."""
        answer = RedirectResponse(f"{self.root}/", 303)
        name, _, value = self._cookie.partition("=")
        answer.set_cookie(name, value, path=self.root, httponly=True, samesite="strict")
        return answer

    @property
    def _cookie(self) -> str:
        return f"refold={self._secret}"


def _equal(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), right.encode())


class RequireSession:
    """Middleware: authenticates requests, and turns errors into sentences."""

    def __init__(self, app: ASGIApp, session: Session) -> None:
        self._app, self._session = app, session

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answered = False

        async def send_safely(message: Message) -> None:
            nonlocal answered
            if message["type"] == "http.response.start":
                answered = True
                message["headers"] = [*message["headers"], *_SECURITY_HEADERS]
            await send(message)

        headers = Headers(scope=scope)
        known = self._session.knows(scope["path"], headers.get("cookie", ""))
        root = self._session.root if known else ""
        try:
            answer: ASGIApp = self._app if known else self._welcome(scope)
            _check(scope["method"], headers)
            await answer(scope, receive, send_safely)
        except RequestError as error:
            await _error_response(error, headers, root)(scope, receive, send_safely)
        except ClientDisconnect:
            pass  # nobody is there to be told
        except Exception as error:
            if answered:
                raise
            failed = RequestError(500, sentence_of(error))
            await _error_response(failed, headers, root)(scope, receive, send_safely)

    def _welcome(self, scope: Scope) -> Response:
        (token, *_) = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
        if token and scope["path"] == "/" and self._session.accepts(token):
            return self._session.welcome()
        raise RequestError(
            401, "Open the address that the command refold app has printed: it has a token."
        )


def _check(method: str, headers: Headers) -> None:
    """Refuse requests by other host names, and from other pages."""
    if host_name(headers.get("host", "")) not in _HOSTS:
        raise RequestError(421, "The page is not called by this name.")
    check_origin(method, headers)
    if method in ("GET", "HEAD"):
        return
    if headers.get("origin") is None:
        raise RequestError(403, "This came from another page: nothing was done.")
    if method == "POST" and headers.get("content-type", "").partition(";")[0].strip() != _FORM:
        raise RequestError(415, f"A form is sent as {_FORM}.")


def _error_response(error: RequestError, headers: Headers, root: str) -> Response:
    """Return what was wrong: a page for people, a document for a script."""
    if "text/html" in headers.get("accept", ""):
        return HTMLResponse(render_page("problem", problem=error.message, root=root), error.status)
    return JSONResponse(error.document(), error.status)
