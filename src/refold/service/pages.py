"""What is said of a model, as a document and as a page that loads nothing from elsewhere."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from functools import cache
from typing import Any

from starlette.responses import HTMLResponse, Response

from refold.base.advice import in_words
from refold.base.findings import told
from refold.base.version import VERSION
from refold.cards import card_of
from refold.report.parts import environment_of, script_source
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
        "example": served.example,
    }


def drift_document(served: HostedModel) -> dict[str, Any]:
    """Return what the rows that were scored are beside those learned."""
    state = None if served.watch is None else served.watch.state()
    if state is None or state.drift is None:
        none = {"rows": 0, "left_out": 0, "verdict": None, "message": None}
        return {"watched": state is not None, **none, "features": [], "change": None}
    drift, change = state.drift, state.change
    return {
        "watched": True,
        "rows": drift.rows,
        "left_out": state.left_out,
        "verdict": drift.verdict,
        "message": str(drift).splitlines()[0],
        "features": [feature.name for feature in drift.features if feature.differs],
        "change": {"message": str(change), **change.to_dict()},
    }


def incidents_document(served: HostedModel, most: int) -> dict[str, Any]:
    """Return the last incidents among the rows that were scored."""
    if served.watch is None:
        return {"watched": False, "rows": 0, "left_out": 0, "total": 0, "incidents": []}
    state = served.watch.state()
    last = state.incidents.last(most)
    return {
        "watched": True,
        "rows": state.rows,
        "left_out": state.left_out,
        "total": state.incidents.total,
        "incidents": [{**one.to_dict(), "going_on": going_on} for one, going_on in last],
    }


@cache
def _templates() -> Any:
    return environment_of("refold.service")


def page(name: str, **content: Any) -> str:
    """Return a page by the name of its template."""
    template = _templates().get_template(f"{name}.html.j2")
    return str(template.render(version=VERSION, **content))


def docs_page(
    api: dict[str, Any], models: Sequence[HostedModel], address: str, *, token: bool
) -> Response:
    """Return the page of the service: rows to try, and every address of its description."""
    script = _templates().get_template("behaviour.js").render()
    scoring = {served.name: f"/v1/models/{served.name}/score" for served in models}
    content = page(
        "docs",
        title="refold: normal or not?",
        api=api,
        models=models,
        parameters=api["paths"][scoring[models[0].name]]["post"]["parameters"],
        examples={
            scoring[served.name]: curl_command(
                address + scoring[served.name], served.example, token=token
            )
            for served in models
        },
        rows={
            served.name: json.dumps([served.example], indent=2, ensure_ascii=False)
            for served in models
        },
        address_of=address,
        token=token,
        script=script,
    )
    policy = (
        f"default-src 'none'; script-src {script_source(script)}; connect-src 'self'; "
        "style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; form-action 'none'"
    )
    return HTMLResponse(content, headers={"content-security-policy": policy})


def curl_command(address: str, row: dict[str, Any], *, token: bool = False) -> str:
    """Return the line of a shell that scores a row; characters that are not seen are escaped."""
    text = json.dumps([row], ensure_ascii=False, default=str)
    seen = "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
    quoted = seen.replace("'", "'\\''")
    bearer = ' -H "Authorization: Bearer $REFOLD_TOKEN"' if token else ""
    return (
        f"curl {shlex.quote(address)} \\\n"
        f"  -H 'Content-Type: application/json'{bearer} -d '{quoted}'"
    )
