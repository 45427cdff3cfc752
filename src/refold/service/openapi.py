"""The service in OpenAPI's words; the rows are those of the models in it."""

from __future__ import annotations

from itertools import chain
from typing import Any

from refold.base.version import VERSION
from refold.monitoring import VERDICTS
from refold.service.middleware import DIGEST, REQUEST_ID
from refold.service.models import HostedModel, ModelStore
from refold.service.requests import (
    ARROW_FILE,
    ARROW_STREAM,
    CSV,
    EXPLAIN,
    JSON,
    MOST_REASONS,
    NDJSON,
    ON_BAD,
    PARQUET,
)
from refold.service.settings import Settings
from refold.service.watching import MOST_INCIDENTS

_TEXT = {"type": "string"}
_MAYBE_TEXT = {"type": ["string", "null"]}
_MAYBE_NUMBER = {"type": ["number", "null"]}
_TEXTS = {"type": "array", "items": _TEXT}


def _object(*optional: str, **properties: Any) -> dict[str, Any]:
    """Return the schema of an object; all but the optional properties are required."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "required": required, "properties": properties}


def _header(name: str, about: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {name: {"description": about, "required": True, "schema": schema}}


_VERDICT = _object(
    "changes",
    "problem",
    "muted",
    label={
        "enum": [1, -1, None],
        "description": "1 normal, -1 not; null for a row that is not judged.",
    },
    distance=_MAYBE_NUMBER,
    p_value=_MAYBE_NUMBER,
    reasons={
        "type": "array",
        "description": "The columns that matter most; with explain=full objects that say how.",
        "items": {"type": ["string", "object"]},
    },
    changes={"type": "array", "items": {"type": "object"}},
    problem=_TEXT,
    muted={
        "type": ["string", "null"],
        "description": "The rule of the model that mutes the row; it is normal for that.",
    },
)
_SCHEMAS = {
    "Error": _object(
        "row", "column", error=_TEXT, row={"type": "integer", "minimum": 0}, column=_TEXT
    ),
    "Verdict": _VERDICT,
    "Verdicts": _object(
        **dict.fromkeys(("model", "digest", "saved"), _TEXT),
        threshold={"type": "number"},
        alpha=_MAYBE_NUMBER,
        rows={"type": "array", "items": {"$ref": "#/components/schemas/Verdict"}},
    ),
    "Model": _object(
        **dict.fromkeys(("name", "kind", "digest", "saved", "saved_by", "loaded"), _TEXT),
        columns=_TEXTS,
        threshold={"type": "number"},
        alpha=_MAYBE_NUMBER,
        problem=_MAYBE_TEXT,
    ),
    "Drift": _object(
        watched={"type": "boolean"},
        rows={"type": "integer"},
        left_out={"type": "integer"},
        verdict={"enum": [*VERDICTS, None]},
        message=_MAYBE_TEXT,
        features=_TEXTS,
        change={"type": ["object", "null"]},
    ),
    "Incidents": _object(
        watched={"type": "boolean"},
        rows={"type": "integer"},
        left_out={"type": "integer"},
        total={"type": "integer"},
        incidents={"type": "array", "items": {"$ref": "#/components/schemas/Incident"}},
    ),
    "Incident": _object(
        begin={"type": ["string", "number"]},
        end={"type": ["string", "number"]},
        rows={"type": "array", "items": {"type": "integer"}},
        outliers={"type": "integer"},
        total={"type": "integer"},
        columns=_TEXTS,
        severity={"type": "number"},
        worst={"type": "integer"},
        group=_MAYBE_TEXT,
        text=_TEXT,
        going_on={"type": "boolean"},
    ),
}
_ID_HEADER = _header(REQUEST_ID, "That of the request, or a new one; it is in the log.", _TEXT)
_DIGEST_HEADER = _header(
    DIGEST, "The SHA-256 of the model's file.", {"type": "string", "pattern": "^[0-9a-f]{64}$"}
)
_PROBLEMS = {
    400: "The rows cannot be read; the answer says which row and column.",
    401: "The token is missing or wrong.",
    403: "A web page of another origin asks.",
    404: "There is no such model.",
    406: "No format that is accepted.",
    408: "The request came too slowly.",
    413: "Too many bytes or rows, as sent or when unpacked.",
    415: "The body is not in a format that is read.",
    421: "Called by another name than it has.",
    429: "Too many requests at a time.",
    503: "It took too long, or the service is stopping.",
}


def openapi_document(store: ModelStore, settings: Settings) -> dict[str, Any]:
    """Return the whole description."""
    score = {f"/v1/models/{one.name}/score": {"post": _score(one, settings)} for one in store}
    models = {
        "/v1/models": _get("The models in service.", {"type": "array", "items": _ref("Model")})
    }
    for served in store:
        models |= _paths_of(served)
    operation = {
        "/healthz": _get("Whether the process is alive.", {"type": "object"}, open_=True),
        "/readyz": _get("Whether it takes requests.", {"type": "object"}, 503, open_=True),
        "/metrics": _get("Counts for Prometheus.", _TEXT, kind="text/plain"),
        "/openapi.json": _get("This description.", {"type": "object"}),
        "/docs": _get("The same as a page.", _TEXT, kind="text/html"),
    }
    for tag, part in zip(_TAGS, (score, models, operation), strict=True):
        for each in chain.from_iterable(methods.values() for methods in part.values()):
            each["tags"] = [tag]
    return {
        "openapi": "3.1.0",
        "info": {"title": "refold", "version": VERSION, "description": _ABOUT},
        "security": [] if settings.token is None else [{"token": []}],
        "tags": [{"name": name, "description": about} for name, about in _TAGS.items()],
        "paths": score | models | operation,
        "components": {
            "schemas": {
                **_SCHEMAS,
                **{f"Row-{served.name}": served.row_schema for served in store},
            },
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


_ABOUT = (
    "Models that were learned from normal rows say of new rows: normal or not, how far off, and "
    "because of which columns."
)


_TAGS = {
    "Score": "Rows in, verdicts out.",
    "Models": "What is in service, and how scored rows compare with those learned.",
    "Operation": "For whoever runs the service.",
}


def _paths_of(served: HostedModel) -> dict[str, Any]:
    at = f"/v1/models/{served.name}"
    card = _get("The model card, as JSON or as a page.", _ref("Model"), 404, 406)
    card["get"]["responses"]["200"]["content"]["text/html"] = {"schema": _TEXT}
    found = {at: card, f"{at}/drift": _get("Scored rows beside those learned.", _ref("Drift"), 404)}
    incidents = _get("The last incidents among scored rows.", _ref("Incidents"), 400, 404)
    bad = incidents["get"]["responses"]["400"]
    bad["description"] = f"last is not a number from 1 to {MOST_INCIDENTS}."
    incidents["get"]["parameters"] = [
        _parameter(
            "last",
            "How many at most.",
            {"type": "integer", "minimum": 1, "maximum": MOST_INCIDENTS, "default": 100},
        )
    ]
    found[f"{at}/incidents"] = incidents
    found[f"{at}/drift/reset"] = {
        "post": _operation("Begin comparing anew.", {"204": {"description": "Done."}}, 404, 415)
    }
    return found


def _score(served: HostedModel, settings: Settings) -> dict[str, Any]:
    row = _ref(f"Row-{served.name}")
    rows = {
        "type": "array",
        "items": row,
        "minItems": 1,
        "maxItems": settings.max_rows,
    }
    content: dict[str, Any] = {
        JSON: {"schema": rows, "example": [served.example]},
        NDJSON: {"schema": _TEXT},
        CSV: {"schema": _TEXT},
    }
    binary = {"schema": {"type": "string", "format": "binary"}}
    content |= dict.fromkeys((ARROW_STREAM, ARROW_FILE, PARQUET), binary)
    answers: dict[str, Any] = {kind: {"schema": _TEXT} for kind in content}
    answers[JSON] = {"schema": _ref("Verdicts")}
    answers |= dict.fromkeys((ARROW_STREAM, ARROW_FILE, PARQUET), binary)
    operation = _operation(
        f"Judge rows by {served.name}.",
        {"200": {"description": "A verdict for each row, in order.", "content": answers}},
        *_PROBLEMS,
        digest=True,
    )
    operation["requestBody"] = {"required": True, "content": content}
    operation["parameters"] = [
        _parameter(
            "reasons",
            "How many columns are named at most.",
            {"type": "integer", "minimum": 0, "maximum": MOST_REASONS, "default": 3},
        ),
        _parameter(
            "explain",
            "Names of columns, or everything that is known of them.",
            {"enum": list(EXPLAIN), "default": "short"},
        ),
        _parameter(
            "on_bad",
            "Rows with a cell that cannot be read: refuse all, leave the row out, or judge it.",
            {"enum": list(ON_BAD), "default": "error"},
        ),
    ]
    return operation


def _parameter(name: str, about: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "description": about, "schema": schema}


def _get(
    said: str, schema: dict[str, Any], *statuses: int, kind: str = JSON, open_: bool = False
) -> dict[str, Any]:
    answer = {"200": {"description": said, "content": {kind: {"schema": schema}}}}
    operation = _operation(said, answer, *statuses)
    if open_:
        operation["security"] = []
    return {"get": operation}


def _operation(
    said: str, answers: dict[str, Any], *statuses: int, digest: bool = False
) -> dict[str, Any]:
    error = {JSON: {"schema": _ref("Error")}}
    for answer in answers.values():
        answer["headers"] = {**_ID_HEADER, **(_DIGEST_HEADER if digest else {})}
    for status in sorted({*statuses, 401, 403, 421}):
        answers[str(status)] = {"description": _PROBLEMS[status], "content": error}
        answers[str(status)]["headers"] = _ID_HEADER
    return {"summary": said, "responses": answers}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}
