"""From a model and a table to what a report says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from refold import drift
from refold._typing import Floats, Integers
from refold.base.arrays import is_foreign_array, to_numpy
from refold.base.errors import TableError
from refold.columns.frames import read_table
from refold.decisions.select import select
from refold.decisions.thresholds import check_rate
from refold.explain import feature_names, normal_ranges
from refold.report._card import card_of
from refold.report._contents import Feature, Report, WorstRow
from refold.report._histograms import distances_of, histogram_of
from refold.report._rates import expected_of, interval_of_rate
from refold.report._reasons import blame, reasons_of, why_none


def describe(
    model: Any,
    X: Any,
    *,
    title: str | None = None,
    worst: int = 100,
    reasons: int = 5,
    fdr: float = 0.1,
    row_names: Sequence[object] | None = None,
    about: Mapping[str, str] | None = None,
) -> Report:
    """Compute what a report says, without writing it.

    Parameters
    ----------
    model : REF or CreasedREF
        Fitted. Calibrate it (``alpha``, ``calibrate``) to have rates and p-values in the report.
    X : array-like or dataframe of shape (n, d)
        New rows. Those without any value are counted and left out.
    title : str, default=None
        What the page is called.
    worst : int, default=100
        How many of the rows that are not normal are listed, the farthest out.
    reasons : int, default=5
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
    ('17', 'column 1')
    """
    check_is_fitted(model)
    _check_count(worst, "worst", least=0)
    _check_count(reasons, "reasons", least=1)
    fdr = check_rate(fdr, "fdr")
    rows = read_table(model, to_numpy(X) if is_foreign_array(X) else X, reset=False, native=False)
    names = _names(row_names, len(rows))
    # Rows are read by name once; the same model without names then judges what was read.
    judge = copy(model)
    vars(judge).pop("feature_names_in_", None)
    try:
        found = drift.compare(judge, rows)
    except TableError as error:
        raise error.named(feature_names(model)) from None
    judged = np.flatnonzero(~np.isnan(rows).all(axis=1))
    if len(judged) == 0:
        raise ValueError(
            f"None of the {len(rows)} rows has a value, so there is nothing to report. Check that "
            "the right columns were read."
        )
    known = rows if len(judged) == len(rows) else rows[judged]
    distances = -np.asarray(judge.score_samples(known), dtype=np.float64)
    rejected = _farthest_first(distances, judge.threshold_)
    p, chosen = _significance(judge, known, fdr)
    listed = rejected[:worst]
    because = reasons_of(judge, known[listed], reasons, feature_names(model))
    leads, blamed = blame(judge, known, rejected)
    return Report(
        title=title or "Normal or not",
        training_rows=model.summary_.rows,
        rows=len(rows),
        empty=len(rows) - len(judged),
        rejected=len(rejected),
        interval=interval_of_rate(len(rejected), len(judged)),
        threshold=float(judge.threshold_),
        alpha=getattr(judge, "alpha_", None),
        expected=expected_of(judge, len(judged)),
        fdr=fdr,
        selected=None if chosen is None else int(np.count_nonzero(chosen)),
        needed=_needed(judge, len(judged), fdr),
        distances=distances_of(distances, judge.threshold_),
        worst=tuple(
            WorstRow(
                name=str(names[judged[i]]),
                distance=float(distances[i]),
                p_value=None if p is None else float(p[i]),
                selected=None if chosen is None else bool(chosen[i]),
                reasons=because[k],
            )
            for k, i in enumerate(listed)
        ),
        unexplained=why_none(judge),
        blamed=blamed,
        features=_features(model, rows, found, leads),
        drift=found,
        card=card_of(model, about or {}),
    )


def _farthest_first(distances: Floats, threshold: float) -> Integers:
    """Return which rows are not normal, the farthest out first."""
    rejected = np.flatnonzero(~(distances <= threshold))
    return rejected[np.argsort(-distances[rejected], kind="stable")]


def _significance(
    judge: Any, rows: NDArray[Any], fdr: float
) -> tuple[Floats, NDArray[np.bool_]] | tuple[None, None]:
    """Return the p-values and which rows to report at a rate of false discoveries."""
    if getattr(judge, "calibration_", None) is None:
        return None, None
    p = judge.p_values(rows)
    return p, select(p, fdr)


def _needed(judge: Any, rows: int, fdr: float) -> int | None:
    """Return how many calibration rows a single one of so many rows needs to be selected."""
    calibration = getattr(judge, "calibration_", None)
    needed = math.ceil(rows / fdr * (1.0 - 1e-12)) - 1
    return None if calibration is None or calibration.total >= needed else needed


def _features(
    model: Any, rows: NDArray[Any], found: drift.Drift, leads: Integers
) -> tuple[Feature, ...]:
    summary, names = model.summary_, feature_names(model)
    return tuple(
        Feature(
            name=name,
            normal=normal,
            histogram=histogram_of(summary.quantiles[:, j], normal, rows[:, j]),
            drift=replace(found.features[j], name=name),
            leads=int(leads[j]),
        )
        for j, (name, normal) in enumerate(zip(names, normal_ranges(summary), strict=True))
    )


def _names(names: Sequence[object] | None, rows: int) -> Sequence[object]:
    if names is None:
        return range(rows)
    if len(names) != rows:
        raise ValueError(f"There are {rows} rows and {len(names)} row_names: each needs one.")
    return names


def _check_count(count: object, name: str, *, least: int) -> None:
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < least:
        raise ValueError(f"{name}={count!r} must be a whole number of {least} or more.")
