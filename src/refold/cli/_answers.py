"""How explanations are shown: as a document for machines, as a table for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from refold.explain import Explanation


def as_document(row: Explanation) -> dict[str, Any]:
    """Return an explanation as plain values; a missing one is null."""
    return {
        "row": row.row,
        "label": row.label,
        "distance": row.distance,
        "p_value": row.p_value,
        "reasons": [
            {**vars(reason), "value": None if math.isnan(reason.value) else reason.value}
            for reason in row.reasons
        ],
    }


def as_table(rows: Sequence[Explanation], title: str) -> Table:
    """Return explanations as a table, one reason per line."""
    from rich.table import Table
    from rich.text import Text

    from refold.explain import number

    table = Table(title=title, title_justify="left", show_lines=True)
    table.add_column("row", justify="right")
    table.add_column("distance", justify="right")
    rare = any(row.p_value is not None for row in rows)
    if rare:
        table.add_column("p-value", justify="right")
    table.add_column("because of", overflow="fold")
    for row in rows:
        p_value = [f"{row.p_value:.2g}"] if row.p_value is not None else []
        because = "\n".join(str(reason) for reason in row.reasons if reason.share > 0.0)
        table.add_row(str(row.row), number(row.distance), *p_value, Text(because))
    return table
