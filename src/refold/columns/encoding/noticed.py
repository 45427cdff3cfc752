"""What stands out in a table once it is counted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from refold._typing import Integers
from refold.base.findings import Finding
from refold.base.words import quoted
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.texts import TextCounts
from refold.columns.role_findings import mended
from refold.columns.table import CellState, Table, TextColumn, as_texts


def notice_cells(counts: TableCounts, table: Table) -> Iterator[Finding]:
    """Look for cells that cannot be read, and for columns with more values than are kept.

    Parameters
    ----------
    counts : TableCounts
        What was counted of the rows.
    table : Table
        These rows.

    Yields
    ------
    Finding
        ``"unreadable"`` and ``"many-values"``, at most one of each for a column.
    """
    table = counts.plan.parse(table)
    for k, column in enumerate(counts.plan.used):
        if counts.states(k)[CellState.UNREADABLE]:
            odd = np.flatnonzero(table.columns[k].unreadable)
            yield unreadable_cells(column.name, column.role, as_texts(table.columns[k]), odd)
        counted = counts.others.get(k)
        if isinstance(counted, TextCounts) and counted.values.level:
            tally = counted.values
            yield Finding(
                kind="many-values",
                message=f"{column.name} has about {tally.distinct:,} different values; "
                f"{len(tally.counts):,} of them are kept, all that more than {tally.error:,} rows "
                "have and a sample of the others.",
                column=column.name,
                advice="A value that is not kept counts as a new one.",
            )


def unreadable_cells(name: str, role: str, texts: TextColumn, odd: Integers) -> Finding:
    """Say that cells of a column are not what it holds.

    Parameters
    ----------
    name, role : str
        The column: of numbers or dates.
    texts : TextColumn
        What it holds.
    odd : ndarray of int
        The rows of these cells.
    """
    row = int(odd[0])
    text = quoted(texts.values[int(texts.codes[row])])
    what = "number" if role == "number" else "date"
    cells = len(odd)
    times = f"{cells:,} cells that are no {what}s" if cells > 1 else f"a cell that is no {what}"
    return Finding(
        kind="unreadable",
        message=f"{name} has {times}, such as {text} in row {row:,} of the table.",
        column=name,
        rows=tuple(odd[:100].tolist()),
        values=tuple(dict.fromkeys(texts.values[int(texts.codes[r])] for r in odd[:5].tolist())),
        advice=f"If they stand for missing values, leave them empty or name them; if {name} "
        f"holds other things than {what}s: {mended(name, 'category')}.",
    )
