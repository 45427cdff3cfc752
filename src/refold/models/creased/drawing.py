"""What creases are drawn from: rank-gauss copies, filled gaps, random directions."""

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
    total = counts.sum()
    heights = ndtri((np.cumsum(counts) - counts / 2.0) / total)
    mean = (heights * counts).sum() / total
    # At least two different values: a constant column is not among these.
    spread = np.sqrt((counts * np.square(heights - mean)).sum() / (total - 1.0))
    if len(knots) > MOST_KNOTS:
        even = np.linspace(heights[0], heights[-1], MOST_KNOTS)
        at = np.unique(np.searchsorted(heights, even))
        knots, heights = knots[at], heights[at]
    return knots, heights / spread, 1.0 / float(spread)


# With more columns the products of all pairs would cost more than everything else.
MOST_COLUMNS = 1024


@dataclass(frozen=True, eq=False)
class Expected:
    """The ridge-linear prediction of standardized columns from each other."""

    # (v, v): inverse of the regularized sums of products. As with a normal distribution, the
    # expected values of the columns m given the others o are −P[m,m]⁻¹ P[m,o] z[o].
    precision: Floats

    @classmethod
    def of(cls, Z: Floats, weights: Floats, ridge: float) -> Expected:
        """Learn from standardized rows; where there are gaps, pair by pair of columns."""
        v = Z.shape[1]
        if v > MOST_COLUMNS:
            return cls(np.eye(v))
        observed = ~np.isnan(Z)
        filled = np.where(observed, Z, 0.0)
        products = _products(filled, weights)
        if not observed.all():
            together = _products(observed.astype(np.float64), weights)
            products *= np.divide(
                weights.sum(), together, out=np.zeros_like(together), where=together > 0.0
            )
            # Pairs counted on different rows need not fit together: keep the part that does.
            values, vectors = np.linalg.eigh(products)
            products = kernels.product(vectors * np.maximum(values, 0.0), vectors)
        floor = v * np.finfo(np.float64).eps * products.diagonal().max(initial=0.0)
        products[np.diag_indices(v)] += max(ridge, floor)
        roots = kernels.solve_lower(kernels.Scatter(products).cholesky()).T
        return cls(kernels.product(roots, roots))

    def fill(self, Z: Floats) -> None:
        """Replace NaN by what the observed columns of the row lead to expect, in place."""
        kernels.filled(Z, self.precision)

    def deviations(self, Z: Floats) -> Floats:
        """Return for each value how far it is from what the others of its row lead to expect."""
        pulls = kernels.product(Z, np.ascontiguousarray(self.precision.T))
        return np.asarray(pulls / self.precision.diagonal())


def _products(Z: Floats, weights: Floats) -> Floats:
    """Return Σ w z zᵀ."""
    return kernels.product(Z.T * weights, np.ascontiguousarray(Z.T))


# How often a pair is drawn again because its two rows are the same.
_ATTEMPTS = 32


class RowSampler:
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

    def among(self, Z: Floats) -> RowSampler:
        """Return one that draws the same rows in another form."""
        other = object.__new__(RowSampler)
        other.__dict__.update(vars(self), Z=Z)
        return other


def dense(drawer: RowSampler, n_creases: int) -> tuple[Floats, Floats]:
    """Draw half of the creases through rows, half between rows; return directions and offsets."""
    through = n_creases // 2
    directions = drawer.random.standard_normal((n_creases, drawer.Z.shape[1]))
    points = drawer.rows(n_creases)
    a, b = points[through:].copy(), drawer.rows(n_creases - through)
    for _ in range(_ATTEMPTS):
        same = (a == b).all(axis=1)
        if not same.any():
            break
        a[same], b[same] = drawer.rows(same.sum()), drawer.rows(same.sum())
    apart = (a != b).any(axis=1)  # rows that are nearly all the same keep a direction through them
    directions[through:][apart] = (a - b)[apart]
    points[through:] = (a + b) / 2.0
    return _unit(directions, points)


def sparse(drawer: RowSampler, n_creases: int) -> tuple[Floats, Floats]:
    """Draw creases in the same way, each along a few random columns only.

    How many is log-uniform from one to all.
    """
    random, d = drawer.random, drawer.Z.shape[1]
    k = np.minimum(d, np.exp(random.uniform(0.0, np.log(d + 1.0), n_creases)).astype(np.int64))
    rank = random.random_sample((n_creases, d)).argsort(axis=1).argsort(axis=1)
    used = rank < k[:, None]
    through = n_creases // 2
    directions = random.standard_normal((n_creases, d))
    points = drawer.rows(n_creases)
    a, b = points[through:].copy(), drawer.rows(n_creases - through)
    apart = (used[through:] & (a != b)).any(axis=1)
    directions[through:][apart] = (a - b)[apart]
    points[through:][apart] = (a + b)[apart] / 2.0
    return _unit(np.where(used, directions, 0.0), points)


def of_four_kinds(plain: RowSampler, bent: RowSampler, n_creases: int) -> tuple[Floats, Floats]:
    """Draw a quarter of the creases of each kind: dense and sparse, among plain and bent rows."""
    there = n_creases // 2
    here = n_creases - there
    kinds = [
        dense(plain, here - here // 2),
        sparse(plain, here // 2),
        dense(bent, there - there // 2),
        sparse(bent, there // 2),
    ]
    directions, offsets = zip(*kinds, strict=True)
    return np.concatenate(directions), np.concatenate(offsets)


def _unit(directions: Floats, points: Floats) -> tuple[Floats, Floats]:
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions, np.einsum("ij,ij->i", directions, points)
