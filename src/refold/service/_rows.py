"""The rows of a request: JSON, line by line or all at once, CSV or Arrow."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Any

from refold.service._errors import RequestError
from refold.tabular import InputError, TableSource
from refold.tabular.columnar import ArrowFile, ArrowStream
from refold.tabular.delimited import DelimitedTable
from refold.tabular.json_table import parse_json
from refold.tabular.table import How

JSON, NDJSON, CSV = "application/json", "application/x-ndjson", "text/csv"
ARROW_STREAM = "application/vnd.apache.arrow.stream"
ARROW_FILE = "application/vnd.apache.arrow.file"
KINDS = (JSON, NDJSON, CSV, ARROW_STREAM, ARROW_FILE)

_CALLED = "The request"
_FORMATS: dict[str, Callable[[IO[bytes], str, How], TableSource]] = {
    CSV: DelimitedTable,
    ARROW_STREAM: ArrowStream,
    ARROW_FILE: ArrowFile,
}


@dataclass(frozen=True)
class Objects:
    """Rows as JSON has them.

    Parameters
    ----------
    rows : list
        What should be an object with the names of columns; None where there is a problem.
    problems : dict of int to str
        What is wrong with rows that could not be read, by their number from 0.
    """

    rows: list[Any]
    problems: dict[int, str] = field(default_factory=dict)


def read_objects(body: bytes, kind: str) -> Objects | None:
    """Read JSON of either form; None if it is no JSON but columns."""
    if kind == JSON:
        return read_json(body)
    return read_lines(body) if kind == NDJSON else None


def read_json(body: bytes) -> Objects:
    """Read a list of objects, one object, or an object of columns."""
    try:
        document = parse_json(body.decode())
    except ValueError as error:
        raise RequestError(400, f"The body is not JSON: {_short(error)}.") from None
    if isinstance(document, list):
        return Objects(document)
    if not isinstance(document, dict):
        raise RequestError(400, "The body must be a list of objects, or an object of columns.")
    lists = [isinstance(column, list) for column in document.values()]
    if not lists or not any(lists):
        return Objects([document])
    if not all(lists):
        named = next(name for name, known in zip(document, lists, strict=True) if not known)
        raise RequestError(400, "Some columns are lists, this one is none.", column=named[:100])
    sizes = {len(column) for column in document.values()}
    if len(sizes) > 1:
        raise RequestError(
            400, f"The columns have {min(sizes)} to {max(sizes)} cells, not as many each."
        )
    return Objects(
        [dict(zip(document, cells, strict=True)) for cells in zip(*document.values(), strict=True)]
    )


def read_lines(body: bytes) -> Objects:
    """Read an object per line; a line that is none is a problem of its row."""
    rows: list[Any] = []
    problems: dict[int, str] = {}
    for line in filter(None, map(bytes.strip, body.split(b"\n"))):
        try:
            rows.append(parse_json(line.decode()))
        except ValueError as error:
            problems[len(rows)] = f"it is not JSON: {_short(error)}"
            rows.append(None)
    return Objects(rows, problems)


def open_columns(body: bytes, kind: str) -> TableSource:
    """Open CSV or Arrow."""
    try:
        return _FORMATS[kind](io.BytesIO(body), _CALLED, How())
    except InputError as error:
        raise RequestError(400, str(error)) from None


def _short(error: Exception) -> str:
    return str(error)[:200]
