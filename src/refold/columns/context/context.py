"""What each number should be, given its context, and how far off it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from refold._typing import Booleans, Floats, Integers
from refold.base.errors import UserError
from refold.columns.context.design import (
    CalendarFeatures,
    ContextFeatures,
    Design,
    GroupIndex,
    LevelFeatures,
    NumberFeatures,
)
from refold.columns.context.mixed_model import MixedModel, Moments
from refold.columns.context.spread import GroupSpread, normal_scores, t_values
from refold.columns.context.trend import (
    FIRST_ORIGIN,
    FORMS,
    FeatureLayout,
    Foreseen,
    Form,
    TimeAxis,
    TrendFeatures,
    beyond,
    origins,
    tenths_ahead,
    widened,
)
from refold.columns.table import Column, DateColumn, NumberColumn, Table, as_texts

# The expectation of the logarithm of a squared standard normal value, with its sign turned.
_LOG_CHI_SQUARE = 1.2703628454614782
_CLOSEST = 0.999
_ROWS = 20_000
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, eq=False)
class ContextScores:
    """How far numbers are from what their context lets expect."""

    z: Floats  # (n,): in standard deviations, as of a normal distribution
    # expected, spread, freedom: (n,): ``t = (y - expected) / spread`` has a t distribution with so
    # many degrees of freedom; y is the number, or its logarithm, in the units of the model.
    expected: Floats
    spread: Floats
    freedom: Floats


@dataclass(frozen=True, eq=False)
class ContextRows:
    """Rows to learn from or to judge: features of their context, group, and when they were."""

    x: sparse.csr_array
    groups: Integers
    share: Floats | None

    def take(self, rows: Booleans) -> ContextRows:
        """Return some of them."""
        share = None if self.share is None else self.share[rows]
        return ContextRows(self.x[rows], self.groups[rows], share)


@dataclass(frozen=True, eq=False)
class ColumnContext:
    """One column of numbers, given the context."""

    log: bool  # whether numbers are taken as logarithms
    # middle, scale: ``y = (number - middle) / scale`` is what is modelled.
    middle: float
    scale: float
    form: Form  # of the trend
    features: Integers  # which features of the context the model has
    # model, spread: The expected value; the spread of groups.
    model: MixedModel
    spread: GroupSpread
    spread_coef: Floats | None  # how the context multiplies the spread; None without features
    ahead: Floats  # by what the spread is multiplied 0, 1, … tenths of the span after the end

    @classmethod
    def learn(
        cls, rows: ContextRows, values: Floats, layout: FeatureLayout
    ) -> tuple[ColumnContext, Floats]:
        """Learn from rows; return also their scores, as if each were new.

        Positive numbers are taken as logarithms where that makes them likelier. Rows without a
        group are not learned from where others have one. Over time, scores are those one tenth of
        the span ahead, NaN before there is enough to foresee anything.
        """
        seen = ~np.isnan(values) & ((rows.groups >= 0) | (layout.groups == 0))
        known, numbers = rows.take(seen), values[seen]
        positive = bool((numbers > 0.0).all())
        form: Form = "none"
        foreseen = None
        if rows.share is None:
            log = positive and cls._likelier_as_logarithm(known, numbers, layout)
        else:
            log, form, foreseen = cls._choose(known, numbers, layout, positive)
        column, z = cls._fit(known, numbers, layout, log=log, form=form)
        if foreseen is not None:
            if form != "none":
                column = replace(column, ahead=foreseen.spread_ahead())
            z = foreseen.one_ahead() / widened(column.ahead, np.ones(1))
        scores = column.scores(rows, values).z
        scores[seen] = z
        return column, scores

    @classmethod
    def _likelier_as_logarithm(
        cls, rows: ContextRows, values: Floats, layout: FeatureLayout
    ) -> bool:
        gains = []
        for log in (True, False):
            column, z = cls._fit(rows, values, layout, log=log, form="none")
            gains.append(column.likelihood(rows, values, z))
        gain = gains[0] - gains[1]
        return bool(gain.mean() > 2.0 / np.sqrt(len(gain)))

    @classmethod
    def _choose(
        cls, rows: ContextRows, values: Floats, layout: FeatureLayout, positive: bool
    ) -> tuple[bool, Form, Foreseen]:
        """Return whether logarithms, and which form of the trend, foresee later rows best."""
        best: tuple[bool, Form, Foreseen] | None = None
        for log in (False, True) if positive else (False,):
            form: Form = "none"
            found = cls._foresee(rows, values, layout, log, "none")
            for another in FORMS[1:]:
                other = cls._foresee(rows, values, layout, log, another)
                if other.better_than(found):
                    form, found = another, other
            if best is None or found.better_than(best[2]):
                best = log, form, found
        assert best is not None
        return best

    @classmethod
    def _foresee(
        cls, rows: ContextRows, values: Floats, layout: FeatureLayout, log: bool, form: Form
    ) -> Foreseen:
        assert rows.share is not None
        z, likelihood = [], []
        for before, after in origins(rows.share):
            scores, likely = np.full(len(values), np.nan), np.full(len(values), np.nan)
            if before.any() and after.any():
                column, _ = cls._fit(rows.take(before), values[before], layout, log=log, form=form)
                later = rows.take(after)
                scores[after] = column.scores(later, values[after]).z
                likely[after] = column.likelihood(later, values[after], scores[after])
            z.append(scores)
            likelihood.append(likely)
        return Foreseen(z, likelihood, rows.share)

    @classmethod
    def _fit(
        cls, rows: ContextRows, values: Floats, layout: FeatureLayout, *, log: bool, form: Form
    ) -> tuple[ColumnContext, Floats]:
        """Learn from rows; return also their scores, each left out."""
        features, blocks = layout.of_form(form)
        x, groups = rows.x[:, features], rows.groups
        y = np.log(values) if log else values
        middle = float(np.median(y))
        scale = float(np.abs(y - middle).mean()) or 1.0
        y = (y - middle) / scale
        model = MixedModel.solve(Moments.of(x, y, groups, layout.groups), blocks)
        expected, leverage = _expected(model, x, groups)
        leverage = np.minimum(leverage, _CLOSEST)
        residuals = (y - expected) / np.sqrt(1.0 - leverage)
        smallest = _rounding(y)
        spread_coef = None
        if len(blocks) > 1:
            logs = np.log(residuals**2 + smallest) + _LOG_CHI_SQUARE
            none = np.full(len(logs), -1)
            spread_coef = MixedModel.solve(Moments.of(x, logs, none, 0), blocks).coef
            spread_coef[0] = 0.0
        residuals /= _factor(spread_coef, x)
        spread = GroupSpread.of(residuals, leverage, groups, layout.groups, smallest)
        variance, freedom = spread.left_out(residuals, groups)
        z = normal_scores(residuals / np.sqrt(variance), freedom)
        return cls(log, middle, scale, form, features, model, spread, spread_coef, np.ones(1)), z

    def scores(self, rows: ContextRows, values: Floats) -> ContextScores:
        """Return the scores of new rows."""
        x, y = rows.x[:, self.features], self.transformed(values)
        expected, leverage = _expected(self.model, x, rows.groups)
        if rows.share is not None and self.form == "level":
            leverage = leverage + beyond(rows.share) / self.model.ridges[-1]
        variance, freedom = self.spread.of_rows(rows.groups)
        factor = _factor(self.spread_coef, x)
        width = np.sqrt(variance * factor**2 + self.model.variance * leverage)
        if rows.share is not None and len(self.ahead) > 1:
            width *= widened(self.ahead, tenths_ahead(rows.share))
        return ContextScores(
            normal_scores((y - expected) / width, freedom), expected, width, freedom
        )

    def likelihood(self, rows: ContextRows, values: Floats, z: Floats) -> Floats:
        """Return the log density of numbers with these scores; what is far out counts as 5."""
        width = self.scores(rows, values).spread * self.scale
        density = -0.5 * np.minimum(np.abs(z), 5.0) ** 2 - np.log(width)
        return density - np.log(values) if self.log else density

    def transformed(self, values: Floats) -> Floats:
        """Return numbers in the units of the model; what has no logarithm is far below all."""
        if self.log:
            values = np.log(np.maximum(values, np.finfo(np.float64).tiny))
        return (values - self.middle) / self.scale

    def number(self, y: float) -> float:
        """Return a value of the model in the units of the column."""
        y = y * self.scale + self.middle
        return float(np.exp(min(y, 700.0))) if self.log else float(y)


def _expected(model: MixedModel, x: sparse.csr_array, groups: Integers) -> tuple[Floats, Floats]:
    """Return expected values and leverages, some thousand rows at a time: they become dense."""
    expected, leverage = np.empty(len(groups)), np.empty(len(groups))
    for begin in range(0, len(groups), _ROWS):
        part = slice(begin, begin + _ROWS)
        expected[part], leverage[part] = model.expected(x[part], groups[part])
    return expected, leverage


def _factor(spread_coef: Floats | None, x: sparse.csr_array) -> Floats:
    """Return how the context multiplies the spread."""
    if spread_coef is None:
        return np.ones(x.shape[0])
    return np.asarray(np.exp(0.5 * (x @ spread_coef)))


def _rounding(y: Floats) -> float:
    """Return the variance that rounding to the smallest step between values leaves."""
    steps = np.diff(np.unique(y))
    return max(float(steps.min()) ** 2 / 12.0 if len(steps) else 0.0, 1e-24)


@dataclass(frozen=True, eq=False)
class ContextUnits:
    """Turns scores of a column into numbers in its own unit, row by row."""

    column: ColumnContext
    scores: ContextScores
    values: Floats

    def number(self, row: int, z: float) -> float:
        """Return the number that would have this score in the row."""
        found = self.scores
        t = float(t_values(np.array([z]), found.freedom[row : row + 1])[0])
        value = self.column.number(found.expected[row] + found.spread[row] * t)
        return round(value, self._digits(row))

    def numbers(self, rows: Integers, z: Floats) -> Floats:
        """Return the numbers that would have these scores in rows, not rounded."""
        found = self.scores
        finite = np.where(np.isfinite(z), z, 0.0)
        t = t_values(finite, found.freedom[rows])
        y = (found.expected[rows] + found.spread[rows] * t) * self.column.scale + self.column.middle
        numbers = np.exp(np.minimum(y, 700.0)) if self.column.log else y
        return np.where(np.isfinite(z), numbers, np.nan)

    def _digits(self, row: int) -> int:
        """Return how many digits behind the point a hundredth of the spread has."""
        middle, spread = self.scores.expected[row], self.scores.spread[row]
        width = abs(self.column.number(middle + spread) - self.column.number(middle))
        return int(np.clip(np.ceil(2.0 - np.log10(width)), 0, 300)) if width > 0.0 else 15


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
        if set(columns) <= set(self.names):
            raise UserError(
                "by=, over= and context= name all columns: there is none left to judge."
            )


@dataclass(frozen=True, eq=False)
class ContextModel:
    """What numbers should be in each context."""

    given: ContextColumns  # the columns of the context
    groups: GroupIndex  # the groups that were seen
    design: Design  # features of the context
    axis: TimeAxis | None  # the span of time that was learned
    columns: dict[str, ColumnContext]  # the columns of numbers that are judged

    @classmethod
    def learn(cls, given: ContextColumns, table: Table) -> tuple[ContextModel, Table]:
        """Learn from rows that were parsed; return those to judge by too, numbers as scores."""
        groups = GroupIndex.learn(table, given.by) if given.by else GroupIndex((), {})
        parts: list[ContextFeatures] = [
            LevelFeatures.learn(table, given.by[:depth]) for depth in range(1, len(given.by))
        ]
        parts += [_features(table, name) for name in given.context]
        axis = None
        for name in given.over:
            if isinstance(table[name], DateColumn):
                parts.append(CalendarFeatures.learn(table, name))
            axis = TimeAxis.learn(table, name)
            parts.append(TrendFeatures(axis))
        model = cls(given, groups, Design(tuple(parts)), axis, {})
        layout, rows, scores = model.layout, model._rows(table), {}
        for name, cells in table.items():
            if isinstance(cells, NumberColumn) and name not in given.names:
                model.columns[name], scores[name] = ColumnContext.learn(rows, cells.values, layout)
        learned = model._scored(table, scores)
        if rows.share is not None:  # of the first ones nothing was foreseen
            learned = learned.take(np.flatnonzero(rows.share > FIRST_ORIGIN))
        return model, learned

    @property
    def layout(self) -> FeatureLayout:
        """How the features are laid out."""
        blocks = self.design.blocks
        trend = -1 if self.axis is None else len(blocks) - 2  # it comes last
        return FeatureLayout(blocks, trend, len(self.groups.keys))

    def apply(self, table: Table) -> Table:
        """Return the columns that are judged, numbers as scores."""
        rows, scores = self._rows(table), {}
        for name, column in self.columns.items():
            cells = table[name]
            assert isinstance(cells, NumberColumn)
            scores[name] = column.scores(rows, cells.values).z
        return self._scored(table, scores)

    def units(self, table: Table) -> dict[str, ContextUnits]:
        """Return for the columns of rows, parsed, what turns scores into numbers again."""
        rows = self._rows(table)
        found = {}
        for name, column in self.columns.items():
            cells = table[name]
            assert isinstance(cells, NumberColumn)
            found[name] = ContextUnits(column, column.scores(rows, cells.values), cells.values)
        return found

    def described(self, table: Table, row: int) -> str:
        """Say what the context of a row is: "for machine M17 at Friday 01:00 with load 1.78"."""
        parts = []
        if self.given.by:
            names = [as_texts(table[name]).text(row) for name in self.given.by]
            known = int(self.groups.codes(table.take(np.array([row])))[0]) >= 0
            called = " ".join(f"{n} {t}" for n, t in zip(self.given.by, names, strict=True) if t)
            parts.append(f"for {called}" if called else f"without {self.given.by[-1]}")
            if not known:
                parts[-1] += " (never seen: as for all)" if called else " (as for all)"
        for name in self.given.over:
            cells = table[name]
            if isinstance(cells, DateColumn) and not cells.is_null[row]:
                day = _WEEKDAYS[int(cells.weekday[row])]
                clock = f" {int(cells.hour[row]):02d}:00" if cells.has_clock else ""
                parts.append(f"at {day}{clock}" if cells.has_clock else f"on {day}")
        others = [(name, as_texts(table[name]).text(row)) for name in self.given.context]
        if any(text for _, text in others):
            parts.append("with " + ", ".join(f"{name} {text}" for name, text in others if text))
        return " ".join(parts)

    def _rows(self, table: Table) -> ContextRows:
        codes = self.groups.codes(table) if self.given.by else np.full(table.rows, -1)
        share = None if self.axis is None else self.axis.shares(table)
        return ContextRows(self.design.of(table), codes, share)

    def _scored(self, table: Table, scores: dict[str, Floats]) -> Table:
        columns: dict[int, Column] = {}
        for name, found in scores.items():
            cells = table[name]
            assert isinstance(cells, NumberColumn)
            columns[table.names.index(name)] = NumberColumn(found, cells)
        judged = [name for name in table.names if name not in self.given.names]
        return replace(table.with_columns(columns).select(judged), inputs=table)


def _features(table: Table, name: str) -> ContextFeatures:
    cells = table[name]
    if isinstance(cells, NumberColumn):
        return NumberFeatures.learn(table, name)
    if isinstance(cells, DateColumn):
        return CalendarFeatures.learn(table, name)
    return LevelFeatures.learn(table, [name])
