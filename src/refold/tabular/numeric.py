"""Which columns of a table hold numbers."""

from __future__ import annotations

from collections.abc import Sequence

from refold.columns.frames import described, is_number, is_text
from refold.columns.missing import is_missing
from refold.tabular import _cells
from refold.tabular._block import Block
from refold.tabular._layout import is_moment
from refold.tabular.errors import quoted
from refold.tabular.table import TableSource

LOOKED_AT = 1000  # rows that say whether a column is text


def no_name(table: TableSource) -> str:
    """Say which column of a table has no name: the beginning of an error."""
    number = table.names.index(table.unnamed[0]) + 1
    return f"{table.name}: column {number} has no name. If it only numbers the rows,"


def not_numbers(block: Block, names: Sequence[str]) -> dict[str, str]:
    """Say what those columns hold that do not hold numbers, but for a few _cells."""
    found = ((name, _not_numbers(block, name)) for name in names)
    return {name: problem for name, problem in found if problem}


def _not_numbers(block: Block, name: str) -> str | None:
    column = block.columns[name]
    if is_number(column.type):
        return None
    if not is_text(column.type):
        return described(column.type)
    texts, decimal = block.numerals(name)
    observed = [
        (k, cell)
        for k, cell in enumerate(texts[:LOOKED_AT].to_pylist())
        if cell is not None and not is_missing(cell)
    ]
    odd = [(k, cell) for k, cell in observed if _cells.kind_of(cell, decimal) is None]
    infinite = sum(cell.strip().lower().lstrip("+-").startswith("inf") for _, cell in odd)
    if 2 * (len(odd) - infinite) <= len(observed):
        return None
    k, cell = odd[0][0], odd[0][1].strip()
    what = "dates or times" if is_moment(cell) else "text"
    return f"{what}, for example {quoted(cell)} in {block.where(k)}"
