"""The tests that drift rests on: every p-value is a bound, perhaps too large, never too small.

They need no more than counts, so they cost the same for a hundred rows and for a billion.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, rel_entr

from refold._typing import Floats, Integers


def same_distribution(distance: ArrayLike, rows: ArrayLike, rows_before: ArrayLike) -> Floats:
    """Return the chance that two samples of one distribution are as far apart as `distance`.

    The two-sample Kolmogorov–Smirnov test by the inequality of Dvoretzky, Kiefer and Wolfowitz. Its
    constant for two samples is at most e (Wei and Dudley 2012); ties only lower the chance. Against
    the limit distribution p is too large by a factor of e/2 where it matters.
    """
    n, m = np.asarray(rows, dtype=np.float64), np.asarray(rows_before, dtype=np.float64)
    size = n * m / np.maximum(n + m, 1.0)
    p: Floats = np.minimum(np.exp(1.0 - 2.0 * size * np.square(distance)), 1.0)
    return p


def same_share(
    found: ArrayLike, rows: ArrayLike, found_before: ArrayLike, rows_before: ArrayLike
) -> Floats:
    """Return Fisher's exact test of whether two shares are equal, against any difference."""
    found, found_before = np.asarray(found), np.asarray(found_before)
    rows, rows_before = np.asarray(rows), np.asarray(rows_before)
    more = share_not_larger(found, rows, found_before, rows_before)
    less = share_not_larger(rows - found, rows, rows_before - found_before, rows_before)
    p: Floats = np.minimum(2.0 * np.minimum(more, less), 1.0)
    return p


def share_not_larger(
    found: ArrayLike, rows: ArrayLike, found_before: ArrayLike, rows_before: ArrayLike
) -> Floats:
    """Return Fisher's exact test of whether a share has not grown: small if it has.

    The tail of the hypergeometric distribution from `found` on. The ratio of a term to the one
    before it falls along the tail, so a geometric series bounds it: exact to a few percent where
    the tail is thin, and 1 where it is not.
    """
    x, n = np.asarray(found, dtype=np.float64), np.asarray(rows, dtype=np.float64)
    y, m = np.asarray(found_before, dtype=np.float64), np.asarray(rows_before, dtype=np.float64)
    first = np.exp(_log_choices(n, x) + _log_choices(m, y) - _log_choices(n + m, x + y))
    ratio = (n - x) * y / ((x + 1.0) * (m - y + 1.0))
    p: Floats = np.minimum(first / np.maximum(1.0 - ratio, 1e-300), 1.0)
    return p


def most_uneven(together: Integers, rows: int, rows_before: int) -> Floats:
    """Return the smallest p-value of :func:`same_share` where so many of all rows are found."""
    most, least = np.minimum(together, rows), np.maximum(together - rows_before, 0)
    return np.minimum(
        same_share(most, rows, together - most, rows_before),
        same_share(least, rows, together - least, rows_before),
    )


def no_more_new(found: int, rows: int, rows_before: int, together: Integers) -> float:
    """Return the chance that so many different values are in the new rows alone, or more.

    How often each value occurs in both samples `together` is given; which of these rows are the new
    ones is then a draw without replacement. That a value is among them alone makes the same of
    others less likely, not more (negative association), so Chernoff's bound holds for their number.
    """
    values, fitting = len(together), together[together <= rows]
    expected = float(share_not_larger(fitting, rows, 0, rows_before).sum())
    if found <= expected:
        return 1.0
    share, usual = found / values, expected / values
    excess = rel_entr(share, usual) + rel_entr(1.0 - share, 1.0 - usual)
    return float(np.exp(-values * excess))


def _log_choices(n: Floats, k: Floats) -> Floats:
    log: Floats = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return log


def holm(p: Floats) -> Floats:
    """Return p-values adjusted for their number, by Holm: the chance of one false alarm in all."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(adjusted, 1.0)
