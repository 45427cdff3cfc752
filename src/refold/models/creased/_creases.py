"""The creases: how a row becomes features. Learned from the first rows, then frozen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.base import errors
from refold.base.once import once
from refold.models.creased._expected import Expected
from refold.models.creased._rows import BLOCK, blocks

# Standardized values beyond this saturate: one such row must not drown all others in rounding.
LARGEST = 1e6
# A spread below this share of the size is what rounding leaves of a constant.
_SMALLEST_SPREAD = 1e-6
# How often a pair is drawn again because its two rows are the same.
_ATTEMPTS = 32


@dataclass(frozen=True, eq=False)
class Creases:
    """What maps a row to its features, in plain arrays.

    Parameters
    ----------
    center, scale : ndarray of shape (d,)
        Mean and standard deviation of each column; for a constant column its value and REF's unit
        for it, a thousandth of the value.
    varying : ndarray of bool, shape (d,)
        Which columns are not constant: v of them.
    directions : ndarray of shape (n_creases, v)
        The unit normals of the creases.
    offsets : ndarray of shape (n_creases,)
        Where the creases lie along them.
    shifts, spreads : ndarray of shape (n_levels, n_creases)
        Mean and standard deviation of the folded values; a spread of 0 blinds the crease.
    precision : ndarray of shape (v, v)
        What the columns say about each other: the inverse of their ridge-regularized sums of
        products. The identity if there are more than 1024 varying columns.
    """

    center: Floats
    scale: Floats
    varying: NDArray[np.bool_]
    directions: Floats
    offsets: Floats
    shifts: Floats
    spreads: Floats
    precision: Floats

    @classmethod
    def of(
        cls, X: Floats, weights: Floats, *, n_creases: int, n_levels: int, ridge: float, seed: int
    ) -> Self:
        """Learn from rows that all count: draw the creases, measure the folds."""
        center, scale, varying = _column_moments(X, weights)
        Z = np.ascontiguousarray(standardized(X, center, scale)[:, varying])
        expected = Expected.of(Z, weights, ridge)
        expected.fill(Z)
        random = np.random.RandomState(seed)
        n = n_creases if varying.any() else 0
        directions, offsets = _draw(_Drawer(Z, weights, random), n)
        shifts, spreads = _measure(Z @ directions.T - offsets, weights, n_levels)
        return cls(center, scale, varying, directions, offsets, shifts, spreads, expected.precision)

    @property
    def n_outputs(self) -> int:
        """How many features a row gets: the folds, and one more for all constant columns."""
        return self.shifts.size + int(not self.varying.all())

    @once
    def expected(self) -> Expected:
        """What the other columns of a row say about each."""
        return Expected(self.precision)

    @once
    def slopes(self) -> Floats:
        """1/s_j of each crease and level; 0 where a crease has no spread."""
        return np.divide(1.0, self.spreads, out=np.zeros_like(self.spreads), where=self.spreads > 0)

    def same_as(self, other: Creases) -> bool:
        """Say whether another is bit by bit the same."""
        return self is other or all(
            np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)
        )

    def features(self, X: NDArray[Any]) -> Iterator[tuple[slice, Floats]]:
        """Yield the features of X by blocks of BLOCK rows; each overwrites the one before.

        The last block is filled up; only its first rows are X's.
        """
        phi = np.empty((BLOCK, self.n_outputs))
        y = np.empty((BLOCK, len(self.offsets)))
        for part, rows in blocks(X):
            Z, changed = self.standardized(rows)
            self.fold(np.dot(Z, self.directions.T, out=y), changed, phi)
            yield part, phi

    def standardized(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return the varying columns, without gaps, and how far the constant ones have changed."""
        z = standardized(rows, self.center, self.scale)
        if self.varying.all():
            Z, changed = z, np.zeros(len(z))
        else:
            Z = np.ascontiguousarray(z[:, self.varying])
            changed = self.changed(z[:, ~self.varying])
        self.expected.fill(Z)
        return Z, changed

    def changed(self, constants: Floats) -> Floats:
        """Return what constant columns would add to REF's distance: |y|/D each."""
        return np.asarray(np.nansum(np.abs(constants), axis=1) / len(self.varying))

    def fold(self, y: Floats, changed: Floats, out: Floats) -> None:
        """Turn projections into features; `y` is overwritten."""
        y -= self.offsets
        n = len(self.offsets)
        for j, (shift, slope) in enumerate(zip(self.shifts, self.slopes, strict=True)):
            level = out[:, j * n : (j + 1) * n]
            np.abs(y, out=level)
            level -= shift
            level *= slope
            y = level
        if out.shape[1] > self.shifts.size:
            out[:, -1] = changed


def standardized(X: Floats, center: Floats, scale: Floats) -> Floats:
    """Return (x−μ)/σ, within ±LARGEST."""
    with np.errstate(all="ignore"):
        z = (X - center) / scale
        if np.isinf(z).any():  # x−μ may be too large a number where (x−μ)/σ is not
            z = np.where(np.isinf(z), (X / 2.0 - center / 2.0) / (scale / 2.0), z)
    return np.clip(z, -LARGEST, LARGEST, out=z)


def _column_moments(X: Floats, weights: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return the mean, the standard deviation (ddof=1) and whether each column varies."""
    observed = ~np.isnan(X)
    totals = weights @ observed
    if not observed.any(axis=0).all():
        raise errors.empty_column(int(np.argmin(observed.any(axis=0))))
    if (totals <= 1.0).any():
        raise errors.light_column(int(np.argmax(totals <= 1.0)))
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    # In units of a power of two no square overflows, and no bit of a result changes.
    unit = np.frexp(np.maximum(np.abs(low), np.abs(high)))[1]
    U = np.ldexp(np.where(observed, X, 0.0), -unit)
    mean = (weights @ U) / totals
    deviation = np.where(observed, U - mean, 0.0)
    mean += (weights @ deviation) / totals  # what rounding left of a large mean
    variance = (weights @ np.square(np.where(observed, U - mean, 0.0))) / (totals - 1.0)
    with np.errstate(over="ignore"):
        scale = np.minimum(np.ldexp(np.sqrt(variance), unit), np.finfo(np.float64).max)
    varying = (low < high) & (scale > 0.0)
    constant_unit = np.where(low == 0.0, 1e-3, np.maximum(1e-3 * np.abs(low), 1e-300))
    return (
        np.where(varying, np.ldexp(mean, unit), low),
        np.where(varying, scale, constant_unit),
        varying,
    )


class _Drawer:
    """Draws rows by their weight, whatever order they are in."""

    def __init__(self, Z: Floats, weights: Floats, random: np.random.RandomState) -> None:
        # Along a random line equal rows are neighbours: a row of weight 2 is the row twice. Summed
        # column by column, because BLAS would round equal rows differently.
        place = np.zeros(len(Z))
        steps = random.standard_normal((Z.shape[1],))
        for column, step in zip(Z.T, steps, strict=True):
            place += column * step
        order = np.argsort(place, kind="stable")
        self.Z, self.random, self._order = Z, random, order
        self._up_to = np.cumsum(weights[order])

    def rows(self, n: int) -> Floats:
        """Return `n` random rows, one may come twice."""
        at = np.searchsorted(self._up_to, self.random.random_sample(n) * self._up_to[-1], "right")
        chosen: Floats = self.Z[self._order[np.minimum(at, len(self._order) - 1)]]
        return chosen


def _draw(drawer: _Drawer, n_creases: int) -> tuple[Floats, Floats]:
    """Draw half of the creases through rows, half between rows."""
    through = n_creases // 2
    directions = drawer.random.standard_normal((n_creases, drawer.Z.shape[1]))
    points = drawer.rows(n_creases)
    a, b = points[through:].copy(), drawer.rows(n_creases - through)
    for _ in range(_ATTEMPTS):
        same = (a == b).all(axis=1)
        a[same], b[same] = drawer.rows(same.sum()), drawer.rows(same.sum())
    apart = (a != b).any(axis=1)  # rows that are nearly all the same keep a direction through them
    directions[through:][apart] = (a - b)[apart]
    points[through:] = (a + b) / 2.0
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions, np.einsum("ij,ij->i", directions, points)


def _measure(y: Floats, weights: Floats, n_levels: int) -> tuple[Floats, Floats]:
    """Return the mean and the standard deviation of each crease at each level."""
    shifts, spreads = np.zeros((n_levels, y.shape[1])), np.zeros((n_levels, y.shape[1]))
    total = weights.sum()
    for j in range(n_levels):
        np.abs(y, out=y)
        size = np.sqrt(weights @ np.square(y) / total)
        shifts[j] = weights @ y / total
        y -= shifts[j]
        spread = np.sqrt(weights @ np.square(y) / (total - 1.0))
        seen = spread > _SMALLEST_SPREAD * size
        spreads[j] = np.where(seen, spread, 0.0)
        y *= np.divide(1.0, spread, out=np.zeros_like(spread), where=seen)
    return shifts, spreads
