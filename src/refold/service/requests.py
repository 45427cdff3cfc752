"""A request to score: its parameters and media types, its body, and the rows in it."""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import IO, Any
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from refold.service.bodies import RequestParquet, check_arrow, check_parquet
from refold.service.errors import RequestError, row_error
from refold.service.json_rows import decode_row, rows_of_json
from refold.service.settings import Settings
from refold.tabular import InputError, TableSource
from refold.tabular.arrow_table import ArrowStream
from refold.tabular.csv_table import CsvTable
from refold.tabular.json_table import JsonError
from refold.tabular.table_source import ReadOptions

JSON, NDJSON, CSV = "application/json", "application/x-ndjson", "text/csv"
ARROW_STREAM = "application/vnd.apache.arrow.stream"
ARROW_FILE = "application/vnd.apache.arrow.file"
PARQUET = "application/vnd.apache.parquet"
MEDIA_TYPES = (JSON, NDJSON, CSV, ARROW_STREAM, ARROW_FILE, PARQUET)
MOST_REASONS = 1000
ON_BAD = ("error", "skip", "judge")
EXPLAIN = ("short", "full")

# Bodies that are held at a time, in those of the largest size.
_AT_ONCE = 8
_REASONS = re.compile(r"0|[1-9][0-9]{0,3}")
# An Arrow file is an Arrow stream between this and a list of its parts.
_ARROW_FILE_MAGIC = b"ARROW1\0\0"


@dataclass(frozen=True)
class ScoreQuery:
    """What a request to score asks for."""

    sent: str
    packed: bool  # by gzip
    accepted: str
    reasons: int
    full: bool
    on_bad: str

    @property
    def explained(self) -> bool:
        """Whether reasons are asked for."""
        return self.full or self.reasons > 0


@lru_cache(maxsize=256)  # a client asks for the same again and again
def score_query(
    query: bytes, content_type: str | None, accept: str | None, encoding: str | None
) -> ScoreQuery:
    """Read the parameters and headers of a request."""
    given = _parameters(query)
    reasons = given.get("reasons", "3")
    if not _REASONS.fullmatch(reasons) or int(reasons) > MOST_REASONS:
        raise RequestError(400, f"reasons must be a number from 0 to {MOST_REASONS}.")
    explain = _one_of("explain", given.get("explain", "short"), EXPLAIN)
    on_bad = _one_of("on_bad", given.get("on_bad", "error"), ON_BAD)
    packing = (encoding or "identity").strip().lower()
    if packing not in ("identity", "gzip", "x-gzip"):
        raise RequestError(415, f"Content-Encoding is {packing[:40]!r}: send gzip, or none.")
    accepted = _accepted(accept)
    if explain == "full" and accepted not in (JSON, NDJSON):
        raise RequestError(406, f"explain=full is answered in {JSON} or {NDJSON} only.")
    return ScoreQuery(
        sent=media_type(content_type),
        packed=packing != "identity",
        accepted=accepted,
        reasons=int(reasons),
        full=explain == "full",
        on_bad=on_bad,
    )


def _parameters(query: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=10)
    except ValueError:
        raise RequestError(400, "There are too many parameters.") from None
    given: dict[str, str] = {}
    for name, value in pairs:
        if name not in ("reasons", "explain", "on_bad"):
            raise RequestError(400, f"There is no parameter {name[:100]!r}.")
        if name in given:
            raise RequestError(400, f"{name} is given twice.")
        given[name] = value
    return given


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise RequestError(400, f"{name} must be {' or '.join(allowed)}.")
    return value


def media_type(content_type: str | None) -> str:
    """Return the format of a body."""
    kind = (content_type or "").partition(";")[0].strip().lower()
    if kind not in MEDIA_TYPES:
        sent = f"not as {kind[:100]!r}" if kind else "and the header Content-Type says so"
        raise RequestError(415, f"Rows are sent as {', '.join(MEDIA_TYPES)}, {sent}.")
    return kind


def _accepted(accept: str | None) -> str:
    """Return the format that an Accept header asks for, JSON if it does not matter."""
    for part in (accept or "*/*").split(","):
        kind = part.partition(";")[0].strip().lower()
        if kind in MEDIA_TYPES:
            return kind
        if kind in ("*/*", "application/*", ""):
            return JSON
        if kind == "text/*":
            return CSV
    raise RequestError(406, f"Answers are {', '.join(MEDIA_TYPES)}; none of these is accepted.")


class BodyReader:
    """Reads bodies: many clients that send slowly must not fill the memory."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._bytes = settings, 0

    async def read(self, receive: Receive, declared: str) -> bytes:
        """Return all of a body, whose header declares its length."""
        # More than 18 digits would be more than any memory has.
        if declared.isascii() and declared.isdigit():
            self._check(int(declared[-18:]) if len(declared) <= 18 else 10**18)
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

    def _check(self, size: int) -> None:
        most = self._settings.max_body
        if size > most:
            raise RequestError(413, f"A request may have {most:,} bytes. Send the rows in parts.")
        if self._bytes > _AT_ONCE * most:
            raise RequestError(503, "Too much is being sent at a time. Try again in a moment.")


def read_rows(
    body: bytes, kind: str, most: int, wanted: Collection[str]
) -> tuple[list[Any], dict[int, RequestError]]:
    """Return the rows of a body of JSON, and the problems of those lines that are no JSON.

    Lines behind the first that is too many are not read. Of columns, those wanted are.
    """
    if kind == JSON:
        try:
            return _decoded(body, partial(rows_of_json, most=most, wanted=wanted)), {}
        except JsonError as error:
            if error.column or error.row is not None:
                raise row_error(error.problem, error.row or 0, error.column or None) from None
            raise RequestError(400, f"The body is not JSON: {error.problem}.") from None
    rows: list[Any] = []
    problems: dict[int, RequestError] = {}
    for each in io.BytesIO(body):  # one by one: there may be millions of empty lines
        if not (line := each.strip()):
            continue
        row = len(rows)
        if row > most:
            break
        try:
            rows.append(_decoded(line, decode_row))
        except JsonError as error:
            problems[row] = row_error(f"it is not JSON: {error.problem}", row, error.column or None)
            rows.append(None)
    return rows, problems


def open_columns(body: bytes, kind: str, most_rows: int, most_bytes: int) -> TableSource:
    """Open CSV, Arrow or Parquet that is not too large when unpacked."""
    form: Callable[[IO[bytes], str, ReadOptions], TableSource] = CsvTable
    if kind == PARQUET:
        check_parquet(body, most_rows, most_bytes)
        form = RequestParquet
    elif kind in (ARROW_STREAM, ARROW_FILE):
        if kind == ARROW_FILE and not body.startswith(_ARROW_FILE_MAGIC):
            raise RequestError(400, "The request is not an Arrow IPC file.")
        body = body[len(_ARROW_FILE_MAGIC) :] if kind == ARROW_FILE else body
        check_arrow(body, most_rows, most_bytes)
        form = ArrowStream
    try:
        return form(io.BytesIO(body), "The request", ReadOptions())
    except InputError as error:
        raise RequestError(400, str(error)) from None


def _decoded(body: bytes, decode: Callable[[str], Any]) -> Any:
    """Decode JSON strictly; errors say where, in our words."""
    try:
        return decode(body.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, character {error.colno}"
        raise JsonError(f"it cannot be read from {where} on") from None
    except UnicodeDecodeError as error:
        raise JsonError(f"byte {error.start} is not UTF-8") from None
