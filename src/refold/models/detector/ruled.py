"""Rows as they are judged by the rules of the user's: here, and nowhere else, these are applied.

A number whose differences do not count, downwards or up to a tolerance, may as well be any value
that differs so. It is taken as the one of these that is nearest to a usual value or, where columns
depend on each other, to what the others lead to expect, if the row is nearer to normal then.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from refold._typing import Booleans, Floats, Integers
from refold.base.advice import Advice
from refold.base.errors import UserError
from refold.base.findings import Finding
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.encoder import TableEncoder
from refold.columns.summary import decimals_of
from refold.columns.table import NumberColumn, Table
from refold.decisions.rules import ColumnRule, Rules
from refold.decisions.thresholds import Calibration
from refold.models.creased import CreasedScorer
from refold.models.detector.scorer import TableScorer, pack
from refold.models.detector.trim import counts_without
from refold.models.scoring import FoldScorer, Scorer

if TYPE_CHECKING:
    from refold.models.detector.learned import LearnedTable

# Rows are left out in so many parts to calibrate with rules: more of few rows, whose models need
# nearly all of them.
_FOLDS, _FOLDS_OF_FEW, _FEW = 5, 10, 2_000
# Models are made until so many rows were left out, and so many lie beyond the threshold.
_ENOUGH, _ENOUGH_BEYOND = 10_000, 100
# So many values of a column are looked at for a usual one: no more than a quarter add less.
_TRIED, _TYPICAL = 257, 0.25


def judged_rows(
    scorer: TableScorer, encoder: TableEncoder, table: Table, *, n_jobs: int | None = None
) -> Floats:
    """Return the rows of a table as a TableScorer takes them; NaN in a row without any value."""
    counts, rules = encoder.counts, scorer.rules
    table = counts.plan.parse(table)
    if not rules:
        packed = pack(counts.encode(table, n_jobs=n_jobs))
        return _beside(packed, _scales(scorer, encoder, table))
    as_read, days = _as_read(rules, encoder, table)
    uncounted = np.zeros((table.rows, len(table.names)), dtype=np.bool_)
    violated = np.zeros_like(uncounted)
    for rule in rules.columns:
        k = counts.plan.names.index(rule.name) if rule.name in counts.plan.names else -1
        for mute in rule.mutes if k >= 0 else ():
            uncounted[:, k] |= mute.holds(as_read, days)
        for condition, specification in rule.specifications if k >= 0 else ():
            holds = condition.holds(as_read)
            violated[:, k] |= holds & specification.violated(as_read[rule.name])
    violated &= ~uncounted
    rows = _Rows(scorer, encoder, table, uncounted, n_jobs)
    for rule in rules.columns:
        if rule.moves and rule.name in counts.plan.names:
            rows.move(rule, as_read)
    flags = np.column_stack([violated, rules.muted(as_read, days)]).astype(np.float64)
    flags[np.isnan(rows.packed).all(axis=1) & ~flags.any(axis=1)] = np.nan
    return _beside(rows.packed, _scales(scorer, encoder, table), flags)


def _scales(scorer: TableScorer, encoder: TableEncoder, table: Table) -> Floats:
    """Return by what the distance of each row is divided, in one column, or none."""
    if scorer.group_scales is None:
        return np.empty((table.rows, 0))
    if encoder.context is None or table.inputs is None:  # rows of no group
        return np.ones((table.rows, 1))
    return scorer.group_scales[encoder.context.groups.codes(table.as_read)][:, None]


def _beside(packed: Floats, scales: Floats, flags: Floats | None = None) -> Floats:
    """Put what is said of whole rows behind their features; NaN where there is no value."""
    parts = [part for part in (scales, flags) if part is not None and part.shape[1]]
    if not parts:
        return packed
    empty = np.isnan(packed).all(axis=1)
    if scales.shape[1] and empty.any():
        scales[empty] = np.nan
    return np.asfortranarray(np.hstack([packed, *parts]))


def _as_read(
    rules: Rules, encoder: TableEncoder, table: Table
) -> tuple[Table, NDArray[np.datetime64]]:
    """Return rows, parsed, as they came, and the day of each."""
    over = () if encoder.context is None else encoder.context.given.over
    return table.as_read, rules.row_days(table.as_read, over)


def muting_rules(rules: Rules, encoder: TableEncoder, row: Table) -> str:
    """Return the rules that mute a table of one row, in words."""
    return rules.muted_by(*_as_read(rules, encoder, row))


@dataclass(eq=False)
class _Rows:
    """Encoded rows while other values are tried."""

    scorer: TableScorer
    encoder: TableEncoder
    table: Table
    uncounted: Booleans
    n_jobs: int | None

    def __post_init__(self) -> None:
        self.packed = self._encoded(self.table, self.uncounted)
        for k in np.flatnonzero(self.uncounted.any(axis=0)).tolist():
            self._take_likeliest(k)

    def _take_likeliest(self, k: int) -> None:
        """Take the category with which a row is nearest to normal where its own does not count."""
        plan = self.encoder.counts.plan
        features = np.flatnonzero(plan.leading == k)
        if not len(plan.used[k].indicators) or not isinstance(self.scorer.inside, CreasedScorer):
            return
        rows = np.flatnonzero(self.uncounted[:, k])
        best, least = self.packed[rows], np.full(len(rows), np.inf)
        for values in (*np.eye(len(features)), np.zeros(len(features))):
            tried = self.packed[rows]
            tried[:, features] = values
            distances = self.scorer.distances(tried)
            nearer = distances < least
            best[nearer], least[nearer] = tried[nearer], distances[nearer]
        self.packed[rows] = best

    def _encoded(self, table: Table, uncounted: Booleans) -> Floats:
        """Encode rows; a cell that does not count is as expected, and no surprise.

        It says nothing about the cells beside it either.
        """
        encoded = self.encoder.counts.encode(table, n_jobs=self.n_jobs)
        if uncounted.any():
            plan = self.encoder.counts.plan
            numbers = np.where(uncounted[:, plan.numbers], np.nan, encoded.numbers)
            magnitudes, novel = encoded.magnitudes, encoded.novel & ~uncounted
            if self.scorer.usual is not None:
                magnitudes = np.where(uncounted, self.scorer.usual, magnitudes)
            encoded = replace(encoded, numbers=numbers, magnitudes=magnitudes, novel=novel)
        return pack(encoded)

    def move(self, rule: ColumnRule, as_read: Table) -> None:
        """Take other values of a column where they differ in what does not count."""
        plan, centers = self.encoder.counts.plan, self.scorer.centers
        k = plan.names.index(rule.name)
        place = int(np.searchsorted(plan.numbers, k))
        column = self.table.columns[k]
        assert isinstance(column, NumberColumn)
        assert centers is not None
        low, high = self._interval(rule, as_read, column.values, place)
        dependent = isinstance(self.scorer.inside, CreasedScorer)
        targets = [np.full(len(low), centers[place])]
        if dependent:
            targets.append(self._expected(place, k))
        for target in targets:
            column = self.table.columns[k]
            assert isinstance(column, NumberColumn)
            values = np.clip(target, low, high)  # NaN where there is none
            tried = np.flatnonzero((values != column.values) & ~np.isnan(values))
            if len(tried):
                self._try(k, values, tried, always=not dependent and rule.tolerance is None)

    def _try(self, k: int, values: Floats, tried: Integers, *, always: bool) -> None:
        """Take other values of some rows, always or if the row is nearer to normal with them."""
        some = self.table.take(tried).with_columns({k: NumberColumn(values[tried])})
        packed = self._encoded(some, self.uncounted[tried])
        better = np.ones(len(tried), dtype=np.bool_)
        if not always:
            before = self.scorer.distances(self.packed[tried])
            better = self.scorer.distances(packed) < before
        taken = tried[better]
        if len(taken):
            self.packed = self.packed.copy()
            self.packed[taken] = packed[better]
            column = self.table.columns[k]
            assert isinstance(column, NumberColumn)
            whole = column.values.copy()
            whole[taken] = values[taken]
            self.table = self.table.with_columns({k: NumberColumn(whole)})

    def _interval(
        self, rule: ColumnRule, as_read: Table, values: Floats, place: int
    ) -> tuple[Floats, Floats]:
        """Return from where to where a value differs from each row's in what does not count."""
        low, high = values.copy(), values.copy()
        if rule.tolerance is not None:
            raw, steps = as_read[rule.name], self.scorer.steps
            assert isinstance(raw, NumberColumn)
            assert steps is not None
            width = rule.tolerance.width(raw.values, float(steps[place]))
            low = self._in_context(rule.name, as_read, raw.values - width)
            high = self._in_context(rule.name, as_read, raw.values + width)
        if rule.direction == "high":
            high[:] = np.inf
        elif rule.direction == "low":
            low[:] = -np.inf
        return low, high

    def _in_context(self, name: str, as_read: Table, values: Floats) -> Floats:
        """Return numbers as they are judged: where there is a context, how far off they are."""
        context = self.encoder.context
        if context is None or name not in context.columns:
            return values
        other = as_read.with_columns({as_read.names.index(name): NumberColumn(values)})
        column = context.apply(other)[name]
        assert isinstance(column, NumberColumn)
        return column.values

    def _expected(self, place: int, k: int) -> Floats:
        """Return what the other cells of each row lead to expect of a number."""
        inside = self.scorer.inside
        assert isinstance(inside, CreasedScorer)
        creases = inside.scoring.creases
        if not creases.varying[place]:
            return np.full(len(self.packed), creases.center[place])
        rows = self.scorer.unpack(self.packed)[0].astype(np.float64, copy=True)
        rows[:, place] = np.nan
        if self.scorer.width > len(self.scorer.leading):
            rows[:, len(self.scorer.leading) + k] = np.nan
        Z = creases.standardized(np.ascontiguousarray(rows))[0]
        at = int(np.count_nonzero(creases.varying[:place]))
        return np.asarray(creases.center[place] + Z[:, at] * creases.scale[place])


def rule_findings(rules: Rules, encoder: TableEncoder, table: Table) -> Iterator[Finding]:
    """Say which rules hold for no training row, and which reject some of them."""
    if not rules:
        return
    as_read, _ = _as_read(rules, encoder, encoder.counts.plan.parse(table))
    n = as_read.rows
    for place, condition in rules.conditions:
        if not condition.holds(as_read).any():
            yield Finding(
                kind="idle-rule",
                message=f"rules: {place}: {condition.text} holds for none of the {n:,} training "
                "rows: nothing could be tried.",
                advice=Advice("Check its spelling, unless it is meant for later rows."),
            )
    for rule in rules.columns:
        out = np.zeros(n, dtype=np.bool_)
        for condition, specification in rule.specifications:
            out |= condition.holds(as_read) & specification.violated(as_read[rule.name])
        if out.any():
            rows = np.flatnonzero(out)
            yield Finding(
                kind="outside-rule",
                column=rule.name,
                rows=tuple(rows.tolist()),
                message=f"{len(rows):,} of {n:,} training rows lie outside the limits that you set "
                f"for {rule.name}: they are outliers by the rule, and count for the rate.",
                advice=Advice("Leave them out of training, or loosen the limits."),
            )


def centers_and_steps(counts: TableCounts, rows: Table, scorer: Scorer) -> tuple[Floats, Floats]:
    """Return a usual value of each column of numbers, and a unit of its last place.

    It is the median or, where parts add up, a value near it that adds little: folding may have put
    the median itself far out.
    """
    numbers = counts.numbers_of(rows)
    centers, steps = np.zeros(numbers.shape[1]), np.zeros(numbers.shape[1])
    for place, column in enumerate(numbers.T):
        known = np.sort(column[~np.isnan(column)])
        if not len(known):
            continue
        decimals, middle = decimals_of(known), known[(len(known) - 1) // 2]
        steps[place] = 0.0 if decimals is None else 10.0**-decimals
        if scorer.additive:
            values = np.unique(known[np.linspace(0, len(known) - 1, _TRIED).astype(np.int64)])
            sizes = _magnitudes(counts, scorer, place, values)
            small = values[sizes <= np.quantile(sizes, _TYPICAL)]
            middle = small[np.abs(small - middle).argmin()]
        centers[place] = middle
    return centers, steps


def _magnitudes(counts: TableCounts, scorer: Scorer, place: int, values: Floats) -> Floats:
    """Return what values of a column of numbers add."""
    if isinstance(scorer, FoldScorer):
        return np.asarray(scorer.magnitudes(place, values).mean(axis=1))
    assert counts.numbers is not None
    others = np.tile(values[:, None], (1, len(counts.plan.numbers)))
    return counts.numbers.magnitudes(others)[:, place]


def left_out_in_folds(
    learned: LearnedTable, rows: Table, beyond: Booleans
) -> tuple[Calibration, float]:
    """Return distances of rows, by the rules, to what is learned without them.

    Those beyond the cut are not learned. The second is the largest of those that are no outliers
    for certain: no threshold may be larger.
    """
    n = rows.rows
    folds = min(_FOLDS_OF_FEW if n <= _FEW else _FOLDS, n)
    part = np.random.RandomState(learned.sample.seed).permutation(n) % folds
    distances: list[Floats] = []
    certain: list[Booleans] = []
    muted: list[Booleans] = []
    enough = max(_ENOUGH, _ENOUGH_BEYOND / learned.rate)
    for number in range(min(folds, math.ceil(enough * folds / n))):
        rest = rows.take(np.flatnonzero(part != number))
        left = rows.take(np.flatnonzero(part == number))
        counts = counts_without(learned.plan, rest, beyond[part != number], n_jobs=learned.n_jobs)
        state = learned.table.with_counts(counts)
        other = replace(learned, encoder=learned.encoder.with_state(state))
        scorer = other.scorer_of(other.without_rules(rest, beyond[part != number]))
        judged = judged_rows(scorer, other.encoder, left, n_jobs=learned.n_jobs)
        violated, quiet = scorer.flags(judged)
        judged[:, -1] = 0.0
        distances.append(scorer.distances(judged))
        certain.append(np.asarray(violated.any(axis=1) | scorer.unpack(judged)[1].any(axis=1)))
        muted.append(quiet)
    whole, odd, counted = np.concatenate(distances), np.concatenate(certain), ~np.concatenate(muted)
    if (counted.sum() + 1) * learned.rate >= 1.0:  # else all rows say more than so few
        whole, odd = whole[counted], odd[counted]
    if odd.all():
        worst = max(rule_findings(learned.rules, learned.encoder, rows), key=lambda f: len(f.rows))
        raise UserError(
            f"rules: {worst.column}: all training rows lie outside the limits: none is left to set "
            "the threshold by. Loosen the limits."
        )
    most = float(whole[~odd].max())
    whole[odd] = 2.0 * most  # beyond all others, and nearer than a new one: that is rarer than all
    return Calibration.of(whole, None, "cross-fitted"), most
