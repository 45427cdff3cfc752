"""What a model takes as normal, as rules that a person can review, edit and give back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from refold._typing import Floats
from refold.checks._rules_result import LearnedRule, LearnedRules
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.dates import DateCounts
from refold.columns.encoding.dependence import OTHER
from refold.columns.encoding.texts import TextCounts
from refold.columns.encoding.value_counts import ValueCounts
from refold.columns.frames import feature_names
from refold.columns.summary import Summary
from refold.columns.table import NumberColumn, Table
from refold.judgement import unwrapped
from refold.judgement.normal import normal_ranges

# A rule of some rows only must hold for so many of them, each left out in turn.
HOLDS = 0.995
# So many values, or forms, a person reviews.
_MOST_VALUES, _MOST_FORMS = 100, 10
# A column of so many rows that always had a value is required to have one.
_ENOUGH = 20
# A range within a group is worth a rule if it is so much narrower than that of all rows; a value
# that is left out, if chance would have given it to so many rows of the group.
_NARROWER, _EXPECTED = 0.9, 3.0


def learned_rules(model: Any) -> LearnedRules:
    """Return what a model takes as normal as rules: ranges, values, formats, and what goes with it.

    Each says how many training rows it was learned from, and its false alarms: the share of them
    that would violate it, had they been left out.

    Parameters
    ----------
    model : Detector, REF or CreasedREF
        Fitted.

    Returns
    -------
    LearnedRules
        A sequence of ``LearnedRule``. ``to_dict()`` is what ``Detector(rules=...)`` takes; ``str``
        is a table, ``to_toml()``, ``to_json()``, ``to_sql(...)``, ``to_pandera()`` and
        ``to_odcs(...)`` are texts for files.

    Examples
    --------
    >>> from refold import Detector
    >>> from refold.checks import learned_rules
    >>> rows = [{"grade": "AB"[k % 2], "weight": 2 + k % 7} for k in range(200)]
    >>> found = learned_rules(Detector().fit(rows))
    >>> found["weight"].min, found["weight"].max, found["grade"].allowed
    (2.0, 8.0, ('A', 'B'))
    """
    model = unwrapped(model)
    encoder = getattr(model, "encoder_", None)
    if encoder is None:
        return LearnedRules(tuple(_of_numbers(feature_names(model), model.summary_, None)))
    counts, kept = encoder.counts, model.kept_rows()
    names = [counts.plan.names[k] for k in counts.plan.numbers.tolist()]
    numbers = (
        {}
        if model.summary_ is None
        else {
            rule.column: rule
            for rule in _of_numbers(names, model.summary_, counts.numbers_of(kept))
        }
    )
    rules = []
    for k, name in enumerate(counts.plan.names):
        if name in encoder.scored:
            continue  # it is normal by what is expected, not by itself
        own = numbers.get(name) or _of_counts(counts, k)
        missing = int(counts.states(k)[1:].sum())
        rules.append(replace(own, required=missing == 0 and counts.rows >= _ENOUGH))
        rules += _beside(counts, k, kept, own)
    left_out = tuple(name for name in counts.plan.names if name in encoder.scored)
    return LearnedRules(tuple(rules), left_out)


def _of_numbers(names: list[str], summary: Summary, kept: Floats | None) -> Iterator[LearnedRule]:
    """Give the range of each number; a row at the end of it would lie outside had it been left out.

    Where no rows are kept, one at each end is taken to be alone there.
    """
    for place, (name, ranges) in enumerate(zip(names, normal_ranges(summary), strict=True)):
        low, high = float(ranges[0][0]), float(ranges[-1][1])
        support = summary.rows - int(summary.missing[place])
        alarms = 2.0 / max(support, 1)
        if kept is not None:
            values = kept[:, place][~np.isnan(kept[:, place])]
            beyond = np.count_nonzero((values < low) | (values > high))
            ends = sum(np.count_nonzero(values == end) == 1 for end in (low, high))
            alarms = beyond / max(len(values), 1) + ends / max(support, 1)
        yield LearnedRule(name, "number", support, alarms, min=low, max=high)


def _of_counts(counts: TableCounts, k: int) -> LearnedRule:
    """Return what is normal of a column of texts or dates."""
    plan, counted = counts.plan.used[k], counts.others[k]
    support = int(counts.states(k)[0])
    rule = LearnedRule(plan.name, str(plan.role), support, 0.0)
    if isinstance(counted, DateCounts):
        if not (plan.ranged and counted.has_range):
            return rule
        ends = [
            str(np.datetime64(int(end), "s").astype("M8[D]")) for end in (counted.low, counted.high)
        ]
        return replace(rule, false_alarms=2.0 / max(support, 1), min=ends[0], max=ends[1])
    assert isinstance(counted, TextCounts)
    values = counted.values
    if plan.role == "category" and not values.level and 0 < values.distinct <= _MOST_VALUES:
        order = sorted(values.counts, key=lambda value: (-values.counts[value], value))
        return replace(rule, false_alarms=_once(values) / max(support, 1), allowed=tuple(order))
    letters = "".join(counted.characters)
    if plan.role != "category" and letters.isascii() and (found := _formats(counted.shapes)):
        return replace(rule, false_alarms=found[1], format=found[0])
    return rule


def _once(tally: ValueCounts) -> int:
    """Return how many values one row alone has."""
    return sum(count == 1 for count in tally.counts.values())


def _formats(shapes: ValueCounts) -> tuple[tuple[str, ...], float] | None:
    """Return the forms that nearly all texts have, if they are few, and how many rows miss them."""
    rows = shapes.rows - shapes.missing
    order = sorted(shapes.counts, key=lambda shape: (-shapes.counts[shape], shape))[:_MOST_FORMS]
    chosen, covered = [], 0
    for shape in order:
        if covered >= HOLDS * rows:
            break
        chosen.append(shape)
        covered += shapes.counts[shape]
    alone = sum(shapes.counts[shape] == 1 for shape in chosen)
    alarms = (rows - covered + alone) / max(rows, 1)
    return None if shapes.level or alarms > 1.0 - HOLDS else (tuple(chosen), alarms)


def _beside(counts: TableCounts, k: int, kept: Table, own: LearnedRule) -> Iterator[LearnedRule]:
    """Give what goes with each value of the category that tells most about a column."""
    plan = counts.plan.used[k]
    if plan.partner is None or k not in counts.contingency_tables:
        return
    other = counts.plan.used[plan.partner]
    if other.role != "category":
        return
    table = counts.contingency_tables[k].counts
    total = table.sum(axis=0)
    for code, value in enumerate(other.frequent):
        rows = int(table[code].sum())
        when = {other.name: value}
        if own.role == "number":
            found = _range_where(kept, plan.name, other.name, value)
            if found is not None and _is_narrower(found[:2], own):
                yield LearnedRule(
                    plan.name, own.role, rows, found[2], when=when, min=found[0], max=found[1]
                )
        elif own.allowed is not None and plan.frequent:
            chosen, alarms = _values_where(table[code], plan.frequent)
            expected = (total.sum() - total[chosen].sum()) * rows / max(int(total.sum()), 1)
            if alarms <= 1.0 - HOLDS and expected >= _EXPECTED:
                allowed = tuple(plan.frequent[each] for each in chosen)
                yield LearnedRule(plan.name, own.role, rows, alarms, when=when, allowed=allowed)


def _values_where(counts: Any, frequent: tuple[str, ...]) -> tuple[list[int], float]:
    """Return the values that nearly all rows have, and how many have others, each left out."""
    rows = int(counts[: OTHER + 1].sum())  # those without a value violate nothing
    order = sorted(range(len(frequent)), key=lambda each: -counts[each])
    chosen, covered = [], 0
    for each in order:
        if covered >= HOLDS * rows or counts[each] == 0:
            break
        chosen.append(each)
        covered += int(counts[each])
    alone = sum(int(counts[each]) == 1 for each in chosen)
    return chosen, (rows - covered + alone) / max(rows, 1)


def _range_where(
    kept: Table, name: str, other: str, value: str
) -> tuple[float, float, float] | None:
    """Return the range of a number in the rows of a category, and how many lie outside left out."""
    column, beside = kept[name], kept[other]
    assert isinstance(column, NumberColumn)
    values = getattr(beside, "values", [])
    if value not in values:
        return None
    here = column.values[beside.codes == list(values).index(value)]  # type: ignore[union-attr]
    here = here[~np.isnan(here)]
    if len(here) == 0:
        return None
    low, high = float(here.min()), float(here.max())
    alarms = sum(np.count_nonzero(here == end) == 1 for end in {low, high}) / len(here)
    return (low, high, alarms) if alarms <= 1.0 - HOLDS else None


def _is_narrower(found: tuple[float, float], own: LearnedRule) -> bool:
    assert isinstance(own.min, float)
    assert isinstance(own.max, float)
    low, high = max(found[0], own.min), min(found[1], own.max)
    return high / 2.0 - low / 2.0 <= _NARROWER * (own.max / 2.0 - own.min / 2.0)
