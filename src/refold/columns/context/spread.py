"""The spread of groups, shrunk to that of all, and what a value is worth in standard deviations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, polygamma

from refold._typing import Floats, Integers
from refold.base.once import once

# From here on a t distribution is a normal one.
_MANY = 1e6
FARTHEST_T = 1e150  # no t is taken for larger: its square must be a number


@dataclass(frozen=True, eq=False)
class GroupSpread:
    """The variance of each group, an empirical Bayes estimate.

    The prior is that of G. K. Smyth, "Linear models and empirical Bayes methods for assessing
    differential expression in microarray experiments", 2004: by moments of log variances.
    """

    # squares, freedom: (G,): residual squares of each group, and how many degrees of freedom they
    # have.
    squares: Floats
    freedom: Floats
    # prior, prior_freedom: The variance of all, and how many degrees of freedom it is worth.
    prior: float
    prior_freedom: float
    smallest: float  # no variance is smaller: what rounding to the column's last digit leaves

    @classmethod
    def of(cls, squares: Floats, freedom: Floats, smallest: float) -> GroupSpread:
        """Learn the prior."""
        return cls(squares, freedom, *_prior(squares, freedom, smallest), smallest)

    @classmethod
    def of_all(cls, squares: float, freedom: float, smallest: float) -> GroupSpread:
        """Return one variance for all rows, where there are no groups."""
        nothing = np.empty(0)
        return cls(nothing, nothing, max(squares / freedom, smallest), _MANY, smallest)

    def left_out(self, residuals: Floats, groups: Integers) -> tuple[Floats, Floats]:
        """Return variance and degrees of freedom for rows that were learned, each left out."""
        squares, freedom = self._of_groups(groups)
        inside = groups >= 0
        squares = np.maximum(squares - np.where(inside, residuals**2, 0.0), 0.0)
        freedom = np.maximum(freedom - inside, 0.0)
        return self._shrunk(squares, freedom)

    def of_rows(self, groups: Integers) -> tuple[Floats, Floats]:
        """Return variance and degrees of freedom for new rows."""
        return self._shrunk(*self._of_groups(groups))

    def _of_groups(self, groups: Integers) -> tuple[Floats, Floats]:
        if len(self.squares) == 0:
            return np.zeros(len(groups)), np.zeros(len(groups))
        return self._with_none[0][groups], self._with_none[1][groups]

    @once
    def _with_none(self) -> tuple[Floats, Floats]:
        """Squares and freedom of groups; a row of none is at -1."""
        return np.append(self.squares, 0.0), np.append(self.freedom, 0.0)

    def _shrunk(self, squares: Floats, freedom: Floats) -> tuple[Floats, Floats]:
        total = self.prior_freedom + freedom
        variance = (self.prior_freedom * self.prior + squares) / total
        return np.maximum(variance, self.smallest), total


def normal_scores(t: Floats, freedom: Floats) -> Floats:
    """Return values of t distributions as those of a normal one (D. L. Wallace, 1959)."""
    scale, t = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0), np.clip(t, -FARTHEST_T, FARTHEST_T)
    return np.sign(t) * scale * np.sqrt(freedom * np.log1p(t * t / freedom))


def t_values(scores: Floats, freedom: Floats) -> Floats:
    """Return the values of t distributions that have these scores."""
    scale = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0)
    power = np.minimum((scores / scale) ** 2 / freedom, 700.0)
    return np.asarray(np.sign(scores) * np.sqrt(freedom * np.expm1(power)))


def _prior(squares: Floats, freedom: Floats, smallest: float) -> tuple[float, float]:
    some = freedom > 0.5
    total = float(freedom[some].sum())
    pooled = max(float(squares[some].sum()) / total, smallest) if total > 0.0 else smallest
    if some.sum() < 3:
        return pooled, _MANY
    # A group whose values are all equal has the variance of rounding, not none.
    variances = np.maximum(squares[some] / freedom[some], max(smallest, 1e-6 * pooled))
    half, own = np.unique(freedom[some] / 2.0, return_inverse=True)
    logs = np.log(variances) + (np.log(half) - digamma(half))[own]
    beyond_chance = float(logs.var(ddof=1) - polygamma(1, half)[own].mean())
    if beyond_chance <= 1e-6:
        return pooled, _MANY
    half_prior = _trigamma_inverse(beyond_chance)
    prior = float(np.exp(logs.mean() + digamma(half_prior) - np.log(half_prior)))
    return prior, min(2.0 * half_prior, _MANY)


def _trigamma_inverse(value: float) -> float:
    """Solve trigamma(y) = value by Newton's rule, which is monotone from this start."""
    y = 0.5 + 1.0 / value
    for _ in range(50):
        trigamma = polygamma(1, y)
        step = float(trigamma * (1.0 - trigamma / value) / polygamma(2, y))
        y += step
        if -step < 1e-10 * y:
            break
    return float(y)
