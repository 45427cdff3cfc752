"""Comparing many methods over many data sets, as in Demšar (2006).

Tables have one row per data set and one column per method; higher values are better.

References
----------
J. Demšar, "Statistical Comparisons of Classifiers over Multiple Data Sets", Journal of Machine
Learning Research 7 (2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from refold._typing import Floats


def average_ranks(values: Floats) -> Floats:
    """Return each method's mean rank over the data sets; 1 is best, equal values share a rank.

    Examples
    --------
    >>> import numpy as np
    >>> from refold.studies.novelty.statistics import average_ranks
    >>> average_ranks(np.array([[0.9, 0.8, 0.8], [0.7, 0.9, 0.6]]))
    array([1.5 , 1.75, 2.75])
    """
    return np.asarray(stats.rankdata(-values, axis=1).mean(axis=0))


def friedman(values: Floats) -> float:
    """Return the p-value of Friedman's test, by Iman and Davenport's F, that all ranks are equal.

    SciPy's test has the chi-square that F is made of, but for three methods or more only and
    corrected for ties, which Demšar's is not.
    """
    n, k = values.shape
    ranks = average_ranks(values)
    chi2 = 12 * n / (k * (k + 1)) * (np.sum(ranks**2) - k * (k + 1) ** 2 / 4)
    if chi2 >= n * (k - 1) - 1e-9:  # the same order on every set
        return 0.0
    statistic = (n - 1) * chi2 / (n * (k - 1) - chi2)
    return float(stats.f.sf(statistic, k - 1, (k - 1) * (n - 1)))


def critical_difference(n_methods: int, n_sets: int, alpha: float = 0.05) -> float:
    """Return by how much two average ranks must differ to be significant (Nemenyi's test).

    Examples
    --------
    >>> from refold.studies.novelty.statistics import critical_difference
    >>> round(critical_difference(n_methods=4, n_sets=14), 2)  # Demšar's example
    1.25
    """
    q = stats.studentized_range.ppf(1.0 - alpha, n_methods, np.inf) / np.sqrt(2.0)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_sets)))


def groups(ranks: Floats, difference: float) -> list[tuple[int, int]]:
    """Return the longest runs of methods whose ranks differ by less than the critical one."""
    runs: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = int(np.searchsorted(ranks, rank + difference, side="left")) - 1
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs


class SignedRank(NamedTuple):
    """A method against another, over data sets.

    `direction` is the sign of the ranks' sum: whether the first is better (1) or worse (-1).
    """

    wins: int
    ties: int
    losses: int
    direction: int
    p: float


def signed_rank(ours: Floats, theirs: Floats) -> SignedRank:
    """Compare two methods by Wilcoxon's signed-rank test, two-sided; ties are split as by Demšar.

    Examples
    --------
    >>> import numpy as np
    >>> from refold.studies.novelty.statistics import signed_rank
    >>> signed_rank(np.array([0.9, 0.8, 0.7]), np.array([0.8, 0.85, 0.7]))[:3]
    (1, 1, 1)
    """
    difference = np.round(ours - theirs, 12)  # equal but for rounding is equal
    wins, losses = int(np.sum(difference > 0)), int(np.sum(difference < 0))
    ties = len(difference) - wins - losses
    p = 1.0
    if ties < len(difference):
        p = float(stats.wilcoxon(difference, zero_method="zsplit").pvalue)
    direction = int(np.sign(np.sum(np.sign(difference) * stats.rankdata(np.abs(difference)))))
    return SignedRank(wins, ties, losses, direction, p)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for being several, by Holm's step-down.

    Examples
    --------
    >>> from refold.studies.novelty.statistics import holm
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    stepped = np.maximum.accumulate(factors * np.asarray(p_values, dtype=float)[order])
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected.tolist()
