"""Verdicts as a client wants them: JSON, lines of JSON, CSV or Arrow."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import anyio.from_thread
import numpy as np

from refold.base.needs import needs
from refold.explanation import Explanation, explain
from refold.judgement import Judgement, answer_names, answer_types, answers
from refold.service._errors import RequestError
from refold.service._models import HostedModel
from refold.service._requests import ARROW_FILE, ARROW_STREAM, CSV, JSON, NDJSON, ScoreQuery
from refold.service._scoring import Verdicts

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
        return "".join(f"{json.dumps(row, allow_nan=False)}\n" for row in rows).encode()
    judge = served.judge
    document = {"model": served.name, "threshold": judge.threshold, "alpha": judge.alpha}
    return json.dumps({**document, "rows": rows}, allow_nan=False).encode()


def _short(found: Judgement, reasons: int) -> Iterator[dict[str, Any]]:
    """Yield label, distance, p-value and the names of the columns that matter most."""
    because: list[list[str]] = [[] for _ in range(len(found))]
    if reasons:
        order = found.by_blame[:, :reasons]
        matter = np.take_along_axis(found.attribution().parts, order, axis=1) > 0.0
        because = [
            [found.names[k] for k, counts in zip(places, kept, strict=True) if counts]
            for places, kept in zip(order.tolist(), matter.tolist(), strict=True)
        ]
    labels, distances = found.labels.tolist(), found.distances.tolist()
    p_values = [None] * len(labels) if found.p_values is None else found.p_values.tolist()
    for label, distance, p, names in zip(labels, distances, p_values, because, strict=True):
        if label:
            yield {"label": label, "distance": distance, "p_value": p, "reasons": names}
        else:
            yield _NO_VERDICT


def _full(served: HostedModel, found: Judgement, reasons: int) -> Iterator[dict[str, Any]]:
    """Yield verdicts with normal ranges and the nearest accepted values."""
    for begin in range(0, len(found), _EXPLAINED_AT_ONCE):
        anyio.from_thread.check_cancelled()
        part = found.take(np.arange(begin, min(begin + _EXPLAINED_AT_ONCE, len(found))))
        yield from map(_explained, explain(served.model, part, reasons=reasons or None))


def _explained(row: Explanation) -> dict[str, Any]:
    return {
        name: _finite(value)
        for name, value in {
            "label": row.label or None,
            "distance": row.distance,
            "p_value": row.p_value,
            "reasons": [
                {**asdict(reason), "value": None if reason.missing else reason.value}
                for reason in row.reasons
            ],
            "changes": [asdict(cell) for cell in row.changes],
        }.items()
    }


def _finite(value: Any) -> Any:
    """Return plain values; what JSON has no number for is null."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def _columns(verdicts: Verdicts, query: ScoreQuery, reasons: int) -> bytes:
    """Return the columns that scoring adds, a line per row, as CSV or Arrow."""
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
        needs("pyarrow.csv", "app").write_csv(table, out)
    else:
        new = {ARROW_STREAM: pa.ipc.new_stream, ARROW_FILE: pa.ipc.new_file}[query.accepted]
        with new(out, table.schema) as writer:
            writer.write_table(table)
    return out.getvalue()
