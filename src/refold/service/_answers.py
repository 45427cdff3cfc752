"""Verdicts as a client wants them: JSON, lines of JSON, CSV or Arrow."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from refold.base.needs import needs
from refold.explanation import Explanation, explain
from refold.judgement import RowVerdict, answer_names, answer_types, answers
from refold.service._errors import RequestError
from refold.service._judging import Verdicts
from refold.service._rows import ARROW_FILE, ARROW_STREAM, CSV, JSON, KINDS, NDJSON
from refold.service._store import Served

_ENCODER = json.JSONEncoder(allow_nan=False)


def chosen(accept: str | None) -> str:
    """Return the format that an Accept header asks for, JSON if it does not matter."""
    asked = [part.partition(";")[0].strip().lower() for part in (accept or "*/*").split(",")]
    for kind in asked:
        if kind in KINDS:
            return kind
        if kind in ("*/*", "application/*", ""):
            return JSON
        if kind == "text/*":
            return CSV
    raise RequestError(406, f"Answers are {', '.join(KINDS)}; none of these is accepted.")


def answer(served: Served, verdicts: Verdicts, kind: str, reasons: int, *, skip: bool) -> bytes:
    """Return verdicts as the body of an answer."""
    if kind in (JSON, NDJSON):
        rows = _short(verdicts, reasons)
        return _lines(rows) if kind == NDJSON else _document(served, rows)
    return _columns(verdicts, kind, reasons, skip=skip)


def one_answer(served: Served, verdict: RowVerdict) -> bytes:
    """Return the verdict of one row as the body of an answer in JSON."""
    label, distance, p_value, reasons = verdict
    because = ", ".join([served.quoted[name] for name in reasons])
    row = (
        f'{{"label": {label}, "distance": {_number(distance)}, '
        f'"p_value": {_number(p_value)}, "reasons": [{because}]}}'
    )
    return f"{served.opening}[{row}]}}".encode()


def _number(value: float | None) -> str:
    """Return a number as JSON has it, sooner than the encoder, which refuses what is none."""
    return repr(value) if value is not None and math.isfinite(value) else _ENCODER.encode(value)


def full_answer(served: Served, verdicts: Verdicts, kind: str, reasons: int | None) -> bytes:
    """Return verdicts with normal ranges and the nearest accepted values."""
    if kind not in (JSON, NDJSON):
        raise RequestError(406, f"explain=full is answered in {JSON} or {NDJSON} only.")
    rows = _full(served, verdicts, reasons)
    return _lines(rows) if kind == NDJSON else _document(served, rows)


def _document(served: Served, rows: Iterable[dict[str, Any]]) -> bytes:
    return f"{served.opening}{_ENCODER.encode(list(rows))}}}".encode()


def _lines(rows: Iterator[dict[str, Any]]) -> bytes:
    return "".join(_ENCODER.encode(row) + "\n" for row in rows).encode()


def _short(verdicts: Verdicts, reasons: int) -> Iterator[dict[str, Any]]:
    """Yield label, distance, p-value and the names of the columns that matter most."""
    found, problems = verdicts.found, verdicts.problems
    known = iter(()) if found is None else _judged(found, reasons)
    for row in range(verdicts.total):
        yield _with_problem(problems[row]) if row in problems else next(known)


def _judged(found: Any, reasons: int) -> Iterator[dict[str, Any]]:
    labels, judged = found.labels.tolist(), found.judged.tolist()
    because: list[list[str]] = [[] for _ in labels]
    if reasons:
        order = found.by_blame[:, :reasons]
        matter = np.take_along_axis(found.attribution().parts, order, axis=1) > 0.0
        because = [
            [found.names[k] for k, counts in zip(places, kept, strict=True) if counts]
            for places, kept in zip(order.tolist(), matter.tolist(), strict=True)
        ]
    distances = found.distances.tolist()
    p_values = [None] * len(labels) if found.p_values is None else found.p_values.tolist()
    for label, distance, p, names, known in zip(
        labels, distances, p_values, because, judged, strict=True
    ):
        if known:
            yield {"label": label, "distance": distance, "p_value": p, "reasons": names}
        else:
            yield {"label": None, "distance": None, "p_value": None, "reasons": []}


def _full(served: Served, verdicts: Verdicts, reasons: int | None) -> Iterator[dict[str, Any]]:
    found, problems = verdicts.found, verdicts.problems
    known: Iterator[Explanation] = iter(())
    if found is not None:
        known = iter(explain(served.model, found, reasons=reasons or None))
    for row in range(verdicts.total):
        if row in problems:
            yield _with_problem(problems[row])
        else:
            yield _explained(replace(next(known), row=row))


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


def _with_problem(error: RequestError) -> dict[str, Any]:
    return {
        "label": None,
        "distance": None,
        "p_value": None,
        "reasons": [],
        "problem": error.message,
    }


def _columns(verdicts: Verdicts, kind: str, reasons: int, *, skip: bool) -> bytes:
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
    if skip:
        problems = [verdicts.problems.get(row) for row in range(total)]
        names, types = [*names, "problem"], [*types, pa.string()]
        arrays.append(pa.array([None if p is None else p.message for p in problems], pa.string()))
    return written(pa.table(arrays, schema=pa.schema(list(zip(names, types, strict=True)))), kind)


def written(table: Any, kind: str) -> bytes:
    """Return an Arrow table as CSV or Arrow."""
    pa = needs("pyarrow", "app")
    out = io.BytesIO()
    if kind == CSV:
        needs("pyarrow.csv", "app").write_csv(table, out)
    else:
        new = {ARROW_STREAM: pa.ipc.new_stream, ARROW_FILE: pa.ipc.new_file}[kind]
        with new(out, table.schema) as writer:
            writer.write_table(table)
    return out.getvalue()
