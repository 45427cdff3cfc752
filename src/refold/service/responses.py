"""Verdicts as a client wants them: JSON, lines of JSON, CSV, Arrow or Parquet."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import anyio.from_thread
import numpy as np

from refold.base.needs import needs
from refold.explanation import explain
from refold.judgement import Judgement, answer_names, answer_types, answers
from refold.service.errors import RequestError
from refold.service.models import HostedModel
from refold.service.requests import ARROW_FILE, ARROW_STREAM, CSV, JSON, NDJSON, PARQUET, ScoreQuery
from refold.service.scoring import Verdicts
from refold.tabular.writing import WriteOptions, writing

_JSON = json.JSONEncoder(allow_nan=False)
_EXPLAINED_AT_ONCE = 16  # rows, until it is seen whether somebody still waits
_NO_VERDICT: dict[str, Any] = {"label": None, "distance": None, "p_value": None, "reasons": []}


def response_body(served: HostedModel, verdicts: Verdicts, query: ScoreQuery) -> bytes:
    """Return verdicts as the body of an answer."""
    reasons = min(query.reasons, len(served.judge.names))
    if query.accepted not in (JSON, NDJSON):
        return _columns(verdicts, query, reasons)
    known: Iterator[dict[str, Any]] = iter(())
    if verdicts.found is not None:
        found = verdicts.found
        known = _full(served, found, reasons) if query.full else _short(found, reasons)
    problems = verdicts.problems
    rows = [
        {**_NO_VERDICT, "problem": problems[row].message} if row in problems else next(known)
        for row in range(verdicts.total)
    ]
    if query.accepted == NDJSON:
        return "".join(f"{_JSON.encode(row)}\n" for row in rows).encode()
    judge = served.judge
    document = {
        "model": served.name,
        "digest": served.digest,
        "saved": served.created,
        "threshold": judge.threshold,
        "alpha": judge.alpha,
    }
    return _JSON.encode({**document, "rows": rows}).encode()


def _short(found: Judgement, reasons: int) -> Iterator[dict[str, Any]]:
    """Yield label, distance, p-value and the names of the columns that matter most."""
    because: list[list[str]] = [[] for _ in range(len(found))]
    if reasons:
        because = [
            [found.names[k] for k in places if k >= 0] for places in found.reasons(reasons).tolist()
        ]
    labels, distances = found.labels.tolist(), found.distances.tolist()
    rules = [
        {"muted": found.muted_by(row)} if muted else {}
        for row, muted in enumerate(found.muted.tolist())
    ]
    p_values = [None] * len(labels) if found.p_values is None else found.p_values.tolist()
    for label, distance, p, names, muted in zip(
        labels, distances, p_values, because, rules, strict=True
    ):
        if label:
            yield {"label": label, "distance": distance, "p_value": p, "reasons": names, **muted}
        else:
            yield _NO_VERDICT


def _full(served: HostedModel, found: Judgement, reasons: int) -> Iterator[dict[str, Any]]:
    """Yield verdicts with normal ranges and values with which rows would be normal."""
    for begin in range(0, len(found), _EXPLAINED_AT_ONCE):
        anyio.from_thread.check_cancelled()
        part = found.take(np.arange(begin, min(begin + _EXPLAINED_AT_ONCE, len(found))))
        for row in explain(served.model, part, reasons=reasons or None):
            yield {name: value for name, value in row.to_dict().items() if name != "row"}


def _columns(verdicts: Verdicts, query: ScoreQuery, reasons: int) -> bytes:
    """Return the columns that scoring adds, a line per row, as CSV, Arrow or Parquet."""
    pa = needs("pyarrow", "app")
    found, total = verdicts.found, verdicts.total
    if found is None:
        raise RequestError(400, "None of the rows could be read; ask for JSON to see why.")
    names = answer_names(found.judge, reasons, "", ())
    places = np.full(total, -1)
    places[verdicts.rows] = np.arange(len(verdicts.rows))
    at = pa.array(places, mask=places < 0)
    arrays = [column.take(at) for column in answers(found, reasons)]
    types = answer_types(found.judge, reasons)
    if query.on_bad == "skip":
        problems = [verdicts.problems.get(row) for row in range(total)]
        names, types = [*names, "problem"], [*types, pa.string()]
        arrays.append(pa.array([None if p is None else p.message for p in problems], pa.string()))
    table = pa.table(arrays, schema=pa.schema(list(zip(names, types, strict=True))))
    out = io.BytesIO()
    if query.accepted == CSV:
        with writing("csv", out, table.schema, WriteOptions(added=names)) as write:
            for batch in table.to_batches():
                write(batch)
    elif query.accepted == PARQUET:
        needs("pyarrow.parquet", "app").write_table(table, out)
    else:
        new = {ARROW_STREAM: pa.ipc.new_stream, ARROW_FILE: pa.ipc.new_file}[query.accepted]
        with new(out, table.schema) as writer:
            writer.write_table(table)
    return out.getvalue()
