"""What a new model would change."""

from __future__ import annotations

from typing import Any

from refold.base.errors import UserError
from refold.checks._compare.comparison_result import Comparison
from refold.checks._compare.counting import Comparer, check_same_columns, judged


def compare(
    old: Any, new: Any, X: Any, *, reasons: int = 3, most: int = 100, limits: bool = False
) -> Comparison:
    """Say what changes if a new model replaces an old one: which rows, which way, and why.

    Both models judge the same rows. Of those that change their verdict it is said how far each
    model finds them from normal, why the one that rejects them does so, and what the other one
    makes of the same columns. What the two have learned stands side by side; where a column was
    learned in other units, that is said.

    Parameters
    ----------
    old, new : REF, CreasedREF, Detector or Pipeline
        Fitted, of any kind.
    X : array-like, dataframe or list of dict of n rows
        Rows as they come in use. Each model finds its columns by name; others do not matter.
    reasons : int, default=3
        How many columns are named for each changed row.
    most : int, default=100
        How many changed rows are listed and explained, those that are clearest, of either
        direction. All are counted.
    limits : bool, default=False
        Whether to find the detection limits of both models (:func:`refold.limits`): it takes a few
        seconds for tables of many columns.

    Returns
    -------
    Comparison
        ``changed`` is the share of rows that change, ``changed_rows`` lists them; ``str`` is a
        text, ``to_frame()`` a dataframe, ``to_dict()`` plain values.

    Notes
    -----
    A row that only one of the models judges, because it has no value in the other's columns, is
    counted apart: ``only_old``, ``only_new``.

    Examples
    --------
    >>> import numpy as np
    >>> import refold
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=(400, 2))
    >>> old = refold.REF(alpha=0.02).fit(rows)
    >>> new = refold.REF(alpha=0.02).fit(rows * [1.0, 25.4])  # the second column in other units
    >>> found = refold.compare(old, new, rows)
    >>> print(found.remarks()[0])
    x1: learned values of new are 25.4 × those of old, as mm are to inches
    >>> print(refold.compare(old, old, rows))
    Nothing changes: the models say the same of all 400 rows.
    """
    comparer = Comparer(old, new, reasons=reasons, most=most)
    if hasattr(X, "__len__") and len(X) == 0:
        raise UserError("X has no rows: there is nothing to compare the models on.")
    check_same_columns(old, new, X)
    comparer.update(judged(old, X, "old"), judged(new, X, "new"))
    return comparer.result(limits=limits)
