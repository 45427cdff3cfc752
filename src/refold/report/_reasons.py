"""Reasons of rows, and groups of rows that have the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from refold.explain import Reason, explain
from refold.judgement import Judgement
from refold.report._contents import AlarmGroup

_EXAMPLES = 3
# What is said of a text or a date that is odd in some respect.
_VIEWS = {
    "value": "rare",
    "unseen": "never seen",
    "shape": "of an unusual form",
    "collapsed shape": "of an unusual form",
    "character": "with a rare character",
    "hour": "at an unusual hour",
    "weekday": "on an unusual weekday",
    "form": "written in another way",
    "readable": "not readable",
    "range": "outside the time of training",
    "unreadable": "not readable",
    "": "unlikely with the other values",
}


def reasons_of(model: Any, rows: Judgement, count: int) -> list[tuple[Reason, ...]]:
    """Return the reasons of each row, the most important first."""
    if rows.judge.scorer.unexplained or len(rows) == 0:
        return [()] * len(rows)
    explained = explain(model, rows, reasons=count, nearest=False)
    return [
        tuple(reason for rank, reason in enumerate(row.reasons) if reason.matters(rank))
        for row in explained
    ]


def groups_of(
    reasons: Sequence[tuple[Reason, ...]], names: Sequence[str]
) -> tuple[AlarmGroup, ...]:
    """Put rows whose first reason is the same feature, on the same side, together."""
    groups: defaultdict[tuple[str, str], list[tuple[float | str, str]]] = defaultdict(list)
    for because, name in zip(reasons, names, strict=True):
        for first in because[:1]:
            groups[first.feature, position(first)].append((first.value, name))
    found = [
        AlarmGroup(
            feature=feature,
            how=how,
            values=_values([value for value, _ in rows]),
            rows=len(rows),
            examples=tuple(name for _, name in rows[:_EXAMPLES]),
        )
        for (feature, how), rows in groups.items()
    ]
    return tuple(sorted(found, key=lambda group: -group.rows))


def _values(values: Sequence[float | str]) -> tuple[float, float] | tuple[str, ...]:
    """Return the smallest and the largest number, or the texts that come most often."""
    texts = Counter(value for value in values if isinstance(value, str))
    if texts:
        return tuple(text for text, _ in texts.most_common(_EXAMPLES))
    numbers = [value for value in values if isinstance(value, float)]
    return min(numbers), max(numbers)


def position(reason: Reason) -> str:
    """Say where a value lies beside what is normal and, if it is normal, what was expected."""
    if reason.missing:
        return "missing"
    if isinstance(reason.value, str):
        return _odd(reason)
    if reason.value > reason.normal[-1][1]:
        return "above normal"
    if reason.value < reason.normal[0][0]:
        return "below normal"
    if not reason.inside:
        return "between normal values"
    if reason.view == "beside":
        return _odd(reason)
    if reason.expected is None:
        return "within normal, adding up with others"
    return "higher than expected" if reason.value > reason.expected else "lower than expected"


def _odd(reason: Reason) -> str:
    """Say in which respect a text or a date is odd."""
    if reason.view == "beside":
        return f"rare beside {reason.beside[0].feature}"
    return _VIEWS[reason.view]
