"""All that is looked for in a table, in the order of consequence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from refold.base.findings import Finding
from refold.base.progress import advance
from refold.checks._table.cell_checks import absurd_rows, notice_cells
from refold.checks._table.checked_table import CheckedTable
from refold.checks._table.column_checks import notice_formats, notice_roles
from refold.checks._table.findings_result import Findings
from refold.checks._table.order_checks import notice_order
from refold.checks._table.pair_checks import notice_pairs
from refold.checks._table.row_checks import (
    notice_duplicates,
    notice_gaps,
    notice_hidden_groups,
    notice_too_few,
)
from refold.checks._table.unit_checks import notice_units
from refold.columns.frames import row_names_of
from refold.columns.labels import find_labels
from refold.decisions.thresholds import check_rate
from refold.judgement import Judgement

# First what makes a model blind or wrong, last what changes it little.
_RANKS = (
    *("leak", "too-few-rows", "numeric-time", "absurd-cell", "sentinel", "mixed-units"),
    *("mixed-format", "unreadable", "ambiguous-number", "ambiguous-date", "drift", "groups"),
    *("duplicate-rows", "running-number", "identifier", "duplicate-column", "dependent"),
    *("missing-block", "one-value", "constant", "empty"),
)
# How columns were taken: nothing to do where that is right.
_NOTES = frozenset({"code", "running-time"})


def check(
    X: Any, *, alpha: float | None = None, roles: Mapping[str, str] | None = None
) -> Findings:
    """Say what a careful colleague would notice about a table before a model learns from it.

    Cells far from all others, numbers that stand for a missing value, columns that number or name
    the rows, that are constant, that are the same as another one or follow from it, numbers in two
    units, texts in several forms, gaps in blocks, rows that come twice, too few rows, rows at the
    end that are unlike those at the beginning, groups whose faults the range of all rows hides, and
    labels that leaked in.

    Read more in ``docs/check.md``.

    Parameters
    ----------
    X : dataframe, Arrow table, list of dict, array of shape (n, d) or Judgement
        What a Detector would learn from. Of a Judgement its rows, which nobody learns from: it is
        not asked whether there are enough.
    alpha : float or None, default=None
        The rate of false alarms that is wanted; None is that of a Detector.
    roles : mapping of str to str or None, default=None
        What columns are, where the guess would be wrong, as a Detector takes it; those to
        "ignore" are not looked at.

    Returns
    -------
    Findings
        A sequence of :class:`refold.Finding`, what matters most first. ``print`` it, or use
        ``of(kind)``, ``to_frame()``, ``to_dict()``.

    Notes
    -----
    Cells are looked for in all rows, in time that grows as the rows do. Columns are compared with
    each other on at most 10,000 rows and 500 columns, drawn at random but always the same. A
    model is fitted only to tables of at most 1,000 rows that may be too few, and to these rows
    where numbers differ much between the values of a category.

    Examples
    --------
    >>> from refold import check
    >>> rows = [{"part": k, "heat": 20 + k % 7, "depth": 5 + k % 11} for k in range(200)]
    >>> rows[7]["heat"] = 2100
    >>> found = check(rows)
    >>> found.kinds
    ('absurd-cell', 'running-number')
    >>> found[0].column, found[0].rows, found[0].values
    ('heat', (7,), (2100.0,))
    """
    if alpha is not None:
        alpha = check_rate(alpha, "alpha")
    if isinstance(X, Judgement):
        table, few = CheckedTable.of_judged(X), iter(list[Finding]())
    else:
        table = CheckedTable.of(X, roles or {})
        few = notice_too_few(X, table, alpha, roles or {})
    with np.errstate(over="ignore", invalid="ignore"):  # from one end of the numbers to the other
        found, notes = _notice(table)
        if not isinstance(X, Judgement) and not any(f.kind == "drift" for f in found):
            found += filter(None, [notice_hidden_groups(table)])
        found = _ranked([*found, *few])
    said = Findings(tuple(found), table.rows, len(table.columns), tuple(notes))
    names = X.row_names if isinstance(X, Judgement) else row_names_of(X)
    return said if names is None else said.map(lambda f: f.with_row_labels(lambda k: str(names[k])))


def _notice(table: CheckedTable) -> tuple[list[Finding], list[Finding]]:
    """Return what to act on, and what is only good to know."""
    cells = list(notice_cells(table))
    advance(0.3)
    units = list(notice_units(table.without([f for f in cells if f.kind == "sentinel"])))
    other_unit = {found.column for found in units}
    advance(0.4)
    pairs = list(notice_pairs(table))
    advance(0.6)
    derived = {found.column for found in pairs}
    rest = table.without(cells)  # what was said of cells is not said of their columns again
    changed, ordered = notice_order(rest, derived)
    advance(0.8)
    found = [
        *units,
        *absurd_rows([f for f in cells if f.kind != "absurd-cell" or f.column not in other_unit]),
        *notice_roles(table),
        *find_labels(table.parsed, [column.role for column in table.used]),
        *(f for f in notice_formats(table) if f.column not in other_unit),
        *notice_gaps(table, derived),
        *notice_duplicates(table),
        *pairs,
        *filter(None, [changed]),
    ]
    notes = [f for f in found if f.kind in _NOTES]
    return [f for f in found if f.kind not in _NOTES], [*notes, *filter(None, [ordered])]


def _ranked(findings: Iterable[Finding]) -> list[Finding]:
    """Put first what would do most to a model: by kind, then by how many rows it is about."""
    place = {kind: k for k, kind in enumerate(_RANKS)}
    return sorted(findings, key=lambda f: (place.get(f.kind, len(_RANKS)), -len(f.rows)))
