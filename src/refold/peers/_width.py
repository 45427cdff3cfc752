"""The width of a kernel density with the largest leave-one-out likelihood."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from refold.peers._blocks import slices

Floats = NDArray[np.float64]

# A row's squared distance to itself: far away, so that it does not count as a neighbour.
ITSELF = 1e70
# Kernels are cut off where they have fallen to exp(-20) of the nearest neighbour's.
CUT = 20.0
# Iteration ends where the derivative or its relative change is this small, or that of the width.
ZERO, SAME_SLOPE, SAME_WIDTH = 1e-70, 1e-4, 1e-3
# For features without a most likely width.
NARROWEST = 1e-12


def most_likely_width(x: Floats) -> float:
    """Return the width for one feature."""
    with np.errstate(all="ignore"):
        width = float(_root(_Slope(x)))
    return width if math.isfinite(width) else NARROWEST


class _Slope:
    """F(h), the derivative of the log likelihood by log h."""

    def __init__(self, x: Floats) -> None:
        self.x, self.n = x, x.shape[0]
        self.nearest = np.full(self.n, np.inf)  # per column, though the sums of F run over rows
        for part in slices(self.n):
            self.nearest[part] = self._squares(part).min(axis=1)

    def _squares(self, part: slice) -> Floats:
        """Return the squared distances of a block of rows to all rows."""
        squares = (self.x[part, None] - self.x) ** 2
        squares[np.arange(part.stop - part.start), np.arange(part.start, part.stop)] = ITSELF
        return squares

    def __call__(self, h: np.float64) -> np.float64:
        total = np.float64(0.0)
        for part in slices(self.n):
            squares = self._squares(part)
            falls = (squares - self.nearest) / (2.0 * h * h)
            P = np.where(falls < CUT, np.exp(-falls), 0.0)
            weight = P.sum(axis=1)
            inverse = np.where(weight == 0.0, np.finfo(np.float64).max, 1.0 / weight)
            total += ((squares * P).sum(axis=1) * inverse).sum()
        return np.float64(total / h**2 - self.n)

    def fixed_point(self, F: np.float64, h: np.float64) -> np.float64:
        """Return the width that would make F zero if the neighbours' weights stayed."""
        return np.float64(np.sqrt((F + self.n) * h * h / self.n))


def _root(slope: _Slope) -> np.float64:
    """Solve F(h) = 0 by a damped secant rule in 1/h²."""
    h1 = np.float64(np.sqrt(slope.nearest.max()))
    F1 = slope(h1)
    if abs(F1) < ZERO:
        return h1
    h2 = slope.fixed_point(F1, h1)
    F2 = slope(h2)
    if abs(F2) < ZERO or abs(1.0 - h1 / h2) < 1e-6:
        return h2
    damping = 1.0
    while abs(1.0 - F2 / F1) > SAME_SLOPE and abs(1.0 - h2 / h1) > SAME_WIDTH and abs(F2) > ZERO:
        v = h1**2 * h2**2 * (F2 - F1) / (F2 * h2**2 - F1 * h1**2)
        h3 = slope.fixed_point(F2, h2) if v < 0.0 else np.float64(np.sqrt(v))
        h3 = h2 + damping * (h3 - h2)
        h1, F1, h2, F2 = h2, F2, h3, slope(h3)
        damping *= 0.99
    return h2
