"""Explaining the rows of a table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from refold.explanation._combination import combinations
from refold.explanation._explanations import LEADS, Explanation, Explanations
from refold.explanation._reasons import explained_rows
from refold.judgement import Judgement, unwrapped


def explain(
    model: Any, X: Any, *, reasons: int | None = None, nearest: bool = True
) -> Explanations:
    """Say of each row whether it is an outlier, because of which columns, and what would help.

    Parameters
    ----------
    model : REF, CreasedREF or Detector
        Fitted; REF with ``distance="l1"`` or ``"l2"``.
    X : array-like, dataframe or Judgement of n rows
        Rows to explain. One without any value has label 0 and no reasons.
    reasons : int or None, default=None
        How many columns to name per row, those with the largest shares; None is all.
    nearest : bool, default=True
        Whether to look for the nearest values with which outliers would be normal; it takes
        most of the time.

    Returns
    -------
    Explanations
        One :class:`refold.explanation.Explanation` per row; ``.to_frame()`` makes a table of
        them, ``str`` a text.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF, explain
    >>> rng = np.random.default_rng(0)
    >>> normal = rng.normal([75, 300], [2, 1], size=(500, 2))
    >>> model = REF().fit(normal)
    >>> print(explain(model, [[91.2, 300.1]])[0].reasons[0])
    x0 91.2 is 10.69 above the highest normal value, 80.51 – 100 % of the distance; ...
    """
    if reasons is not None and reasons < 1:
        raise ValueError(f"reasons={reasons!r}: at least one column per row must be named.")
    model = unwrapped(model)
    found = Judgement.of(model, X)
    if found.judge.scorer.unexplained:
        raise ValueError(f"{found.judge.scorer.unexplained} Use distance='l1' or 'l2'.")
    found.attribution()  # before anything else: the distances come with it
    because, p_values = explained_rows(model, found, reasons, nearest), found.p_values
    rows = [
        Explanation(
            row=i,
            name=None if found.row_names is None else found.row_names[i],
            label=int(found.labels[i]),
            distance=float(found.distances[i]),
            threshold=found.judge.threshold,
            p_value=None if p_values is None else float(p_values[i]),
            muted=found.muted_by(i),
            unblamed=found.judge.rules.unblamed,
            **(next(because) if found.judged[i] else {"reasons": ()}),
        )
        for i in range(len(found))
    ]
    together = [i for i, row in enumerate(rows) if _only_together(row, len(found.names))]
    if together:
        part = found.take(np.array(together))
        everything = explained_rows(model, part, None, nearest=False)
        for i, columns, said in zip(together, combinations(part), everything, strict=True):
            named = {reason.feature: reason for reason in said["reasons"]}
            known = [named[name] for c in columns if (name := found.names[c]) in named]
            known = known or [r for r in named.values() if r.normal and not (r.inside or r.missing)]
            rows[i] = replace(rows[i], together=True, combination=tuple(known))
    return Explanations(rows)


def _only_together(row: Explanation, columns: int) -> bool:
    if row.label != -1 or any(reason.novel for reason in row.reasons):
        return False
    first = row.first(1)
    if row.unblamed and not first:
        return True
    return columns > 1 and (not first or first[0].share < LEADS or first[0].usual)
