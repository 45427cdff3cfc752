"""What was noticed when a model was fitted, in its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from refold.base.findings import Finding
from refold.modelfile.fields import Field


def written(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Return findings as the document has them."""
    return [
        asdict(found) | {"rows": list(found.rows), "values": list(found.values)}
        for found in findings
    ]


def read(field: Field) -> tuple[Finding, ...]:
    """Return checked findings."""
    return tuple(map(_read, field.items()))


def _read(field: Field) -> Finding:
    kind, column, rows, values, message, advice = field.members(
        "kind", "column", "rows", "values", "message", "advice"
    )
    return Finding(
        kind=kind.text(),
        column=None if column.is_null() else column.text(),
        rows=tuple(row.integer(0) for row in rows.items()),
        values=tuple(v.text() if isinstance(v.value, str) else v.number() for v in values.items()),
        message=message.text(),
        advice=advice.text(),
    )
