"""Faults in a single column: how many a method finds at a rate of false alarms that all share.

A normal row gets one value that lies a quarter of its column's range beyond what was learned.
Methods that can be asked for a rate are; the others get the threshold that their scores of left-out
training rows suggest.
"""

from __future__ import annotations

from collections.abc import Callable
from zlib import crc32

import numpy as np

from refold._typing import Booleans, Floats
from refold.studies.novelty.methods import NoveltyMethod
from refold.studies.novelty.suite import Division
from refold.studies.rates import left_out_threshold

ALPHA = 0.05
BEYOND = 0.25  # of the column's range in training
MAX_ROWS = 2_500  # to learn from
N_FAULTS = 500  # on either side
_AT_ONCE = 20  # scores of ECOD and COPOD change with the rows beside them: few faults at a time


def faults(method: NoveltyMethod, rows: Division, seed: int) -> dict[str, float]:
    """Return the share of faults found above and below the range, and that of false alarms."""
    train, normals = rows.train[:MAX_ROWS], rows.test[~rows.is_anomaly]
    rejects = _at_rate(method, train, seed)
    above, below = faulty(train, normals, seed)
    return {
        "faults_above": _share(rejects, above),
        "faults_below": _share(rejects, below),
        "alarms_05": float(rejects(normals).mean()),
    }


def faulty(train: Floats, normals: Floats, seed: int) -> tuple[Floats, Floats]:
    """Return normal rows with one value above, and the same with it below, its training range.

    Rows and columns are drawn with replacement, 500 times; constant columns have no range and are
    left out.

    Examples
    --------
    >>> import numpy as np
    >>> from refold.studies.novelty.faults import faulty
    >>> above, below = faulty(np.array([[0.0], [4.0]]), np.array([[1.0]]), seed=0)
    >>> above[0], below[0]
    (array([5.]), array([-1.]))
    """
    low, high = train.min(axis=0), train.max(axis=0)
    varying = np.flatnonzero(high > low)
    if len(varying) == 0:
        raise ValueError("All columns are constant: there is no range to be beyond.")
    rng = np.random.default_rng([crc32(b"faults"), seed])
    at = np.arange(N_FAULTS)
    picked, columns = rng.integers(len(normals), size=N_FAULTS), rng.choice(varying, N_FAULTS)
    above, below = normals[picked], normals[picked]
    above[at, columns] = (high + BEYOND * (high - low))[columns]
    below[at, columns] = (low - BEYOND * (high - low))[columns]
    return above, below


def _share(rejects: Callable[[Floats], Booleans], rows: Floats) -> float:
    parts = np.array_split(rows, len(rows) // _AT_ONCE)
    return float(np.concatenate([rejects(part) for part in parts]).mean())


def _at_rate(method: NoveltyMethod, train: Floats, seed: int) -> Callable[[Floats], Booleans]:
    """Return what decides about rows with 5 % false alarms."""
    if method.make_at_rate is not None:
        model = method.make_at_rate(seed, ALPHA).fit(train)
        return lambda X: np.asarray(model.predict(X) == -1)
    threshold = left_out_threshold(
        len(train),
        ALPHA,
        seed,
        lambda others, part: method.learn(method.make(seed), train[others]).score(train[part]),
    )
    trained = method.learn(method.make(seed), train)
    return lambda X: trained.score(X) > threshold
