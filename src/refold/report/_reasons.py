"""Reasons for rows, whatever kind of model gives them.

REF divides the distance among features exactly; CreasedREF says what each value was expected to be
and what difference that makes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Integers
from refold.explain import normal_ranges, number
from refold.models.scorer import parts_of
from refold.report._contents import RowReason

# Rows whose reasons are estimated one feature at a time.
_MOST_ESTIMATED = 1000
# What matters less is no reason, unless nothing matters more.
_LEAST_SHARE = 0.01


def why_none(model: Any) -> str:
    """Say why a model has no reasons; nothing if it has."""
    if hasattr(model, "reasons"):
        return ""
    if not hasattr(model, "contributions"):
        return f"A {type(model).__name__} does not say which features are to blame."
    if callable(model.distance):
        return "The distance is a function of the user's, which cannot be divided among features."
    return ""


def reasons_of(
    model: Any, rows: NDArray[Any], count: int, names: list[str]
) -> list[tuple[RowReason, ...]]:
    """Return the reasons of each row, the most important first."""
    if len(rows) == 0 or why_none(model):
        return [()] * len(rows)
    if hasattr(model, "reasons"):
        return _estimated(model, rows, count, names)
    return _exact(model, rows, count, names)


def _that_matter(reasons: list[RowReason]) -> tuple[RowReason, ...]:
    shares = [reason.share for reason in reasons]
    least = min(_LEAST_SHARE, max(shares))
    return tuple(reason for reason in reasons if reason.share >= least and reason.share > 0.0)


def _exact(
    model: Any, rows: NDArray[Any], count: int, names: list[str]
) -> list[tuple[RowReason, ...]]:
    parts, ranges = np.asarray(model.contributions(rows)), normal_ranges(model.summary_)
    shares = parts / parts.sum(axis=1, keepdims=True)  # no row that is listed has distance zero

    def reason(i: int, j: int) -> RowReason:
        share = float(shares[i, j])
        text = f"{100.0 * share:.0f} % of the distance"
        return RowReason(names[j], float(rows[i, j]), ranges[j], share, text)

    order = np.argsort(-parts, axis=1, kind="stable")[:, :count]
    return [_that_matter([reason(i, int(j)) for j in order[i]]) for i in range(len(rows))]


def _estimated(
    model: Any, rows: NDArray[Any], count: int, names: list[str]
) -> list[tuple[RowReason, ...]]:
    found, ranges = model.reasons(rows), normal_ranges(model.summary_)
    distances = -np.asarray(model.score_samples(rows))

    def reason(i: int, j: int) -> RowReason:
        share = min(float(found.drop[i, j] / distances[i]), 1.0)
        text = f"expected {number(found.expected[i, j])}, going by the other features"
        return RowReason(names[j], float(found.values[i, j]), ranges[j], share, text)

    order = np.argsort(-found.drop, axis=1, kind="stable")[:, :count]
    return [_that_matter([reason(i, int(j)) for j in order[i]]) for i in range(len(rows))]


def blame(model: Any, rows: NDArray[Any], worst_first: Integers) -> tuple[Integers, int]:
    """Return in how many of the worst rows each feature matters most, and how many those are."""
    if hasattr(model, "reasons"):
        worst_first = worst_first[:_MOST_ESTIMATED]
    if len(worst_first) == 0 or why_none(model):
        return np.zeros(rows.shape[1], dtype=np.int64), 0
    parts = parts_of(model, rows[worst_first])
    return np.bincount(parts.argmax(axis=1), minlength=rows.shape[1]), len(worst_first)
