"""What each value was expected to be, and what difference that makes; a ready CreasedREF."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from refold._typing import Booleans, Floats, Integers
from refold.algorithm import kernels
from refold.models.creased import row_sample
from refold.models.creased.leverage import gained, of_parts
from refold.models.creased.scoring import Scoring
from refold.models.scoring import Attribution


class Reasons(NamedTuple):
    """What speaks for and against each value, shape (n, d). The drops of a row do not add up."""

    values: Floats  # NaN where missing
    expected: Floats  # what the other values of the row lead to expect, in the column's own units
    # How much smaller the row's distance would be had the column its expected value, and lay it
    # within what was learned; negative if it would be larger.
    drop: Floats
    alone: Floats  # how much of it the value has by itself: it lies outside of all that was learned
    distance: Floats  # (n,)


def reasons(
    scoring: Scoring,
    X: NDArray[Any],
    n_jobs: int | None,
    owners: Integers | None = None,
) -> Reasons:
    """Replace each value by what is expected in its place and see how the distance changes.

    With `owners`, the columns that features are made of, all features of a column are replaced at
    once: ``drop`` and ``alone`` are by column then. The last features are the magnitudes of the
    columns, whose usual value takes their place.
    """
    rows = np.ascontiguousarray(X, dtype=np.float64)
    mine = np.arange(X.shape[1]) if owners is None else owners
    columns = int(mine.max()) + 1
    Z, changed = scoring.creases.standardized(rows)
    instead, replaced = _expected(scoring, rows, Z, columns if owners is not None else 0)
    if owners is not None:
        _replace_categories(scoring, rows, Z, replaced, owners[:-columns])
    z = scoring.creases.all_standardized(rows)
    learned, known = scoring.known.find(z)
    changes = _changes(scoring, z, changed, mine)
    scores = _scores(scoring, Z, replaced, changes, mine, learned, n_jobs)
    before = scores[:, 0] / scoring.typical
    drop = before[:, None] - scores[:, 1:] / scoring.typical

    outside = scoring.outside(rows)
    if learned.any():
        outside[learned] = scoring.outside_unlearned(rows[learned])
    alone = np.zeros(drop.shape)
    np.add.at(alone.T, mine, outside.T)
    # Column after column, as the kernel of the distances adds: to the same bits.
    distance = (before + np.add.accumulate(outside, axis=1)[:, -1]) / scoring.unit
    # A row that was learned has the distance of a model without it: its parts are brought to that.
    factor = np.ones(len(rows))
    factor[learned] = known / np.maximum(distance[learned], np.finfo(np.float64).tiny)
    distance[learned] = known
    to_distance = (factor / scoring.unit)[:, None]
    alone *= to_distance
    return Reasons(rows.copy(), instead, drop * to_distance + alone, alone, distance)


def _expected(scoring: Scoring, rows: Floats, Z: Floats, magnitudes: int) -> tuple[Floats, Floats]:
    """Return what is expected in the place of each value, and standardized of varying columns."""
    creases, varying = scoring.creases, scoring.creases.varying
    replaced = Z - creases.expected.deviations(Z)
    instead = np.broadcast_to(creases.center, rows.shape).copy()
    with np.errstate(over="ignore"):
        instead[:, varying] += replaced * creases.scale[varying]
    np.nan_to_num(instead, copy=False)  # beyond the largest number
    if scoring.box is not None:  # what others lead to expect may be more than there ever was
        instead = scoring.box.nearest(instead)
        replaced = creases.all_standardized(instead)[:, varying]
        missing = np.isnan(rows[:, varying])
        replaced[missing] = Z[missing]  # there is no value to blame
    if magnitudes:  # what is expected of them is what their own columns have
        replaced[:, np.flatnonzero(varying) >= rows.shape[1] - magnitudes] = 0.0
    return instead, replaced


def _replace_categories(
    scoring: Scoring, rows: Floats, Z: Floats, replaced: Floats, leading: Integers
) -> None:
    """Put the likeliest value in the place of each category: one of its indicators is 1, or none.

    `leading` are the columns of the features before the magnitudes; a column with several has
    indicators. What the other columns lead to expect counts, not the features of the same cell:
    given that all other indicators are 0, the one that is 1 is just what is expected. The magnitude
    becomes what goes with that value: with any other the two would contradict each other.
    """
    creases = scoring.creases
    at, precision = np.flatnonzero(creases.varying), creases.expected.precision
    columns, n_features = np.unique(leading, return_counts=True)
    pulls = None
    for column in columns[n_features > 1]:
        shown = np.flatnonzero(np.isin(at, np.flatnonzero(leading == column)))
        magnitude = np.flatnonzero(at == len(leading) + column)
        if len(shown) == 0 or len(magnitude) == 0:
            continue
        group = np.concatenate([shown, magnitude])
        if pulls is None:
            pulls = kernels.product(Z, np.ascontiguousarray(precision.T))
        block = precision[np.ix_(group, group)]
        away = np.linalg.solve(block, pulls[:, group].T).T  # from what is expected
        center, scale = creases.center[at[shown]], creases.scale[at[shown]]
        shares = center + scale * (Z[:, shown] - away[:, : len(shown)])
        likeliest = np.hstack([shares, 1.0 - shares.sum(axis=1, keepdims=True)]).argmax(axis=1)
        chosen = ((likeliest[:, None] == np.arange(len(shown))) - center) / scale
        moved = away[:, : len(shown)] + chosen - Z[:, shown]
        given = precision[magnitude[0], shown] / precision[magnitude[0], magnitude[0]]
        usual = Z[:, magnitude[0]] - away[:, -1] - moved @ given
        there = ~np.isnan(rows[:, at[shown]]).any(axis=1)
        replaced[np.ix_(there, shown)] = chosen[there]
        replaced[there, magnitude[0]] = usual[there]


def _changes(scoring: Scoring, z: Floats, changed: Floats, owners: Integers) -> Floats:
    """Return how far constant columns have changed, and how far without those of each column."""
    creases = scoring.creases
    changes = np.repeat(changed[:, None], int(owners.max()) + 2, axis=1)
    for constant in np.flatnonzero(~creases.varying):
        changes[:, 1 + owners[constant]] -= creases.changed(z[:, constant : constant + 1])
    return changes


def _scores(
    scoring: Scoring,
    Z: Floats,
    replaced: Floats,
    changes: Floats,
    owners: Integers,
    learned: Booleans,
    n_jobs: int | None,
) -> Floats:
    """Return s of rows and of them without each column, by a model without those it has learned."""

    def variants(form: kernels.LeverageForm, rows: Booleans | slice) -> tuple[Floats, Floats]:
        return kernels.crease_variants(
            scoring.creases.map,
            form,
            Z[rows],
            replaced[rows],
            owners[scoring.creases.varying],
            changes[rows],
            scoring.n_threads(changes[rows].size, n_jobs),
        )

    scores, across = variants(scoring.form, slice(None))
    if learned.any():
        others = (variants(form, learned)[1] for form in scoring.learned_forms)
        scores[learned] += of_parts(gained, across[learned], *others)
    return scores


@dataclass(frozen=True, eq=False)
class CreasedScorer:
    """Leverage scores in units of their threshold."""

    scoring: Scoring  # What was learned
    n_jobs: int | None  # Threads
    # The columns that features are made of, whose parts are then by column; the last features are
    # these columns' magnitudes. None if each feature is its own.
    owners: Integers | None = None

    additive: ClassVar[bool] = False
    unexplained: ClassVar[str] = ""

    def distances(self, X: NDArray[Any]) -> Floats:
        """Return each row's distance."""
        return self.scoring.distances(X, self.n_jobs)

    def attribution(self, X: NDArray[Any]) -> Attribution:
        """Return the drops in distance had each feature the value that was expected."""
        row_sample.check_rows(X)
        found = reasons(self.scoring, X, self.n_jobs, self.owners)
        parts = np.maximum(found.drop, found.alone)
        return Attribution(found.distance, parts, found.expected, found.alone)

    def on_threads(self, n_jobs: int | None) -> CreasedScorer:
        """Return one that uses so many threads."""
        return replace(self, n_jobs=n_jobs)
