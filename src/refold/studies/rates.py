"""The threshold that a rate of false alarms asks for, of methods that cannot be asked for one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.model_selection import KFold

from refold._typing import Floats, Integers

_PARTS = 5


def left_out_threshold(
    n: int, alpha: float, seed: int, score: Callable[[Integers, Integers], Floats]
) -> float:
    """Return the threshold that scores of left-out training rows suggest (five parts).

    Examples
    --------
    >>> import numpy as np
    >>> from refold.studies.rates import left_out_threshold
    >>> scores = -np.arange(1.0, 20.0)
    >>> left_out_threshold(19, 0.1, 0, lambda others, part: scores[part])
    -2.0
    """
    scores = np.empty(n)
    for others, part in KFold(_PARTS, shuffle=True, random_state=seed).split(scores):
        scores[part] = score(others, part)
    # The (n+1)(1-alpha)-th smallest; not by logarithms, as of distances: scores may be negative.
    return float(np.quantile(scores, 1.0 - alpha, method="weibull"))
