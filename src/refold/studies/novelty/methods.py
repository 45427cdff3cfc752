"""The methods that are compared, each with the settings it comes with.

All work on one thread, so that times can be compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from refold import REF, CreasedREF
from refold._typing import Floats
from refold.base.needs import needs
from refold.studies.measured import finite
from refold.studies.paper.columns import COLUMNS
from refold.studies.paper.columns import METHODS as PAPER_METHODS

# Where a library has no threshold of its own: that share of the training rows is beyond it, which
# is PyOD's default for all its detectors.
CONTAMINATION = 0.1


class Conventions(NamedTuple):
    """How the detectors of a library are asked."""

    score: Callable[[Any, Floats], Floats]  # ``score(model, X)``: the higher, the less normal
    # ``reject(model, X, scores)`` is what the model decides; the scores are those of the rows.
    reject: Callable[[Any, Floats, Floats], NDArray[np.bool_]]


SCIKIT_LEARN = Conventions(
    score=lambda model, X: -model.decision_function(X),
    reject=lambda model, X, scores: model.predict(X) == -1,
)

# Scores of some detectors change with the rows beside them: the decision is on these very scores.
PYOD = Conventions(
    score=lambda model, X: model.decision_function(X),
    reject=lambda model, X, scores: scores > model.threshold_,
)


class Trained(NamedTuple):
    """A method that has learned; rows are given to it as they are in the table."""

    model: Any  # what has learned
    conventions: Conventions  # how it is asked
    scale: Callable[[Floats], Floats]  # what its rows go through first

    def score(self, X: Floats) -> Floats:
        """Return a number for each row: the higher, the less normal."""
        return finite(np.asarray(self.conventions.score(self.model, self.scale(X))))

    def reject(self, X: Floats, scores: Floats) -> NDArray[np.bool_]:
        """Return what is decided about rows that have these scores."""
        return self.conventions.reject(self.model, self.scale(X), scores)


@dataclass(frozen=True)
class NoveltyMethod:
    """A method as it takes part in the comparison."""

    name: str  # unique, as the command line knows it
    origin: str  # the library or paper that it comes from
    threshold: str  # what its default threshold is, in words
    make: Callable[[int], Any]  # ``make(seed)`` is a new estimator
    conventions: Conventions = SCIKIT_LEARN  # how it is asked
    # Whether it brings features to one scale itself. For all others the rows are standardized by
    # mean and standard deviation of the training rows.
    standardizes: bool = False
    # ``make_at_rate(seed, alpha)`` is a new estimator with that rate of false alarms, where it can
    # be asked for one.
    make_at_rate: Callable[[int, float], Any] | None = None

    def learn(self, model: Any, X: Floats) -> Trained:
        """Let a new estimator learn from normal rows."""
        scale = (lambda X: X) if self.standardizes else StandardScaler().fit(X).transform
        model.fit(scale(X))
        return Trained(model, self.conventions, scale)

    def describe(self, seed: int) -> str:
        """Return the settings as text that changes whenever one of them does."""
        return f"{self.make(seed).get_params()!r}, standardizes: {self.standardizes}"

    @property
    def draws(self) -> bool:
        """Whether the seed makes a difference."""
        return self.describe(0) != self.describe(1)


class LeastLikely(OutlierMixin, BaseEstimator):
    """A density that rejects what is less likely than all but a share of its training rows."""

    def __init__(self, density: Any, contamination: float) -> None:
        self.density = density
        self.contamination = contamination

    def fit(self, X: Floats, y: None = None) -> Self:
        """Learn the density and its threshold."""
        self.density_ = clone(self.density).fit(X)
        self.offset_ = np.quantile(self.density_.score_samples(X), self.contamination)
        return self

    def decision_function(self, X: Floats) -> Floats:
        """Return the log-likelihood above the threshold's."""
        return np.asarray(self.density_.score_samples(X) - self.offset_)

    def predict(self, X: Floats) -> NDArray[np.int64]:
        """Return 1 for normal rows, -1 for others."""
        return np.where(self.decision_function(X) >= 0.0, 1, -1)


class NeighbourDiffusion(OutlierMixin, BaseEstimator):
    """DTE-NP: the mean squared distance to the nearest training rows.

    The diffusion time that V. Livernoche et al. estimate without a network ("On Diffusion Modeling
    for Anomaly Detection", ICLR 2024) grows with nothing else, so both rank rows alike.
    """

    def __init__(self, n_neighbors: int, contamination: float) -> None:
        self.n_neighbors = n_neighbors
        self.contamination = contamination

    def fit(self, X: Floats, y: None = None) -> Self:
        """Keep the rows, and learn the threshold from each one's distance to the others."""
        self.neighbors_ = NearestNeighbors(n_neighbors=self.n_neighbors).fit(X)
        self.offset_ = np.quantile(self._mean_squares(None), 1.0 - self.contamination)
        return self

    def _mean_squares(self, X: Floats | None) -> Floats:
        return np.asarray(np.mean(self.neighbors_.kneighbors(X)[0] ** 2, axis=1))

    def decision_function(self, X: Floats) -> Floats:
        """Return how far below the threshold rows are."""
        return self.offset_ - self._mean_squares(X)

    def predict(self, X: Floats) -> NDArray[np.int64]:
        """Return 1 for normal rows, -1 for others."""
        return np.where(self.decision_function(X) >= 0.0, 1, -1)


class FeatureBagging(OutlierMixin, BaseEstimator):
    """The mean of local outlier factors, each by at least half of the columns, drawn at random.

    PyOD has it as well, but there it needs a package that PyOD does not bring.
    """

    def __init__(self, n_estimators: int, random_state: int) -> None:
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X: Floats, y: None = None) -> Self:
        """Draw columns, and learn the factors by them."""
        rng, d = np.random.default_rng(self.random_state), X.shape[1]
        sizes = rng.integers(max(d // 2, 1), d + 1, size=self.n_estimators)
        self.columns_ = [rng.choice(d, size, replace=False) for size in sizes]
        self.factors_ = [
            LocalOutlierFactor(novelty=True).fit(X[:, columns]) for columns in self.columns_
        ]
        return self

    def decision_function(self, X: Floats) -> Floats:
        """Return the mean of what each has left to its threshold."""
        parts = zip(self.factors_, self.columns_, strict=True)
        left = [factor.decision_function(X[:, at]) for factor, at in parts]
        return np.asarray(np.mean(left, axis=0))

    def predict(self, X: Floats) -> NDArray[np.int64]:
        """Return 1 for normal rows, -1 for others."""
        return np.where(self.decision_function(X) >= 0.0, 1, -1)


_SHARE = f"beyond {CONTAMINATION:.0%} of the training rows"


def _from_scikit_learn(name: str, threshold: str, make: Callable[[int], Any]) -> NoveltyMethod:
    return NoveltyMethod(name, "scikit-learn", threshold, make)


def _from_pyod(
    name: str, module: str, *, draws: bool = False, standardizes: bool = False, **settings: Any
) -> NoveltyMethod:
    def make(seed: int) -> Any:
        detector = getattr(needs(f"pyod.models.{module}", "benchmark"), module.upper())
        return detector(**settings, **({"random_state": seed} if draws else {}))

    return NoveltyMethod(name, "PyOD", _SHARE, make, PYOD, standardizes)


def _from_the_paper(name: str) -> NoveltyMethod:
    """Return a column of Table III with the paper's fixed defaults."""
    column = COLUMNS[name]

    def make(seed: int) -> Any:
        return clone(column.estimator).set_params(**{column.draws: seed} if column.draws else {})

    return NoveltyMethod(name, "the REF paper", "the paper's default", make)


def _from_refold(name: str, threshold: str, make: Callable[[int], Any]) -> NoveltyMethod:
    def at_rate(seed: int, alpha: float) -> Any:
        return make(seed).set_params(alpha=alpha)

    return NoveltyMethod(name, "refold", threshold, make, standardizes=True, make_at_rate=at_rate)


_ALL = (
    _from_refold(
        "CreasedREF",
        "alpha 0.1, leave-one-out",
        lambda seed: CreasedREF(random_state=seed, n_jobs=1),
    ),
    _from_refold("REF", "distance 1", lambda seed: REF(n_jobs=1)),
    _from_refold("REF-all", "distance 1", lambda seed: REF(levels="all", n_jobs=1)),
    _from_pyod("kNN-1", "knn", n_neighbors=1),
    _from_pyod("kNN-5", "knn", n_neighbors=5),
    NoveltyMethod(
        "DTE-NP",
        "V. Livernoche et al.",
        f"none of its own; {_SHARE}",
        lambda seed: NeighbourDiffusion(5, CONTAMINATION),
    ),
    _from_scikit_learn("LOF", "factor 1.5", lambda seed: LocalOutlierFactor(novelty=True)),
    _from_scikit_learn(
        "IsolationForest", "score 0.5", lambda seed: IsolationForest(random_state=seed)
    ),
    _from_scikit_learn("OneClassSVM", "nu 0.5", lambda seed: OneClassSVM()),
    _from_scikit_learn(
        "GaussianMixture",
        f"none of its own; {_SHARE}",
        lambda seed: LeastLikely(GaussianMixture(random_state=seed), CONTAMINATION),
    ),
    _from_scikit_learn(
        "EllipticEnvelope", _SHARE, lambda seed: EllipticEnvelope(random_state=seed)
    ),
    NoveltyMethod(
        "FeatureBagging",
        "A. Lazarevic and V. Kumar, as in PyOD",
        "mean factor 1.5",
        lambda seed: FeatureBagging(n_estimators=10, random_state=seed),
    ),
    _from_pyod("ECOD", "ecod"),
    _from_pyod("COPOD", "copod"),
    _from_pyod("HBOS", "hbos"),
    _from_pyod("INNE", "inne", draws=True),
    _from_pyod("LODA", "loda", draws=True),
    _from_pyod("PCA", "pca", draws=True, standardizes=True),
    *(_from_the_paper(name) for name in PAPER_METHODS if name != "REF"),
)

METHODS: dict[str, NoveltyMethod] = {method.name: method for method in _ALL}

# Those that need no more than seconds on a few thousand rows.
QUICK = (
    *("CreasedREF", "REF", "REF-all", "kNN-1", "kNN-5", "LOF", "IsolationForest"),
    *("OneClassSVM", "GaussianMixture", "ECOD", "COPOD", "HBOS"),
)

# What all others are tested against.
REFERENCES = ("CreasedREF", "REF", "REF-all")
