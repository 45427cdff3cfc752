"""The creases: how a row becomes features. Made from the first rows, then frozen."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.algorithm import kernels
from refold.base import errors
from refold.base.once import fields_only, once
from refold.models.creased.drawing import Expected, RankGauss, RowSampler, of_four_kinds
from refold.models.creased.row_sample import n_threads, weighted_sum

# Standardized values beyond this saturate: one such row must not drown all others in rounding.
LARGEST = 1e6
# A spread below this share of the size is what rounding leaves of a constant.
_SMALLEST_SPREAD = 1e-6
# The unit of a column with one value alone: nothing is far from it.
_NO_UNIT = 1e300


@dataclass(frozen=True, eq=False)
class Creases:
    """What maps a row to its features, in plain arrays."""

    # center, scale: (d,): mean and standard deviation of each column; for a constant column its
    # value and REF's unit for it, a thousandth of the value.
    center: Floats
    scale: Floats
    varying: NDArray[np.bool_]  # which columns are not constant: v of them
    # (n_creases, v): the unit normals of the creases: first those among the standardized rows, then
    # those among their rank-gauss copy.
    directions: Floats
    offsets: Floats  # (n_creases,): where the creases lie along them
    # shifts, spreads: (n_levels, n_creases): mean and standard deviation of the folded values; a
    # spread of 0 blinds the crease.
    shifts: Floats
    spreads: Floats
    # (v, v): what the columns say about each other: the inverse of their ridge-regularized sums of
    # products. The identity if there are more than 1024 varying columns.
    precision: Floats
    gauss: RankGauss  # the bend that the last half of the creases is behind
    blind: bool  # whether constant columns are left out: the box has them

    @classmethod
    def of(
        cls,
        X: Floats,
        weights: Floats,
        *,
        n_creases: int,
        n_levels: int,
        ridge: float,
        seed: int,
        blind: bool,
        n_jobs: int | None = None,
    ) -> Self:
        """Learn from rows that all count: draw the creases, measure the folds."""
        center, scale, varying = _column_moments(X, weights)
        Z = np.ascontiguousarray(standardized(X, center, scale)[:, varying])
        expected = Expected.of(Z, weights, ridge)
        expected.fill(Z)
        random = np.random.RandomState(seed)
        gauss = RankGauss.of(Z, weights)
        drawer, bent = RowSampler(Z, weights, random), gauss(Z)
        if not varying.any():
            directions, offsets = np.zeros((0, 0)), np.zeros(0)
        else:
            directions, offsets = of_four_kinds(drawer, drawer.among(bent), n_creases)
        plain, threads = n_plain(len(offsets)), n_threads(Z.size * n_creases, n_jobs)
        levels = [
            kernels.crease_levels(
                rows,
                directions[part],
                offsets[part],
                weights,
                n_levels,
                least=_SMALLEST_SPREAD,
                n_threads=threads,
            )
            for rows, part in ((Z, slice(plain)), (bent, slice(plain, None)))
        ]
        shifts, spreads = map(np.hstack, zip(*levels, strict=True))
        return cls(
            center,
            scale,
            varying,
            directions,
            offsets,
            shifts,
            spreads,
            expected.precision,
            gauss,
            blind and bool(varying.any()),
        )

    @property
    def n_outputs(self) -> int:
        """How many features a row gets: the folds, and one more for all constant columns."""
        return self.shifts.size + int(self.has_constants)

    @property
    def has_constants(self) -> bool:
        """Whether constant columns have a feature."""
        return not (self.blind or bool(self.varying.all()))

    @once
    def expected(self) -> Expected:
        """What the other columns of a row say about each."""
        return Expected(self.precision)

    @once
    def slopes(self) -> Floats:
        """1/s_j of each crease and level; 0 where a crease has no spread."""
        return np.divide(1.0, self.spreads, out=np.zeros_like(self.spreads), where=self.spreads > 0)

    @once
    def map(self) -> kernels.CreaseMap:
        """The same as the kernels use it."""
        return kernels.crease_map(
            self.center,
            self.scale,
            self.varying,
            self.directions,
            self.offsets,
            self.shifts,
            self.slopes,
            self.precision,
            self.gauss.bends,
            constants=self.has_constants,
            largest=LARGEST,
        )

    __getstate__ = fields_only

    def same_as(self, other: Creases) -> bool:
        """Say whether another is bit by bit the same."""
        return self is other or _same(self, other)

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

    def all_standardized(self, rows: Floats) -> Floats:
        """Return all columns, with their gaps."""
        return standardized(rows, self.center, self.scale)

    def changed(self, constants: Floats) -> Floats:
        """Return what constant columns would add to REF's distance: |y|/D each."""
        return np.asarray(np.nansum(np.abs(constants), axis=1) / len(self.varying))


def n_plain(n_creases: int) -> int:
    """Return how many of the creases are among the standardized rows themselves."""
    return n_creases - n_creases // 2


def _same(one: Any, other: Any) -> bool:
    """Say whether two things are made of the same bits."""
    if is_dataclass(one):
        return all(_same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    return np.array_equal(one, other)


def standardized(X: Floats, center: Floats, scale: Floats) -> Floats:
    """Return (x−μ)/σ, within ±LARGEST."""
    z = np.empty(X.shape)
    kernels.standardize(X, center, scale, LARGEST, z)
    return z


def _column_moments(X: Floats, weights: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return the mean, the standard deviation (ddof=1) and whether each column varies."""
    observed = ~np.isnan(X)
    totals, cells = weighted_sum(weights, observed), observed.sum(axis=0)
    if not cells.all():
        raise errors.empty_column(int(np.argmin(cells)))
    light = totals <= 1.0
    single = light & (cells == 1)
    if (light & ~single).any():
        raise errors.light_column(int(np.argmax(light & ~single)))
    totals[single] = 2.0  # its variance is 0 whatever divides it
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    # In units of a power of two no square overflows, and no bit of a result changes.
    unit = np.frexp(np.maximum(np.abs(low), np.abs(high)))[1]
    U = np.ldexp(np.where(observed, X, 0.0), -unit)
    mean = weighted_sum(weights, U) / totals
    deviation = np.where(observed, U - mean, 0.0)
    mean += weighted_sum(weights, deviation) / totals  # what rounding left of a large mean
    squares = np.square(np.where(observed, U - mean, 0.0))
    variance = weighted_sum(weights, squares) / (totals - 1.0)
    with np.errstate(over="ignore"):
        scale = np.minimum(np.ldexp(np.sqrt(variance), unit), np.finfo(np.float64).max)
    varying = (low < high) & (scale > 0.0)
    constant_unit = np.where(low == 0.0, 1e-3, np.maximum(1e-3 * np.abs(low), 1e-300))
    constant_unit[single] = _NO_UNIT
    return (
        np.where(varying, np.ldexp(mean, unit), low),
        np.where(varying, scale, constant_unit),
        varying,
    )
