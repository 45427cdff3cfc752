"""The rows of a training table that look least like the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

from refold._typing import Integers
from refold.base.errors import UserError
from refold.checks._suspects.judged_table import (
    JudgedTable,
    beside_the_rest,
    beside_trusted,
    in_their_context,
)
from refold.checks._suspects.suspect_rows import Suspect, Suspects
from refold.columns.encoding.encoder import TableEncoder
from refold.columns.frames import row_names_of
from refold.columns.table import Table, TextColumn
from refold.decisions.select import select
from refold.explanation import Reason, explain

_BUDGET = 50


def suspects(
    X: Any,
    budget: int | None = None,
    *,
    trusted: Any = None,
    fdr: float | None = None,
    roles: Mapping[str, str] | None = None,
    by: str | Sequence[str] | None = None,
    over: str | None = None,
    context: str | Sequence[str] | None = None,
    reasons: int = 3,
    n_jobs: int | None = None,
) -> Suspects:
    """List the rows of a table that look least like the rest, the oddest first, with reasons.

    Nobody's table of normal rows is entirely normal, and bad rows in training hide others later.
    Look at these before you learn; leave out what is wrong.

    Parameters
    ----------
    X : dataframe, Arrow table, list of dict or array of shape (n, d)
        The rows to learn from.
    budget : int or None, default=None
        How many rows you would look at: the most that are listed. None is 50, or with `fdr` all.
    trusted : dataframe, Arrow table, list of dict or array, default=None
        Rows that are known to be good, with the same columns, none of them in X. Rows are then
        compared with these and not with the rest of X.
    fdr : float or None, default=None
        List only as many rows that on average at most this share of the list is good. It needs
        `trusted`: in a table that is compared with itself the oddest rows are always there.
    roles : dict of str to str or None, default=None
        What columns are, where the guess would be wrong; see :class:`refold.Detector`.
    by, over, context : str, list of str or None, default=None
        The columns that say what is normal for a row: its group, its time, and others; see
        :class:`refold.Detector`.
    reasons : int, default=3
        How many columns to name per row.
    n_jobs : int or None, default=None
        Threads; None is all cores that the process may use. No result depends on it.

    Returns
    -------
    Suspects
        A sequence of ``Suspect``; ``rows`` are their numbers, ``str`` is a text,
        ``to_frame()`` a dataframe.

    Notes
    -----
    Without trusted rows the score is the mean over the columns of how surprising a row's cells are,
    each row left out of the counts. Reasons are those of a model that has learned from the other
    rows. Bad rows that are much alike, a tight clump of them, pass as normal.

    With trusted rows a model learns from a third of them, the others say how rare a row's distance
    is, and the Benjamini-Hochberg procedure chooses [1]_. The share holds on average, if the good
    rows of X come from the same source as the trusted ones; with `budget` the list may be cut.

    References
    ----------
    .. [1] S. Bates, E. Candès, L. Lei, Y. Romano, M. Sesia, "Testing for outliers with conformal
       p-values", Annals of Statistics 51 (2023), 149-178.

    Examples
    --------
    >>> from refold import suspects
    >>> rows = [{"machine": "AB"[k % 2], "torque": 75 + k % 7} for k in range(200)]
    >>> rows[17] = {"machine": "A", "torque": 750}
    >>> found = suspects(rows, 1)
    >>> found.rows
    array([17])
    >>> print(found[0].reasons[0])
    torque 750 is 669 above the highest normal value, 81 – 100 % of the distance; normal 75–81
    """
    _check(budget, reasons)
    if trusted is None and fdr is not None:
        raise UserError(
            f"fdr={fdr!r} needs trusted rows: compared with itself, every table has its oddest "
            "rows, and nothing says how many of them are wrong. Give rows that are known to be "
            "good as trusted=, or leave fdr out and look at the list."
        )
    table, names = TableEncoder(roles=roles).read(X, reset=True), row_names_of(X)
    # What is to be ignored was not read: nobody can be told about it again.
    known = {name: role for name, role in (roles or {}).items() if name in table.names}
    given: dict[str, Any] = {"by": by, "over": over, "context": context}
    options = {"roles": known, "n_jobs": n_jobs, **{k: v for k, v in given.items() if v}}
    most = _BUDGET if budget is None else int(budget)
    if trusted is None:
        look = in_their_context if any(given.values()) else beside_the_rest
        judged = look(table, most, options)
        return Suspects(_listed(judged, judged.worst_first[:most], reasons, names), table.rows)
    good = TableEncoder(roles=roles).read(trusted, reset=True)
    judged = beside_trusted(table, good, options)
    rows = judged.worst_first[:most] if fdr is None else _chosen(judged, fdr)[:budget]
    listed = _listed(judged, rows, reasons, names)
    return Suspects(listed, table.rows, fdr=fdr, trusted=good.rows)


def _chosen(judged: JudgedTable, fdr: float) -> Integers:
    """Return the rows that stand out at a false discovery rate, the farthest out first."""
    assert judged.p_values is not None
    rows = judged.worst_first
    return rows[select(judged.p_values[rows], fdr)]


def _listed(
    judged: JudgedTable, rows: Integers, reasons: int, names: list[Any] | None
) -> list[Suspect]:
    """Explain rows as if the model met them for the first time."""
    if len(rows) == 0:
        return []
    because = explain(judged.model, judged.judgement(rows), reasons=reasons, nearest=False)
    p_values = judged.p_values
    own = None if p_values is not None else judged.table  # trusted rows are another table
    return [
        Suspect(
            row=row,
            rank=rank,
            score=float(judged.scores[row]),
            p_value=None if p_values is None else float(p_values[row]),
            reasons=tuple(
                _counted(reason, own)
                for reason in explained.reasons
                if explained.label == -1 or not _is_usual(reason)
            ),
            name=None if names is None else names[row],
        )
        for rank, (row, explained) in enumerate(zip(rows.tolist(), because, strict=True), start=1)
    ]


def _is_usual(reason: Reason) -> bool:
    """Whether nothing can be said of a value of a row that the model takes as normal."""
    return reason.usual or (reason.inside and not reason.words and reason.expected is None)


def _counted(reason: Reason, table: Table | None) -> Reason:
    """Say how often a value is in the table, where the model has not learned any such row."""
    if table is None or reason.view != "unseen" or reason.feature not in table.names:
        return reason
    column = table[reason.feature]
    if not isinstance(column, TextColumn) or reason.value not in column.values:
        return reason
    rows = int(column.counts[list(column.values).index(str(reason.value))])
    alone = rows == 1
    words = "is in no other row" if alone else f"is rare ({rows:,} of {table.rows:,} rows)"
    return replace(reason, words=words, view="unseen" if alone else "value")


def _check(budget: object, reasons: object) -> None:
    if budget is not None and not _is_count(budget):
        raise ValueError(f"budget={budget!r}: it is how many rows you would look at, at least 1.")
    if not _is_count(reasons):
        raise ValueError(f"reasons={reasons!r}: at least one column per row must be named.")


def _is_count(number: object) -> bool:
    return not isinstance(number, bool) and isinstance(number, Integral) and int(number) >= 1
