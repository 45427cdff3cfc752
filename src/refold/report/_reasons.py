"""Reasons of rows, and groups of rows that have the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from refold.explanation import Explanation, Reason, explain
from refold.explanation.gauges import position
from refold.judgement import Judgement
from refold.report._contents import AlarmGroup

_EXAMPLES = 3


def reasons_of(model: Any, rows: Judgement, count: int) -> list[tuple[Reason, ...]]:
    """Return the reasons of each row, the most important first."""
    if rows.judge.scorer.unexplained or len(rows) == 0:
        return [()] * len(rows)
    return [that_matter(row) for row in explain(model, rows, reasons=count, nearest=False)]


def that_matter(row: Explanation) -> tuple[Reason, ...]:
    """Return the reasons of a row that are worth a line."""
    return tuple(reason for rank, reason in enumerate(row.reasons) if reason.matters(rank))


def grouped(reasons: Sequence[tuple[Reason, ...]]) -> dict[tuple[str, str], list[int]]:
    """Put rows whose first reason is the same feature, on the same side, together, by number."""
    groups: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for row, because in enumerate(reasons):
        for first in because[:1]:
            groups[first.feature, position(first)].append(row)
    return dict(sorted(groups.items(), key=lambda group: -len(group[1])))


def groups_of(
    reasons: Sequence[tuple[Reason, ...]], names: Sequence[str]
) -> tuple[AlarmGroup, ...]:
    """Describe the rows that have the same reason, the largest group first."""
    return tuple(
        AlarmGroup(
            feature=feature,
            how=how,
            values=_values([reasons[row][0].value for row in rows]),
            rows=len(rows),
            examples=tuple(names[row] for row in rows[:_EXAMPLES]),
        )
        for (feature, how), rows in grouped(reasons).items()
    )


def _values(values: Sequence[float | str]) -> tuple[float, float] | tuple[str, ...]:
    """Return the smallest and the largest number, or the texts that come most often."""
    texts = Counter(value for value in values if isinstance(value, str))
    if texts:
        return tuple(text for text, _ in texts.most_common(_EXAMPLES))
    numbers = [value for value in values if isinstance(value, float)]
    return min(numbers), max(numbers)
