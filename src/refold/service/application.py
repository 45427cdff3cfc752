"""The service: what is asked at which address, and who answers."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import threading
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from refold.service import openapi
from refold.service.bodies import gunzip
from refold.service.connections import Connections
from refold.service.errors import RequestError
from refold.service.log import Log, log_lines
from refold.service.metrics import Metrics
from refold.service.middleware import DIGEST, REQUEST_ID, LogMiddleware, RequestMiddleware
from refold.service.models import HostedModel, ModelStore
from refold.service.pages import (
    card_document,
    docs_page,
    drift_document,
    incidents_document,
    page,
    summary_document,
)
from refold.service.requests import (
    CSV,
    JSON,
    NDJSON,
    BodyReader,
    ScoreQuery,
    media_type,
    open_columns,
    read_rows,
    score_query,
)
from refold.service.responses import response_body
from refold.service.scoring import Verdicts, score_columns, score_objects
from refold.service.settings import Settings
from refold.service.watching import MOST_INCIDENTS, RowWatch
from refold.service.webhook import Webhook

# What is judged in the event loop: a thread would take longer to start than the work does.
_SMALL_BODY = 4096  # bytes
_SMALL_WORK = 0.002  # seconds, as estimated
_SMALL_LINES = 100  # of NDJSON, each of which may be an error to tell of
_LOOKED_FOR_CHANGES = 1.0  # seconds between
_READERS = 4  # threads that write pages and documents: more would hold up the event loop


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
        self._connections = Connections(settings, log)
        self._metrics, self._bodies = Metrics(settings, self._connections), BodyReader(settings)
        self._webhook: Webhook | None = None
        self._busy, self._ready = 0, False
        self._threads: anyio.CapacityLimiter | None = None
        self._comparing: anyio.CapacityLimiter | None = None
        self._comparisons: set[asyncio.Task[None]] = set()

    def application(self) -> Starlette:
        """Return the ASGI application."""
        routes = [
            Route("/v1/models/{name}/score", self._score, methods=["POST"]),
            Route("/healthz", self._healthz),
            Route("/readyz", self._readyz),
            # Functions that are not async run in threads: what they say may be long.
            Route("/metrics", self._show_metrics),
            Route("/openapi.json", self._openapi),
            Route("/docs", self._docs),
            Route("/", self._home, include_in_schema=False),
            Route("/v1/models", self._models),
            Route("/v1/models/{name}", self._card),
            Route("/v1/models/{name}/incidents", self._incidents),
            Route("/v1/models/{name}/drift", self._drift),
            Route("/v1/models/{name}/drift/reset", self._reset, methods=["POST"]),
        ]
        # CORS answers some requests by itself: these are logged too.
        middleware = [
            Middleware(LogMiddleware, self._metrics, self._log),
            Middleware(RequestMiddleware, self._settings, self._log),
        ]
        if self._settings.origins:
            cors = Middleware(
                CORSMiddleware,
                allow_origins=list(self._settings.origins),
                allow_methods=["GET", "POST"],
                allow_headers=["authorization", "content-type", REQUEST_ID],
                expose_headers=[REQUEST_ID, DIGEST],
            )
            middleware.insert(1, cors)
        application = Starlette(
            routes=routes,
            middleware=middleware,
            lifespan=self._lifespan,
            exception_handlers={404: _not_found, 405: _not_allowed},
        )
        application.state.connections = self._connections
        return application

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        self._threads = anyio.CapacityLimiter(len(os.sched_getaffinity(0)))
        self._comparing = anyio.CapacityLimiter(1)
        anyio.to_thread.current_default_thread_limiter().total_tokens = _READERS
        if self._settings.webhook is not None:
            self._webhook = Webhook(self._settings.webhook, self._log, self._metrics.told)
        watching = asyncio.create_task(self._watch())
        self._ready = True
        yield
        self._ready = False
        for task in (watching, *self._comparisons):
            task.cancel()
        await asyncio.gather(watching, *self._comparisons, return_exceptions=True)
        if self._webhook is not None:
            await anyio.to_thread.run_sync(self._webhook.close)

    async def _watch(self) -> None:
        """Look every second whether a file has changed, and whether there is something to tell."""
        while True:
            await asyncio.sleep(_LOOKED_FOR_CHANGES)
            for name, problem in await anyio.to_thread.run_sync(self._store.refresh):
                entry = {"event": "model loaded" if problem is None else "model not loaded"}
                served = self._store.get(name)
                digest = None if served is None else served.digest
                self._log({**entry, "model": name, "digest": digest, "problem": problem})
            if self._webhook is not None:
                await anyio.to_thread.run_sync(self._tell, self._webhook)

    def _tell(self, webhook: Webhook) -> None:
        for served in self._store:
            if served.watch is not None:
                for event in served.watch.events(webhook.target.rows):
                    webhook.send(served.name, served.digest, event)

    async def _healthz(self, request: Request) -> Response:
        return JSONResponse({"status": "alive"})

    async def _readyz(self, request: Request) -> Response:
        if not self._ready:
            raise RequestError(503, "The service is starting or stopping.")
        return JSONResponse({"status": "ready", "models": [served.name for served in self._store]})

    def _show_metrics(self, request: Request) -> Response:
        text = self._metrics.text(self._store)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    def _openapi(self, request: Request) -> Response:
        return JSONResponse(openapi.openapi_document(self._store, self._settings))

    def _docs(self, request: Request) -> Response:
        api = openapi.openapi_document(self._store, self._settings)
        address = str(request.base_url).rstrip("/")
        return docs_page(api, list(self._store), address, token=self._settings.token is not None)

    async def _home(self, request: Request) -> Response:
        return RedirectResponse("docs")

    def _models(self, request: Request) -> Response:
        return JSONResponse([summary_document(one, self._store) for one in self._store])

    def _card(self, request: Request) -> Response:
        served = self._served(request)
        card = card_document(served, self._store)
        if "text/html" in request.headers.get("accept", ""):
            docs = f"{request.scope.get('root_path', '')}/docs"
            return HTMLResponse(page("model", title=served.name, card=card, docs=docs))
        return JSONResponse(card)

    def _incidents(self, request: Request) -> Response:
        served, given = self._served(request), dict(request.query_params)
        last = given.pop("last", "100")
        known = last.isascii() and last.isdigit() and len(last) <= 6
        if given or not known or not 1 <= int(last) <= MOST_INCIDENTS:
            raise RequestError(400, f"last must be a number from 1 to {MOST_INCIDENTS}.")
        return JSONResponse(incidents_document(served, int(last)))

    def _drift(self, request: Request) -> Response:
        return JSONResponse(drift_document(self._served(request)))

    def _reset(self, request: Request) -> Response:
        served, kind = self._served(request), request.headers.get("content-type")
        if kind is not None:
            media_type(kind)  # a form of a web page is refused
        if served.watch is not None:
            served.watch.reset()
        return Response(status_code=204)

    async def _score(self, request: Request) -> Response:
        served, known = self._served(request), request.scope["refold"]
        headers = known["headers"]
        query = score_query(
            request.scope["query_string"],
            *(headers.get(name) for name in ("content-type", "accept", "content-encoding")),
        )
        body = await self._bodies.read(request.receive, headers.get("content-length", ""))
        known["begin"] = time.perf_counter()
        if self._busy >= self._settings.max_requests:
            raise RequestError(429, "Too many requests at a time. Try again in a moment.")
        objects, seconds = None, math.inf
        if _is_small(query, body):
            objects = read_rows(body, query.sent, self._most_rows(query), served.judge.inputs)
            seconds = _estimated_seconds(served, query, len(objects[0]))
        work = partial(self._judge, served, query, body, objects)
        content, known["rows"], due = await self._run(work, seconds)
        if due is not None:
            task = asyncio.create_task(self._compare(due))
            self._comparisons.add(task)
            task.add_done_callback(self._comparisons.discard)
        charset = "; charset=utf-8" if query.accepted == CSV else ""
        return Response(content, headers={"content-type": query.accepted + charset})

    async def _compare(self, watch: RowWatch) -> None:
        while await anyio.to_thread.run_sync(watch.compare, limiter=self._comparing):
            pass

    async def _run(self, work: _Work, seconds: float) -> _Result:
        """Do what takes less than a moment here, all else in a thread, and that not for ever."""
        self._busy += 1
        if seconds <= _SMALL_WORK:
            try:
                return work()
            finally:
                self._free()
        loop, begun = asyncio.get_running_loop(), threading.Lock()

        def whole() -> _Result:
            if not begun.acquire(blocking=False):
                raise RequestError(503, "Nobody waits for this any more.")
            try:
                return work()
            finally:
                loop.call_soon_threadsafe(self._free)  # its place is free when the thread ends

        try:
            with anyio.fail_after(self._settings.seconds):
                return await anyio.to_thread.run_sync(
                    whole, limiter=self._threads, abandon_on_cancel=True
                )
        except TimeoutError:
            raise RequestError(
                503, f"It took more than {self._settings.seconds:g} seconds. Send fewer rows."
            ) from None
        finally:
            if begun.acquire(blocking=False):  # the thread has not begun, and will not
                self._free()

    def _free(self) -> None:
        self._busy -= 1

    def _judge(
        self, served: HostedModel, query: ScoreQuery, body: bytes, objects: _Objects | None
    ) -> _Result:
        """Judge the rows of a body; `objects` are those of JSON if they have been read."""
        most = self._most_rows(query)
        if query.packed:
            body = gunzip(body, self._settings.max_body)
        if query.sent in (JSON, NDJSON):
            verdicts = score_objects(
                served,
                *(objects or read_rows(body, query.sent, most, served.judge.inputs)),
                on_bad=query.on_bad,
                explained=query.explained,
                most=most,
            )
        else:
            table = open_columns(body, query.sent, most, self._settings.max_body)
            verdicts = score_columns(
                served.judge, table, on_bad=query.on_bad, explained=query.explained, most=most
            )
        return self._answer(served, query, verdicts, len(body))

    def _most_rows(self, query: ScoreQuery) -> int:
        return self._settings.max_explained if query.full else self._settings.max_rows

    def _answer(
        self, served: HostedModel, query: ScoreQuery, verdicts: Verdicts, size: int
    ) -> _Result:
        content, due = response_body(served, verdicts, query), None
        found = verdicts.found
        if found is not None:
            self._metrics.judged(served.name, len(found), int(found.outlier.sum()))
            if served.watch is not None and served.watch.add(found, size):
                due = served.watch
        return content, verdicts.total, due

    def _served(self, request: Request) -> HostedModel:
        name = request.path_params["name"]
        served = self._store.get(name)
        if served is None:
            known = ", ".join(one.name for one in self._store)
            raise RequestError(404, f"There is no model {name[:100]!r}; there is {known}.")
        request.scope["refold"]["model"] = served
        return served


# The body of an answer, how many rows it is about, and who has rows to compare afterwards.
_Result = tuple[bytes, int, RowWatch | None]
_Work = Callable[[], _Result]
_Objects = tuple[list[Any], dict[int, RequestError]]  # rows, and problems of some of them


def _is_small(query: ScoreQuery, body: bytes) -> bool:
    """Whether rows of JSON are read in a moment."""
    if query.packed or len(body) > _SMALL_BODY:
        return False
    lines = body.count(b"\n") if query.sent == NDJSON else 0
    return query.sent in (JSON, NDJSON) and lines <= _SMALL_LINES


def _estimated_seconds(served: HostedModel, query: ScoreQuery, rows: int) -> float:
    """Return how long it takes to judge rows, at most; infinity of what has no known limit."""
    if query.full or query.accepted not in (JSON, NDJSON):
        return math.inf
    return rows * served.row_seconds[query.explained]


async def _not_found(request: Request, error: Exception) -> Response:
    raise RequestError(404, "There is nothing at this address.")


async def _not_allowed(request: Request, error: Exception) -> Response:
    refused = RequestError(405, "This address is not asked in this way.")
    return JSONResponse(refused.document(), 405, getattr(error, "headers", None))
