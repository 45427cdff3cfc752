"""What each number of a table should be, given its context, and how far off it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from refold._typing import Floats, Integers
from refold.base.errors import UserError
from refold.columns.context.column_context import ColumnContext, ContextRows, ContextUnits
from refold.columns.context.design import (
    CalendarFeatures,
    ContextFeatures,
    Design,
    GroupIndex,
    LevelFeatures,
    NumberFeatures,
)
from refold.columns.context.history import History
from refold.columns.context.trend import (
    FIRST_ORIGIN,
    FeatureLayout,
    TimeAxis,
    TrendFeatures,
    seconds,
    tenths_ahead,
)
from refold.columns.context.window import WindowModel
from refold.columns.table import Column, DateColumn, NumberColumn, Table, as_texts

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True)
class ContextColumns:
    """Which columns say what is normal for a row; they are not judged themselves."""

    by: tuple[str, ...] = ()  # the group of a row, the largest first: site, line, machine
    over: tuple[str, ...] = ()  # the time of a row, if it matters
    context: tuple[str, ...] = ()  # numbers and categories that explain others

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.by, *self.over, *self.context)

    def check(self, columns: Sequence[str]) -> None:
        """Refuse what a table with these columns cannot have."""
        for keyword, names in vars(self).items():
            absent = [name for name in names if name not in columns]
            if absent:
                raise UserError(
                    f"{keyword}= names {', '.join(map(repr, absent))}, which the table does not "
                    f"have. Its columns are {', '.join(columns[:20])}."
                )
        twice = [name for name in self.names if self.names.count(name) > 1]
        if twice:
            raise UserError(
                f"{twice[0]!r} is named twice in by=, over= and context=: name it once."
            )
        if self.names and set(columns) <= set(self.names):
            raise UserError(
                "by=, over= and context= name all columns: there is none left to judge."
            )


NO_CONTEXT = ContextColumns()


@dataclass(frozen=True, eq=False)
class ContextModel:
    """What numbers should be in each context."""

    given: ContextColumns  # the columns of the context
    groups: GroupIndex  # the groups that were seen
    design: Design  # features of the context
    columns: dict[str, ColumnContext]  # the columns of numbers that are judged
    window: WindowModel | None = None  # what is looked at of the rows before each one

    @classmethod
    def learn(
        cls, given: ContextColumns, table: Table, window: WindowModel | None = None
    ) -> tuple[ContextModel, Table, Integers]:
        """Learn from rows that were parsed, with their window.

        Return also those to judge by, numbers as scores, and where they are in the table. Without
        any column of the context nothing is expected, and numbers stay what they are.
        """
        groups = GroupIndex.learn(table, given.by) if given.by else GroupIndex((), {})
        if given.by and not groups.keys:
            raise UserError(
                f"by={given.by[-1]!r} has no value in any row. Name another column, or leave it "
                "out."
            )
        parts: list[ContextFeatures] = [
            LevelFeatures.learn(table, given.by[:depth]) for depth in range(1, len(given.by))
        ]
        parts += [_features(table, name) for name in given.context]
        for name in given.over:
            if isinstance(table[name], DateColumn):
                parts.append(CalendarFeatures.learn(table, name))
            parts.append(TrendFeatures(TimeAxis.learn(table, name)))
        model = cls(given, groups, Design(tuple(parts)), {}, window)
        layout, rows, scores = model.layout, model._rows(table), {}
        for name, cells in table.items():
            if given.names and isinstance(cells, NumberColumn) and name not in given.names:
                if window is not None and window.counts_rows(name):
                    continue
                chosen = None if window is None else window.chosen(name, model.columns)
                model.columns[name], scores[name] = ColumnContext.learn(
                    rows, cells.values, layout, chosen
                )
        learned, kept = model.scored(table, scores), np.arange(table.rows)
        if rows.share is not None:  # of the first ones nothing was foreseen
            kept = np.flatnonzero(rows.share > FIRST_ORIGIN)
            learned = learned.take(kept)
        return model, learned, kept

    @property
    def axis(self) -> TimeAxis | None:
        """The span of time that was learned."""
        trend = self.design.parts[-1] if self.design.parts else None
        return trend.axis if isinstance(trend, TrendFeatures) else None

    @property
    def layout(self) -> FeatureLayout:
        """How the features are laid out."""
        blocks = self.design.blocks
        trend = -1 if self.axis is None else len(blocks) - 2  # it comes last
        return FeatureLayout(blocks, trend, len(self.groups.keys))

    def with_window(self, table: Table, history: History | None = None) -> Table:
        """Return rows, parsed, and what is looked at of those before each one."""
        return table if self.window is None else self.window.apply(table, history)

    def apply(self, table: Table) -> Table:
        """Return the columns that are judged, numbers as scores, of rows with their window."""
        rows, scores = self._rows(table), {}
        for name, column in self.columns.items():
            scores[name] = column.scores(rows, _numbers(table, name)).z
        return self.scored(table, scores)

    def units(self, table: Table) -> dict[str, ContextUnits]:
        """Return for the columns of rows, parsed, what turns scores into numbers again."""
        rows = self._rows(table)
        found = {}
        for name, column in self.columns.items():
            values = _numbers(table, name)
            found[name] = ContextUnits(column, column.scores(rows, values), values)
        return found

    def described(self, table: Table, row: int) -> str:
        """Say what the context of a row is: "for machine M17 at Friday 01:00 with load 1.78"."""
        parts = []
        if self.given.by:
            names = [as_texts(table[name]).text(row) for name in self.given.by]
            called = " ".join(f"{n} {t}" for n, t in zip(self.given.by, names, strict=True) if t)
            parts.append(f"for {called}" if called else f"without {self.given.by[-1]}")
            if int(self.groups.codes(table.take(np.array([row])))[0]) < 0:
                seen = "never seen: " if all(names) else "" if not called else "incomplete: "
                parts[-1] += f" ({seen}as for {self._judged_by(names)})"
        for name in self.given.over:
            cells = table[name]
            if isinstance(cells, DateColumn) and not cells.is_null[row]:
                day = _WEEKDAYS[int(cells.weekday[row])]
                clock = f" {int(cells.hour[row]):02d}:00" if cells.has_clock else ""
                parts.append(f"at {day}{clock}" if cells.has_clock else f"on {day}")
            parts += self._beyond(cells, row)
        others = [(name, as_texts(table[name]).text(row)) for name in self.given.context]
        if any(text for _, text in others):
            parts.append("with " + ", ".join(f"{name} {text}" for name, text in others if text))
        return " ".join(parts)

    def _beyond(self, cells: Column, row: int) -> list[str]:
        """Say that a row has no time, or one for which nothing was tried."""
        axis = self.axis
        assert axis is not None
        if cells.is_null[row]:
            return [f"without {axis.column} (as at the end of training)"]
        if float(seconds(cells, axis.column)[row]) <= axis.end + axis.tried:
            return []
        return [f"({axis.text(dated=isinstance(cells, DateColumn))})"]

    def _judged_by(self, names: Sequence[str | None]) -> str:
        """Say by what a row of an unknown group is judged: by the nearest parent that is known."""
        for depth in range(len(names) - 1, 0, -1):
            part = self.design.parts[depth - 1]
            if isinstance(part, LevelFeatures) and tuple(names[:depth]) in part.levels:
                return f"{self.given.by[depth - 1]} {names[depth - 1]}"
        return "all"

    def plus_rows(self, table: Table, *, follow: bool = True) -> ContextModel:
        """Return the same with further rows, parsed: with their groups, values and times.

        With `follow` they are taken for later ones: spread is around what is then expected.
        """
        follow &= self.axis is not None
        groups = self.groups.plus(table) if self.given.by else self.groups
        wider = self._with(self.design.plus_rows(table), groups)
        rows = wider._rows(table)
        for name, column in wider.columns.items():
            values = _numbers(table, name)
            wider.columns[name] = column.plus_rows(rows, values, len(groups.keys), follow)
        return wider

    def plus(self, other: ContextModel) -> ContextModel:
        """Return what was learned of the rows of both."""
        design = self.design.plus(other.design)
        groups = self.groups.union(other.groups)
        mine, theirs = (each._with(design, groups) for each in (self, other))
        columns = {name: column.plus(theirs.columns[name]) for name, column in mine.columns.items()}
        return replace(mine, columns=columns)

    def emptied(self) -> ContextModel:
        """Return the same without any row; groups and times stay known."""
        columns = {name: column.emptied() for name, column in self.columns.items()}
        return replace(self, columns=columns)

    def _with(self, design: Design, groups: GroupIndex) -> ContextModel:
        """Return the same with further features and groups, which no row has had."""
        features = self.design.within(design)
        places = np.array([groups.keys[key] for key in self.groups.keys], dtype=np.int64)
        wider = ContextModel(self.given, groups, design, {}, self.window)
        for name, column in self.columns.items():
            wider.columns[name] = column.mapped(features, wider.layout, places)
        return wider

    def left_out(self, table: Table) -> Table:
        """Return rows that were learned as `apply` does, each as if it had been left out."""
        rows, scores = self._rows(table), {}
        for name, column in self.columns.items():
            values = _numbers(table, name)
            found, alone = column.scores(rows, values).z, column.left_out(rows, values)
            scores[name] = np.where(np.isnan(alone), found, alone)
        return self.scored(table, scores)

    def _rows(self, table: Table) -> ContextRows:
        codes = self.groups.codes(table) if self.given.by else np.full(table.rows, -1)
        x = self.design.of(table)
        if self.axis is None:
            return ContextRows(x, codes)
        share, trend = self.axis.shares(table), TrendFeatures(self.axis)
        tenths = tenths_ahead(share, self.axis.last)
        return ContextRows(x, codes, share, tenths, trend.beyond(share))

    def scored(self, table: Table, scores: Mapping[str, Floats]) -> Table:
        """Return the columns that are judged with these scores for numbers."""
        columns: dict[int, Column] = {}
        for name, found in scores.items():
            cells = table[name]
            assert isinstance(cells, NumberColumn)
            columns[table.names.index(name)] = NumberColumn(found, cells.raw, cells.form)
        if self.window is not None:
            columns |= self.window.neutral(table, scores)
        judged = [name for name in table.names if name not in self.given.names]
        return replace(table.with_columns(columns).select(judged), inputs=table)


def _features(table: Table, name: str) -> ContextFeatures:
    cells = table[name]
    if isinstance(cells, NumberColumn):
        return NumberFeatures.learn(table, name)
    if isinstance(cells, DateColumn):
        return CalendarFeatures.learn(table, name)
    return LevelFeatures.learn(table, [name])


def _numbers(table: Table, name: str) -> Floats:
    cells = table[name]
    assert isinstance(cells, NumberColumn)
    return cells.values
