"""Rows learned in parts, in a model file: all that is kept of them, or the rows that wait."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refold.columns import bring_file
from refold.columns.encoding import counts_file
from refold.columns.encoding.state import TableState
from refold.columns.table import Table
from refold.modelfile.fields import Field


def written(state: TableState) -> dict[str, Any]:
    """Return a state as two members of the document, one of which is null."""
    if state.counts is None:
        return {"table": None, "waiting": bring_file.written(Table.concat(state.waiting))}
    return {"table": counts_file.written(state.counts), "waiting": None}


def read(table: Field, waiting: Field, roles: Mapping[str, str], n_init: int) -> TableState:
    """Return a checked state."""
    if table.is_null() == waiting.is_null():
        waiting.refuse("must be there if, and only if, 'table' is null")
    if waiting.is_null():
        return TableState(roles, n_init, (), counts_file.read(table))
    rows = bring_file.read(waiting, n_init - 1)
    if rows.rows == 0 or not rows.columns:
        waiting.refuse("must have rows and columns")
    return TableState(roles, n_init, (rows,))
