"""What is said of a model: in the list of models, as a card, and of its drift."""

from __future__ import annotations

from typing import Any

from refold.base.advice import in_words
from refold.base.findings import told
from refold.report import card_of
from refold.service.models import HostedModel, ModelStore


def summary(served: HostedModel, store: ModelStore) -> dict[str, Any]:
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


def card(served: HostedModel, store: ModelStore) -> dict[str, Any]:
    """Return the model card."""
    origin = {"Model saved": f"{served.created} by refold {served.version}"}
    found = card_of(served.model, origin)
    return {
        **summary(served, store),
        "facts": dict(found.facts),
        "guarantees": list(found.guarantees),
        "limits": list(found.limits),
        "noticed": list(told(served.model.noticed_, in_words)),
        "row": served.row_schema,
    }


def drift(served: HostedModel) -> dict[str, Any]:
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
