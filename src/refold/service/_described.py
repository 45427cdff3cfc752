"""What is said of a model: as a document, as a page, and as the schema of its rows."""

from __future__ import annotations

from typing import Any

from refold.base.advice import in_words
from refold.base.findings import told
from refold.report import card_of
from refold.service._store import ModelStore, Served

_TYPES: dict[str, dict[str, Any]] = {
    "number": {"type": ["number", "null"]},
    "date": {
        "type": ["string", "number", "null"],
        "description": "A date or time, written as in training.",
    },
}
_CELL: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}


def row_schema(served: Served) -> dict[str, Any]:
    """Return what a row of this model looks like, as JSON Schema."""
    roles = _roles(served)
    return {
        "type": "object",
        "title": f"A row for {served.name}",
        "required": list(served.judge.names),
        "properties": {
            name: {**_TYPES.get(roles[name], _CELL), "title": f"{name} ({roles[name]})"}
            for name in served.judge.names
        },
    }


def _roles(served: Served) -> dict[str, str]:
    """Return what each column is."""
    columns = getattr(served.model, "columns_", None)
    if columns is None:
        return dict.fromkeys(served.judge.names, "number")
    return {column.name: column.role for column in columns}


def summary(served: Served, store: ModelStore) -> dict[str, Any]:
    """Return what a list of models says of one."""
    return {
        "name": served.name,
        "kind": type(served.model).__name__,
        "columns": list(served.judge.names),
        "threshold": served.judge.threshold,
        "alpha": served.judge.alpha,
        "saved": served.created,
        "saved_by": served.version,
        "loaded": served.loaded,
        "problem": store.problem(served.name),
    }


def card(served: Served, store: ModelStore) -> dict[str, Any]:
    """Return the model card."""
    said = card_of(served.model, _about(served))
    return {
        **summary(served, store),
        "facts": dict(said.facts),
        "guarantees": list(said.guarantees),
        "limits": list(said.limits),
        "noticed": list(told(served.model.noticed_, in_words)),
        "row": row_schema(served),
    }


def _about(served: Served) -> dict[str, str]:
    return {"Model saved": f"{served.created} by refold {served.version}"}


def drift(served: Served) -> dict[str, Any]:
    """Return what the rows that were scored are beside those learned."""
    if served.watch is None:
        return {"watched": False, "rows": 0, "verdict": None, "message": None, "features": []}
    found = served.watch.result()
    if found is None:
        return {"watched": True, "rows": 0, "verdict": None, "message": None, "features": []}
    differing = [feature for feature in found.features if feature.differs]
    return {
        "watched": True,
        "rows": found.rows,
        "verdict": found.verdict,
        "message": str(found).splitlines()[0],
        "features": [feature.name for feature in differing],
    }
