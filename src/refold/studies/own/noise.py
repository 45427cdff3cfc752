"""Whether a difference between two methods could be chance.

Divisions of one table share rows, so their results are more alike than independent ones: the usual
t-test would call too much significant.

References
----------
C. Nadeau and Y. Bengio, "Inference for the Generalization Error", Machine Learning 52 (2003).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

SIGNIFICANT = 0.05


def corrected_p(ours: Sequence[float], theirs: Sequence[float], judged_per_learned: float) -> float:
    """Return the p-value of Nadeau and Bengio's corrected resampled t-test, two-sided.

    Examples
    --------
    >>> from refold.studies.own.noise import corrected_p
    >>> round(corrected_p([0.9, 0.8, 0.9], [0.7, 0.7, 0.6], 0.5), 3)
    0.16
    """
    difference = np.round(np.subtract(ours, theirs), 12)  # equal but for rounding is equal
    n = len(difference)
    if n < 2 or not difference.any():
        return 1.0
    error = difference.std(ddof=1) * np.sqrt(1.0 / n + judged_per_learned)
    if error == 0.0:
        return 0.0
    return float(2.0 * stats.t.sf(abs(difference.mean()) / error, n - 1))
