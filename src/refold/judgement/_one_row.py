"""One row at a time, as a service is asked: arrays of one element would cost more than the row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from refold.judgement._judgement import Judge

_JUDGED = np.array([True])


class RowVerdict(NamedTuple):
    """What is said of one row.

    Parameters
    ----------
    label : int
        1 for normal, -1 for not.
    distance : float
        How far out it is.
    p_value : float or None
        How rare that is among normal rows; None if the model is not calibrated.
    reasons : list of str
        The features that matter most, the first most.

    Examples
    --------
    >>> from refold.judgement import RowVerdict
    >>> RowVerdict(-1, 2.5, 0.01, ["torque"]).reasons
    ['torque']
    """

    label: int
    distance: float
    p_value: float | None
    reasons: list[str]


def one_row(judge: Judge, row: Sequence[float], reasons: int = 0) -> RowVerdict:
    """Judge one row of numbers, to the bits of a :class:`~refold.judgement.Judgement` of it.

    Parameters
    ----------
    judge : Judge
        Of a model that takes numbers as they are, ``judge.plain``.
    row : sequence of float
        A finite number, or NaN, for each feature; not NaN alone.
    reasons : int, default=0
        How many features to name at most.

    Returns
    -------
    RowVerdict

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.judgement import Judge, one_row
    >>> judge = Judge.of(REF(alpha=0.05).fit(np.random.default_rng(0).normal(size=(300, 2))))
    >>> found = one_row(judge, [0.3, 9.0], reasons=1)
    >>> found.label, found.reasons
    (-1, ['x1'])
    """
    X, because = np.array([row], dtype=np.float64), []
    if reasons:
        found = judge.rows(X, explained=True)
        found.judged, found._all_judged = _JUDGED, True  # it has a value: nobody need look
        distance = float(found.distances[0])
        parts = found.attribution().parts[0].tolist()
        order = found.by_blame[0, :reasons].tolist()
        because = [judge.names[k] for k in order if parts[k] > 0.0]
    else:
        distance = float(judge.scorer.distances(X)[0])
    p_value = None if judge.calibration is None else judge.calibration.p_value(distance)
    return RowVerdict(-1 if distance > judge.threshold else 1, distance, p_value, because)
