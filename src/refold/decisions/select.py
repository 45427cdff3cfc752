"""Which of many rows to report."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Array, Floats
from refold.base.arrays import is_foreign_array, to_numpy
from refold.decisions.thresholds import check_rate


def select(p: Array, fdr: float = 0.1) -> NDArray[np.bool_]:
    """Choose the rows to report so that about a share of at most `fdr` of them is normal.

    With many rows some normal ones have a small p-value by chance; this is the Benjamini-Hochberg
    procedure, which allows for that.

    Parameters
    ----------
    p : array-like of shape (n,)
        P-values of all rows looked at, the unsuspicious ones too, as from ``model.p_values(X)``.
    fdr : float, default=0.1
        The share of false alarms among what is reported, on average, between 0 and 1.

    Returns
    -------
    ndarray of bool, shape (n,)
        True for the rows to report as outliers; equal p-values share their fate.

    Examples
    --------
    >>> from refold import select
    >>> select([0.001, 0.6, 0.03, 0.9, 0.002], fdr=0.1)
    array([ True, False,  True, False,  True])
    """
    fdr = check_rate(fdr, "fdr")
    p_values = _read(p)
    if len(p_values) == 0:
        return np.zeros(0, dtype=np.bool_)
    values, counts = np.unique(p_values, return_counts=True)
    return np.asarray(p_values <= largest_selected(values, counts, fdr))


def largest_selected(values: Floats, counts: NDArray[Any], fdr: float) -> float:
    """Return the largest p-value whose rows are reported, -1 if none are.

    Parameters
    ----------
    values : ndarray of shape (k,)
        The p-values of all rows looked at, each once, ascending.
    counts : ndarray of shape (k,)
        How many rows have each.
    fdr : float
        As in :func:`select`.

    Examples
    --------
    >>> import numpy as np
    >>> from refold.decisions.select import largest_selected
    >>> float(largest_selected(np.array([0.001, 0.04, 0.5]), np.array([2, 1, 7]), 0.1))
    0.001
    """
    up_to = np.cumsum(counts)
    # A share like 0.1 · 3/10 must not fall below 0.03 by rounding.
    fit = values[values * (up_to[-1] / up_to) <= fdr * (1.0 + 1e-12)] if len(values) else values
    return float(fit[-1]) if len(fit) else -1.0


def _read(p: Array) -> NDArray[np.float64]:
    """Return the p-values as one list of numbers between 0 and 1."""
    p_values = to_numpy(p) if is_foreign_array(p) else np.asarray(p)
    if p_values.ndim != 1 or (p_values.size and p_values.dtype.kind not in "fiu"):
        raise ValueError(
            f"p must be one list of numbers, a p-value for each row; its shape is {p_values.shape} "
            f"and it holds {p_values.dtype}."
        )
    p_values = p_values.astype(np.float64)
    wrong = np.flatnonzero(~((p_values >= 0.0) & (p_values <= 1.0)))
    if len(wrong):
        raise ValueError(
            f"p[{wrong[0]}] is {p_values[wrong[0]]}, not a p-value: these lie between 0 and 1. "
            "Distances and scores are not p-values; model.p_values(X) turns rows into p-values."
        )
    return p_values
