"""Columns that count the rows, so that new rows are always beyond them."""

from __future__ import annotations

import numpy as np

from refold._typing import Floats
from refold.columns.noticed import _counts

_LEAST_ROWS = 20  # fewer than these count by chance
_DENSE = 1.1  # numbers from 1 to n of which a tenth was left out
_BACKWARDS = 0.01  # the share of rows of a log that may come late


def counts_rows(values: Floats, *, named: bool) -> bool:
    """Whether numbers count the rows, or number them in another order.

    They go up or down by even steps; or they are whole, all different, and either without gaps or
    in the order of the rows and spread evenly, like numbers of rows that were drawn from a table.

    Parameters
    ----------
    values : ndarray of shape (n,)
        In the order of the rows, none missing.
    named : bool
        Whether the name says so too: then it is enough that whole numbers go only up, or down.

    Examples
    --------
    >>> import numpy as np
    >>> from refold.columns.running import counts_rows
    >>> counts_rows(np.arange(30.0), named=False), counts_rows(np.arange(30.0) ** 3, named=False)
    (True, False)
    """
    if len(values) < _LEAST_ROWS:
        return False
    if _counts(values):
        return True
    if not (values == np.floor(values)).all():
        return False
    low, high = float(values.min()), float(values.max())
    if high - low < len(values) - 1:  # not all different
        return False
    steps = np.diff(values)
    if (steps > 0.0).all() or (steps < 0.0).all():
        return named or _is_even(values)
    dense = high - low + 1.0 <= _DENSE * len(values)
    return dense and len(np.unique(values)) == len(values)


def runs_on(seconds: Floats) -> bool:
    """Whether moments go forward from row to row, or backward, as in a log.

    Examples
    --------
    >>> import numpy as np
    >>> from refold.columns.running import runs_on
    >>> runs_on(np.sort(np.random.default_rng(0).integers(0, 99, 50)).astype(float))
    True
    """
    if len(seconds) < _LEAST_ROWS or seconds.min() == seconds.max():
        return False
    steps = np.diff(seconds)
    return bool(min(np.mean(steps < 0.0), np.mean(steps > 0.0)) <= _BACKWARDS)


def _is_even(values: Floats) -> bool:
    """Whether ordered values are as near to a line as a sample of even ones is."""
    line = np.linspace(values[0], values[-1], len(values))
    off = np.abs(values - line).max() / abs(values[-1] - values[0])
    return bool(off <= 2.0 / np.sqrt(len(values)))
