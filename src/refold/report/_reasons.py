"""Reasons for rows, whatever kind of model gives them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from refold._typing import Integers, Ranges
from refold.explain import number
from refold.judgement import Judgement
from refold.report._contents import RowReason

# What matters less is no reason, unless nothing matters more.
_LEAST_SHARE = 0.01


def reasons_of(
    listed: Judgement, count: int, normal: Sequence[Ranges]
) -> list[tuple[RowReason, ...]]:
    """Return the reasons of each row, the most important first."""
    if listed.judge.scorer.unexplained or len(listed) == 0:
        return [()] * len(listed)
    _, parts, expected, _ = listed.attribution()
    total = parts.sum(axis=1) if listed.judge.scorer.additive else listed.distances
    shares = np.minimum(parts / total[:, None], 1.0)  # no row that is listed has distance zero

    def reason(i: int, j: int) -> RowReason:
        share = float(shares[i, j])
        text = f"{100.0 * share:.0f} % of the distance"
        if expected is not None:
            text = f"expected {number(expected[i, j])}, going by the other features"
        return RowReason(listed.names[j], float(listed.rows[i, j]), normal[j], share, text)

    order = np.argsort(-parts, axis=1, kind="stable")[:, :count]
    return [_that_matter([reason(i, int(j)) for j in order[i]]) for i in range(len(listed))]


def _that_matter(reasons: list[RowReason]) -> tuple[RowReason, ...]:
    least = min(_LEAST_SHARE, max(reason.share for reason in reasons))
    return tuple(reason for reason in reasons if reason.share >= least and reason.share > 0.0)


def leads_of(rows: Judgement) -> Integers:
    """Return in how many of the rows each feature matters most."""
    d = len(rows.names)
    if rows.judge.scorer.unexplained or len(rows) == 0:
        return np.zeros(d, dtype=np.int64)
    return np.bincount(rows.attribution().parts.argmax(axis=1), minlength=d)
