"""Reasons of rows, and groups of rows that have the same."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from refold.explain import Reason, explain
from refold.judgement import Judgement
from refold.report._contents import AlarmGroup

# What matters less is no reason, unless it comes first.
_LEAST_SHARE = 0.01
_EXAMPLES = 3


def reasons_of(model: Any, rows: Judgement, count: int) -> list[tuple[Reason, ...]]:
    """Return the reasons of each row, the most important first."""
    if rows.judge.scorer.unexplained or len(rows) == 0:
        return [()] * len(rows)
    explained = explain(model, rows, reasons=count, nearest=False)
    return [_that_matter(row.reasons) for row in explained]


def _that_matter(reasons: Sequence[Reason]) -> tuple[Reason, ...]:
    first, *others = reasons
    shown = [first, *(reason for reason in others if reason.share >= _LEAST_SHARE)]
    return tuple(reason for reason in shown if reason.share > 0.0)


def groups_of(
    reasons: Sequence[tuple[Reason, ...]], names: Sequence[str]
) -> tuple[AlarmGroup, ...]:
    """Put rows whose first reason is the same feature, on the same side, together."""
    groups: defaultdict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)
    for because, name in zip(reasons, names, strict=True):
        for first in because[:1]:
            groups[first.feature, position(first)].append((first.value, name))
    found = [
        AlarmGroup(
            feature=feature,
            how=how,
            values=(min(rows)[0], max(rows)[0]),
            rows=len(rows),
            examples=tuple(name for _, name in rows[:_EXAMPLES]),
        )
        for (feature, how), rows in groups.items()
    ]
    return tuple(sorted(found, key=lambda group: -group.rows))


def position(reason: Reason) -> str:
    """Say where a value lies beside what is normal and, if it is normal, what was expected."""
    if math.isnan(reason.value):
        return "missing"
    if reason.value > reason.normal[-1][1]:
        return "above normal"
    if reason.value < reason.normal[0][0]:
        return "below normal"
    if not reason.inside:
        return "between normal values"
    if reason.expected is None:
        return "within normal, adding up with others"
    return "higher than expected" if reason.value > reason.expected else "lower than expected"
