"""The nearest value of one feature alone at which a row would be accepted, by asking the model.

A few values that were learned are tried; from the nearest that is accepted the way back to the
row's own value is halved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.base.words import DIGITS
from refold.explanation._numbers import rounded
from refold.explanation._ranges import Normal
from refold.judgement import Judge, Judgement

_AT_ONCE = 4096
_HALVINGS = 8
_SHORT = (DIGITS, 6, 9)
# Quantiles that are tried, of 256, beside the nearest value that was learned and the expected one.
_TRIED = (4, 40, 84, 128, 172, 216, 252)


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of rows, by number; others stay as they are while these change."""

    judge: Judge
    X: Floats
    rows: Integers
    features: Integers

    @property
    def own(self) -> Floats:
        return np.asarray(self.X[self.rows, self.features])

    def some(self, chosen: Booleans) -> Cells:
        return Cells(self.judge, self.X, self.rows[chosen], self.features[chosen])

    def accepted(self, values: Floats) -> Booleans:
        """Ask the model about the rows, each with one value put in."""
        found = np.empty(len(values), dtype=bool)
        for begin in range(0, len(values), _AT_ONCE):
            part = slice(begin, begin + _AT_ONCE)
            rows = self.X[self.rows[part]]
            rows[np.arange(len(rows)), self.features[part]] = values[part]
            found[part] = ~self.judge.rows(rows).outlier
        return found


def search(found: Judgement, normal: Normal, wanted: Integers) -> Floats:
    """Return for each row and each of its wanted features the nearest accepted value found.

    Parameters and returned values are those of `nearest_accepted`.
    """
    X = found.rows.astype(np.float64, copy=False)
    own = np.take_along_axis(X, wanted, axis=1)
    rejected = found.outlier[:, None]
    out = np.where(rejected, np.nan, own)
    asked = rejected & ~np.isnan(own) & _hope(found, wanted)
    rows, place = np.nonzero(asked)
    cells = Cells(found.judge, X, rows, wanted[rows, place])
    if len(rows):
        out[asked] = _nearest(cells, _tries(found, normal)[:, rows, cells.features], normal)
    return out


def _hope(found: Judgement, wanted: Integers) -> Booleans:
    """Say which features could do it alone: not if others are too far out by themselves."""
    alone = found.attribution().alone
    if alone is None:
        return np.ones(wanted.shape, dtype=bool)
    others = alone.sum(axis=1, keepdims=True) - np.take_along_axis(alone, wanted, axis=1)
    return np.asarray(others <= found.judge.threshold)


def _tries(found: Judgement, normal: Normal) -> Floats:
    """Return the values that are tried: (tries, n, d)."""
    X = found.rows.astype(np.float64, copy=False)
    quantiles = normal.nearest(normal.summary.quantiles[list(_TRIED)])
    tries = [normal.nearest(X), *(np.broadcast_to(q, X.shape) for q in quantiles)]
    expected = found.attribution().expected
    return np.stack(tries if expected is None else [normal.nearest(expected), *tries])


def _nearest(cells: Cells, tries: Floats, normal: Normal) -> Floats:
    accepted = np.stack([cells.accepted(values) for values in tries])
    away = np.abs(tries - cells.own)
    best = np.where(accepted, away, np.inf).argmin(axis=0)[None]
    good = np.take_along_axis(accepted, best, axis=0)[0]
    inside = np.take_along_axis(tries, best, axis=0)[0]
    # The nearest value in between that was refused: the border lies beyond it.
    between = (tries - cells.own) * (inside - cells.own) > 0.0
    between &= away < np.abs(inside - cells.own)
    last = np.where(between, away, -np.inf).argmax(axis=0)[None]
    outside = np.where(between.any(axis=0), np.take_along_axis(tries, last, axis=0)[0], cells.own)
    out = np.full(len(inside), np.nan)
    discrete = np.array([levels is not None for levels in normal.levels])[cells.features]
    out[good & discrete] = inside[good & discrete]
    free = good & ~discrete
    if free.any():
        out[free] = _halved(cells.some(free), inside[free], outside[free])
    return out


def _halved(cells: Cells, inside: Floats, outside: Floats) -> Floats:
    """Narrow the way from an accepted value to one that is not down to the border."""
    for _ in range(_HALVINGS):
        middle = inside / 2.0 + outside / 2.0
        accepted = cells.accepted(middle)
        inside, outside = np.where(accepted, middle, inside), np.where(accepted, outside, middle)
    return inside


def stated(found: Judgement, wanted: Integers, nearest: Floats) -> Floats:
    """Return the accepted values of rejected rows with as few digits as are accepted too."""
    out = np.where(found.outlier[:, None], nearest, np.nan)
    rows, place = np.nonzero(~np.isnan(out))
    X = found.rows.astype(np.float64, copy=False)
    cells = Cells(found.judge, X, rows, wanted[rows, place])
    values, open_ = out[rows, place], np.ones(len(rows), dtype=bool)
    for digits in _SHORT:
        for inward in (False, True):
            if not open_.any():
                break
            asked = cells.some(open_)
            tried = rounded(values[open_], asked.own if inward else None, digits)
            good = asked.accepted(tried)
            at = np.flatnonzero(open_)[good]
            out[rows[at], place[at]], open_[at] = tried[good], False
    return out
