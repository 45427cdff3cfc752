"""Why a row is far off: what each column was expected to be, and what difference that makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats, Integers
from refold.models.creased._blas import one_thread
from refold.models.creased._creases import projected
from refold.models.creased._heights import least_height
from refold.models.creased._leverage import LeftOut
from refold.models.creased._rows import blocks, on_threads
from refold.models.creased._scoring import Scoring


@dataclass(frozen=True, eq=False)
class Reasons:
    """What speaks for and against each value of some rows. The drops of a row do not add up.

    Parameters
    ----------
    names : list of str
        The columns.
    values : ndarray of shape (n, d)
        The rows; NaN where missing.
    expected : ndarray of shape (n, d)
        What the other values of the row lead to expect, in the column's own units.
    drop : ndarray of shape (n, d)
        How much smaller the row's distance would be had the column its expected value, and lay it
        within what was learned; negative if it would be larger.
    alone : ndarray of shape (n, d)
        How much of the drop the value has by itself: it lies outside of all that was learned.
    distance : ndarray of shape (n,)
        The rows' distances.
    """

    names: list[str]
    values: Floats
    expected: Floats
    drop: Floats
    alone: Floats
    distance: Floats

    def of_row(self, row: int, n: int = 3) -> list[str]:
        """Say in words which columns of a row matter most.

        Parameters
        ----------
        row : int
            Which row.
        n : int, default=3
            How many columns to name; those without a positive drop are left out.

        Returns
        -------
        list of str
            For example ``"pressure: expected 3.1, got 7.4"``.
        """
        order = np.argsort(-self.drop[row], kind="stable")[:n]
        return [
            f"{self.names[d]}: expected {self.expected[row, d]:.4g}, got {self.values[row, d]:.4g}"
            for d in order
            if self.drop[row, d] > 0.0
        ]


@one_thread
def reasons(
    scoring: Scoring,
    X: NDArray[Any],
    names: list[str],
    n_jobs: int | None,
    owners: Integers | None = None,
) -> Reasons:
    """Replace each value by what is expected in its place and see how the distance changes.

    With `owners`, the columns that features are made of, all features of a column are replaced at
    once: ``drop`` and ``alone`` are by column then. The last features are the magnitudes of the
    columns, whose usual value takes their place.
    """
    mine = np.arange(X.shape[1]) if owners is None else owners
    columns = int(mine.max()) + 1

    def work(part: NDArray[Any]) -> tuple[Floats, ...]:
        by_column = (len(part), columns)
        shapes = [part.shape, by_column, by_column, part.shape[:1]]
        found = tuple(np.empty(shape) for shape in shapes)
        for place, rows in blocks(part, _height(scoring, len(part))):
            made = _of_block(scoring, rows, mine, columns if owners is not None else 0)
            for out, values in zip(found, made, strict=True):
                out[place] = values[: place.stop - place.start]
        return found

    expected, drop, alone, distance = map(
        np.concatenate, zip(*on_threads(work, X, n_jobs), strict=True)
    )
    return Reasons(names, np.array(X, dtype=np.float64), expected, drop, alone, distance)


def _height(scoring: Scoring, rows: int) -> int:
    """Return how many rows to explain so many of at once, for the bits they have among many."""
    creases = scoring.creases
    products = (*creases.products(), creases.expected.product, scoring.leverage.product)
    return least_height(rows, *products)


def _of_block(
    scoring: Scoring, rows: Floats, owners: Integers, magnitudes: int
) -> tuple[Floats, Floats, Floats, Floats]:
    creases, varying = scoring.creases, scoring.creases.varying
    Z, changed = creases.standardized(rows)
    deviations = creases.expected.deviations(Z)
    instead = np.broadcast_to(creases.center, rows.shape).copy()
    with np.errstate(over="ignore"):
        instead[:, varying] += (Z - deviations) * creases.scale[varying]
    np.nan_to_num(instead, copy=False)  # beyond the largest number
    if scoring.box is not None:  # what others lead to expect may be more than there ever was
        instead = scoring.box.nearest(instead)
        deviations = Z - creases.all_standardized(instead)[:, varying]
        deviations[np.isnan(rows[:, varying])] = 0.0  # there is no value to blame

    if magnitudes:  # what is expected of them is what their own columns have
        own = np.flatnonzero(varying) >= rows.shape[1] - magnitudes
        deviations[:, own] = Z[:, own]
    learned, known = scoring.known.find(creases.all_standardized(rows))
    leverage = LeftOut(scoring.leverage, learned)
    y = projected(Z, creases.directions, creases.gauss)
    phi = np.empty((len(rows), creases.n_outputs))

    def score(y: Floats, changed: Floats) -> Floats:
        creases.fold(y, changed, phi)
        return leverage.scores(phi) / scoring.typical

    before = score(y, changed)
    drop, z = np.zeros((len(rows), int(owners.max()) + 1)), creases.all_standardized(rows)
    number = np.cumsum(varying) - 1
    for column in range(drop.shape[1]):
        features = np.flatnonzero(owners == column)
        moving = number[features[varying[features]]]
        step = sum((creases.step(Z, k, deviations[:, k]) for k in moving), np.zeros(1))
        fixed = creases.changed(z[:, features[~varying[features]]])
        drop[:, column] = before - score(y - step, changed - fixed)

    outside = scoring.outside(rows)
    if learned.any():
        outside[learned] = scoring.outside_unlearned(rows[learned])
    alone = np.zeros(drop.shape)
    np.add.at(alone.T, owners, outside.T)
    distance = (before + alone.sum(axis=1)) / scoring.unit
    # A row that was learned has the distance of a model without it: its parts are brought to that.
    factor = np.ones(len(rows))
    factor[learned] = known / np.maximum(distance[learned], np.finfo(np.float64).tiny)
    distance[learned] = known
    to_distance = (factor / scoring.unit)[:, None]
    return instead, (drop + alone) * to_distance, alone * to_distance, distance
