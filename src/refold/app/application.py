"""The five steps at their addresses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import anyio.to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Mount, Route

from refold.app import pairs
from refold.app.browser import asset, fields_of, one, receive, render_page, upload_name
from refold.app.checking import OWN_SORTS, CheckedRows, RowQuery
from refold.app.downloads import OF_MODEL, OF_ROWS, curl_code, python_code
from refold.app.forms import column_name_of, learning_of, link_of, place_of, rates_said, row_of
from refold.app.own_rules import MOST_LINES, mute_lines, rule_lines
from refold.app.profile import TALL, WIDE, blind_zones
from refold.app.project import PROJECTS
from refold.app.reading import MARKS, how_of
from refold.app.samples import SAMPLES
from refold.app.session import RequireSession, Session
from refold.app.state import CHECK, TABLE
from refold.app.workspace import Workspace
from refold.cards import card_of
from refold.decisions.rules_reading import read_rules
from refold.service import RequestError

_ASSETS = {"style.css": "text/css", "behaviour.js": "text/javascript"}
# What each step is called, and at which address.
_STEPS = (
    ("/", "Table"),
    ("/learn", "Learn"),
    ("/check", "Check"),
    ("/limits", "What would it catch?"),
    ("/take", "Download"),
)
_FIRST_ROWS = 5  # that are shown as they were read
Endpoint = Callable[[Request], Awaitable[Response]]


def create_app(workspace: Workspace, session: Session) -> Starlette:
    """Return the page as an ASGI application.

    Parameters
    ----------
    workspace : Workspace
        What somebody is working on.
    session : Session
        The secrets that a browser must bring.

    Returns
    -------
    Starlette
        For one process that listens on this machine.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refold.app import Session, Workspace, create_app
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     app = create_app(Workspace(Path(folder)), Session(8000))
    >>> [route.path for route in app.routes[0].routes][:3]
    ['/', '/learn', '/check']
    """
    return _Steps(workspace).application(session)


class _Steps:
    """What is asked at which address; long work is begun here and done elsewhere."""

    def __init__(self, workspace: Workspace) -> None:
        self._work = workspace

    def application(self, session: Session) -> Starlette:
        """Return the ASGI application."""
        work = self._work
        routes = [
            Route("/", self._table),
            Route("/learn", self._learn),
            Route("/check", self._check),
            Route("/check/run", self._run),
            Route("/check/rows/{row}", self._row),
            Route("/limits", self._limits),
            Route("/take", self._take),
            Route("/take/{name}", self._download),
            Route("/progress", self._progress),
            Route("/cancel", self._cancel, methods=["POST"]),
            Route("/assets/{name}", self._asset),
            Route("/compare", self._compare),
            Route("/project", self._upload(work.open_project, "/"), methods=["PUT"]),
            Route("/compare", self._upload(work.compare_with, "/compare"), methods=["PUT"]),
            Route("/table", self._upload(work.open_file, "/"), methods=["PUT"]),
            Route("/rules", self._upload(work.open_rules, "/learn"), methods=["PUT"]),
            Route("/check", self._upload(work.check_file, "/check"), methods=["PUT"]),
            self._post("/table/sample", TABLE, lambda form: work.open_sample(one(form, "sample"))),
            self._post("/table/reading", TABLE, self._read_again(TABLE)),
            self._post("/check/reading", CHECK, self._read_again(CHECK)),
            Route("/table/columns", self._choose, methods=["POST"]),
            self._post("/learn", "/learn", lambda form: work.learn(learning_of(form, work.state))),
            self._post("/check/sample", "/check", lambda form: work.check_sample()),
            self._post("/check/rest", "/check", lambda form: work.check_rest()),
            self._post("/check/rate", "/check", self._use_rate),
            self._post("/check/accept", "/check", self._accept),
            self._post("/check/undo", "/check", lambda form: work.undo()),
            self._post("/limits", "/limits", lambda form: work.find_limits()),
            Route("/take", self._prepare, methods=["POST"]),
            self._post("/forget", "/", lambda form: work.forget()),
        ]
        return Starlette(
            routes=[Mount(session.root, routes=routes)],
            middleware=[Middleware(RequireSession, session)],
            exception_handlers={404: _not_found, 405: _not_found},
        )

    def _shown(self, request: Request, name: str, **content: Any) -> Response:
        """Return a step with what all of them show."""
        work = self._work
        return HTMLResponse(
            render_page(
                name,
                root=request.scope["root_path"],
                steps=_STEPS,
                news=work.news_on(content["here"]),
                version=work.version,
                job=work.worker.job,
                finished=work.worker.finished,
                wide=WIDE,
                tall=TALL,
                **content,
            )
        )

    async def _table(self, request: Request) -> Response:
        state, table = self._work.state, self._work.state.table
        targets = {} if table is None else await _thread(lambda: table.targets)
        first = [] if table is None else table.training.table.slice(0, _FIRST_ROWS).to_pylist()
        return self._shown(
            request,
            "table",
            here="/",
            state=state,
            samples=SAMPLES,
            targets=targets,
            first_rows=[list(row.values()) for row in first],
            rules=read_rules(state.choice.rules),
            file=self._work.file_of(TABLE),
            marks=MARKS,
            most=self._work.most_bytes,
        )

    async def _learn(self, request: Request) -> Response:
        state, trained = self._work.state, self._work.state.trained
        card = None if trained is None else await _thread(lambda: card_of(trained.in_use, {}))
        look, typed = state.look, self._work.news.rules
        rules = state.choice.rules if typed is None else typed
        return self._shown(
            request,
            "learn",
            here="/learn",
            state=state,
            card=card,
            lines=[] if look is None else rule_lines(look.columns, rules, state.choice),
            muted=mute_lines(rules),
            most_lines=MOST_LINES,
            most=self._work.most_bytes,
        )

    async def _check(self, request: Request) -> Response:
        state, checked = self._work.state, self._work.state.checked
        columns = 0 if checked is None else len(checked.table.columns)
        query = RowQuery.of(request.query_params, columns)
        rows = None if checked is None else await _thread(lambda: checked.page(query))
        return self._shown(
            request,
            "check",
            here="/check",
            state=state,
            checked=checked,
            rows=rows,
            query=query,
            link=link_of(request, query),
            rates=[] if checked is None else rates_said(checked),
            own_sorts=OWN_SORTS,
            file=self._work.file_of(CHECK),
            marks=MARKS,
            most=self._work.most_bytes,
        )

    async def _run(self, request: Request) -> Response:
        state, checked = self._work.state, self._work.state.checked
        if checked is None or checked.run.chart is None:
            raise RequestError(404, "There are no rows to draw.")
        return self._shown(request, "run", here="/check", state=state, checked=checked)

    async def _row(self, request: Request) -> Response:
        state = self._work.state
        checked, row = row_of(state.checked, request.path_params["row"])
        query = RowQuery.of(request.query_params, len(checked.table.columns))
        said, marks = await _thread(lambda: checked.explained(row))
        cells = checked.table.training.table.slice(row, 1).to_pylist()[0]
        return self._shown(
            request,
            "row",
            here="/check",
            state=state,
            checked=checked,
            said=said,
            marks=marks,
            pair=await _thread(lambda: checked.pair(said)),
            pair_wide=pairs.WIDE,
            pair_tall=pairs.TALL,
            cells=cells,
            called=checked.full_name(row),
            back=link_of(request, query)(page=query.page),
        )

    async def _limits(self, request: Request) -> Response:
        state = self._work.state
        zones = [] if state.blind is None else blind_zones(state.blind)
        return self._shown(request, "limits", here="/limits", state=state, zones=zones)

    async def _take(self, request: Request) -> Response:
        state, trained = self._work.state, self._work.state.trained
        return self._shown(
            request,
            "take",
            here="/take",
            state=state,
            of_model=OF_MODEL,
            of_rows=OF_ROWS,
            projects=PROJECTS,
            python="" if trained is None else python_code(trained),
            ready="" if self._work.worker.job else request.query_params.get("ready", ""),
            curl="" if trained is None else curl_code(trained),
            sizes={name: file.stat().st_size for name, file in state.files.items()},
        )

    async def _compare(self, request: Request) -> Response:
        state = self._work.state
        return self._shown(
            request, "compare", here="/take", state=state, most=self._work.most_bytes
        )

    async def _prepare(self, request: Request) -> Response:
        name = one(await self._form(request), "name")
        self._work.prepare(name)
        return _redirect(request, f"/take?{urlencode({'ready': name})}")

    async def _download(self, request: Request) -> Response:
        name = request.path_params["name"]
        file = self._work.state.files.get(name)
        if file is None:
            raise RequestError(404, "This file is not ready, or is out of date: prepare it first.")
        return FileResponse(file, filename=name, media_type="application/octet-stream")

    async def _progress(self, request: Request) -> Response:
        worker = self._work.worker
        job = worker.job
        return JSONResponse(
            {
                "what": "" if job is None else job.what,
                "rows": 0 if job is None else job.rows,
                "share": None if job is None else job.share,
                "seconds": 0 if job is None else round(job.seconds, 1),
                "finished": worker.finished,
            }
        )

    async def _cancel(self, request: Request) -> Response:
        """End what is under way; a page that is out of date may ask for it too."""
        here = one(await fields_of(request), "here", "/")
        self._work.worker.cancel()
        return _redirect(request, here if here in dict(_STEPS) else "/")

    async def _asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _ASSETS:
            raise RequestError(404, "There is nothing at this address.")
        return Response(asset(name), media_type=_ASSETS[name])

    async def _form(self, request: Request) -> dict[str, list[str]]:
        """Return the fields of a form, unless its page is out of date."""
        form = await fields_of(request)
        self._work.check_current(one(form, "version"))
        return form

    def _post(self, path: str, then: str, begin: Callable[[dict[str, list[str]]], None]) -> Route:
        """Return an address that begins something and leads back to a page."""

        async def post(request: Request) -> Response:
            begin(await self._form(request))
            return _redirect(request, then)

        return Route(path, post, methods=["POST"])

    def _upload(self, begin: Callable[..., None], then: str) -> Endpoint:
        """Return what takes a file as it is, and begins to read it."""

        async def put(request: Request) -> Response:
            version = request.query_params.get("version", "")
            self._work.check_current(version)
            out = self._work.new_file()
            await receive(request, out, self._work.most_bytes)
            try:
                self._work.check_current(version)
                begin(out, upload_name(request))
            except RequestError:
                out.unlink(missing_ok=True)
                raise
            return JSONResponse({"next": request.scope["root_path"] + then}, 202)

        return put

    def _read_again(self, step: str) -> Callable[[dict[str, list[str]]], None]:
        """Return what reads the file of a step as a form says."""

        def begin(form: dict[str, list[str]]) -> None:
            file = self._work.file_of(step)
            if file is None:
                raise RequestError(409, "There is no file to be read again.")
            self._work.read_again(replace(file, how=how_of(form, file)))

        return begin

    async def _choose(self, request: Request) -> Response:
        """Take what was said of the columns, and go on; nothing is done if it is the same."""
        form = await self._form(request)
        said = self._chosen(form)
        choice = self._work.state.choice
        if said != (choice.roles, choice.target, choice.id_column):
            self._work.choose(*said)
        return _redirect(request, "/learn" if "next" in form else "/")

    def _chosen(
        self, form: dict[str, list[str]]
    ) -> tuple[dict[str, str], tuple[str, str] | None, str]:
        table = self._work.state.table
        if table is None:
            raise RequestError(409, "There is no table yet.")
        roles = {
            name: role
            for k, name in enumerate(table.columns)
            if (role := one(form, f"role-{k}", ""))
        }
        column, _, value = one(form, "target", "").partition("-")
        target = None
        if column:
            name = table.columns[place_of(column, len(table.columns))]
            values = list(table.targets.get(name, ()))
            target = name, values[place_of(value, len(values))]
            roles.pop(name, None)
        id_column = column_name_of(table, one(form, "id", ""))
        if target and id_column == target[0]:
            raise RequestError(
                400, f"{id_column} says which rows are normal: choose another column for names."
            )
        roles.pop(id_column, None)
        return roles, target, id_column

    def _accept(self, form: dict[str, list[str]]) -> None:
        rows = self._checked().table.rows
        self._work.accept(place_of(one(form, "row"), rows))

    def _use_rate(self, form: dict[str, list[str]]) -> None:
        rates = self._checked().rates
        self._work.use_rate(rates[place_of(one(form, "rate"), len(rates))].rate)

    def _checked(self) -> CheckedRows:
        checked = self._work.state.checked
        if checked is None:
            raise RequestError(409, "There are no new rows yet.")
        return checked


def _redirect(request: Request, path: str) -> Response:
    return RedirectResponse(request.scope["root_path"] + path, 303)


async def _thread(work: Callable[[], Any]) -> Any:
    """Do something in a thread that may take more than a moment."""
    return await anyio.to_thread.run_sync(work)


async def _not_found(request: Request, error: Exception) -> Response:
    raise RequestError(404, "There is nothing at this address.")
