"""All that is looked for in a table, in the order of consequence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from refold.base.findings import Finding
from refold.checks._table.cells import notice_cells
from refold.checks._table.columns import notice_roles
from refold.checks._table.formats import notice_formats
from refold.checks._table.gaps import notice_gaps
from refold.checks._table.labels import notice_labels
from refold.checks._table.order import notice_order
from refold.checks._table.pairs import notice_pairs
from refold.checks._table.result import Findings
from refold.checks._table.rows import notice_duplicates, notice_too_few
from refold.checks._table.table import CheckedTable
from refold.checks._table.units import notice_units
from refold.decisions.thresholds import check_rate
from refold.judgement import Judgement

# First what makes a model blind or wrong, last what is only good to know.
_ORDER = (
    *("leak", "too-few-rows", "absurd-cell", "sentinel", "mixed-units", "mixed-format"),
    *("unreadable", "ambiguous-number", "ambiguous-date", "drift", "duplicate-rows"),
    *("running-number", "identifier", "missing-block", "duplicate-column", "dependent"),
    *("constant", "empty", "code", "running-time", "one-value"),
)


def check(
    X: Any, *, alpha: float | None = None, roles: Mapping[str, str] | None = None
) -> Findings:
    """Say what a careful colleague would notice about a table before a model learns from it.

    Cells far from all others, numbers that stand for a missing value, columns that number or name
    the rows, that are constant, that are the same as another one or follow from it, numbers in two
    units, texts in several forms, gaps in blocks, rows that come twice, too few rows, rows at the
    end that are unlike those at the beginning, and labels that leaked in.

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
    each other on at most 10,000 rows, drawn at random but always the same, and 200 columns. A
    model is fitted only to tables of at most 1,000 rows that may be too few.

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
        found = _in_order([*_notice(table), *few])
    return Findings(tuple(found), table.rows, len(table.columns))


def _notice(table: CheckedTable) -> Iterator[Finding]:
    cells = list(notice_cells(table))
    units = list(notice_units(table.without([f for f in cells if f.kind == "sentinel"])))
    other_unit = {found.column for found in units}
    yield from units
    yield from (f for f in cells if f.kind != "absurd-cell" or f.column not in other_unit)
    yield from notice_roles(table)
    yield from notice_labels(table)
    yield from (found for found in notice_formats(table) if found.column not in other_unit)
    yield from notice_gaps(table)
    yield from notice_duplicates(table)
    yield from notice_pairs(table)
    rest = table.without(cells)  # what was said of cells is not said of their columns again
    yield from notice_order(rest)


def _in_order(findings: Iterable[Finding]) -> list[Finding]:
    place = {kind: k for k, kind in enumerate(_ORDER)}
    return sorted(findings, key=lambda found: place.get(found.kind, len(_ORDER)))
