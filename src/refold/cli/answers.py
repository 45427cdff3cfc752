"""How explanations are shown to people."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from refold.base.words import printable, shortened

if TYPE_CHECKING:
    from rich.table import Table

    from refold.explanation import Explanation


def with_number(row: Explanation) -> Explanation:
    """Return the same for people: a row of a file has a number, and it may have a name."""
    return row if row.name is None else replace(row, name=f"{row.row} ({shortened(str(row.name))})")


def as_table(rows: Sequence[Explanation], title: str) -> Table:
    """Return explanations as a table, one reason per line."""
    from refold.explanation import times_limit

    rare = any(row.p_value is not None for row in rows)
    cells = []
    for row in rows:
        p_value = [f"{row.p_value:.2g}"] if row.p_value is not None else []
        novel = any(reason.novel for reason in row.reasons)
        because = "\n".join(row.because(len(row.reasons)))
        name = with_number(row).name
        called = str(row.row if name is None else name)
        far = times_limit(row.distance, row.threshold, novel=novel)
        cells.append([called, far, *p_value, because])
    headings = ["row", "how far", *(["p-value"] if rare else []), "because of"]
    return table_of(headings, cells, words=("because of",), title=title, show_lines=True)


def table_of(
    headings: Sequence[str], rows: Sequence[Sequence[str]], *, words: Collection[str], **style: Any
) -> Table:
    """Return a table for people; what is in it from users' files cannot steer the terminal.

    `words` are the headings of the columns that hold no numbers.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(title_justify="left", **style)
    for heading in headings:
        if heading in words:
            table.add_column(heading, overflow="fold")
        else:
            table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*(Text(printable(cell, lines=True)) for cell in row))
    return table
