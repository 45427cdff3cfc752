"""The nearest value of one feature alone at which a row would be accepted.

With the fold abs it is exact. In units in which nothing is rounded a level is v = |v| - shift, so
every level's value moves by exactly as much as the feature does, up or down, until one of them
passes zero: between such kinks the distance is known in closed form. And over a step r no level's
magnitude can fall by more than r, nor below zero: as long as the distance stays above the
threshold even so, nothing accepted is jumped over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Booleans, Floats
from refold.judgement import Judge, Judgement
from refold.judgement.normal import Normal
from refold.models.detector.scorer import inside
from refold.models.scoring import FoldScorer, Scorer

_AT_ONCE = 256  # rows, each with a number per level and feature
_HALVINGS = 60
_NEWTON_STEPS = 6
_LANES = 512
_ULPS = 4
_FARTHEST = 1e140  # squares of what it is folded to are still numbers
_CIRCLES = (1 / 256, 1 / 32, 1 / 4)  # shares of the way to where the map is a straight line
_GRID = 4001
_SLACK = 1e-9
_MOST_GAIN = 1e9  # beyond, rounding decides where values are folded to


def is_exact(scorer: Scorer) -> bool:
    """Whether the nearest accepted values are computed, not searched."""
    if not isinstance(scorer, FoldScorer):
        return False
    return scorer.chain.fold == "abs" and bool((scorer.chain.gain <= _MOST_GAIN).all())


def nearest_accepted(found: Judgement, normal: Normal, wanted: NDArray[np.int64]) -> Floats:
    """Return for each row and each of its wanted features the nearest accepted value.

    Of a discrete feature that is one of those that were learned.
    """
    out = np.full(wanted.shape, np.nan)
    for begin in range(0, len(found), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        block = found.take(np.arange(len(found))[part])
        out[part] = _nearest_of_block(block, normal, wanted[part])
    return out


def _nearest_of_block(block: Judgement, normal: Normal, wanted: NDArray[np.int64]) -> Floats:
    X, rejected = block.numbers.astype(np.float64, copy=False), block.outlier
    found = np.take_along_axis(X, wanted, axis=1)
    if not rejected.any():
        return found
    asked = rejected[:, None] & ~np.isnan(found)
    found[rejected] = np.nan
    scorer = _scorer(block.judge)
    others = _of_the_others(scorer, X)
    most = block.thresholds_inside * (~np.isnan(X)).sum(axis=1)
    for feature, rows, place in _by_feature(wanted, asked):
        question = _Question(block, X, rows, feature, others[feature, rows], most[rows])
        levels = normal.levels[feature]
        if levels is not None and len(levels) > 1:
            found[rows, place] = _nearest_level(question, levels)
        elif is_exact(scorer):
            found[rows, place] = _walk_both_ways(question, normal.summary.quantiles[:, feature])
        else:
            found[rows, place] = _search(question, normal.summary.quantiles[:, feature])
    return found


def _by_feature(
    wanted: NDArray[np.int64], asked: Booleans
) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.intp]]]:
    """Yield each feature with the rows that ask for it, and where they do."""
    rows, place = np.nonzero(asked)
    features = wanted[rows, place]
    order = np.argsort(features, kind="stable")
    known, begins = np.unique(features[order], return_index=True)
    for feature, some in zip(known.tolist(), np.split(order, begins[1:]), strict=False):
        yield feature, rows[some], place[some]


def _of_the_others(scorer: FoldScorer, X: Floats) -> Floats:
    """Return what all features but one add at each level: (features, rows, levels).

    Added up anew: subtracting a feature from the total would lose the small ones.
    """
    each = np.stack([scorer.magnitudes(j, X[:, j]) for j in range(X.shape[1])])
    if scorer.distance == "l2":
        each *= each
    others = np.zeros_like(each)
    np.cumsum(each[:-1], axis=0, out=others[1:])
    others[:-1] += np.cumsum(each[:0:-1], axis=0)[::-1]
    return others


def _scorer(judge: Judge) -> FoldScorer:
    scorer = inside(judge.scorer)
    assert isinstance(scorer, FoldScorer)
    return scorer


@dataclass
class _Question:
    """Some rows of a table, one of whose features may change.

    `others` is what the other features add at each level: their sum (L1) or sum of squares (L2);
    `most` is how much a row may have of it, the feature included, on the average over levels.
    """

    block: Judgement
    X: Floats
    rows: NDArray[np.intp]
    feature: int
    others: Floats
    most: Floats

    @property
    def squares(self) -> bool:
        return _scorer(self.block.judge).distance == "l2"

    @property
    def own(self) -> Floats:
        return np.asarray(self.X[self.rows, self.feature])

    def some(self, chosen: NDArray[Any]) -> _Question:
        return replace(
            self, rows=self.rows[chosen], others=self.others[chosen], most=self.most[chosen]
        )

    def excess(self, magnitudes: Floats) -> Floats:
        """Return by how much rows with these magnitudes, (n, levels), are too far."""
        each = np.sqrt(self.others + magnitudes**2) if self.squares else self.others + magnitudes
        return np.asarray(each.mean(axis=1) - self.most)

    def slope(self, magnitudes: Floats, slopes: Floats) -> Floats:
        """Return how the excess changes when the magnitudes do."""
        if self.squares:
            length = np.sqrt(self.others + magnitudes**2)
            slopes = slopes * np.divide(
                magnitudes, length, out=np.ones_like(length), where=length > 0.0
            )
        return np.asarray(slopes.mean(axis=1))

    def accepted(self, values: Floats) -> Booleans:
        """Ask the model itself about the rows with these values put in."""
        rows = self.X[self.rows]
        rows[:, self.feature] = values
        return ~self.block.with_numbers(rows, self.rows).outlier


class _AbsMap:
    """One feature's abs chain, followed with its slopes."""

    def __init__(self, scorer: FoldScorer, feature: int) -> None:
        chain = scorer.chain
        steps = chain.steps
        self.unit, self.offset = float(steps.unit[feature]), float(steps.offset[feature])
        self.shifts = steps.shift[feature, : chain.levels[feature]]
        self.factors = steps.factor[feature, : chain.levels[feature]]
        self.n_iter, self.path = chain.n_iter, scorer.path
        self.factor = self._levels(self.factors[:, None])[0]
        self.rounding = abs(self.offset)  # a feature's value knows v no better than this is rounded
        # Beyond this |v| no level passes zero any more.
        self.edge = float(self.shifts[1:].sum())

    def follow(self, v: Floats, direction: float) -> tuple[Floats, Floats, Floats]:
        """Return magnitudes and their slopes, (n, levels), and the room before the next kink."""
        z = np.empty((len(self.shifts), len(v)))
        z[0] = v
        for before, after, shift in zip(z[:-1], z[1:], self.shifts[1:], strict=True):
            np.abs(before, out=after)
            after -= shift
        sizes, slopes = np.abs(z), _slopes(z, direction)
        room = np.where(slopes < 0.0, sizes, np.inf).min(axis=0)
        factors = self.factors[:, None]
        return self._levels(sizes * factors), self._levels(slopes * factors), room

    def _levels(self, values: Floats) -> Floats:
        """Line up the levels that count; a feature that stopped keeps its last value."""
        if not self.path:
            return values[-1:].T
        kept = np.repeat(values[-1:], self.n_iter - len(values), axis=0)
        return np.concatenate([values, kept]).T if len(kept) else values.T


def _slopes(z: Floats, direction: float) -> Floats:
    """Return how |z| changes at each level, (levels, n): each level that is below zero turns it.

    At zero it can only rise.
    """
    turns = np.cumsum(z < 0.0, axis=0, dtype=np.int16)
    turns += direction < 0.0
    if not z.all():
        levels = np.arange(len(z), dtype=np.int16)[:, None]
        last = np.maximum.accumulate(np.where(z == 0.0, levels, np.int16(-1)), axis=0)
        at_zero = np.take_along_axis(turns, np.maximum(last, 0).astype(np.intp), axis=0)
        turns -= np.where(last >= 0, at_zero, np.int16(0))
    return np.where(turns & 1, -1.0, 1.0)


def _walk_both_ways(question: _Question, quantiles: Floats) -> Floats:
    feature = _AbsMap(_scorer(question.block.judge), question.feature)
    with np.errstate(over="ignore"):  # the walk begins at the edge, however far out a value is
        v = np.clip(question.own * feature.unit - feature.offset, -_FARTHEST, _FARTHEST)
    found = np.full(len(v), np.nan)
    # Even at magnitude zero too far: no value of this feature can help.
    hope = question.excess(np.zeros((len(v), 1))) <= 0.0
    reach = np.full(len(v), np.inf)
    if hope.any() and not question.squares:
        reach[hope] = _reach(feature, question.some(hope), v[hope], quantiles)
    ways = _first_accepted(feature, question, v, hope & ~np.isnan(reach), reach)
    left, right = ((way + feature.offset) / feature.unit for way in ways)
    nearer = np.abs(left - question.own) <= np.abs(right - question.own)
    nearer |= np.isnan(right)
    for first in (np.where(nearer, left, right), np.where(nearer, right, left)):
        open_ = np.isnan(found) & ~np.isnan(first)
        if open_.any():
            found[open_] = _rounded_inward(question.some(open_), first[open_])
    return found


def _reach(feature: _AbsMap, question: _Question, v: Floats, quantiles: Floats) -> Floats:
    """Return how far away a value is that is accepted, if not the nearest; NaN if none is found.

    A walk over all of a jagged map takes thousands of steps: many values are tried first. With L1
    the levels of one feature add up by themselves, so they are folded once for all rows.
    """
    grid = np.concatenate([quantiles, np.linspace(*_ends(quantiles), _GRID)])
    sizes = _scorer(question.block.judge).magnitudes(question.feature, grid).mean(axis=1)
    room = -question.excess(np.zeros((len(v), 1)))
    places = grid * feature.unit - feature.offset
    away = np.where(sizes <= room[:, None], np.abs(places - v[:, None]), np.inf).min(axis=1)
    return np.where(np.isinf(away), np.nan, away * (1.0 + _SLACK))


def _ends(quantiles: Floats) -> tuple[float, float]:
    low, high = float(quantiles[0]), float(quantiles[-1])
    beyond = max(high - low, 1e-3 * max(abs(low), abs(high)))
    return low - beyond, high + beyond


def _first_accepted(
    feature: _AbsMap, question: _Question, v: Floats, hope: Booleans, reach: Floats
) -> list[Floats]:
    """Return the first accepted point to the left and to the right, NaN where none is needed.

    The circle is widened step by step: what lies nearby is found without a walk to the far end.
    """
    directions = (-1.0, 1.0)
    starts = [_from_the_edge(feature, question, v, direction) for direction in directions]
    ways = [np.full(len(v), np.nan) for _ in directions]
    open_, near = hope.copy(), 0.0
    for far in (*(feature.edge * share for share in _CIRCLES), np.inf):
        if not open_.any():
            break
        for start, way, direction in zip(starts, ways, directions, strict=True):
            begin = start[open_] + direction * near
            most = np.minimum(far, reach[open_]) - near
            way[open_] = _walk(feature, question.some(open_), begin, direction, most)
        open_ &= np.isnan(ways[0]) & np.isnan(ways[1]) & (reach > far)
        near = far
    return ways


def _walk(
    feature: _AbsMap, question: _Question, start: Floats, direction: float, most: Floats
) -> Floats:
    """Return the first accepted point in a direction and within a way, NaN if there is none.

    A jagged map can take thousands of steps: the way is divided into lanes that are walked at the
    same time, and the first lane with a find counts.
    """
    lanes = max(1, _LANES // len(start))
    length = np.minimum(np.maximum(feature.edge - direction * start, 0.0), most)
    begins = start[:, None] + direction * length[:, None] * (np.arange(lanes) / lanes)
    stops = np.column_stack([begins[:, 1:], start + direction * most])
    lane_of, row_of = np.tile(np.arange(lanes), len(start)), np.repeat(np.arange(len(start)), lanes)
    v, stop = begins.ravel(), stops.ravel()
    first = np.full(len(start), lanes)  # the first lane of each row that has found something
    found = np.full(len(start), np.nan)
    active = np.flatnonzero(direction * v < direction * stop)
    while len(active):
        step, hit, ahead = _step(feature, question.some(row_of[active]), v[active], direction)
        for lane in active[hit]:
            if lane_of[lane] < first[row_of[lane]]:
                first[row_of[lane]], found[row_of[lane]] = lane_of[lane], v[lane]
        v[active] += direction * step
        ahead &= (direction * v[active] < direction * stop[active]) & (
            lane_of[active] < first[row_of[active]]
        )
        active = active[ahead]
    return found


def _step(
    feature: _AbsMap, question: _Question, v: Floats, direction: float
) -> tuple[Floats, Booleans, Booleans]:
    """Return how far the next step goes, which points are accepted and which have a way ahead."""
    sizes, slopes, room = feature.follow(v, direction)
    excess, slope = question.excess(sizes), question.slope(sizes, slopes)
    hit = excess <= 0.0
    ahead = ~hit & (np.isfinite(room) | (slope < 0.0))
    with np.errstate(divide="ignore"):
        reach = np.where(slope < 0.0, excess / -slope, np.inf)
    leap = np.maximum(_safe_leap(question, sizes, feature.factor), np.where(ahead, room, 0.0))
    step = np.where(reach <= room, reach, leap)
    return np.maximum(step, np.spacing(np.abs(v) + feature.rounding)), hit, ahead


def _from_the_edge(feature: _AbsMap, question: _Question, v: Floats, direction: float) -> Floats:
    """Begin no farther out than needed: from 1e300 no step ends where it should.

    Outside the edge the distance only grows, so any point there that is too far will do.
    """
    inward = v * direction < 0.0
    start = np.minimum(np.abs(v), feature.edge)
    far = inward & (np.abs(v) > feature.edge)
    size = np.where(far, start, 1.0)
    growth = np.maximum(1.0 / feature.factors[-1], np.spacing(feature.edge))
    for _ in range(2100):  # doublings of the double format
        sizes, _, _ = feature.follow(np.where(far, size, v), direction)
        short = far & (question.excess(sizes) <= 0.0) & (size < np.abs(v))
        if not short.any():
            break
        size = np.where(short, np.minimum(size + growth, np.abs(v)), size)
        growth *= 2.0
    return np.where(far, np.copysign(size, v), v)


def _safe_leap(question: _Question, sizes: Floats, factor: Floats) -> Floats:
    """Return how far one can go with no level able to bring the distance to the threshold.

    The least possible excess is convex and falls with the way gone: Newton's steps approach its
    zero from the near side, so any of them is safe.
    """
    way = np.zeros(len(sizes))
    for _ in range(_NEWTON_STEPS):
        least = np.maximum(sizes - way[:, None] * factor, 0.0)
        slope = question.slope(least, np.where(least > 0.0, -factor, 0.0))
        falls = slope < 0.0
        way[falls] += np.maximum(question.excess(least)[falls], 0.0) / -slope[falls]
    return way


def _rounded_inward(question: _Question, values: Floats) -> Floats:
    """Return the first of the values within a few roundings that the model accepts."""
    found = np.full(len(values), np.nan)
    ulp = np.copysign(np.spacing(np.abs(values)), values - question.own)
    for nudge in (*range(-_ULPS, _ULPS), *(_ULPS * 2.0**k for k in range(28))):
        tried = values + nudge * ulp
        accepted = np.isnan(found) & question.accepted(tried)
        found[accepted] = tried[accepted]
        if not np.isnan(found).any():
            break
    return found


def _nearest_level(question: _Question, levels: Floats) -> Floats:
    """Return the nearest of a few values."""
    sizes = _scorer(question.block.judge).magnitudes(question.feature, levels)
    good = np.column_stack([question.excess(size[None]) <= 0.0 for size in sizes])
    away = np.where(good, np.abs(levels - question.own[:, None]), np.inf)
    found = np.where(good.any(axis=1), levels[away.argmin(axis=1)], question.own)
    return np.where(question.accepted(found), found, np.nan)


def _search(question: _Question, quantiles: Floats) -> Floats:
    """Look at a grid over the training range and up to the row, then halve what is left."""
    found = np.full(len(question.own), np.nan)
    low, high = _ends(quantiles)
    for i, own in enumerate(question.own):
        ends = min(low, own), max(high, own)
        grid = np.concatenate([quantiles, np.linspace(*ends, _GRID)])
        sizes = _scorer(question.block.judge).magnitudes(question.feature, grid)
        good = grid[question.some(np.full(len(grid), i)).excess(sizes) <= 0.0]
        if len(good):
            found[i] = good[np.argmin(np.abs(good - own))]
    there = ~np.isnan(found)
    if there.any():
        found[there] = _halved(question.some(there), found[there])
    return found


def _halved(question: _Question, inside: Floats) -> Floats:
    """Narrow the way from an accepted value to the row's own down to the border."""
    good = question.accepted(inside)
    inside = np.where(good, inside, np.nan)
    outside = question.own.copy()
    for _ in range(_HALVINGS):
        middle = inside + (outside - inside) / 2.0
        ask = np.where(good, middle, question.own)
        accepted = question.accepted(ask)
        inside = np.where(accepted & good, middle, inside)
        outside = np.where(accepted, outside, middle)
    return inside
