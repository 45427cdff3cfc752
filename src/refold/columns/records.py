"""Rows as mappings: their cells by column, never many more than were given."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from refold.base.errors import UserError

DEEPEST = 32  # objects within objects
_FEW_CELLS = 2**20
_SPARSEST = 64  # cells for each value that is there


def flat_records(records: Sequence[Mapping[Any, Any]], first: int = 1) -> list[Mapping[Any, Any]]:
    """Return records whose objects are columns such as ``size.width``.

    `first` is the number of the first record, for errors.

    >>> flat_records([{"id": 1, "size": {"width": 2.5}}, {"id": 2}])
    [{'id': 1, 'size.width': 2.5}, {'id': 2}]
    """
    return [
        _flattened(record, number) if dict in map(type, record.values()) else record
        for number, record in enumerate(records, first)
    ]


def columns_of_records(
    records: Sequence[Mapping[Any, Any]], ignore: Collection[str] = ()
) -> dict[str, list[Any]]:
    """Return the cells of flat records by column; a key that a record does not have is None."""
    names = {str(key): key for record in records for key in record}
    wanted = {name: key for name, key in names.items() if name not in ignore}
    refuse_sparse(len(records), len(wanted), sum(map(len, records)))
    return {name: [record.get(key) for record in records] for name, key in wanted.items()}


def refuse_sparse(rows: int, columns: int, values: int, few: int = _FEW_CELLS) -> None:
    """Refuse a table with more than a few cells, nearly all missing, before they are made."""
    if rows * columns > max(few, _SPARSEST * values):
        raise UserError(
            f"{rows:,} rows and {columns:,} columns would be {rows * columns:,} cells, of which "
            f"{values:,} have a value. Rows of a table share their columns: leave out the columns "
            "that few rows have, or make rows of them."
        )


def _flattened(record: Mapping[Any, Any], number: int) -> dict[str, Any]:
    flat: dict[str, Any] = {}

    def add(prefix: str, part: Mapping[Any, Any], depth: int) -> None:
        if depth > DEEPEST:
            raise UserError(f"Row {number}: objects are nested more than {DEEPEST} deep.")
        for key, value in part.items():
            name = f"{prefix}{key}"
            if isinstance(value, dict):
                add(f"{name}.", value, depth + 1)
            elif name in flat:
                raise UserError(f"Row {number}: the column {name!r} appears twice.")
            else:
                flat[name] = value

    add("", record, 0)
    return flat
