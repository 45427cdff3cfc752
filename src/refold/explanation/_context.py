"""Explanations in the units of the columns, where rows are judged in their context."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from refold.columns.context.column_context import ContextUnits
from refold.explanation._reason import Cell, Reason
from refold.judgement import Judgement


def in_units(found: Judgement, because: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Give the reasons and changes of rows: scores become numbers, and the context is named."""
    judge, cells = found.judge, found.cells
    if judge.encoder is None or cells is None or cells.inputs is None:
        yield from because
        return
    context = judge.encoder.context
    assert context is not None
    units = context.units(cells.inputs)
    for row, said in enumerate(because):
        given = context.described(cells.inputs, row)
        yield {
            "reasons": tuple(_reason(each, units, row, given) for each in said["reasons"]),
            "changes": tuple(_cell(each, units, row) for each in said["changes"]),
        }


def _reason(reason: Reason, units: dict[str, ContextUnits], row: int, given: str) -> Reason:
    beside = tuple(_cell(each, units, row) for each in reason.beside)
    known = units.get(reason.feature)
    if known is None or isinstance(reason.value, str):
        return replace(reason, beside=beside)

    def number(z: float | None) -> float | None:
        return None if z is None else known.number(row, z)

    return replace(
        reason,
        value=float(known.values[row]),
        normal=tuple(
            (known.number(row, low), known.number(row, high)) for low, high in reason.normal
        ),
        accepted_at=number(reason.accepted_at),
        stated=number(reason.stated),
        expected=number(reason.expected),
        beside=beside,
        given=given,
        decimals=None,
    )


def _cell(cell: Cell, units: dict[str, ContextUnits], row: int) -> Cell:
    known = units.get(cell.feature)
    if known is None or isinstance(cell.value, str):
        return cell
    return replace(cell, value=known.number(row, cell.value), decimals=None)
