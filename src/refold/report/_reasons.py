"""Reasons for rows and for groups of them, whatever kind of model gives them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from refold._typing import Integers, Ranges
from refold.judgement import Judgement
from refold.report._contents import AlarmGroup, RowReason
from refold.report._words import position

# What matters less is no reason, unless nothing matters more.
_LEAST_SHARE = 0.01
_EXAMPLES = 3


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
        return RowReason(
            feature=listed.names[j],
            value=float(listed.rows[i, j]),
            normal=normal[j],
            share=float(shares[i, j]),
            expected=None if expected is None else float(expected[i, j]),
        )

    order = np.argsort(-parts, axis=1, kind="stable")[:, :count]
    return [_that_matter([reason(i, int(j)) for j in order[i]]) for i in range(len(listed))]


def _that_matter(reasons: list[RowReason]) -> tuple[RowReason, ...]:
    least = min(_LEAST_SHARE, max(reason.share for reason in reasons))
    return tuple(reason for reason in reasons if reason.share >= least and reason.share > 0.0)


def leads_of(rows: Judgement) -> Integers:
    """Return for each row which feature matters most, -1 if none matters."""
    if rows.judge.scorer.unexplained or len(rows) == 0:
        return np.full(len(rows), -1)
    parts = rows.attribution().parts
    return np.where(parts.any(axis=1), parts.argmax(axis=1), -1)


def groups_of(
    rows: Judgement, leads: Integers, names: Sequence[str], normal: Sequence[Ranges]
) -> tuple[AlarmGroup, ...]:
    """Put rows with the same leading feature, on the same side, together; the largest first."""
    groups: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    expected = rows.attribution().expected if (leads >= 0).any() else None
    for i, j in enumerate(leads.tolist()):
        if j >= 0:
            usual = None if expected is None else float(expected[i, j])
            groups[j, position(float(rows.rows[i, j]), normal[j], usual)].append(i)
    found = []
    for (j, how), members in sorted(groups.items(), key=lambda group: -len(group[1])):
        values = rows.rows[members, j]
        found.append(
            AlarmGroup(
                feature=rows.names[j],
                how=how,
                values=(float(values.min()), float(values.max())),
                rows=len(members),
                examples=tuple(names[i] for i in members[:_EXAMPLES]),
            )
        )
    return tuple(found)
