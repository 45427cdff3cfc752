"""Searches over the paper's grids that share what several settings have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline

from refold.model_selection import TargetOnly, ThresholdSearchCV, gmean_score, gmean_scorer

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Point = dict[str, Any]


class ThresholdGrid:
    """Thresholds of REF: one fit per fold."""

    def __init__(self, thresholds: Sequence[float]) -> None:
        self.thresholds = tuple(thresholds)

    def __call__(self, estimator: Any, folds: StratifiedKFold) -> ThresholdSearchCV:
        """Return the search for an estimator."""
        return ThresholdSearchCV(estimator, self.thresholds, cv=folds)

    def __repr__(self) -> str:
        return f"ThresholdGrid({self.thresholds})"


class PointGrid:
    """Any grid: one fit per fold and point, in the order of the points.

    A ``ParameterGrid`` sorts its keys; where order decides between equals, as here, the grid is a
    list of single points.
    """

    def __init__(self, points: Iterable[Point]) -> None:
        self.points = tuple(points)

    def __call__(self, estimator: Any, folds: StratifiedKFold) -> GridSearchCV:
        """Return the search for an estimator."""
        points = [{f"estimator__{k}": [v] for k, v in point.items()} for point in self.points]
        return GridSearchCV(TargetOnly(estimator), points, scoring=gmean_scorer, cv=folds)

    def __repr__(self) -> str:
        return f"PointGrid({self.points})"


class ProjectedGrid:
    """A projection that costs much, and a cheap estimator after it.

    The projection is fitted once per fold and gamma for all points of the estimator; points that
    ask for more components than there are are one and the same.
    """

    def __init__(self, gammas: Sequence[float], points: Iterable[Point]) -> None:
        self.gammas, self.points = tuple(gammas), tuple(points)

    def __call__(self, estimator: Pipeline, folds: StratifiedKFold) -> ProjectedSearch:
        """Return the search for a pipeline of projection and estimator."""
        return ProjectedSearch(estimator, folds, self)

    def __repr__(self) -> str:
        return f"ProjectedGrid({self.gammas}, {self.points})"


class ProjectedSearch:
    """The search of a :class:`ProjectedGrid`; gamma is the outermost loop."""

    def __init__(self, pipeline: Pipeline, folds: StratifiedKFold, grid: ProjectedGrid) -> None:
        self.pipeline, self.folds, self.grid = pipeline, folds, grid

    def fit(self, X: Floats, y: Ints) -> Self:
        """Choose the first point with the best mean Gmean and fit it on all target rows."""
        scores = np.mean(
            [self._fold_scores(X, y, train, test) for train, test in self.folds.split(X, y)],
            axis=0,
        )
        gamma, point = np.unravel_index(scores.argmax(), scores.shape)
        self.best_params_ = {"gamma": self.grid.gammas[gamma], **self.grid.points[point]}
        projection, estimator = self._steps()
        projection.set_params(gamma=self.grid.gammas[gamma])
        estimator.set_params(**self.grid.points[point])
        names = [name for name, _ in self.pipeline.steps]
        steps = list(zip(names, (projection, estimator), strict=True))
        self.best_estimator_ = Pipeline(steps).fit(X[y == 1])
        return self

    def predict(self, X: Floats) -> Ints:
        """Judge rows with the chosen point."""
        labels: Ints = self.best_estimator_.predict(X)
        return labels

    def _steps(self) -> tuple[Any, Any]:
        (_, projection), (_, estimator) = self.pipeline.steps
        return clone(projection), clone(estimator)

    def _fold_scores(self, X: Floats, y: Ints, train: Ints, test: Ints) -> list[list[float]]:
        """Score all points on one fold: a row for each gamma."""
        target = X[train][y[train] == 1]
        rows = []
        for gamma in self.grid.gammas:
            projection, estimator = self._steps()
            Z = projection.set_params(gamma=gamma).fit(target).transform(target)
            Z_test = projection.transform(X[test])
            seen: dict[tuple[Any, ...], float] = {}
            for point in self.grid.points:
                key = _effective(point, Z.shape[1])
                if key not in seen:
                    labels = estimator.set_params(**point).fit(Z).predict(Z_test)
                    seen[key] = gmean_score(y[test], labels)
            rows.append([seen[_effective(point, Z.shape[1])] for point in self.grid.points])
        return rows


def _effective(point: Point, dimension: int) -> tuple[Any, ...]:
    """Return what a point comes to where there are only so many dimensions."""
    return tuple(
        min(value, dimension) if name == "n_components" else value for name, value in point.items()
    )
