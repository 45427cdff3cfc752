"""The rank-gauss copy of standardized rows: each column bent so that it looks normal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from refold._typing import Floats, Integers
from refold.algorithm import kernels
from refold.base.once import fields_only, once

# Knots per column. More rows than these are told apart by straight lines, evenly along the bend:
# the tails, where rows are few, keep theirs.
MOST_KNOTS = 65


@dataclass(frozen=True, eq=False)
class RankGauss:
    """Piecewise linear maps, one per column, that go on with slope 1/sd beyond their last knots."""

    # Where the lines meet and what the values there become, column after column; the knots of a
    # column ascend
    knots: Floats
    heights: Floats
    starts: Integers  # (v + 1,): where each column's knots begin
    # (v,): the slope outside the knots: one over the spread of the bent training values
    slopes: Floats

    @classmethod
    def of(cls, Z: Floats, weights: Floats) -> RankGauss:
        """Learn from rows without gaps: Φ⁻¹ of the mid-ranks, over their standard deviation."""
        columns = [_bend(column, weights) for column in Z.T]
        lengths = [len(knots) for knots, _, _ in columns]
        return cls(
            np.concatenate([np.empty(0), *(knots for knots, _, _ in columns)]),
            np.concatenate([np.empty(0), *(heights for _, heights, _ in columns)]),
            np.cumsum([0, *lengths]),
            np.array([slope for _, _, slope in columns]),
        )

    def __call__(self, Z: Floats) -> Floats:
        """Return the copy of rows without gaps."""
        return kernels.bent(self.bends, Z)

    @once
    def bends(self) -> kernels.Bends:
        """The maps as the kernels evaluate them."""
        return kernels.bends(self.knots, self.heights, self.starts, self.slopes)

    __getstate__ = fields_only


def _bend(z: Floats, weights: Floats) -> tuple[Floats, Floats, float]:
    """Return the knots of one column, their heights, and the slope beyond them."""
    order = kernels.order(z)
    ordered = z[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    knots, counts = ordered[first], np.add.reduceat(weights[order], first)
    heights = ndtri((np.cumsum(counts) - counts / 2.0) / counts.sum())
    mean = np.average(heights, weights=counts)
    # At least two different values: a constant column is not among these.
    spread = np.sqrt((counts * np.square(heights - mean)).sum() / (counts.sum() - 1.0))
    if len(knots) > MOST_KNOTS:
        even = np.linspace(heights[0], heights[-1], MOST_KNOTS)
        at = np.unique(np.searchsorted(heights, even).clip(0, len(knots) - 1))
        knots, heights = knots[at], heights[at]
    return knots, heights / spread, 1.0 / float(spread)
