"""Algorithm 1 of the paper, line by line, on any array-API array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_namespace

from refold._typing import Array, Operation
from refold.algorithm import distances as _distances
from refold.algorithm.chain import FoldChain
from refold.algorithm.folds import resolve
from refold.algorithm.kernels import FAR_FROM_ZERO, GAIN_SLACK, LARGEST, LEAST_SLOPE, MOST_WEIGHT
from refold.base import errors
from refold.base.arrays import to_numpy

# In the author's program a standard deviation below this counts as this, at every level.
LITERAL_FLOOR = 1e-3
_SMALLEST_DOUBLE, _LARGEST_DOUBLE = 5e-324, float(np.finfo(np.float64).max)


def learn(
    X: Array,
    weights: Array | None,
    *,
    n_iter: int,
    fold: Operation,
    max_gain: float | None,
    n_jobs: int | None = None,
) -> FoldChain:
    """Learn a chain. With ``max_gain=None`` this is the author's program, digit for digit.

    `n_jobs` belongs to the contract of engines; here the array library decides about threads.
    """
    xp, X, observed = _prepare(X)
    w = xp.astype(observed, X.dtype)
    if weights is not None:
        w = w * xp.asarray(weights, dtype=X.dtype, device=device(X))[:, None]
        X = xp.where(w > 0.0, X, xp.zeros_like(X))
    columns = _Columns(xp, X, w)
    operation = resolve(fold)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        y, gain = X / columns.unit, xp.ones_like(X)
        folding = columns.total > 0.0
        levels = [folding]
        shifts, scales = [], []
        for j in range(n_iter):
            folded = operation.value(xp, y) if j > 0 else y
            mu, sigma = columns.mean_and_std(folded, corrected=j == 0 and max_gain is not None)
            usable = xp.isfinite(mu) & xp.isfinite(sigma) & (sigma > 0.0)
            if max_gain is None:
                floor = xp.full_like(sigma, LITERAL_FLOOR)
                floor = floor / columns.unit if j == 0 else floor
                sigma = xp.where(sigma >= floor, sigma, floor)
                mu, sigma = (
                    _saturate(xp, mu, _LARGEST_DOUBLE),
                    _saturate(xp, sigma, _LARGEST_DOUBLE),
                )
            elif j == 0:
                mu, sigma = columns.with_constants(mu, sigma)
            if j == 0:
                mu, sigma = columns.as_doubles(mu, sigma)
            else:
                slope = operation.slope(xp, y)
                slope = xp.where(slope > LEAST_SLOPE, slope, xp.full_like(slope, LEAST_SLOPE))
                amplified = gain * slope / sigma
                if max_gain is not None:
                    within = columns.largest(amplified) <= max_gain * GAIN_SLACK
                    folding = folding & usable & within
                gain = xp.where(folding, amplified, gain)
                levels.append(folding)
            y = xp.where(folding, columns.observed_only(_saturate(xp, (folded - mu) / sigma)), y)
            shifts.append(xp.where(folding, mu, xp.zeros_like(mu)))
            scales.append(xp.where(folding, sigma, xp.ones_like(sigma)))
        shifts[0], scales[0] = shifts[0] * columns.unit, scales[0] * columns.unit
    return FoldChain(
        fold=fold,
        shifts=to_numpy(xp.stack(shifts)),
        scales=to_numpy(xp.stack(scales)),
        levels=to_numpy(xp.stack(levels)).sum(axis=0, dtype=np.int64),
        gain=np.minimum(to_numpy(columns.largest(gain)), max_gain or np.finfo(np.float64).max),
    )


def distances(
    chain: FoldChain, X: Array, kind: Operation, *, path: bool, n_jobs: int | None = None
) -> Array:
    """Distance of each row after the last level, or its mean over all levels."""
    if path:
        by_level = trace(chain, X, kind)
        return array_namespace(by_level).mean(by_level, axis=1)
    xp, X, observed = _prepare_rows(X)
    return _distances.distance(xp, _last_level(chain, X, observed), observed, kind)


def trace(chain: FoldChain, X: Array, kind: Operation, *, n_jobs: int | None = None) -> Array:
    """Distance of each row after each level."""
    xp, X, observed = _prepare_rows(X)
    by_level = [_distances.distance(xp, y, observed, kind) for y in _levels(chain, X, observed)]
    return xp.stack(by_level, axis=1)


def transform(chain: FoldChain, X: Array, *, n_jobs: int | None = None) -> Array:
    """Folded features, NaN where missing."""
    xp, X, observed = _prepare(X)
    return xp.where(observed, _last_level(chain, X, observed), xp.full_like(X, xp.nan))


def contributions(
    chain: FoldChain, X: Array, kind: str, *, path: bool, n_jobs: int | None = None
) -> tuple[Array, Array]:
    """Distance of each row, and the share of each feature in it."""
    xp, X, observed = _prepare_rows(X)
    levels = _levels(chain, X, observed) if path else [_last_level(chain, X, observed)]
    by_level, total = [], xp.zeros_like(X)
    for y in levels:
        by_level.append(_distances.distance(xp, y, observed, kind))
        total = total + _distances.distance_shares(xp, y, observed, kind)
    return xp.mean(xp.stack(by_level, axis=1), axis=1), total / len(by_level)


class _Columns:
    """Weighted statistics of each column over its observed rows."""

    def __init__(self, xp: Any, X: Array, w: Array) -> None:
        self.xp, self.w = xp, w
        self.total = xp.sum(w, axis=0)
        low = xp.min(xp.where(w > 0.0, X, xp.full_like(X, xp.inf)), axis=0)
        high = xp.max(xp.where(w > 0.0, X, xp.full_like(X, -xp.inf)), axis=0)
        self.value, self.constant = low, low == high
        self._check()
        # Squares of large values overflow: work in units of a power of two, which rounds nothing.
        exponent = np.frexp(to_numpy(xp.max(xp.abs(X), axis=0)))[1]
        unit = np.ldexp(1.0, np.clip(exponent, -1000, 1023))
        self.unit = xp.asarray(unit, device=device(X))

    def _check(self) -> None:
        empty = _first(self.xp, self.total <= 0.0)
        if empty is not None:
            raise errors.empty_column(empty)
        light = _first(self.xp, (self.total <= 1.0) & ~self.constant)
        if light is not None:
            raise errors.light_column(light)
        heavy = _first(self.xp, ~(self.total <= MOST_WEIGHT) & ~self.constant)
        if heavy is not None:
            raise errors.heavy_column(heavy)

    def mean(self, y: Array) -> Array:
        """Frequency-weighted mean."""
        return self.xp.sum(self.w * y, axis=0) / self.total

    def mean_and_std(self, y: Array, *, corrected: bool) -> tuple[Array, Array]:
        """Frequency-weighted mean and standard deviation (ddof=1).

        With `corrected`, a mean far from zero gets back the digits that adding up has cost it.
        """
        mu = self.mean(y)
        if corrected:
            rest = y - mu
            far = self.mean(rest * rest) < FAR_FROM_ZERO * mu * mu
            mu = self.xp.where(far, mu + self.mean(rest), mu)
        variance = self.xp.sum(self.w * (y - mu) ** 2, axis=0) / (self.total - 1.0)
        return mu, self.xp.sqrt(variance)

    def with_constants(self, mu: Array, sigma: Array) -> tuple[Array, Array]:
        """Give a constant column its own value and a scale on which others are finite."""
        xp = self.xp
        scale = 1e-3 * xp.abs(self.value)
        scale = xp.where(scale > 1e-300, scale, xp.full_like(scale, 1e-300))
        scale = xp.where(self.value == 0.0, xp.full_like(scale, 1e-3), scale)
        # What varies has a scale too, however little what differs weighs.
        sigma = xp.where(sigma > 1.0 / LARGEST, sigma, xp.full_like(sigma, 1.0 / LARGEST))
        return (
            xp.where(self.constant, self.value / self.unit, mu),
            xp.where(self.constant, scale / self.unit, sigma),
        )

    def as_doubles(self, mu: Array, sigma: Array) -> tuple[Array, Array]:
        """Round to what the chain can hold: σ may be less or more than any double."""
        sigma = self.xp.clip(sigma * self.unit, _SMALLEST_DOUBLE, _LARGEST_DOUBLE)
        return mu * self.unit / self.unit, sigma / self.unit

    def observed_only(self, y: Array) -> Array:
        """Put 0 where nothing counts: what stands there must not grow from level to level."""
        return self.xp.where(self.w > 0.0, y, self.xp.zeros_like(y))

    def largest(self, gain: Array) -> Array:
        """Largest gain over the rows that count."""
        return self.xp.max(self.observed_only(gain), axis=0)


def _levels(chain: FoldChain, X: Array, observed: Array) -> Iterator[Array]:
    """Yield the folded rows after each level, 0 where missing."""
    xp, fold = array_namespace(X), resolve(chain.fold)
    unit, shifts, scales, levels = (
        xp.asarray(a, device=device(X))
        for a in (chain.unit, chain.shifts, chain.scales, chain.levels)
    )
    with np.errstate(over="ignore"):
        y, nothing = _saturate(xp, X / unit), xp.zeros_like(X)
    for j in range(chain.n_iter):
        folded = fold.value(xp, y) if j > 0 else y
        with np.errstate(over="ignore"):
            mu, sigma = shifts[j, :], scales[j, :]
            if j == 0:
                mu, sigma = mu / unit, sigma / unit
            standardized = _saturate(xp, (folded - mu) / sigma)
        y = xp.where(levels > j, standardized, y)
        yield xp.where(observed, y, nothing)


def _last_level(chain: FoldChain, X: Array, observed: Array) -> Array:
    *_, last = _levels(chain, X, observed)
    return last


def _prepare(X: Array) -> tuple[Any, Array, Array]:
    """Return the namespace, X as finite float64 with 0 where missing, and what is observed."""
    xp = array_namespace(X)
    X = xp.astype(X, xp.float64, copy=False)
    if is_numpy_namespace(xp):
        # NumPy adds the rows of a C-ordered table one after another, as the author's program does;
        # columns of an F-ordered one it would add pairwise. Chaotic features tell the difference.
        X = np.ascontiguousarray(X)
    infinite = xp.isinf(X)
    if bool(xp.any(infinite)):
        rows, columns = xp.nonzero(infinite)
        raise errors.infinite(int(rows[0]), int(columns[0]))
    observed = ~xp.isnan(X)
    return xp, xp.where(observed, X, xp.zeros_like(X)), observed


def _prepare_rows(X: Array) -> tuple[Any, Array, Array]:
    """Prepare rows that need a distance: at least one value must be there."""
    xp, X, observed = _prepare(X)
    empty = _first(xp, ~xp.any(observed, axis=1))
    if empty is not None:
        raise errors.empty_row(empty)
    return xp, X, observed


def _first(xp: Any, condition: Array) -> int | None:
    return int(xp.nonzero(condition)[0][0]) if bool(xp.any(condition)) else None


def _saturate(xp: Any, y: Array, most: float = LARGEST) -> Array:
    return xp.clip(y, -most, most)
