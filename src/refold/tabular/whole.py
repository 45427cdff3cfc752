"""Tables in one piece: all rows as one Arrow table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from refold.base.needs import needs
from refold.columns.frames import is_number, is_text
from refold.tabular.errors import InputError
from refold.tabular.table import Block, TableSource


def read_arrow(
    table: TableSource,
    *,
    columns: Iterable[str] | None = None,
    count: Callable[[int], None] = lambda rows: None,
) -> Any:
    r"""Read all rows of a table.

    Parameters
    ----------
    table : TableSource
        Opened by `open_table`, or several `Files`.
    columns : iterable of str or None, default=None
        Which columns to read; None is all.
    count : callable, default: nothing is counted
        Is told how many rows have been read since it was last told.

    Returns
    -------
    pyarrow.Table
        Columns of text files as strings, exactly as they are written, and null where a word says
        that a value is missing; others as their file has them. Where files do not agree on a type,
        numbers are floats, and what is text in one of them is text.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refold.tabular import open_table, read_arrow
    >>> file = Path(tempfile.mkdtemp()) / "parts.csv"
    >>> _ = file.write_text("part,torque\n007,75.10\n008,n/a\n")
    >>> with open_table(file) as table:
    ...     read_arrow(table).to_pydict()
    {'part': ['007', '008'], 'torque': ['75.10', None]}
    """
    blocks = []
    for block in table.blocks(columns, nulls=True):
        blocks.append(block)
        count(block.rows)
    return joined(blocks) if blocks else _empty(table, columns)


def joined(blocks: Sequence[Block]) -> Any:
    """Return the rows of blocks with the same columns as one Arrow table."""
    parts = [_as_it_is(block) for block in blocks]
    kinds = parts[0].schema
    for block, part in zip(blocks, parts, strict=True):
        if part.schema != kinds:
            kinds = _common(kinds, part.schema, block)
    tables = [
        part if part.schema == kinds else part.select(kinds.names).cast(kinds) for part in parts
    ]
    return needs("pyarrow", "parquet").concat_tables(tables)


def block_to_arrow(block: Block) -> Any:
    r"""Return the rows of a block as they are written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refold.tabular import block_to_arrow, open_table
    >>> file = Path(tempfile.mkdtemp()) / "parts.csv"
    >>> _ = file.write_text("part,torque\n007,75.1\n008,74.9\n")
    >>> with open_table(file) as table:
    ...     [block_to_arrow(block).to_pydict() for block in table.blocks()]
    [{'part': ['007', '008'], 'torque': ['75.1', '74.9']}]
    """
    return _as_it_is(block)


def _as_it_is(block: Block) -> Any:
    return needs("pyarrow", "parquet").table(block.columns, metadata=block.written.metadata())


def _empty(table: TableSource, columns: Iterable[str] | None) -> Any:
    chosen = table.names if columns is None else set(columns)
    kinds = [(name, kind) for name, kind in table.kinds.items() if name in chosen]
    return needs("pyarrow", "parquet").schema(kinds).empty_table()


def _common(known: Any, here: Any, block: Block) -> Any:
    """Return types that hold what came before and the columns of a block."""
    pa = needs("pyarrow", "parquet")
    return pa.schema(
        [(field.name, _holding(field.type, here.field(field.name), block)) for field in known],
        known.metadata,
    )


def _holding(known: Any, field: Any, block: Block) -> Any:
    pa, here = needs("pyarrow", "parquet"), field.type
    if known == here or pa.types.is_null(here):
        return known
    if pa.types.is_null(known):
        return here
    if is_number(known) and is_number(here):
        return pa.float64()
    if (is_number(known) or is_text(known)) and (is_number(here) or is_text(here)):
        return pa.string()
    raise InputError(
        f"{block.file}: column {field.name!r} holds {here}; in the rows before it held {known}."
    )
