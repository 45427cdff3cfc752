"""The width of a kernel density with the largest leave-one-out likelihood."""

from __future__ import annotations

import math

import numpy as np

from refold._typing import Floats
from refold.peers._blocks import slices

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
    """F(h), the derivative of the log likelihood by log h.

    F(h) = sum_i [sum_j D_ij P_ij / sum_j P_ij] / h² - n with the squared distances D, their column
    minima E and P_ij = exp(-(D_ij - E_j) / (2h²)). That E is taken by column while the sums run
    over rows is as in the program that the paper used.
    """

    def __init__(self, x: Floats) -> None:
        self.x, self.n = np.sort(x), x.shape[0]
        gaps = np.concatenate([[np.inf], np.diff(self.x), [np.inf]])
        self.nearest = np.minimum(gaps[:-1], gaps[1:]) ** 2

    def __call__(self, h: np.float64) -> np.float64:
        weights, moments = np.zeros(self.n), np.zeros(self.n)
        for columns in slices(self.n):
            rows = self._neighbours(columns, h)
            squares = (self.x[columns, None] - self.x[rows]) ** 2
            falls = (squares - self.nearest[columns, None]) / (2.0 * h * h)
            P = np.exp(-falls)
            P[~(falls < CUT)] = 0.0
            np.fill_diagonal(P[:, columns.start - rows.start :], 0.0)  # no row is its neighbour
            weights[rows] += P.sum(axis=0)
            squares *= P
            moments[rows] += squares.sum(axis=0)
        inverses = np.where(weights == 0.0, np.finfo(np.float64).max, 1.0 / weights)
        return np.float64((moments * inverses).sum() / h**2 - self.n)

    def _neighbours(self, columns: slice, h: np.float64) -> slice:
        """Return the rows, sorted as they are, for which some of the columns is not cut off."""
        reach = np.sqrt(2.0 * CUT * h * h + self.nearest[columns].max()) * (1.0 + 1e-9)
        first = np.searchsorted(self.x, self.x[columns.start] - reach, side="left")
        last = np.searchsorted(self.x, self.x[columns.stop - 1] + reach, side="right")
        return slice(int(first), int(last))

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
