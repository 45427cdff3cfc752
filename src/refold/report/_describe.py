"""From a model and a table to what a report says."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from refold import drift
from refold.decisions.select import select
from refold.decisions.thresholds import check_rate
from refold.drift import FeatureDrift
from refold.explain import Reason, normal_ranges
from refold.judgement import Judge, Judgement, unwrapped
from refold.report._card import card_of, training_rows
from refold.report._contents import Feature, Marked, Report, WorstRow
from refold.report._histograms import distances_of, histogram_of
from refold.report._rates import expected_of, interval_of_rate
from refold.report._reasons import groups_of, reasons_of
from refold.report._shares import ColumnShares

# Reasons cost more than distances: the drivers are looked for among so many rows, the worst.
_BLAMED = 1000


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
) -> Report:
    """Compute what a report says, without writing it.

    Parameters
    ----------
    model : REF, CreasedREF or Detector
        Fitted. Calibrate it (``alpha``, ``calibrate``) to have rates and p-values in the report.
    X : array-like, dataframe or Judgement of n rows
        New rows. Those without any value are counted and left out.
    title : str, default=None
        What the page is called.
    worst : int, default=100
        How many of the rows that are not normal are listed, the farthest out.
    reasons : int, default=3
        How many features are named for each of them.
    fdr : float, default=0.1
        The share of false alarms that is allowed among the rows that :func:`refold.select` reports.
    row_names : sequence of length n, default=None
        What the rows are called, for example part numbers; None numbers them from 0.
    about : mapping of str to str, default=None
        More facts for the model card, such as the names of files.

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
    found = Judgement.of(model, X, explained=True)
    names = _names(row_names, len(found))
    rows = int(np.count_nonzero(found.judged))
    if rows == 0:
        raise ValueError(
            f"None of the {len(found)} rows has a value, so there is nothing to report. Check that "
            "the right columns were read."
        )
    drifted, rejected, judge = drift.compare(model, found), found.worst_first, found.judge
    blamed = rejected[: max(worst, _BLAMED)]
    because = reasons_of(model, found.take(blamed), reasons)
    shares = None if judge.encoder is None or found.cells is None else ColumnShares(found)
    leads = Counter(why[0].feature for why in because if why)
    chosen = None if found.p_values is None else select(found.p_values[found.judged], fdr)
    selected = np.zeros(len(found), dtype=np.bool_)
    selected[found.judged] = False if chosen is None else chosen
    return Report(
        title=title or "Normal or not",
        training_rows=training_rows(model),
        rows=len(found),
        empty=len(found) - rows,
        rejected=len(rejected),
        interval=interval_of_rate(len(rejected), rows),
        threshold=judge.threshold,
        alpha=judge.alpha,
        expected=expected_of(judge, rows),
        fdr=fdr,
        selected=None if chosen is None else int(np.count_nonzero(selected[rejected])),
        needed=_needed(judge, rows, fdr),
        least_p=None if judge.calibration is None else 1.0 / (1.0 + judge.calibration.total),
        distances=distances_of(found.distances[found.judged], judge.threshold),
        worst=tuple(
            WorstRow(
                name=str(names[i]),
                distance=float(found.distances[i]),
                p_value=None if found.p_values is None else float(found.p_values[i]),
                selected=None if chosen is None else bool(selected[i]),
                reasons=why,
                marks=_marks(found, shares, int(i), why),
            )
            for i, why in zip(rejected[:worst], because, strict=False)
        ),
        unexplained=judge.scorer.unexplained,
        blamed=0 if judge.scorer.unexplained else len(blamed),
        groups=groups_of(because, [str(names[i]) for i in blamed]),
        features=_features(model, found, shares, drifted.features, leads),
        drift=drifted,
        card=card_of(model, about or {}),
    )


def _features(
    model: Any,
    found: Judgement,
    shares: ColumnShares | None,
    drifted: Sequence[FeatureDrift],
    leads: Mapping[str, int],
) -> tuple[Feature, ...]:
    """Describe the columns: numbers by their range and histogram, others by their classes."""
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
            out.append(Feature(name, normal, values, change, leads[name], column=known.get(name)))
        else:
            assert shares is not None
            bars, about = shares.bars(j), shares.normal(j)
            out.append(Feature(name, (), None, change, leads[name], bars, about, known.get(name)))
    return tuple(out)


def _marks(
    found: Judgement, shares: ColumnShares | None, row: int, reasons: Sequence[Reason]
) -> tuple[Marked | None, ...]:
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


def _names(names: Sequence[object] | None, rows: int) -> Sequence[object]:
    if names is None:
        return range(rows)
    if len(names) != rows:
        raise ValueError(f"There are {rows} rows and {len(names)} row_names: each needs one.")
    return names


def _check_count(count: object, name: str, *, least: int) -> None:
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < least:
        raise ValueError(f"{name}={count!r} must be a whole number of {least} or more.")
