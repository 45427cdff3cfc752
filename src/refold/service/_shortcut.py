"""The way to what is asked most, past the routes: finding these takes as long as judging a row."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.types import ASGIApp, Receive, Scope, Send

SCORE = "/v1/models/{name}/score"


class Shortcut:
    """Hands requests to score by known models to who answers them, and all others to the routes.

    Parameters
    ----------
    app : ASGI application
        The routes. They have the address too, for who asks for something else there.
    score : ASGI application
        Answers requests to score.
    names : iterable of str
        The models.
    """

    def __init__(self, app: ASGIApp, score: ASGIApp, names: Iterable[str]) -> None:
        self._app, self._score = app, score
        self._names = {SCORE.format(name=name): {"name": name} for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        known = None
        if scope["type"] == "http" and scope["method"] == "POST":
            known = self._names.get(scope["path"])
        if known is None:
            await self._app(scope, receive, send)
            return
        scope["path_params"] = known
        await self._score(scope, receive, send)


class Plain:
    """An ASGI application as routes take it: a function they would give a request instead."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        await self._app(scope, receive, send)
