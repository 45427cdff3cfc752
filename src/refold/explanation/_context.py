"""Explanations in the units of the columns, where rows are judged in their context."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, isnan
from typing import Any

from refold.columns.context.context import ContextModel
from refold.columns.context.context_rows import ContextUnits
from refold.columns.context.window import WindowColumn
from refold.columns.table import NumberColumn, Table
from refold.explanation._reason import Cell, Reason
from refold.judgement import Judgement


def in_column_units(
    found: Judgement, because: Iterator[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Give the reasons and changes of rows: scores become numbers, and the context is named."""
    judge, cells = found.judge, found.cells
    if judge.encoder is None or cells is None or cells.inputs is None:
        yield from because
        return
    context = judge.encoder.context
    assert context is not None
    units = _Units(context, cells.inputs)
    for row, said in enumerate(because):
        reasons = (units.reason(each, row) for each in said["reasons"])
        # What the last rows came to cannot be changed in one of them.
        past = any(each.feature in units.measures for each in said["changes"])
        yield {
            "reasons": tuple(each for each in reasons if each is not None),
            "changes": () if past else tuple(units.cell(each, row) for each in said["changes"]),
        }


@dataclass(frozen=True, eq=False)
class _Units:
    """Turns what was found about rows into the units of their columns."""

    context: ContextModel
    inputs: Table  # the rows as they came, with their window

    @cached_property
    def known(self) -> dict[str, ContextUnits]:
        """The columns whose numbers are scores."""
        return self.context.units(self.inputs)

    @property
    def measures(self) -> dict[str, WindowColumn]:
        """What is looked at of the rows before each one."""
        return {} if self.context.window is None else dict(self.context.window.columns)

    def reason(self, reason: Reason, row: int) -> Reason | None:
        """Return a reason in the units of its column; None where a row has no history."""
        beside = tuple(self.cell(each, row) for each in reason.beside)
        own, known = self.measures.get(reason.feature), self.known.get(reason.feature)
        if (own is None and known is None) or isinstance(reason.value, str):
            return replace(reason, beside=beside)
        cells = self.inputs[reason.feature]
        assert isinstance(cells, NumberColumn)
        if own is not None and isnan(cells.values[row]):
            return None

        def number(value: float | None) -> float | None:
            return None if value is None else self._number(reason.feature, row, value)

        found = replace(
            reason,
            value=_measured(own, float(cells.values[row])),
            normal=tuple(
                (self._number(reason.feature, row, low), self._number(reason.feature, row, high))
                for low, high in reason.normal
            ),
            accepted_at=number(reason.accepted_at),
            stated=number(reason.stated),
            expected=number(reason.expected),
            beside=beside,
            given="" if known is None else self.context.described(self.inputs, row),
            decimals=None,
        )
        if own is None:
            return found
        window = str(self.context.window.window) if self.context.window else ""
        return replace(found, measure=own.measure, of=own.column, window=window)

    def cell(self, cell: Cell, row: int) -> Cell:
        """Return a value in the unit of its column."""
        own = self.measures.get(cell.feature)
        if (own is None and cell.feature not in self.known) or isinstance(cell.value, str):
            return cell
        return replace(cell, value=self._number(cell.feature, row, cell.value), decimals=None)

    def _number(self, feature: str, row: int, value: float) -> float:
        known = self.known.get(feature)
        own = self.measures.get(feature)
        return _measured(own, value if known is None else known.number(row, value))


def _measured(own: WindowColumn | None, value: float) -> float:
    """Return a measure as people know it: those of spread and standstill are logarithms."""
    if own is None or own.measure not in ("sd", "unchanged"):
        return value
    return float(round(exp(min(value, 40.0)))) if own.measure == "unchanged" else exp(value)
