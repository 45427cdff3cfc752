"""What each cell of a table should be, given its context, and how far off it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from refold._typing import Floats, Integers
from refold.base.errors import UserError
from refold.base.once import once
from refold.base.words import number, suggestion
from refold.columns.context.column_context import ColumnContext
from refold.columns.context.context_rows import ContextRows, ContextUnits
from refold.columns.context.design import (
    CalendarFeatures,
    ContextFeatures,
    Design,
    GroupIndex,
    LevelFeatures,
    NumberFeatures,
)
from refold.columns.context.group_texts import GroupTexts, GroupTree
from refold.columns.context.history import History
from refold.columns.context.smaller_groups import SmallerGroups
from refold.columns.context.trend import (
    FIRST_ORIGIN,
    FeatureLayout,
    TimeAxis,
    TrendFeatures,
    on_both_sides,
    seconds,
    tenths_ahead,
)
from refold.columns.context.window import WindowModel
from refold.columns.table import Column, DateColumn, NumberColumn, Table, TextColumn, as_texts

# So many rows with the same score, to so many digits, are an atom; so many rows show whether there
# are any.
_ATOM, _DIGITS, _SOME_ROWS = 5, 9, 2_000
# So few different scores, and so many rows for each, are spread over time.
_FEW_SCORES, _REPEATED = 100, 3
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
                    f"have.{suggestion(absent[0], columns)}"
                )
        twice = [name for name in self.names if self.names.count(name) > 1]
        if twice:
            raise UserError(
                f"{twice[0]!r} is named twice in by=, over= and context=: name it once."
            )
        if self.names and set(columns) <= set(self.names):
            raise UserError(
                "by=, over= and context= name all columns: there is none left to judge. Name fewer "
                "in context=."
            )


NO_CONTEXT = ContextColumns()


@dataclass(frozen=True, eq=False)
class ContextModel:
    """What cells should be in each context."""

    given: ContextColumns  # the columns of the context
    groups: GroupIndex  # the groups that were seen
    design: Design  # features of the context
    columns: dict[str, ColumnContext]  # the columns of numbers that are judged
    window: WindowModel | None = None  # what is looked at of the rows before each one
    texts: dict[str, GroupTexts] = field(default_factory=dict)  # the columns of texts, by group

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
                column, alone = ColumnContext.learn(rows, cells.values, layout, chosen)
                if rows.share is not None:
                    alone = _smoothed(alone)
                    if column.form != "none":
                        alone = alone * on_both_sides(alone, rows.share)
                elif _repeated(cells.values):
                    alone = _with_atoms(alone, column.z(rows, cells.values))
                model.columns[name], scores[name] = column, alone
            elif given.by and isinstance(cells, TextColumn) and name not in given.names:
                chosen_texts = GroupTexts.learn(cells, model.tree)
                model.texts[name] = chosen_texts.plus_rows(cells, rows.groups)
        learned = model.scored(table, scores, left_out=True)
        kept = np.arange(table.rows)
        if rows.share is not None:  # of the first ones nothing was foreseen
            kept = np.flatnonzero(rows.share > FIRST_ORIGIN)
            learned = learned.take(kept)
        return model, learned, kept

    @once
    def tree(self) -> GroupTree:
        """The groups that were seen, and those above them."""
        return GroupTree.of(self.groups)

    @property
    def once_seen(self) -> int:
        """How many rows have a text that would contradict their group had they been left out."""
        return sum(column.once_seen for column in self.texts.values())

    @property
    def axis(self) -> TimeAxis | None:
        """The span of time that was learned."""
        trend = self.design.parts[-1] if self.design.parts else None
        return trend.axis if isinstance(trend, TrendFeatures) else None

    @property
    def learned_until(self) -> str:
        """Say "learned until 2026-09-30, tried 90 days ahead"; nothing without a time."""
        if (axis := self.axis) is None:
            return ""
        calendars = [part for part in self.design.parts if isinstance(part, CalendarFeatures)]
        return axis.text(dated=any(part.column == axis.column for part in calendars))

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
            scores[name] = column.z(rows, _numbers(table, name))
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
        others = [(name, _shown(table[name], row)) for name in self.given.context]
        if any(text for _, text in others):
            parts.append("with " + ", ".join(f"{name} {text}" for name, text in others if text))
        return " ".join(parts)

    def text_words(self, inputs: Table, row: int, column: str, view: int) -> str:
        """Say how rare a text is for the group of its row, in one of the views of its column."""
        one = inputs.take(np.array([row]))
        return self.texts[column].words(_texts(one, column), view, self.tree.codes(one)[0])

    def _beyond(self, cells: Column, row: int) -> list[str]:
        """Say that a row has no time, or one for which nothing was tried."""
        axis = self.axis
        assert axis is not None
        if cells.is_null[row]:
            return [f"without {axis.column} (as at the end of training)"]
        if float(seconds(cells, axis.column)[row]) <= axis.end + axis.tried:
            return []
        return [f"({self.learned_until})"]

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
        for name, texts in wider.texts.items():
            wider.texts[name] = texts.plus_rows(_texts(table, name), rows.groups)
        return wider

    def plus(self, other: ContextModel) -> ContextModel:
        """Return what was learned of the rows of both."""
        design = self.design.plus(other.design)
        groups = self.groups.union(other.groups)
        mine, theirs = (each._with(design, groups) for each in (self, other))
        columns = {name: column.plus(theirs.columns[name]) for name, column in mine.columns.items()}
        texts = {name: column.plus(theirs.texts[name]) for name, column in mine.texts.items()}
        return replace(mine, columns=columns, texts=texts)

    def emptied(self) -> ContextModel:
        """Return the same without any row; groups and times stay known."""
        columns = {name: column.emptied() for name, column in self.columns.items()}
        texts = {name: column.plus(column, -1) for name, column in self.texts.items()}
        return replace(self, columns=columns, texts=texts)

    def _with(self, design: Design, groups: GroupIndex) -> ContextModel:
        """Return the same with further features and groups, which no row has had."""
        features = self.design.within(design)
        places = np.array([groups.keys[key] for key in self.groups.keys], dtype=np.int64)
        wider = ContextModel(self.given, groups, design, {}, self.window)
        for name, column in self.columns.items():
            wider.columns[name] = column.mapped(features, wider.layout, places)
        for name, texts in self.texts.items():
            wider.texts[name] = texts.mapped(places, wider.tree)
        return wider

    def left_out(self, table: Table, *, smaller_groups: bool = False) -> Table:
        """Return rows that were learned as `apply` does, each as if it had been left out.

        Some may be taken as if their group were as small as another.
        """
        rows, scores = self._rows(table), {}
        sizes = self._group_rows if smaller_groups else np.empty(0)
        smaller = SmallerGroups.draw(rows.groups, sizes)
        for name, column in self.columns.items():
            values = _numbers(table, name)
            found, alone = column.z(rows, values), column.left_out(rows, values)
            alone = np.where(np.isnan(alone), found, alone)
            alone = _with_atoms(alone, found) if _repeated(values) else alone
            if len(smaller.rows):
                alone[smaller.rows] = smaller.scores(column, rows, values)
            scores[name] = alone
        return self.scored(table, scores, left_out=True)

    @property
    def _group_rows(self) -> Floats:
        """How many rows each group has: those with a number, in the column with most."""
        found = [column.moments.group_rows for column in self.columns.values()]
        return np.max(found, axis=0) if found else np.empty(0)

    def _rows(self, table: Table) -> ContextRows:
        codes = self.groups.codes(table) if self.given.by else np.full(table.rows, -1)
        x = self.design.of(table)
        if self.axis is None:
            return ContextRows(x, codes)
        share, trend = self.axis.shares(table), TrendFeatures(self.axis)
        tenths = tenths_ahead(share, self.axis.last)
        return ContextRows(x, codes, share, tenths, trend.beyond(share))

    def scored(
        self, table: Table, scores: Mapping[str, Floats], *, left_out: bool = False
    ) -> Table:
        """Return the columns that are judged with these scores for numbers.

        Texts are looked at beside their group; with `left_out` as if rows had not been counted.
        """
        columns: dict[int, Column] = {}
        for name, found in scores.items():
            cells = table[name]
            assert isinstance(cells, NumberColumn)
            columns[table.names.index(name)] = NumberColumn(found, cells.raw, cells.form)
        if self.window is not None:
            columns |= self.window.neutral(table, scores)
        judged = [name for name in table.names if name not in self.given.names]
        result = replace(table.with_columns(columns).select(judged), inputs=table)
        return self.with_texts(result, left_out=left_out)

    def with_texts(self, judged: Table, *, left_out: bool = False) -> Table:
        """Return rows as `apply` does, after their texts were changed."""
        if not self.texts or judged.inputs is None:
            return judged
        path = self.tree.codes(judged.inputs)
        return judged.with_columns(
            {
                judged.names.index(name): own.apply(_texts(judged, name), path, left_out=left_out)
                for name, own in self.texts.items()
                if name in judged.names
            }
        )

    def usual_texts(self, inputs: Table, column: str) -> list[str | None]:
        """Return the value that most rows of the group of each row have; None if it is unknown."""
        groups, counts = self.groups.codes(inputs), self.texts[column].views[0]
        usual = {group: counts.most_frequent(group) for group in np.unique(groups).tolist()}
        return [usual[group] for group in groups.tolist()]


def _repeated(values: Floats) -> bool:
    """Whether many of the numbers of a column come several times, by some of its rows."""
    some = values[:: max(len(values) // _SOME_ROWS, 1)]
    some = some[~np.isnan(some)]
    return len(np.unique(some)) < 0.9 * len(some)


def _with_atoms(alone: Floats, found: Floats) -> Floats:
    """Return scores of rows left out; where several rows have the same, that which new rows have.

    New rows would else lie beside all atoms that were learned, which are no values to compare with.
    """
    _, place, times = np.unique(np.round(found, _DIGITS), return_inverse=True, return_counts=True)
    return np.where(times[place.ravel()] >= _ATOM, found, alone)


def _smoothed(scores: Floats) -> Floats:
    """Return scores over time that are few different ones, spread as by a kernel (Silverman).

    Rows of one time that have the same number, or of one origin, are one observation: what comes
    later will lie between these, not on them.
    """
    known = np.flatnonzero(~np.isnan(scores))
    different = len(np.unique(np.round(scores[known], _DIGITS)))
    if different > _FEW_SCORES or len(known) < _REPEATED * different:
        return scores
    width = 0.9 * float(scores[known].std()) * different**-0.2
    out = scores.copy()
    out[known] += width * np.random.RandomState(0).normal(size=len(known))
    return out


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


def _shown(cells: Column, row: int) -> str | None:
    """Return a cell as people read it: a number without digits that say nothing."""
    if isinstance(cells, NumberColumn) and not cells.is_null[row]:
        return number(float(cells.values[row]))
    return as_texts(cells).text(row)


def _texts(table: Table, name: str) -> TextColumn:
    cells = table[name]
    assert isinstance(cells, TextColumn)
    return cells
