"""What a browser sends, files and fields of forms, and the pages that it gets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qsl

import anyio
from starlette.requests import Request

from refold.base.words import printable
from refold.report.parts import drawing, environment_of
from refold.service import RequestError

_FORM = 2 * 2**20  # bytes: a role for each of many columns
_FIELDS = 100_000
_NAME = 100


async def receive(request: Request, out: Path, most: int) -> None:
    """Write the body of a request to a file as it comes; nothing is left if it is too large."""
    declared = request.headers.get("content-length", "0")
    if declared.isdigit() and int(declared) > most:
        raise too_large(most)
    size = 0
    try:
        async with await anyio.open_file(out, "xb") as file:
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise too_large(most)
                await file.write(part)
        if size == 0:
            raise RequestError(400, "The file is empty.")
    except BaseException:
        out.unlink(missing_ok=True)
        raise


def too_large(most: int) -> RequestError:
    """Return what is said of a file that is too large."""
    return RequestError(
        413,
        f"A file may have {most / 2**20:,.0f} MB here. Take some of its rows, or write it as "
        "Parquet; the commands refold fit and refold score have no such limit.",
    )


def upload_name(request: Request) -> str:
    """Return what a file is called, as it may be shown."""
    given = PurePosixPath(request.query_params.get("name", "").replace("\\", "/")).name
    return printable(given)[:_NAME] or "table"


async def fields_of(request: Request) -> dict[str, list[str]]:
    """Return the fields of a form; what was left empty is there too."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _FORM:
            raise RequestError(413, f"A form may have {_FORM:,} bytes.")
    fields: dict[str, list[str]] = {}
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=_FIELDS, errors="strict"
        )
    except ValueError:
        raise RequestError(400, "The form cannot be read.") from None
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return fields


def one(fields: Mapping[str, list[str]], name: str, otherwise: str | None = None) -> str:
    """Return a field that a form has once."""
    values = fields.get(name, [] if otherwise is None else [otherwise])
    if len(values) != 1:
        raise RequestError(400, f"The form needs one {name}.")
    return values[0]


@cache
def _templates() -> Any:
    environment = environment_of("refold.app")
    environment.globals["drawing"] = drawing
    return environment


def render_page(name: str, **content: Any) -> str:
    """Return a page by the name of its template."""
    return str(_templates().get_template(f"{name}.html.j2").render(**content))


@cache
def asset(name: str) -> str:
    """Return a file that pages refer to."""
    return str(_templates().get_template(name).render())
