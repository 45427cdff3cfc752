"""A fitted model in other units: as if its columns had not been scaled before it learned."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from refold._typing import Booleans, Floats
from refold.columns.box import Box
from refold.columns.summary import Summary
from refold.models.creased import CreasedREF
from refold.models.creased import rescaled as rescaled_creased
from refold.models.learned import FromRows
from refold.models.ref import REF

Model = TypeVar("Model", REF, CreasedREF)

# Digits that survive scaling and its reverse.
_DIGITS = 14


@dataclass(frozen=True, eq=False)
class Rescaling:
    """What a model's values are in the user's units: center + scale · value."""

    center: Floats  # Scales are above 0
    scale: Floats

    @property
    def own(self) -> Booleans:
        """Which columns are in the user's units already."""
        return np.asarray((self.center == 0.0) & (self.scale == 1.0))

    def of(self, values: Floats) -> Floats:
        """Return values of all columns, in the user's units.

        What scaling has rounded is rounded to what it was: equal values stay equal.
        """
        out = np.array(values, dtype=np.float64)
        for j in np.flatnonzero(~self.own).tolist():
            out[..., j] = self.of_column(j, out[..., j])
        return out

    def of_column(self, j: int, values: Floats) -> Floats:
        """Return values of one column."""
        center, scale = self.center[j], self.scale[j]
        digits = _DIGITS - int(np.ceil(np.log10(max(abs(center), scale))))
        return np.asarray(np.round(center + scale * values, digits))


def rescale_model(model: Model, units: Rescaling) -> Model:
    """Return a model that judges rows in the user's units, as the given one judges scaled rows."""
    if units.own.all():
        return model
    again = copy(model)
    summary = _summary(model.summary_, units)
    if isinstance(again, REF):
        chain = again.chain_
        shifts, scales = chain.shifts.copy(), chain.scales.copy()
        shifts[0], scales[0] = units.center + units.scale * shifts[0], units.scale * scales[0]
        again._learned = FromRows(replace(chain, shifts=shifts, scales=scales), summary)
    else:
        again._learned = rescaled_creased(again._learned, units.center, units.scale, summary)
    return again


def _summary(summary: Summary, units: Rescaling) -> Summary:
    return replace(
        summary,
        low=units.of(summary.low),
        high=units.of(summary.high),
        quantiles=units.of(summary.quantiles),
        resolution=summary.resolution * units.scale,
        box=None if summary.box is None else _box(summary.box, units),
    )


def _box(box: Box, units: Rescaling) -> Box:
    every = range(len(box.low))
    return Box(
        units.of(box.low),
        units.of(box.high),
        tuple(replace(box.apart[j], values=units.of_column(j, box.apart[j].values)) for j in every),
        tuple(_levels(box.levels[j], j, units) for j in every),
        box.unit * units.scale,
        box.middle * units.scale,
        None if box.floor is None else units.of(box.floor),
        None if box.ceiling is None else units.of(box.ceiling),
    )


def _levels(levels: Floats | None, j: int, units: Rescaling) -> Floats | None:
    return None if levels is None else units.of_column(j, levels)
