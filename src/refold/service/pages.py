"""What is said of a model, as a document and as a page that loads nothing from elsewhere."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from refold.base.advice import in_words
from refold.base.findings import told
from refold.base.markup import html_templates
from refold.base.needs import needs
from refold.report import card_of
from refold.service.models import HostedModel, ModelStore


def summary_document(served: HostedModel, store: ModelStore) -> dict[str, Any]:
    """Return what a list of models says of one."""
    return {
        "name": served.name,
        "kind": type(served.model).__name__,
        "columns": list(served.judge.inputs),
        "threshold": served.judge.threshold,
        "alpha": served.judge.alpha,
        "digest": served.digest,
        "saved": served.created,
        "saved_by": served.version,
        "loaded": served.loaded,
        "problem": store.problem(served.name),
    }


def card_document(served: HostedModel, store: ModelStore) -> dict[str, Any]:
    """Return the model card."""
    origin = {"Model saved": f"{served.created} by refold {served.version}"}
    found = card_of(served.model, origin)
    return {
        **summary_document(served, store),
        "facts": dict(found.facts),
        "guarantees": list(found.guarantees),
        "limits": list(found.limits),
        "noticed": list(told(served.model.noticed_, in_words)),
        "row": served.row_schema,
    }


def drift_document(served: HostedModel) -> dict[str, Any]:
    """Return what the rows that were scored are beside those learned."""
    watch = served.watch
    known = {"watched": watch is not None, "rows": 0, "verdict": None, "message": None}
    found = None if watch is None else watch.result()
    if watch is None or found is None:
        return {**known, "features": [], "change": None}
    change = watch.change()
    return {
        "watched": True,
        "rows": found.rows,
        "verdict": found.verdict,
        "message": str(found).splitlines()[0],
        "features": [feature.name for feature in found.features if feature.differs],
        "change": {"message": str(change), **change.to_dict()},
    }


@cache
def _templates() -> Any:
    jinja2 = needs("jinja2", "app")
    return html_templates(jinja2.PackageLoader("refold.service"))


def page(name: str, **content: Any) -> str:
    """Return a page by the name of its template."""
    return str(_templates().get_template(f"{name}.html.j2").render(**content))


def curl_command(address: str, row: dict[str, Any]) -> str:
    """Return the line of a shell that scores a row; characters that are not seen are escaped."""
    text = json.dumps([row], ensure_ascii=False, default=str)
    seen = "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
    quoted = seen.replace("'", "'\\''")
    return f"curl {address} \\\n  -H 'Content-Type: application/json' -d '{quoted}'"
