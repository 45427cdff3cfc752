"""One column of numbers, given its context: what is expected, and how far off it is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from refold._typing import Booleans, Floats, Integers
from refold.base.once import once
from refold.columns.context.context_rows import ContextRows, ContextScores
from refold.columns.context.design import learned_apart
from refold.columns.context.mixed_model import CLOSEST, GroupSquares, MixedModel, Moments
from refold.columns.context.spread import GroupSpread, normal_scores, t_values
from refold.columns.context.trend import (
    FORMS,
    FeatureLayout,
    Foreseen,
    Form,
    origins,
    widened,
)

_ROWS = 20_000
_BLOCK = 16_384  # rows at once: what is computed of them stays in the processor's cache
# So many standard errors of its logarithm the spread of a group is widened for new rows.
_CAREFUL = 0.4
_AMONG_ALL = 3.0  # standard deviations: so far from all groups a new one may be


@dataclass(frozen=True, eq=False)
class ColumnContext:
    """One column of numbers, given the context."""

    log: bool  # whether numbers are taken as logarithms
    # middle, scale: ``y = (number - middle) / scale`` is what is modelled.
    middle: float
    scale: float
    form: Form  # of the trend
    # features, blocks: Which features of the context the model has; how many of each block.
    features: Integers
    blocks: list[int]
    spread_coef: Floats | None  # how the context multiplies the spread; None without features
    smallest: float  # no variance is smaller: what rounding to the last digit leaves
    ahead: Floats  # by what the spread is multiplied 0, 1, … tenths of the span after the end
    # moments, squares: Sums over all rows; the values in `squares` are without what the features
    # are worth by `reference`.
    moments: Moments
    squares: GroupSquares
    reference: Floats

    @classmethod
    def learn(
        cls,
        rows: ContextRows,
        values: Floats,
        layout: FeatureLayout,
        chosen: tuple[bool, Form] | None = None,
    ) -> tuple[ColumnContext, Floats]:
        """Learn from rows; return also their scores, as if each were new.

        Positive numbers are taken as logarithms where that makes them likelier, and the form of the
        trend is what foresees best, unless both were `chosen`. Rows without a group are not learned
        from where others have one. Over time, scores are those one tenth of the span ahead, NaN
        before there is enough to foresee anything.
        """
        seen = _learned_from(rows, values, layout.groups)
        every = bool(seen.all())
        known, numbers = (rows, values) if every else (rows.take(seen), values[seen])
        positive = bool((numbers > 0.0).all())
        log, form = chosen or (False, "none")
        foreseen = None
        if chosen is not None:
            if rows.share is not None:
                foreseen = cls._foresee(known, numbers, layout, log, form)
        elif rows.share is None:
            log = positive and cls._likelier_as_logarithm(known, numbers, layout)
        else:
            log, form, foreseen = cls._choose(known, numbers, layout, positive)
        column, z = cls._fit(known, numbers, layout, log=log, form=form)
        if foreseen is not None:
            if form != "none":
                column = replace(column, ahead=foreseen.spread_ahead())
            z = foreseen.one_ahead() / widened(column.ahead, np.ones(1))
        if every:
            return column, z
        scores = np.full(len(values), np.nan)
        scores[seen] = z
        scores[~seen] = column.z(rows.take(~seen), values[~seen])
        return column, scores

    @classmethod
    def _likelier_as_logarithm(
        cls, rows: ContextRows, values: Floats, layout: FeatureLayout
    ) -> bool:
        gains = []
        if len(values) > _ROWS:
            some = _whole_groups(rows.groups, layout.groups)
            rows, values = rows.take(some), values[some]
        for log in (True, False):
            column, z = cls._fit(rows, values, layout, log=log, form="none")
            gains.append(column.likelihood(values, z, column.scores(rows, values).spread))
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
                found = column.scores(rows.take(after), values[after])
                scores[after] = found.z
                likely[after] = column.likelihood(values[after], found.z, found.spread)
            z.append(scores)
            likelihood.append(likely)
        return Foreseen(z, likelihood, rows.share)

    @classmethod
    def _fit(
        cls, rows: ContextRows, values: Floats, layout: FeatureLayout, *, log: bool, form: Form
    ) -> tuple[ColumnContext, Floats]:
        """Learn from rows; return also their scores, each left out."""
        features, blocks = layout.of_form(form)
        x, groups = _columns(rows.x, features), rows.groups
        y = np.log(values) if log else values
        some = _some(y)
        middle = float(np.median(some))
        scale = float(np.abs(some - middle).mean()) or float(np.abs(y - middle).mean()) or 1.0
        y = y - middle
        y /= scale
        moments = Moments.of(x, y, groups, layout.groups)
        smallest = _rounding(y)
        model = MixedModel.solve(moments, blocks, smallest)
        spread_coef = None
        if len(blocks) > 1:
            residuals = _residuals(model, x, y, groups)
            logs = np.log(residuals**2 + smallest)  # their mean goes into the constant
            none = np.full(len(logs), -1)
            spread_coef = MixedModel.solve(Moments.of(x, logs, none, 0), blocks).coef
            spread_coef[0] = 0.0
        squares = _squares(x, y, groups, moments, model.coef, spread_coef)
        column = cls(
            log,
            middle,
            scale,
            form,
            features,
            blocks,
            spread_coef,
            smallest,
            np.ones(1),
            moments,
            squares,
            model.coef,
        )
        ColumnContext.model.keep(column, model)
        return column, column.left_out(rows, values)

    def factor(self, x: sparse.csr_array) -> Floats:
        """Return how the context of rows multiplies the spread."""
        return _factor(self.spread_coef, x)

    @once
    def model(self) -> MixedModel:
        """The expected value."""
        return MixedModel.solve(self.moments, self.blocks, self.smallest)

    @once
    def spread(self) -> GroupSpread:
        """The spread of groups."""
        model, moments = self.model, self.moments
        if len(moments.group_rows) == 0:
            left = moments.rows - float((model.inverse * moments.xx).sum())
            squares = float(self.squares.squares.sum())
            return GroupSpread.of_all(squares, max(left, 1e-3), self.smallest)
        off = self.squares.weight * model.group_residuals(moments) ** 2
        freedom = model.group_freedom(moments)
        return GroupSpread.of(self.squares.squares + off, freedom, self.smallest)

    def plus_rows(
        self, rows: ContextRows, values: Floats, groups: int, follow: bool
    ) -> ColumnContext:
        """Return the same with further rows; `follow` says that the level goes on with them."""
        seen = _learned_from(rows, values, groups)
        known = rows if seen.all() else rows.take(seen)
        x, own = _columns(known.x, self.features), known.groups
        y = self.transformed(values[seen])
        added = Moments.of(x, y, own, groups)
        moments = self.moments.plus(added)
        reference = self.reference
        if follow:
            reference = MixedModel.solve(moments, self.blocks, self.smallest).coef
        squares = _squares(x, y, own, added, reference, self.spread_coef)
        return replace(
            self, moments=moments, squares=self.squares.plus(squares), reference=reference
        )

    def plus(self, other: ColumnContext) -> ColumnContext:
        """Return what was learned of the rows of both; groups have the same numbers in both."""
        mine, theirs = ((c.log, c.middle, c.scale, c.form) for c in (self, other))
        if mine != theirs:
            raise learned_apart()
        return replace(
            self,
            moments=self.moments.plus(other.moments),
            squares=self.squares.plus(other.squares),
        )

    def emptied(self) -> ColumnContext:
        """Return the same without any row."""
        return replace(
            self,
            moments=self.moments.plus(self.moments, -1),
            squares=self.squares.plus(self.squares, -1),
        )

    def mapped(
        self, features: sparse.csr_array, layout: FeatureLayout, groups: Integers
    ) -> ColumnContext:
        """Return the same for other features, ``x @ features``, and other numbers of groups."""
        own, blocks = layout.of_form(self.form)
        turned = features[self.features][:, own].tocsr()
        # What several steps of a level were worth is worth the step that they have become.
        worth = (turned != 0.0).astype(np.float64).T
        squares = self.squares.numbered(groups, layout.groups) if layout.groups else self.squares
        return replace(
            self,
            features=own,
            blocks=blocks,
            spread_coef=None if self.spread_coef is None else worth @ self.spread_coef,
            moments=self.moments.mapped(turned).numbered(groups, layout.groups),
            squares=squares,
            reference=worth @ self.reference,
        )

    def left_out(self, rows: ContextRows, values: Floats) -> Floats:
        """Return the scores of rows that were learned, each left out; NaN where it was not."""
        out = np.empty(len(values))
        for part in _parts(len(values)):
            out[part] = self._left_out(rows, values, part)
        return out

    def _left_out(self, rows: ContextRows, values: Floats, part: slice) -> Floats:
        groups, factor = rows.groups[part], None
        if self._of_groups is not None:
            expected, leverage = (each[groups] for each in self._of_groups[:2])
        else:
            x = _columns(rows.x[part], self.features)
            expected, leverage = self.model.expected(x, groups)
            factor = None if self.spread_coef is None else _factor(self.spread_coef, x)
        residuals = (self.transformed(values[part]) - expected) / _unlearned(leverage)
        residuals = self.but_for_rounding(residuals)
        if factor is not None:
            residuals = residuals / factor
        variance, freedom = self.spread.left_out(residuals, groups)
        z = normal_scores(residuals / np.sqrt(variance), freedom)
        if len(self.moments.group_rows):
            z[groups < 0] = np.nan
        return z

    def z(self, rows: ContextRows, values: Floats) -> Floats:
        """Return how far new rows are off, in standard deviations."""
        out = np.empty(len(values))
        for part in _parts(len(values)):
            out[part] = self._scores(rows, values, part).z
        return out

    def scores(self, rows: ContextRows, values: Floats) -> ContextScores:
        """Return the scores of new rows."""
        parts = [self._scores(rows, values, part) for part in _parts(len(values))]
        names = ContextScores.__dataclass_fields__
        return ContextScores(*(np.concatenate([vars(p)[name] for p in parts]) for name in names))

    def _scores(self, rows: ContextRows, values: Floats, part: slice) -> ContextScores:
        groups = rows.groups[part]
        if self._of_groups is not None:
            expected, _, width, freedom = (each[groups] for each in self._of_groups)
        else:
            expected, _, width, freedom = self._distributions(rows.take(part))
        with np.errstate(over="ignore"):  # a number may be as large as numbers can be
            residuals = self.transformed(values[part]) - expected
            if self.fixed or (len(self.moments.group_rows) and (groups < 0).any()):
                within = self.as_expected(groups, width, freedom)
                residuals = np.where(np.abs(residuals) < within, 0.0, residuals)
            z = normal_scores(residuals / width, freedom)
        z = np.where(np.isinf(values[part]), values[part], z)  # no number: it is refused later
        return ContextScores(z, expected, width, freedom)

    def _distributions(self, rows: ContextRows) -> tuple[Floats, Floats, Floats, Floats]:
        """Return expected value, leverage, spread and degrees of freedom of new rows."""
        x = _columns(rows.x, self.features)
        expected, leverage = self.model.expected(x, rows.groups)
        variance, freedom = self.spread.of_rows(rows.groups)
        factor = _factor(self.spread_coef, x)
        # How well spread and level of the group are known: in the worst groups they are too small.
        error = np.sqrt(0.5 / freedom + 0.25 * np.minimum(leverage, 1.0))
        careful = np.where(rows.groups >= 0, np.exp(_CAREFUL * error), 1.0)
        beyond = leverage
        if rows.steps is not None and self.form == "level":
            beyond = leverage + rows.steps / self.model.ridges[-1]
        width = careful * np.sqrt(variance * factor**2 + self.model.variance * beyond)
        if rows.tenths is not None and len(self.ahead) > 1:
            width *= widened(self.ahead, rows.tenths)
        return expected, leverage, width, freedom

    @once
    def _of_groups(self) -> tuple[Floats, Floats, Floats, Floats] | None:
        """Where rows of a group are all alike: their distribution, group by group, none last."""
        groups = len(self.moments.group_rows)
        if len(self.features) > 1 or groups == 0:
            return None
        ones = sparse.csr_array(np.ones((groups + 1, 1)))
        return self._distributions(ContextRows(ones, np.append(np.arange(groups), -1)))

    @property
    def fixed(self) -> bool:
        """Whether all rows of a group have the same number, but for rounding.

        Shrinkage to the other groups would be all that is left, and would tell groups apart.
        """
        groups = len(self.moments.group_rows) > 0
        return groups and self.model.variance <= 4.0 * self.smallest

    def but_for_rounding(self, residuals: Floats) -> Floats:
        """Return residuals of learned rows; 0 where groups fix the number and it is rounded."""
        if not self.fixed:
            return residuals
        return np.where(np.abs(residuals) < self._rounding, 0.0, residuals)

    def as_expected(self, groups: Integers, spread: Floats, freedom: Floats) -> Floats:
        """Return how far numbers may be off to count as expected.

        It is rounding where groups fix the number. Of a group that is not known nothing is known
        but the range of all: its numbers need not go together as those of known ones do.
        """
        within = np.full(len(groups), self._rounding if self.fixed else 0.0)
        new = np.flatnonzero(groups < 0)
        among_all = spread[new] * t_values(np.full(len(new), _AMONG_ALL), freedom[new])
        within[new] = np.maximum(within[new], among_all)
        return within

    @property
    def _rounding(self) -> float:
        """A quarter of the smallest step between values."""
        return 0.25 * float(np.sqrt(12.0 * self.smallest))

    def likelihood(self, values: Floats, z: Floats, spread: Floats) -> Floats:
        """Return the log density of numbers with these scores; what is far out counts as 5."""
        density = -0.5 * np.minimum(np.abs(z), 5.0) ** 2 - np.log(spread * self.scale)
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


def _columns(x: sparse.csr_array, features: Integers) -> sparse.csr_array:
    """Return some of the features of rows, without a copy where these are all."""
    return x if len(features) == x.shape[1] else x[:, features]


def _some(values: Floats) -> Floats:
    """Return some thousand values: enough to tell in which units a column is."""
    return values[:: max(len(values) // _ROWS, 1)]


def _whole_groups(groups: Integers, n_groups: int) -> Booleans:
    """Choose some thousand rows: all of some groups, or every so many without groups."""
    if n_groups == 0:
        return np.asarray(np.arange(len(groups)) % (len(groups) // _ROWS) == 0)
    sizes = np.bincount(groups, minlength=n_groups)
    order = np.random.RandomState(0).permutation(n_groups)
    chosen = np.zeros(n_groups, dtype=np.bool_)
    chosen[order[: int(np.searchsorted(np.cumsum(sizes[order]), _ROWS)) + 1]] = True
    return np.asarray(chosen[groups])


def _learned_from(rows: ContextRows, values: Floats, groups: int) -> Booleans:
    """Say which rows are learned from: those with a value and, where there are groups, with one."""
    return np.asarray(~np.isnan(values) & ((rows.groups >= 0) | (groups == 0)))


def _squares(
    x: sparse.csr_array,
    y: Floats,
    groups: Integers,
    moments: Moments,
    reference: Floats,
    spread_coef: Floats | None,
) -> GroupSquares:
    """Add up the squares within groups; without groups all rows are one."""
    n_groups = len(moments.group_rows)
    if n_groups and x.shape[1] == 1:
        return GroupSquares.of_alike(y, groups, moments, float(reference[0]))
    weights = np.ones(len(y)) if spread_coef is None else _factor(spread_coef, x) ** -2
    places = groups if n_groups else np.zeros(len(y), dtype=np.int64)
    return GroupSquares.of(y - x @ reference, weights, places, max(n_groups, 1))


def _residuals(model: MixedModel, x: sparse.csr_array, y: Floats, groups: Integers) -> Floats:
    """Return residuals of rows that were learned, of equal variance."""
    out = np.empty(len(y))
    for part in _parts(len(y)):  # they become dense
        expected, leverage = model.expected(x[part], groups[part])
        out[part] = (y[part] - expected) / _unlearned(leverage)
    return out


def _unlearned(leverage: Floats) -> Floats:
    """Return by what a residual is smaller because its row was learned."""
    return np.sqrt(1.0 - np.minimum(leverage, CLOSEST))


def _parts(rows: int) -> list[slice]:
    """Divide rows."""
    return [slice(begin, begin + _BLOCK) for begin in range(0, max(rows, 1), _BLOCK)]


def _factor(spread_coef: Floats | None, x: sparse.csr_array) -> Floats:
    """Return how the context multiplies the spread."""
    if spread_coef is None:
        return np.ones(x.shape[0])
    return np.asarray(np.exp(0.5 * (x @ spread_coef)))


def _rounding(y: Floats) -> float:
    """Return the variance that rounding to the smallest step between values leaves."""
    steps = np.diff(np.unique(_some(y)))
    return max(float(steps.min()) ** 2 / 12.0 if len(steps) else 0.0, 1e-24)
