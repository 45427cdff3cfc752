"""The columns of two models side by side: what each has learned of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from refold.base.results import plain_fields
from refold.base.words import quoted
from refold.checks._compare.changed_rows import Verdict
from refold.checks._compare.unit_change import LearnedValues, UnitChange, unit_change
from refold.checks._limits import limits
from refold.checks._limits_result import Limit
from refold.columns.encoding.texts import TextCounts
from refold.explanation import normal_of_columns, normal_text
from refold.judgement import Judge
from refold.judgement.normal import normal_ranges

_NAMED = 5


@dataclass(frozen=True)
class ColumnAsLearned:
    """What one model has learned of a column."""

    role: str  #: "number", "category", "text", "identifier", "date" or "ignore"
    normal: str  #: what is normal of it, in a few words: ranges, frequent values, from when to when
    missing: float  #: the share of the training rows that have no value
    #: How far a number must be off; None of others, and if it was not asked for
    limit: Limit | None = None

    def limit_text(self) -> str:
        """Return the shifts up and down that 90 % of normal rows are rejected for."""
        if self.limit is None:
            return ""
        return f"+{self.limit.shown(self.limit.up_90)}, −{self.limit.shown(self.limit.down_90)}"


@dataclass(frozen=True)
class ComparedColumn:
    """A column in two models, and its part in what changes."""

    name: str  #: what it is called
    #: old, new: what each has learned; None if it does not have the column
    old: ColumnAsLearned | None
    new: ColumnAsLearned | None
    #: How new's values follow from old's, if they were learned in other units
    units: UnitChange | None = None
    #: only_old, only_new: values of a category that only one of them has learned
    only_old: tuple[str, ...] = ()
    only_new: tuple[str, ...] = ()
    #: leads_outlier, leads_normal: in how many of the changed rows that are listed it is the first
    #: reason: of rows that become outliers why new rejects them, of rows that become normal why old
    #: did
    leads_outlier: int = 0
    leads_normal: int = 0

    @property
    def leads(self) -> int:
        """In how many of the changed rows that are listed it is the first reason."""
        return self.leads_outlier + self.leads_normal

    @property
    def differs(self) -> bool:
        """Whether the models have learned different things of it."""
        if self.old is None or self.new is None or self.units is not None:
            return True
        if self.old.role != self.new.role or self.only_old or self.only_new:
            return True
        # How often texts come always differs.
        return self.old.role in ("number", "date") and self.old.normal != self.new.normal

    def remarks(self) -> list[str]:
        """Say what somebody should look at before the new model is used, a sentence each."""
        said = []
        if self.old is None or self.new is None:
            other = "old" if self.new is None else "new"
            return [f"only {other} has this column"]
        if self.old.role != self.new.role:
            said.append(f"{_article(self.old.role)} to old, {_article(self.new.role)} to new")
        if self.units is not None:
            said.append(str(self.units))
        for which, values in (("old", self.only_old), ("new", self.only_new)):
            if values:
                named = ", ".join(map(quoted, values[:_NAMED]))
                more = f" and {len(values) - _NAMED:,} more" if len(values) > _NAMED else ""
                said.append(f"only {which} has learned {named}{more}")
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return plain_fields(self)


def compared_columns(
    old: LearnedTableView, new: LearnedTableView, leads: Mapping[tuple[str, Verdict], int]
) -> tuple[ComparedColumn, ...]:
    """Put the columns of two models side by side; `leads` counts (column, verdict)."""
    found = []
    for name in dict.fromkeys([*old.columns, *new.columns]):
        texts = (old.texts(name), new.texts(name))
        both = texts[0] is not None and texts[1] is not None
        found.append(
            ComparedColumn(
                name,
                old.columns.get(name),
                new.columns.get(name),
                _units(old.values(name), new.values(name)),
                _without(texts[0], texts[1]) if both else (),
                _without(texts[1], texts[0]) if both else (),
                leads.get((name, "outlier"), 0),
                leads.get((name, "normal"), 0),
            )
        )
    return tuple(found)


class LearnedTableView:
    """What is known of the columns of a fitted model."""

    def __init__(self, model: Any, judge: Judge, *, with_limits: bool) -> None:
        self._judge, self._summary = judge, model.summary_
        self._places = {judge.names[k]: place for place, k in enumerate(judge.numeric)}
        self.refused = ""
        found: dict[str, Limit] = {}
        if with_limits:
            try:
                found = {limit.feature: limit for limit in limits(model)}
            except ValueError as error:
                self.refused = str(error)
            if not found and not self.refused:
                self.refused = "The model has no column of numbers."
        self.columns = _columns(model, judge, found)

    def values(self, name: str) -> LearnedValues | None:
        """Return what is remembered of a column of numbers; None of others.

        Numbers that are judged in their context have no distribution of their own.
        """
        scored = () if self._judge.encoder is None else self._judge.encoder.scored
        if self._summary is None or name not in self._places or name in scored:
            return None
        return LearnedValues.of(self._summary, self._places[name])

    def texts(self, name: str) -> Mapping[str, int] | None:
        """Return the values of a category, all of them; None of other columns."""
        side, encoder = self.columns.get(name), self._judge.encoder
        if side is None or side.role != "category" or encoder is None:
            return None
        counts = encoder.counts.others.get(self._judge.names.index(name))
        if not isinstance(counts, TextCounts) or counts.values.level:
            return None
        return counts.values.counts


def _columns(model: Any, judge: Judge, found: Mapping[str, Limit]) -> dict[str, ColumnAsLearned]:
    summary, encoder = model.summary_, judge.encoder
    if encoder is None:
        ranges = normal_ranges(summary)
        return {
            name: ColumnAsLearned(
                "number",
                normal_text({"normal": ranges[k]}),
                float(summary.missing[k]) / summary.weight,
                found.get(name),
            )
            for k, name in enumerate(judge.names)
        }
    normal, rows = normal_of_columns(encoder, summary), max(encoder.counts.rows, 1)
    return {
        column.name: ColumnAsLearned(
            column.role,
            normal_text({"distinct": column.distinct, **normal.get(column.name, {})}),
            column.missing / rows,
            found.get(column.name),
        )
        for column in encoder.columns_
    }


def _units(old: LearnedValues | None, new: LearnedValues | None) -> UnitChange | None:
    return None if old is None or new is None else unit_change(old, new)


def _without(values: Mapping[str, int] | None, others: Mapping[str, int] | None) -> tuple[str, ...]:
    """Return values that others do not have, the most frequent first."""
    only = {value: n for value, n in (values or {}).items() if value not in (others or {})}
    return tuple(sorted(only, key=lambda value: (-only[value], value)))


def _article(role: str) -> str:
    if role == "ignore":
        return "ignored"
    if role == "context":
        return "part of the context"
    return f"{'an' if role == 'identifier' else 'a'} {role}"
