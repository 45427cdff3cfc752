"""The nearest normal values of one column alone, with as few digits as will do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.base.words import DIGITS
from refold.judgement import Judge, Judgement
from refold.judgement.numbers import rounded

_AT_ONCE = 4096
_SHORT = (DIGITS, 6, 9)


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
