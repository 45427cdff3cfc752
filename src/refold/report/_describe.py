"""From a model and a table to what a report says."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold.cards import card_of
from refold.checks import check
from refold.columns.table import Column, NumberColumn
from refold.decisions.intervals import interval_of_rate
from refold.decisions.thresholds import check_rate
from refold.explanation import Reason
from refold.judgement import Judge, Judgement, training_rows, unwrapped
from refold.judgement.normal import normal_ranges
from refold.monitoring import ColumnDrift
from refold.report._associations import associations_of
from refold.report._contents import Feature, MarkedShares, Report, WorstRow
from refold.report._in_context import in_context
from refold.report._report_counts import (
    ColumnShares,
    distances_of,
    expected_of,
    groups_of,
    histogram_of,
    reasons_of,
)
from refold.report._reported import ReportedTable

_STRONG = 0.2  # a reason with such a share of the distance counts, though another has more


def describe(
    model: Any,
    X: Any,
    *,
    title: str | None = None,
    worst: int = 100,
    reasons: int = 3,
    fdr: float = 0.1,
    row_names: Sequence[object] | None = None,
    about: Mapping[str, str] | None = None,
    time: str | Sequence[Any] | None = None,
    by: str | Sequence[str] | NDArray[Any] | None = None,
    gap: Any = None,
) -> Report:
    """Compute what a report says, without writing it.

    Parameters
    ----------
    model : REF, CreasedREF or Detector
        Fitted. Calibrate it (``alpha``, ``calibrate``) to have rates and p-values in the report.
    X : array-like, dataframe or Judgement of n rows, or ReportedTable
        New rows. Those without any value are counted and left out.
    title : str, default=None
        What the page is called.
    worst : int, default=100
        How many of the outliers are listed, the farthest out.
    reasons : int, default=3
        How many columns are named for each of them.
    fdr : float, default=0.1
        The share of false alarms that is allowed among the rows that :func:`refold.select` reports.
    row_names : sequence of length n, default=None
        What the rows are called, for example part numbers; None numbers them from 0. The rows of a
        ReportedTable have their names.
    about : mapping of str to str, default=None
        More facts for the model card, such as the names of files.
    time, by, gap : optional
        When rows were, to which group they belong, and how far apart the outliers of an incident
        may be, see :func:`refold.incidents`. A ReportedTable has its own.

    Returns
    -------
    Report

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.report import describe
    >>> rng = np.random.default_rng(0)
    >>> model = REF(alpha=0.01).fit(rng.normal(size=(500, 3)))
    >>> new = rng.normal(size=(200, 3))
    >>> new[17, 1] = 40.0
    >>> report = describe(model, new)
    >>> report.worst[0].name, report.worst[0].reasons[0].feature
    ('17', 'x1')
    """
    _check_count(worst, "worst", least=0)
    _check_count(reasons, "reasons", least=1)
    fdr = check_rate(fdr, "fdr")
    model = unwrapped(model)
    if isinstance(X, ReportedTable):
        table = X
    else:
        table = ReportedTable(model, worst=worst, pictured=None, time=time, by=by, gap=gap)
        _add_all(table, model, X, row_names)
    if table.judged == 0:
        raise ValueError(
            f"None of the {table.rows} rows has a value, so there is nothing to report. Check that "
            "the right columns were read."
        )
    found, names = table.pictured()
    drifted, judge, blamed = table.monitor.result(), found.judge, table.worst.found
    because = [] if blamed is None else reasons_of(model, blamed, reasons)
    chosen, leads, incidents = table.selected(fdr), _leads(because), table.incidents()
    return Report(
        title=title or "Normal or not",
        training_rows=training_rows(model),
        rows=table.rows,
        empty=table.rows - table.judged,
        rejected=table.rejected,
        interval=interval_of_rate(table.rejected, table.judged),
        threshold=judge.threshold,
        alpha=judge.alpha,
        expected=expected_of(judge, table.judged),
        fdr=fdr,
        selected=None if chosen is None else chosen[1],
        needed=_needed(judge, table.judged, fdr),
        pictured=len(found),
        distances=distances_of(found.distances[found.judged], judge.threshold),
        worst=_worst(table, because[:worst], None if chosen is None else chosen[0]),
        unexplained=judge.scorer.unexplained,
        blamed=0 if judge.scorer.unexplained else len(because),
        groups=groups_of(because, table.worst_names),
        features=_features(model, found, drifted.features, leads),
        drift=drifted,
        noticed=check(found).map(lambda each: each.with_row_labels(lambda row: str(names[row]))),
        card=card_of(model, about or {}),
        in_context=in_context(found, leads),
        incidents=incidents[0],
        n_incidents=incidents[1],
        run_chart=table.run_chart(),
        associations=associations_of(_columns(found)),
    )


def _columns(found: Judgement) -> dict[str, Column]:
    """Return the columns of rows as they came; those of a context beside those judged."""
    if found.cells is None:
        return {name: NumberColumn(found.numbers[:, k]) for k, name in enumerate(found.judge.names)}
    return dict(found.cells.as_read.items())


def _add_all(table: ReportedTable, model: Any, X: Any, row_names: Sequence[object] | None) -> None:
    found = Judgement.of(model, X, explained=True)
    if row_names is not None and len(row_names) != len(found):
        raise ValueError(
            f"There are {len(found)} rows and {len(row_names)} row_names: each needs one."
        )
    names = found.row_names if row_names is None else row_names
    table.add(found, names, X if table.columns else None)


def _worst(
    table: ReportedTable, because: Sequence[tuple[Reason, ...]], cut: float | None
) -> tuple[WorstRow, ...]:
    """Describe the rows farthest out; those with a p-value of up to `cut` are selected."""
    found = table.worst.found
    if found is None:
        return ()
    shares, p = _shares(found), found.p_values
    return tuple(
        WorstRow(
            row=row,
            name=name,
            distance=float(found.distances[i]),
            p_value=None if p is None else float(p[i]),
            selected=None if p is None or cut is None else bool(p[i] <= cut),
            reasons=why,
            marks=_marks(found, shares, i, why),
        )
        for i, (row, name, why) in enumerate(
            zip(table.worst_numbers, table.worst_names, because, strict=False)
        )
    )


def _shares(found: Judgement) -> ColumnShares | None:
    return None if found.judge.encoder is None or found.cells is None else ColumnShares(found)


def _leads(because: Sequence[tuple[Reason, ...]]) -> Counter[str]:
    """Count in how many rows each column is a strong reason."""
    return Counter(
        reason.feature
        for why in because
        for rank, reason in enumerate(why)
        if rank == 0 or reason.share >= _STRONG
    )


def _features(
    model: Any,
    found: Judgement,
    drifted: Sequence[ColumnDrift],
    leads: Counter[str],
) -> tuple[Feature, ...]:
    """Describe the columns: numbers by their range and histogram, others by their classes."""
    shares = _shares(found)
    known = {column.name: column for column in getattr(model, "columns_", ())}
    place_of = {column: place for place, column in enumerate(found.judge.numeric)}
    summary = model.summary_
    ranges = [] if summary is None else normal_ranges(summary)
    out = []
    for j, (name, change) in enumerate(zip(found.names, drifted, strict=True)):
        if j in place_of:
            place = place_of[j]
            normal = ranges[place]
            values = histogram_of(summary.quantiles[:, place], normal, found.numbers[:, place])
            own, text = ((), "") if change.scored else found.judge.rules.limits_of(name)
            out.append(
                Feature(
                    name,
                    normal,
                    values,
                    change,
                    leads[name],
                    column=known.get(name),
                    own_limits=own,
                    own_text=text,
                )
            )
        else:
            assert shares is not None
            bars, about = shares.bars(j), shares.normal(j)
            out.append(Feature(name, (), None, change, leads[name], bars, about, known.get(name)))
    return tuple(out)


def _marks(
    found: Judgement, shares: ColumnShares | None, row: int, reasons: Sequence[Reason]
) -> tuple[MarkedShares | None, ...]:
    """Return where the values of a row are among what is normal of texts and dates."""
    if shares is None:
        return (None,) * len(reasons)
    columns = [found.names.index(reason.feature) for reason in reasons]
    views = [reason.view for reason in reasons]
    return tuple(shares.marked(row, *each) for each in zip(columns, views, strict=True))


def _needed(judge: Judge, rows: int, fdr: float) -> int | None:
    """Return how many calibration rows a single one of so many rows needs to be selected."""
    needed = math.ceil(rows / fdr * (1.0 - 1e-12)) - 1
    calibration = judge.calibration
    return None if calibration is None or calibration.total >= needed else needed


def _check_count(count: object, name: str, *, least: int) -> None:
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < least:
        raise ValueError(f"{name}={count!r} must be a whole number of {least} or more.")
