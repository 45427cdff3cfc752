"""Searches over the paper's grids that share what several settings have in common.

A grid, called with an estimator and folds, gives a search with ``fit(X, y)``, ``predict`` and
``best_params_``. Its representation says all about it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, MetaEstimatorMixin, TransformerMixin, clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from refold._typing import Floats, Integers
from refold.model_selection import TargetOnly, ThresholdSearchCV, gmean_score, gmean_scorer

# As in NonlinearProjection.
SMALLEST_EIGENVALUE = 1e-6


class RowsReversed(MetaEstimatorMixin, BaseEstimator):
    """An estimator that reads its training rows from the last to the first.

    In exact arithmetic, and with a solver that finds the optimum, nothing would change.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Floats, y: object = None) -> Self:
        """Fit the estimator on the rows in reverse."""
        self.estimator_ = clone(self.estimator).fit(X[::-1])
        return self

    def predict(self, X: Floats) -> Any:
        """Return the estimator's labels."""
        return self.estimator_.predict(X)


class GeneralProjection(TransformerMixin, BaseEstimator):
    """NPT by an eigensolver that does not know that the kernel is symmetric.

    Where rounding leaves the kernel not quite symmetric and it has equal eigenvalues, such a solver
    finds complex eigenvectors. Their absolute values are taken here, which is no projection.
    """

    def __init__(self, gamma: float) -> None:
        self.gamma = gamma

    def fit(self, X: Floats, y: object = None) -> Self:
        """Decompose the kernel of the training rows."""
        n = len(X)
        centring = np.eye(n) - 1.0 / n
        K = self._kernel(X, X)
        values, vectors = np.linalg.eig(centring @ K @ centring)
        if np.iscomplexobj(vectors):
            vectors = np.abs(vectors)
        kept = values.real > SMALLEST_EIGENVALUE
        self.rows_, self.row_means_ = X, K.mean(axis=1)
        self.projection_ = centring @ vectors[:, kept] / np.sqrt(values.real[kept])
        return self

    def transform(self, X: Floats) -> Floats:
        """Return the features of rows."""
        return np.asarray((self._kernel(X, self.rows_) - self.row_means_) @ self.projection_)

    def _kernel(self, X: Floats, Y: Floats) -> Floats:
        return np.asarray(np.exp(-self.gamma * cdist(X, Y, "sqeuclidean")))


Point = dict[str, Any]


@dataclass(frozen=True)
class ThresholdGrid:
    """Thresholds of REF: one fit per fold."""

    thresholds: tuple[float, ...]

    def __call__(self, estimator: Any, folds: StratifiedKFold) -> ThresholdSearchCV:
        """Return the search for an estimator."""
        return ThresholdSearchCV(estimator, self.thresholds, cv=folds)


@dataclass(frozen=True)
class PointGrid:
    """Any grid: one fit per fold and point, in the order of the points.

    A ``ParameterGrid`` sorts its keys; where order decides between equals, as here, the grid is a
    list of single points.
    """

    points: tuple[Point, ...]

    def __call__(self, estimator: Any, folds: StratifiedKFold) -> GridSearchCV:
        """Return the search for an estimator."""
        points = [{f"estimator__{k}": [v] for k, v in point.items()} for point in self.points]
        return GridSearchCV(TargetOnly(estimator), points, scoring=gmean_scorer, cv=folds)


class SharedGrid(ABC):
    """A grid whose points of a fold are scored together."""

    def __call__(self, estimator: Any, folds: StratifiedKFold) -> SharedSearch:
        """Return the search for an estimator."""
        return SharedSearch(self, estimator, folds)

    @abstractmethod
    def scores(
        self, estimator: Any, target: Floats, X: Floats, y: Integers
    ) -> Iterator[tuple[Point, float]]:
        """Yield all points, always in one order, learned from `target` and scored on X and y."""


class SharedSearch:
    """The search of a :class:`SharedGrid`; the first of the best points wins."""

    def __init__(self, grid: SharedGrid, estimator: Any, folds: StratifiedKFold) -> None:
        self.grid, self.estimator, self.folds = grid, estimator, folds

    def fit(self, X: Floats, y: Integers) -> Self:
        """Choose the point with the best mean Gmean and fit it on all target rows."""
        scores = []
        for train, test in self.folds.split(X, y):
            target = X[train][y[train] == 1]
            found = self.grid.scores(clone(self.estimator), target, X[test], y[test])
            points, row = zip(*found, strict=True)
            scores.append(row)
        self.best_params_ = points[int(np.mean(scores, axis=0).argmax())]
        best = clone(self.estimator).set_params(**self.best_params_)
        self.best_estimator_ = best.fit(X[y == 1])
        return self

    def predict(self, X: Floats) -> Integers:
        """Judge rows with the chosen point."""
        labels: Integers = self.best_estimator_.predict(X)
        return labels


@dataclass(frozen=True)
class ProjectedGrid(SharedGrid):
    """A projection that costs much, and a cheap estimator after it: ``map`` and ``sphere``.

    The projection is fitted once per fold and gamma for all points of the estimator; points that
    ask for more components than there are are one and the same. Gamma is the outermost loop.
    """

    gammas: tuple[float, ...]
    points: tuple[Point, ...]

    def scores(
        self, estimator: Any, target: Floats, X: Floats, y: Integers
    ) -> Iterator[tuple[Point, float]]:
        """Project once for each gamma, and score each point that is really another one."""
        projection, sphere = estimator["map"], estimator["sphere"]
        for gamma in self.gammas:
            Z = projection.set_params(gamma=gamma).fit(target).transform(target)
            Z_new = projection.transform(X)
            seen: dict[tuple[Any, ...], float] = {}
            for point in self.points:
                key = _effective(point, Z.shape[1])
                if key not in seen:
                    labels = sphere.set_params(**point).fit(Z).predict(Z_new)
                    seen[key] = gmean_score(y, labels)
                named = {f"sphere__{name}": value for name, value in point.items()}
                yield {"map__gamma": gamma, **named}, seen[key]


@dataclass(frozen=True)
class RejectionGrid(SharedGrid):
    """A model that costs much, and the fraction of rows to reject, which costs nothing.

    The model is fitted once per fold and point for all fractions, the innermost loop.
    """

    points: tuple[Point, ...]
    fractions: tuple[float, ...]

    def scores(
        self, estimator: Any, target: Floats, X: Floats, y: Integers
    ) -> Iterator[tuple[Point, float]]:
        """Fit once for each point, then only set the offset anew."""
        for point in self.points:
            estimator.set_params(**point).fit(target)
            for fraction in self.fractions:
                estimator.set_params(fracrej=fraction).set_offset(target)
                yield {**point, "fracrej": fraction}, gmean_score(y, estimator.predict(X))


def _effective(point: Point, dimension: int) -> tuple[Any, ...]:
    """Return what a point comes to where there are only so many dimensions."""
    return tuple(
        min(value, dimension) if name == "n_components" else value for name, value in point.items()
    )
