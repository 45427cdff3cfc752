"""Searches over the paper's grids that share what several settings have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline

from refold._typing import Floats, Integers
from refold.model_selection import TargetOnly, ThresholdSearchCV, gmean_score, gmean_scorer
from refold.peers._ridge import RidgeDetector

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
        """Return the search for a pipeline of ``map`` and ``sphere``."""
        return ProjectedSearch(estimator, folds, self.gammas, self.points)

    def __repr__(self) -> str:
        return f"ProjectedGrid({self.gammas}, {self.points})"


class RejectionGrid:
    """A model that costs much, and the fraction of rows to reject, which costs nothing.

    The model is fitted once per fold and point for all fractions.
    """

    def __init__(self, points: Iterable[Point], fractions: Sequence[float]) -> None:
        self.points, self.fractions = tuple(points), tuple(fractions)

    def __call__(self, estimator: RidgeDetector, folds: StratifiedKFold) -> RejectionSearch:
        """Return the search for an estimator."""
        return RejectionSearch(estimator, folds, self.points, self.fractions)

    def __repr__(self) -> str:
        return f"RejectionGrid({self.points}, {self.fractions})"


class SharedSearch(ABC):
    """A search that scores many points of a fold at once; the first of the best wins."""

    def __init__(self, estimator: Any, folds: StratifiedKFold) -> None:
        self.estimator, self.folds = estimator, folds

    @abstractmethod
    def fold_scores(self, target: Floats, X: Floats, y: Integers) -> Iterator[tuple[Point, float]]:
        """Yield all points, always in one order, learned from `target` and scored on X and y."""

    def fit(self, X: Floats, y: Integers) -> Self:
        """Choose the point with the best mean Gmean and fit it on all target rows."""
        scores = []
        for train, test in self.folds.split(X, y):
            target = X[train][y[train] == 1]
            points, row = zip(*self.fold_scores(target, X[test], y[test]), strict=True)
            scores.append(row)
        self.best_params_ = points[int(np.mean(scores, axis=0).argmax())]
        best = clone(self.estimator).set_params(**self.best_params_)
        self.best_estimator_ = best.fit(X[y == 1])
        return self

    def predict(self, X: Floats) -> Integers:
        """Judge rows with the chosen point."""
        labels: Integers = self.best_estimator_.predict(X)
        return labels


class ProjectedSearch(SharedSearch):
    """The search of a :class:`ProjectedGrid`; gamma is the outermost loop."""

    def __init__(
        self,
        estimator: Pipeline,
        folds: StratifiedKFold,
        gammas: Sequence[float],
        points: Sequence[Point],
    ) -> None:
        super().__init__(estimator, folds)
        self.gammas, self.points = gammas, points

    def fold_scores(self, target: Floats, X: Floats, y: Integers) -> Iterator[tuple[Point, float]]:
        """Project once for each gamma, and score each point that is really another one."""
        for gamma in self.gammas:
            pipeline = clone(self.estimator)
            projection, sphere = pipeline["map"].set_params(gamma=gamma), pipeline["sphere"]
            Z, Z_new = projection.fit(target).transform(target), projection.transform(X)
            seen: dict[tuple[Any, ...], float] = {}
            for point in self.points:
                key = _effective(point, Z.shape[1])
                if key not in seen:
                    labels = sphere.set_params(**point).fit(Z).predict(Z_new)
                    seen[key] = gmean_score(y, labels)
                named = {f"sphere__{name}": value for name, value in point.items()}
                yield {"map__gamma": gamma, **named}, seen[key]


class RejectionSearch(SharedSearch):
    """The search of a :class:`RejectionGrid`; the fraction is the innermost loop."""

    def __init__(
        self,
        estimator: RidgeDetector,
        folds: StratifiedKFold,
        points: Sequence[Point],
        fractions: Sequence[float],
    ) -> None:
        super().__init__(estimator, folds)
        self.points, self.fractions = points, fractions

    def fold_scores(self, target: Floats, X: Floats, y: Integers) -> Iterator[tuple[Point, float]]:
        """Fit once for each point, then only set the offset anew."""
        model = clone(self.estimator)
        for point in self.points:
            model.set_params(**point).fit(target)
            for fraction in self.fractions:
                model.set_params(fracrej=fraction)._reject(target)
                yield {**point, "fracrej": fraction}, gmean_score(y, model.predict(X))


def _effective(point: Point, dimension: int) -> tuple[Any, ...]:
    """Return what a point comes to where there are only so many dimensions."""
    return tuple(
        min(value, dimension) if name == "n_components" else value for name, value in point.items()
    )
