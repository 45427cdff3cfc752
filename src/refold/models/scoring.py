"""What judges plain rows once a model is ready: it takes no lock and travels light."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from refold._typing import Array, Floats, Integers, Operation
from refold.algorithm.chain import FoldChain
from refold.algorithm.engines import ENGINES


class Attribution(NamedTuple):
    """What each feature has to do with the distances of rows."""

    distances: Floats  #: how far out the rows are
    #: What each feature adds to its row's distance; never negative, 0 for a missing value
    parts: Floats
    #: What the other values of a row lead to expect, where the model sees dependence
    expected: Floats | None = None
    #: How much of each part the value has by itself, whatever the others are: it lies outside of
    #: all that was learned. None where a part never depends on other features.
    alone: Floats | None = None

    def of_rows(self, rows: Integers) -> Attribution:
        """Return that of some rows, by number."""
        expected, alone = (None if a is None else a[rows] for a in (self.expected, self.alone))
        return Attribution(self.distances[rows], self.parts[rows], expected, alone)

    @staticmethod
    def joined(parts: Sequence[Attribution]) -> Attribution:
        """Return that of the rows of several, of one model.

        Where no row of a part could be judged, that part has neither of the last two.
        """
        return Attribution(
            np.concatenate([part.distances for part in parts]),
            np.concatenate([part.parts for part in parts]),
            _stacked([(part.expected, part.parts.shape, np.nan) for part in parts]),
            _stacked([(part.alone, part.parts.shape, 0.0) for part in parts]),
        )


def _stacked(parts: Sequence[tuple[Floats | None, tuple[int, ...], float]]) -> Floats | None:
    """Return arrays one below the other, filled where one is missing; None if all are."""
    if all(values is None for values, _, _ in parts):
        return None
    return np.concatenate(
        [np.full(shape, fill) if values is None else values for values, shape, fill in parts]
    )


class Scorer(Protocol):
    """Judges float arrays whose columns are the model's, in its order; a row has a value at least.

    Attributes
    ----------
    additive : bool
        Whether parts add up to the distance and come with it, at no further cost.
    unexplained : str
        Why there is no attribution; empty if there is.
    """

    @property
    def additive(self) -> bool: ...  # noqa: D102
    @property
    def unexplained(self) -> str: ...  # noqa: D102

    def distances(self, X: Array) -> Floats:
        """Return how far out each row is; infinity raises a TableError."""

    def attribution(self, X: Array) -> Attribution:
        """Return the same, and because of which features."""

    def on_threads(self, n_jobs: int | None) -> Scorer:
        """Return one that uses so many threads; no result depends on it."""


@dataclass(frozen=True, eq=False)
class FoldScorer:
    """Distances to the origin after folding."""

    chain: FoldChain  # What was learned
    engine: str  # Which engine evaluates it
    distance: Operation  # L1/D, L2/D, or the user's own
    path: bool  # Whether the mean over all levels counts, or the last level
    n_jobs: int | None  # Threads

    @property
    def additive(self) -> bool:
        """The distances are sums over features."""
        return not callable(self.distance)

    @property
    def unexplained(self) -> str:
        """A function of the user's cannot be divided."""
        if self.additive:
            return ""
        return "The distance is a Python function: it cannot be divided among features."

    def distances(self, X: Array) -> Array:
        """Return each row's distance, in the array library of X."""
        return ENGINES[self.engine].distances(
            self.chain, X, self.distance, path=self.path, n_jobs=self.n_jobs
        )

    def attribution(self, X: Array) -> Attribution:
        """Return each feature's share of the distance; a row's shares add up to it."""
        if callable(self.distance):
            raise ValueError(
                "Contributions need a distance that is a sum over features; the callable "
                f"{self.distance!r} cannot be divided. Use distance='l1' or 'l2'."
            )
        distances, parts = ENGINES[self.engine].contributions(
            self.chain, X, self.distance, path=self.path, n_jobs=self.n_jobs
        )
        return Attribution(distances, parts)

    def magnitudes(self, feature: int, values: Floats) -> Floats:
        """Return what values of one feature are folded to, |y|, at each level that counts.

        Parameters
        ----------
        feature : int
            Its number.
        values : ndarray of shape (n,)
            Values of it; NaN is folded to 0.

        Returns
        -------
        ndarray of shape (n, n_iter) or (n, 1)
            All levels with `path`, else the last.
        """
        out = np.zeros((len(values), self.chain.n_iter if self.path else 1))
        here = ~np.isnan(values)
        if here.any():
            trace = ENGINES[self.engine].trace(
                self.chain.of_features(np.array([feature])),
                values[here, None],
                "l1",
                n_jobs=self.n_jobs,
            )
            out[here] = np.asarray(trace)[:, -out.shape[1] :]
        return out

    def on_threads(self, n_jobs: int | None) -> FoldScorer:
        """Return one that uses so many threads."""
        return replace(self, n_jobs=n_jobs)
