"""Explanations in the units of the columns, where rows are judged in their context."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, isnan
from typing import Any

import numpy as np

from refold._typing import Booleans
from refold.columns.context.context import ContextModel
from refold.columns.context.context_rows import ContextUnits
from refold.columns.context.window import WindowColumn
from refold.columns.table import NumberColumn, Table
from refold.explanation._changes import with_values
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
    said_of = [said | {"changes": units.changes(said["changes"])} for said in because]
    told = None if units.measures else _told_values(found, units, said_of)
    for row, said in enumerate(said_of):
        reasons = (units.reason(each, row, told) for each in said["reasons"])
        yield {
            "reasons": tuple(each for each in reasons if each is not None),
            "changes": units.cells(said["changes"], row, told),
        }


# By how many digits more values that are said to be normal are rounded, and whether only away from
# the row's own: until the model accepts them.
_DIGITS = ((0, False), (0, True), (3, False), (3, True), (9, True))
# Values that are said to be normal, as they are told: by row, and the columns that change together.
_Told = dict[tuple[int, tuple[str, ...]], dict[str, float | str]]


def _told_values(found: Judgement, units: _Units, said_of: Sequence[Mapping[str, Any]]) -> _Told:
    """Return values that are said to be normal, with as few digits as the model accepts."""
    claims: _Told = {}
    for row, said in enumerate(said_of):
        alone = [(each.feature, each.stated) for each in said["reasons"] if each.stated is not None]
        together = {each.feature: each.value for each in said["changes"]}
        for claim in (*({feature: value} for feature, value in alone), together):
            claims[row, tuple(claim)] = claim
    told: _Told = {}
    open_ = [key for key, claim in claims.items() if claim]
    for more, farther in _DIGITS:
        if not open_:
            break
        rows = [row for row, _ in open_]
        tried = [
            {
                name: units.told(name, row, value, more, farther)
                for name, value in claims[key].items()
            }
            for row, key in zip(rows, open_, strict=True)
        ]
        accepted = _accepted(found, units.inputs, rows, tried)
        told |= {open_[k]: tried[k] for k in np.flatnonzero(accepted).tolist()}
        open_ = [open_[k] for k in np.flatnonzero(~accepted).tolist()]
    return told


def _accepted(
    found: Judgement, inputs: Table, rows: Sequence[int], values: Sequence[Mapping[str, Any]]
) -> Booleans:
    """Ask the model about rows with other values in some of their columns."""
    some, columns = inputs.take(np.array(rows)), {}
    for name in {name for each in values for name in each}:
        chosen = np.array([name in each for each in values])
        own = some.columns[some.names.index(name)]
        empty = 0.0 if isinstance(own, NumberColumn) else ""
        other = [each.get(name, empty) for each in values]
        columns[some.names.index(name)] = with_values(own, chosen, other)
    return ~found.judge.table(some.with_columns(columns)).outlier


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

    def changes(self, changes: Sequence[Cell]) -> Sequence[Cell]:
        """Return changes of a row; what its last rows came to cannot be changed in it."""
        return () if any(each.feature in self.measures for each in changes) else changes

    def reason(self, reason: Reason, row: int, told: _Told | None) -> Reason | None:
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

        stated = None
        if reason.stated is not None:
            for cell in self.cells((Cell(reason.feature, reason.stated),), row, told):
                stated = cell.value if isinstance(cell.value, float) else None
        found = replace(
            reason,
            value=_measured(own, float(cells.values[row])),
            normal=tuple(
                (self._number(reason.feature, row, low), self._number(reason.feature, row, high))
                for low, high in reason.normal
            ),
            accepted_at=number(reason.accepted_at),
            stated=stated,
            expected=number(reason.expected),
            beside=beside,
            given="" if known is None else self.context.described(self.inputs, row),
            decimals=None,
        )
        if own is None:
            return found
        window = str(self.context.window.window) if self.context.window else ""
        return replace(found, measure=own.measure, of=own.column, window=window)

    def cells(self, cells: Sequence[Cell], row: int, told: _Told | None) -> tuple[Cell, ...]:
        """Return values that are normal together, as they are told; none if they are not told."""
        if told is None:
            return tuple(self.cell(each, row) for each in cells)
        values = told.get((row, tuple(each.feature for each in cells)), {})
        return tuple(
            replace(each, value=values[each.feature], decimals=None)
            if each.feature in self.known
            else each
            for each in cells
            if values
        )

    def cell(self, cell: Cell, row: int) -> Cell:
        """Return a value in the unit of its column."""
        own = self.measures.get(cell.feature)
        if (own is None and cell.feature not in self.known) or isinstance(cell.value, str):
            return cell
        return replace(cell, value=self._number(cell.feature, row, cell.value), decimals=None)

    def told(
        self, feature: str, row: int, value: float | str, more: int, farther: bool
    ) -> float | str:
        """Return a number in the unit of its column, rounded; what is no score stays."""
        known = self.known.get(feature)
        if known is None or isinstance(value, str):
            return value
        return known.number(row, value, more=more, farther=farther)

    def _number(self, feature: str, row: int, value: float) -> float:
        known = self.known.get(feature)
        own = self.measures.get(feature)
        return _measured(own, value if known is None else known.number(row, value))


def _measured(own: WindowColumn | None, value: float) -> float:
    """Return a measure as people know it: those of spread and standstill are logarithms."""
    if own is None or own.measure not in ("sd", "unchanged"):
        return value
    return float(round(exp(min(value, 40.0)))) if own.measure == "unchanged" else exp(value)
