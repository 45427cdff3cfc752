"""The service: what is asked at which address, and who answers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

import anyio.to_thread
from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from refold.judgement import one_row
from refold.service import _described as described
from refold.service import _openapi
from refold.service._answers import answer, chosen, full_answer, one_answer
from refold.service._body import BodyReader, check_plain, check_size, kind_of
from refold.service._errors import RequestError
from refold.service._guard import Guard, first_of
from refold.service._judging import Verdicts, judge_objects, judge_table, objects_of, one_of
from refold.service._log import Log, log_lines
from refold.service._metrics import Metrics
from refold.service._pages import page
from refold.service._rows import CSV, JSON, Objects, open_columns, read_objects
from refold.service._settings import Settings
from refold.service._shortcut import SCORE, Plain, Shortcut
from refold.service._store import ModelStore, Served

# Bytes of a body that is judged at once: a thread would take longer to start than the work does.
_SMALL = 4096
_LOOKED_FOR_CHANGES = 1.0  # seconds between
_MOST_REASONS = 1000


def create(store: ModelStore, settings: Settings | None = None, log: Log = log_lines) -> Starlette:
    """Return the service as an ASGI application.

    Parameters
    ----------
    store : ModelStore
        The models.
    settings : Settings or None, default=None
        What is allowed; None is the defaults.
    log : callable
        Takes entries of the log; by default they are lines of JSON on standard error.

    Returns
    -------
    Starlette
        For any ASGI server.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import refold
    >>> from refold.service import ModelStore, create
    >>> file = Path(tempfile.mkdtemp()) / "line4.json"
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> refold.save(refold.REF(alpha=0.05).fit(X), file)
    >>> [route.path for route in create(ModelStore({"line4": file})).routes][:2]
    ['/v1/models/{name}/score', '/healthz']
    """
    return _Service(store, settings or Settings(), log).application()


class _Service:
    """What all requests share."""

    def __init__(self, store: ModelStore, settings: Settings, log: Log) -> None:
        self._store, self._settings, self._log = store, settings, log
        self._metrics, self._held = Metrics(), BodyReader(settings)
        self._busy, self._ready = 0, False
        self._threads: anyio.CapacityLimiter | None = None

    def application(self) -> Starlette:
        """Return the ASGI application."""
        routes = [
            Route(SCORE, Plain(self._score), methods=["POST"]),
            Route("/healthz", self._healthz),
            Route("/readyz", self._readyz),
            Route("/metrics", self._show_metrics),
            Route("/openapi.json", self._openapi),
            Route("/docs", self._docs),
            Route("/", self._home, include_in_schema=False),
            Route("/v1/models", self._models),
            Route("/v1/models/{name}", self._card),
            Route("/v1/models/{name}/drift", self._drift),
            Route("/v1/models/{name}/drift/reset", self._reset, methods=["POST"]),
        ]
        middleware = [
            Middleware(Guard, self._settings, self._metrics, self._log),
            Middleware(Shortcut, self._score, [one.name for one in self._store]),
        ]
        if self._settings.origins:
            middleware.insert(
                0,
                Middleware(
                    CORSMiddleware,
                    allow_origins=list(self._settings.origins),
                    allow_methods=["GET", "POST"],
                    allow_headers=["authorization", "content-type"],
                ),
            )
        return Starlette(
            routes=routes,
            middleware=middleware,
            lifespan=self._lifespan,
            exception_handlers={404: _not_found, 405: _not_allowed},
        )

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        self._threads = anyio.CapacityLimiter(len(os.sched_getaffinity(0)))
        watching = asyncio.create_task(self._watch())
        self._ready = True
        yield
        self._ready = False
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching

    async def _watch(self) -> None:
        """Look every second whether a file has changed."""
        while True:
            await asyncio.sleep(_LOOKED_FOR_CHANGES)
            for name, problem in await anyio.to_thread.run_sync(self._store.refresh):
                entry = {"event": "model loaded" if problem is None else "model not loaded"}
                self._log({**entry, "model": name, "problem": problem})

    async def _healthz(self, request: Request) -> Response:
        return JSONResponse({"status": "alive"})

    async def _readyz(self, request: Request) -> Response:
        if not self._ready:
            raise RequestError(503, "The service is starting or stopping.")
        return JSONResponse({"status": "ready", "models": [served.name for served in self._store]})

    async def _show_metrics(self, request: Request) -> Response:
        text = await anyio.to_thread.run_sync(self._metrics.text, self._store)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    async def _openapi(self, request: Request) -> Response:
        return JSONResponse(_openapi.document(self._store, self._settings))

    async def _docs(self, request: Request) -> Response:
        api = _openapi.document(self._store, self._settings)
        examples = {f"/v1/models/{one.name}/score": _example(one) for one in self._store}
        return HTMLResponse(page("docs", title="refold", api=api, examples=examples))

    async def _home(self, request: Request) -> Response:
        return RedirectResponse("docs")

    async def _models(self, request: Request) -> Response:
        return JSONResponse([described.summary(one, self._store) for one in self._store])

    async def _card(self, request: Request) -> Response:
        served = self._served(request.scope)
        card = described.card(served, self._store)
        if "text/html" in request.headers.get("accept", ""):
            return HTMLResponse(page("model", title=served.name, card=card))
        return JSONResponse(card)

    async def _drift(self, request: Request) -> Response:
        served = self._served(request.scope)
        return JSONResponse(await anyio.to_thread.run_sync(described.drift, served))

    async def _reset(self, request: Request) -> Response:
        served = self._served(request.scope)
        if served.watch is not None:
            served.watch.reset()
        return Response(status_code=204)

    async def _score(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request to score; without the framework's classes, which cost as much again."""
        served = self._served(scope)
        given = first_of(scope["headers"])
        asked = _asked(
            scope["query_string"],
            given.get(b"content-type"),
            given.get(b"accept"),
            given.get(b"content-encoding"),
        )
        check_size(given.get(b"content-length", b""), self._settings.max_body)
        body = await self._held.read(receive)
        known = scope["refold"]
        known["started"] = time.perf_counter()
        if self._busy >= self._settings.max_requests:
            raise RequestError(429, "Too many requests at a time. Try again in a moment.")
        content, rows = await self._worked(partial(self._judged, served, asked, body), len(body))
        known["rows"] = rows
        headers = [(b"content-length", b"%d" % len(content)), (b"content-type", asked.said)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    async def _worked(self, work: Callable[[], Any], size: int) -> Any:
        """Do it here if it is little, else in a thread; not for ever."""
        self._busy += 1
        if size <= _SMALL:
            try:
                return work()
            finally:
                self._busy -= 1
        loop = asyncio.get_running_loop()

        def done() -> Any:
            try:
                return work()
            finally:
                loop.call_soon_threadsafe(self._free)

        try:
            async with asyncio.timeout(self._settings.seconds):
                return await anyio.to_thread.run_sync(
                    done, limiter=self._threads, abandon_on_cancel=True
                )
        except TimeoutError:
            raise RequestError(
                503, f"It took more than {self._settings.seconds:g} seconds. Send fewer rows."
            ) from None

    def _free(self) -> None:
        self._busy -= 1

    def _judged(self, served: Served, asked: _Asked, body: bytes) -> tuple[bytes, int]:
        objects = read_objects(body, asked.sent)
        if objects is not None and asked.answered == JSON and not asked.full:
            row = one_of(served.judge, objects)
            if row is not None:
                return self._one_judged(served, row, asked.reasons), 1
        verdicts = self._verdicts(served, asked, body, objects)
        if asked.full:
            content = full_answer(served, verdicts, asked.answered, asked.reasons)
        else:
            content = answer(served, verdicts, asked.answered, asked.reasons, skip=asked.skip)
        if verdicts.found is not None:
            self._metrics.judged(
                served.name, len(verdicts.found), int(verdicts.found.outlier.sum())
            )
            if served.watch is not None:
                served.watch.add(verdicts.found)
        return content, verdicts.total

    def _one_judged(self, served: Served, row: list[float], reasons: int) -> bytes:
        """Judge what is asked most, one row of numbers, by the shortest way."""
        verdict = one_row(served.judge, row, reasons)
        content = one_answer(served, verdict)
        self._metrics.judged(served.name, 1, int(verdict.label < 0))
        if served.watch is not None:
            served.watch.add_row(row, verdict.distance)
        return content

    def _verdicts(
        self, served: Served, asked: _Asked, body: bytes, objects: Objects | None
    ) -> Verdicts:
        most = self._settings.max_explained if asked.full else self._settings.max_rows
        explained = asked.full or asked.reasons > 0
        if objects is None:
            table = open_columns(body, asked.sent)
            if not asked.skip:
                return judge_table(served.judge, table, explained=explained, most=most)
            if asked.sent != CSV:
                raise RequestError(400, "on_bad=skip is for JSON and CSV: Arrow has types.")
            objects = objects_of(table, served.judge, most)
        return judge_objects(served.judge, objects, skip=asked.skip, explained=explained, most=most)

    def _served(self, scope: Scope) -> Served:
        name = scope["path_params"]["name"]
        served = self._store.get(name)
        if served is None:
            known = ", ".join(one.name for one in self._store)
            raise RequestError(404, f"There is no model {name[:100]!r}; there is {known}.")
        scope["refold"]["model"] = served.name
        return served


@dataclass(frozen=True)
class _Asked:
    """What a request to score asks for."""

    sent: str
    answered: str
    reasons: int
    full: bool
    skip: bool

    @cached_property
    def said(self) -> bytes:
        """The Content-Type of the answer."""
        return self.answered.encode() + (b"; charset=utf-8" if self.answered == CSV else b"")


@lru_cache(maxsize=256)  # a client asks for the same again and again
def _asked(
    query: bytes, sent: bytes | None, accept: bytes | None, encoding: bytes | None
) -> _Asked:
    """Read the parameters and headers of a request."""
    given = QueryParams(query)
    for name in given:
        if name not in ("reasons", "explain", "on_bad"):
            raise RequestError(400, f"There is no parameter {name[:100]!r}.")
    reasons = given.get("reasons", "3")
    if not (reasons.isascii() and reasons.isdigit() and int(reasons[:9]) <= _MOST_REASONS):
        raise RequestError(400, f"reasons must be a number from 0 to {_MOST_REASONS}.")
    explain, on_bad = given.get("explain", "short"), given.get("on_bad", "error")
    if explain not in ("short", "full"):
        raise RequestError(400, "explain must be short or full.")
    if on_bad not in ("error", "skip"):
        raise RequestError(400, "on_bad must be error or skip.")
    full, skip = explain == "full", on_bad == "skip"
    asked = _Asked(kind_of(_text(sent)), chosen(_text(accept)), int(reasons), full, skip)
    check_plain(_text(encoding))
    return asked


def _text(header: bytes | None) -> str | None:
    return None if header is None else header.decode("latin-1")


def _example(served: Served) -> str:
    """Return the line that scores a row from a shell."""
    cells = {"number": 1.5, "date": "2026-01-31"}
    properties = described.row_schema(served)["properties"]
    row = {
        name: cells.get(column["title"].rpartition("(")[2].rstrip(")"), "text")
        for name, column in properties.items()
    }
    sent = json.dumps([row], ensure_ascii=False).replace("'", "'\\''")
    return (
        f"curl http://127.0.0.1:8080/v1/models/{served.name}/score \\\n"
        f"  -H 'Content-Type: {JSON}' \\\n  -d '{sent}'"
    )


async def _not_found(request: Request, error: Exception) -> Response:
    return JSONResponse(RequestError(404, "There is nothing at this address.").document(), 404)


async def _not_allowed(request: Request, error: Exception) -> Response:
    headers = getattr(error, "headers", None)
    said = RequestError(405, "This address is not asked in this way.")
    return JSONResponse(said.document(), 405, headers)
