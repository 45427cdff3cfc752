"""A linear mixed model of one column of numbers: context features, and one effect for each group.

y = x'b + u_g + e. Features come in blocks, each with a ridge of its own; the effects of groups have
theirs. All ridges are chosen by restricted likelihood (S. N. Wood and M. Fasiolo, "A generalized
Fellner-Schall method for smoothing parameter optimization", Biometrics, 2017), so that what does
not matter goes to 0 by itself. Only sums over rows are needed; these add and subtract.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from refold._typing import Floats, Integers

_ROUNDS = 12
_SMALLEST, _LARGEST = 1e-8, 1e8
_TINY = np.finfo(np.float64).tiny
# Groups at once, where a product of their sums is dense.
_GROUPS = 4096
_ROWS = 16_384  # rows at once
# No leverage is taken for larger.
CLOSEST = 0.999


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over rows."""

    rows: int  # how many rows there are
    # xx, xy, yy: (p, p): products of features with features, of features with the column, the
    # column's squares.
    xx: Floats
    xy: Floats
    yy: float
    group_rows: Floats  # (G,): rows of each group
    group_x: sparse.csr_array  # (G, p): their features, added up
    group_y: Floats  # (G,): their values, added up

    @classmethod
    def of(cls, x: sparse.csr_array, y: Floats, groups: Integers, n_groups: int) -> Moments:
        """Add up rows; `groups` is -1 where a row belongs to none."""
        inside: slice | Integers = slice(None)
        if len(groups) and groups.min() < 0:
            inside = np.flatnonzero(groups >= 0)
        own, values = groups[inside], y[inside]
        group_rows = np.bincount(own, minlength=n_groups).astype(np.float64)
        group_y = group_sums(own, values, n_groups)
        if x.shape[1] == 1:  # a constant
            group_x = sparse.csr_array(group_rows[:, None])
            sums = np.full((1, 1), float(len(y))), np.array([y.sum()])
            return cls(len(y), *sums, float(y @ y), group_rows, group_x, group_y)
        ones, places = np.ones(len(own)), (own, np.arange(len(y))[inside])
        group_x = (sparse.csr_array((ones, places), shape=(n_groups, len(y))) @ x).tocsr()
        products = (x.T @ x).toarray(), x.T @ y
        return cls(len(y), *products, float(y @ y), group_rows, group_x, group_y)

    def plus(self, other: Moments, sign: int = 1) -> Moments:
        """Return the sums of the rows of both, or without those of the other."""
        groups = max(len(self.group_rows), len(other.group_rows))
        a, b = self._with_groups(groups), other._with_groups(groups)
        return Moments(
            a.rows + sign * b.rows,
            a.xx + sign * b.xx,
            a.xy + sign * b.xy,
            a.yy + sign * b.yy,
            a.group_rows + sign * b.group_rows,
            (a.group_x + sign * b.group_x).tocsr(),
            a.group_y + sign * b.group_y,
        )

    def mapped(self, features: sparse.csr_array) -> Moments:
        """Return the sums of other features, ``x @ features``."""
        return replace(
            self,
            xx=features.T @ (self.xx @ features),
            xy=features.T @ self.xy,
            group_x=(self.group_x @ features).tocsr(),
        )

    def numbered(self, groups: Integers, n_groups: int) -> Moments:
        """Return the same with other numbers of groups: where each of its own goes."""
        own = np.arange(len(groups))
        places = sparse.csr_array((np.ones(len(own)), (groups, own)), shape=(n_groups, len(own)))
        return replace(
            self,
            group_rows=places @ self.group_rows,
            group_x=(places @ self.group_x).tocsr(),
            group_y=places @ self.group_y,
        )

    def _with_groups(self, groups: int) -> Moments:
        more = groups - len(self.group_rows)
        if more == 0:
            return self
        return self.numbered(np.arange(len(self.group_rows)), groups)


@dataclass(frozen=True, eq=False)
class MixedModel:
    """The model, solved."""

    coef: Floats  # (p,): b
    # effects, weights: (G,): u, and 1/(rows of the group + their ridge).
    effects: Floats
    weights: Floats
    inverse: Floats  # (p, p): of the equations for b, groups absorbed
    group_x: sparse.csr_array  # (G, p): as in `Moments`
    variance: float  # of e
    group_ridge: float  # the ridge of the groups: the variance of u is ``variance / group_ridge``
    ridges: Floats  # (blocks,): the ridge of each block

    @classmethod
    def solve(cls, moments: Moments, blocks: Sequence[int], smallest: float = 1e-300) -> MixedModel:
        """Solve for coefficients and ridges; `blocks` are their sizes, the first has no ridge.

        The variance of e is at least `smallest`.
        """
        block_of = np.repeat(np.arange(len(blocks)), blocks)
        ridges, group_ridge = np.ones(len(blocks)), 1.0
        ridges[0] = 0.0
        sizes = np.asarray(blocks, dtype=np.float64)
        for _ in range(_ROUNDS):
            model = cls.given(moments, ridges, block_of, group_ridge)
            traces = np.bincount(block_of, np.diagonal(model.inverse), minlength=len(blocks))
            freedom = sizes - ridges * traces
            group_freedom = (1.0 - group_ridge * model._group_variances()).sum()  # 0 without rows
            left = max(moments.rows - freedom.sum() - group_freedom, 1.0)
            residual = max(model._residual_squares(moments), 1e-12 * moments.yy)
            variance = max(residual / left, smallest)
            squares = np.bincount(block_of, model.coef**2, minlength=len(blocks))
            group_ridge = _ridge(variance, float(group_freedom), float((model.effects**2).sum()))
            ridges = np.array(
                [_ridge(variance, *each) for each in zip(freedom, squares, strict=True)]
            )
            ridges[0] = 0.0
        return replace(cls.given(moments, ridges, block_of, group_ridge), variance=variance)

    @classmethod
    def given(
        cls, moments: Moments, ridges: Floats, block_of: Integers, group_ridge: float
    ) -> MixedModel:
        """Solve with given ridges; `block_of` says which one each feature has."""
        # In one order, however the sums were added: a saved model is the same to the last bit.
        sums, xx = moments.group_x.sorted_indices(), np.ascontiguousarray(moments.xx)
        weights = 1.0 / (moments.group_rows + group_ridge)
        if len(xx) == 1:
            return cls._of_constant(moments, weights, group_ridge, ridges)
        weighted = sums.multiply(weights[:, None]).tocsr()
        equations = xx + np.diag(ridges[block_of]) - (sums.T @ weighted).toarray()
        # Columns that others make up would have no unique coefficient.
        equations[np.diag_indices_from(equations)] += 1e-12 * (1.0 + np.diagonal(xx))
        inverse = np.linalg.inv(equations)
        coef = inverse @ (moments.xy - weighted.T @ moments.group_y)
        effects = weights * (moments.group_y - sums @ coef)
        return cls(coef, effects, weights, inverse, sums, np.nan, group_ridge, ridges)

    @classmethod
    def _of_constant(
        cls, moments: Moments, weights: Floats, group_ridge: float, ridges: Floats
    ) -> MixedModel:
        """Solve with a constant as the only feature: the sums of features are counts of rows."""
        rows, total = moments.group_rows, float(moments.xx[0, 0])
        weighted = rows * weights
        equation = total - float((rows * weighted).sum()) + 1e-12 * (1.0 + total)
        coef = (moments.xy - float((weighted * moments.group_y).sum())) / equation
        effects = weights * (moments.group_y - rows * coef)
        inverse = np.array([[1.0 / equation]])
        return cls(coef, effects, weights, inverse, moments.group_x, np.nan, group_ridge, ridges)

    def _residual_squares(self, moments: Moments) -> float:
        b, u = self.coef, self.effects
        # Sums, not products of vectors: threads of these wait for each other on a busy machine.
        of_x = moments.group_rows * b if len(b) == 1 else moments.group_x @ b
        of_groups = u * (2.0 * (of_x - moments.group_y) + moments.group_rows * u)
        return float(moments.yy - 2.0 * b @ moments.xy + b @ moments.xx @ b + of_groups.sum())

    def _group_variances(self) -> Floats:
        """Return the variance of each group's effect, in units of that of e."""
        out = self.weights.copy()
        if len(self.coef) == 1:
            rows = 1.0 / self.weights - self.group_ridge
            out += (out * rows) ** 2 * self.inverse[0, 0]
            return out
        for begin in range(0, len(out), _GROUPS):
            part = slice(begin, begin + _GROUPS)
            sums = self.group_x[part]
            out[part] += self.weights[part] ** 2 * sums.multiply(sums @ self.inverse).sum(axis=1)
        return out

    def group_residuals(self, moments: Moments) -> Floats:
        """Return how far the mean of each group is from what is expected of its rows."""
        rows = np.maximum(moments.group_rows, 1.0)
        return np.asarray((moments.group_y - self.group_x @ self.coef) / rows - self.effects)

    def group_freedom(self, moments: Moments) -> Floats:
        """Return how many degrees of freedom the residuals of each group have: rows - leverages.

        How features differ within a group counts for all groups alike.
        """
        rows, total = moments.group_rows, float((self.inverse * moments.xx).sum())
        of_means = self.group_x.multiply(self.group_x @ self.inverse).sum(axis=1)
        between = of_means / np.maximum(rows, 1.0)
        within = (total - between.sum()) / max(moments.rows, 1)
        absorbed = rows * self.weights**2 - 2.0 * self.weights
        leverage = rows * (self.weights + within) + between + absorbed * of_means
        return np.asarray(np.maximum(rows - leverage, (1.0 - CLOSEST) * rows))

    def expected(self, x: sparse.csr_array, groups: Integers) -> tuple[Floats, Floats]:
        """Return the expected value of rows and their leverage.

        A row of an unknown group (-1) has the leverage that makes its variance that of all groups.
        """
        known, place = groups >= 0, np.maximum(groups, 0)
        if len(self.coef) == 1 and len(self.effects):
            return self._expected_of_groups(groups)
        if len(self.effects) == 0:
            effects = weights = np.zeros(len(groups))
            rest = x.toarray()
        else:
            effects = np.where(known, self.effects[place], 0.0)
            weights = np.where(known, self.weights[place], 1.0 / self.group_ridge)
            absorbed = self.group_x[place].multiply(np.where(known, weights, 0.0)[:, None])
            rest = (x - absorbed).toarray()
        leverage = weights + np.einsum("ij,ij->i", rest @ self.inverse, rest)
        return x @ self.coef + effects, leverage

    def _expected_of_groups(self, groups: Integers) -> tuple[Floats, Floats]:
        """Return expected values and leverages where a constant is the only feature."""
        rest = self.weights * self.group_ridge
        leverage = self.weights + rest**2 * self.inverse[0, 0]
        effects = np.append(self.effects, 0.0)[groups]
        unknown = 1.0 / self.group_ridge + self.inverse[0, 0]
        return self.coef[0] + effects, np.append(leverage, unknown)[groups]


def _ridge(variance: float, freedom: float, squares: float) -> float:
    if squares <= 0.0:
        return _LARGEST
    return float(np.clip(variance * freedom / squares, _SMALLEST, _LARGEST))


@dataclass(frozen=True, eq=False)
class GroupSquares:
    """Weight, mean and squares around the mean of the values of each group; they add too."""

    weight: Floats
    mean: Floats
    squares: Floats

    @classmethod
    def of(cls, values: Floats, weights: Floats, groups: Integers, n_groups: int) -> GroupSquares:
        """Add up values; every row has a group."""
        weight = group_sums(groups, weights, n_groups)
        mean = group_sums(groups, weights * values, n_groups) / np.maximum(weight, _TINY)
        around = weights * (values - mean[groups]) ** 2
        return cls(weight, mean, group_sums(groups, around, n_groups))

    @classmethod
    def of_alike(cls, y: Floats, groups: Integers, moments: Moments, middle: float) -> GroupSquares:
        """Add up ``y - middle`` of rows with equal weights, whose sums are known; y is used up."""
        weight = moments.group_rows
        mean = moments.group_y / np.maximum(weight, 1.0)
        for begin in range(0, len(y), _ROWS):  # without a copy: memory is what takes time here
            part = y[begin : begin + _ROWS]
            part -= mean[groups[begin : begin + _ROWS]]
            part *= part
        mean = np.where(weight > 0.0, mean - middle, 0.0)
        return cls(weight, mean, group_sums(groups, y, len(weight)))

    def plus(self, other: GroupSquares, sign: int = 1) -> GroupSquares:
        """Return those of the values of both (T. F. Chan and others, 1979), or without others."""
        groups = max(len(self.weight), len(other.weight))
        a, b = (each.numbered(np.arange(len(each.weight)), groups) for each in (self, other))
        weight = a.weight + sign * b.weight
        some = weight > 1e-9 * a.weight
        share = np.where(some, sign * b.weight / np.where(some, weight, 1.0), 0.0)
        apart = b.mean - a.mean
        squares = np.maximum(a.squares + sign * b.squares + a.weight * share * apart**2, 0.0)
        found = np.where(some, [weight, a.mean + share * apart, squares], 0.0)
        return GroupSquares(*found)

    def numbered(self, groups: Integers, n_groups: int) -> GroupSquares:
        """Return the same with other numbers of groups: where each of its own goes."""
        return GroupSquares(
            *(group_sums(groups, each, n_groups) for each in (self.weight, self.mean, self.squares))
        )


def group_sums(groups: Integers, values: Floats, n_groups: int) -> Floats:
    """Add up the values of each group."""
    return np.asarray(np.bincount(groups, values, minlength=n_groups), dtype=np.float64)
