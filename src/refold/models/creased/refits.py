"""Few rows: their scores by models that were really made without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from refold._typing import Floats, Integers
from refold.base import progress
from refold.base.errors import TableError

# Up to so many rows models are made anew; creases go through rows, which flatters those few.
MOST_ROWS = 200
_PARTS = 50
# With so many discrete columns every row is alone in its corner, and the creases through it raise
# its own score: models are made anew, in a few parts, up to so many rows.
_MANY_DISCRETE, _MOST_ROWS_DISCRETE, _FEW_PARTS = 20, 2000, 10
# With fewer there would hardly be a table without one.
_LEAST_PARTS = 5
# Columns of all these models together: a few seconds.
_MOST_COLUMNS = 10_000

# Of so few columns, some of them looked at beside another, being counted moves all rows with the
# same pair of values to another place than new ones with it have: models are made anew, too.
FEW_PAIRED = 4


@dataclass(frozen=True)
class CrossFitParts:
    """Encodes rows anew."""

    # Takes the numbers of rows to learn from and of those that are left out, and returns both as
    # the encoder has them that has counted only the first.
    encode: Callable[[Integers, Integers], tuple[Floats, Floats]]
    paired: bool  # whether there are a few columns, some of them looked at beside another

    def of(self, which: Integers) -> CrossFitParts:
        """Return the same for some of the rows."""
        return replace(self, encode=lambda rest, left: self.encode(which[rest], which[left]))


def n_parts(weights: Floats, columns: int, discrete: int = 0, *, paired: bool = False) -> int:
    """Return in how many parts rows are left out; 0 if there are too many, or too many columns."""
    rows = float(np.ceil(weights).sum())
    most = _PARTS
    if rows > MOST_ROWS:
        alone = discrete >= _MANY_DISCRETE and rows <= _MOST_ROWS_DISCRETE
        most = _FEW_PARTS if alone or paired else 0
    parts = int(min(rows, most, _MOST_COLUMNS // columns))
    return parts if parts >= _LEAST_PARTS else 0


def refitted(
    rows: Floats,
    weights: Floats,
    score: Callable[[Integers, Floats, Integers], Floats],
    otherwise: Floats,
    parts: int,
    seed: int,
) -> Floats:
    """Return what each row scores, on average over its copies, without the part it is in.

    A row of weight w stands for ⌈w⌉ rows. Which of them are left out together does not depend on
    the order of the rows.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        The rows.
    weights : ndarray of shape (n,)
        How often each counts, above 0.
    score : callable
        ``score(rest, weights, left_out)`` learns from some of the rows and scores others, all by
        number.
    otherwise : ndarray of shape (n,)
        The scores of rows without which there is no table: only they have a value in some column.
    parts : int
        In how many parts they are left out.
    seed : int
        Decides which rows are left out together.
    """
    copies = np.ceil(weights).astype(np.int64)
    order = np.lexsort(rows.T)
    which = np.repeat(order, copies[order])
    total = len(which)
    part = np.random.RandomState(seed).permutation(total) % parts
    each = weights / copies
    scores = np.empty(total)
    for number in progress.steps(range(parts)):
        left = which[part == number]
        rest = weights - np.bincount(left, minlength=len(rows)) * each
        used = np.flatnonzero(rest > 1e-9 * weights)
        try:
            with progress.part(number / parts, (number + 1) / parts):
                scores[part == number] = score(used, rest[used], left)
        except TableError:
            scores[part == number] = otherwise[left]
    return np.asarray(np.bincount(which, weights=scores, minlength=len(rows)) / copies)
