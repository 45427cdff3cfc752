"""Detection limits of a model that judges rows in their context, in the units of the columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from refold._typing import Floats, Integers
from refold.checks._limits_result import Limit, Limits
from refold.columns.context.context import ContextModel
from refold.columns.context.context_rows import ContextUnits
from refold.columns.table import NumberColumn, Table, as_texts

_SHIFTS = {"up_50": 1.0, "up_90": 1.0, "down_50": -1.0, "down_90": -1.0}


class ShiftUnits:
    """Turns shifts in standard deviations into those of the rows' own units."""

    def __init__(self, context: ContextModel, inputs: Table) -> None:
        self._context, self._inputs = context, inputs
        self._units = context.units(inputs)

    def range(self, name: str) -> tuple[float, float]:
        """Return the smallest and largest value of a column."""
        cells = self._inputs[name]
        assert isinstance(cells, NumberColumn)
        return float(np.nanmin(cells.values)), float(np.nanmax(cells.values))

    def shifts(self, name: str, rows: Integers, deviations: Floats, sign: float) -> Floats:
        """Return how far the values of rows go for so many standard deviations."""
        units = self._units[name]
        return _distance(units, rows, units.scores.z[rows], deviations, sign)

    def by_group(self, limits: Limits, found: Sequence[Limit]) -> dict[str, Limits]:
        """Return the limits of each group: of a value that is as expected, in its median row.

        `found` are those of all rows, in standard deviations.
        """
        names = self._context.given.by
        codes = self._context.groups.codes(self._inputs)
        seen = np.unique(codes[codes >= 0])
        texts = [as_texts(self._inputs[name]) for name in names]
        out = {}
        for code in seen.tolist():
            rows = np.flatnonzero(codes == code)
            called = " ".join(str(text.text(int(rows[0]))) for text in texts)
            own = tuple(
                self._of_group(limit, z, rows) for limit, z in zip(limits, found, strict=True)
            )
            out[called] = replace(limits, features=own, source=f"{names[-1]} {called}")
        return out

    def _of_group(self, limit: Limit, deviations: Limit, rows: Integers) -> Limit:
        units, zeros = self._units[limit.feature], np.zeros(len(rows))
        shifts: dict[str, Any] = {}
        for key, sign in _SHIFTS.items():
            z = getattr(deviations, key)
            far = None if z is None else _distance(units, rows, zeros, zeros + z, sign)
            shifts[key] = None if far is None else float(np.median(far))
        return replace(limit, rows=len(rows), **shifts)


def _distance(
    units: ContextUnits, rows: Integers, z: Floats, deviations: Floats, sign: float
) -> Floats:
    found = np.abs(units.numbers(rows, z + sign * deviations) - units.numbers(rows, z))
    return np.where(np.isfinite(deviations), found, np.inf)
