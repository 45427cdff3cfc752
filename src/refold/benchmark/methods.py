"""The methods that are compared, each with the settings it comes with.

A method is a small function that makes its estimator for a seed. All work on one thread, so that
times can be compared.
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
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

from refold import REF, CreasedREF
from refold._typing import Floats
from refold.base.needs import needs
from refold.paper.registry import COLUMNS
from refold.paper.registry import METHODS as PAPER_METHODS

# Where a library has no threshold of its own: that share of the training rows is beyond it, which
# is PyOD's default for all its detectors.
CONTAMINATION = 0.1


class Conventions(NamedTuple):
    """How the detectors of a library are asked.

    Parameters
    ----------
    score : callable
        ``score(model, X)``: the higher, the less normal.
    reject : callable
        ``reject(model, X, scores)`` is what the model decides; the scores are those of the rows.
    """

    score: Callable[[Any, Floats], Floats]
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


@dataclass(frozen=True)
class Method:
    """A method as it takes part in the comparison.

    Parameters
    ----------
    name : str
        Unique, as the command line knows it.
    origin : str
        The library or paper that it comes from.
    threshold : str
        What its default threshold is, in words.
    make : callable
        ``make(seed)`` is a new estimator.
    conventions : Conventions
        How it is asked.
    standardizes : bool, default=False
        Whether it brings features to one scale itself. For all others the rows are standardized
        by mean and standard deviation of the training rows.
    """

    name: str
    origin: str
    threshold: str
    make: Callable[[int], Any]
    conventions: Conventions = SCIKIT_LEARN
    standardizes: bool = False

    def describe(self, seed: int) -> str:
        """Return the settings as text that changes whenever one of them does."""
        return f"{self.make(seed).get_params()!r}, standardizes: {self.standardizes}"


class LeastLikely(OutlierMixin, BaseEstimator):
    """A density that rejects what is less likely than all but a share of its training rows.

    Parameters
    ----------
    density : estimator
        With ``score_samples``.
    contamination : float
        The share.
    """

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


def _ref(seed: int) -> Any:
    return REF(n_jobs=1)


def _ref_all(seed: int) -> Any:
    return REF(levels="all", n_jobs=1)


def _creased_ref(seed: int) -> Any:
    return CreasedREF(random_state=seed, n_jobs=1)


def _lof(seed: int) -> Any:
    return LocalOutlierFactor(novelty=True)


def _isolation_forest(seed: int) -> Any:
    return IsolationForest(random_state=seed)


def _one_class_svm(seed: int) -> Any:
    return OneClassSVM()


def _gaussian_mixture(seed: int) -> Any:
    return LeastLikely(GaussianMixture(random_state=seed), CONTAMINATION)


def _elliptic_envelope(seed: int) -> Any:
    return EllipticEnvelope(random_state=seed)


def _pyod(module: str, **settings: Any) -> Any:
    models = needs(f"pyod.models.{module}", "benchmark")
    return getattr(models, module.upper())(**settings)


def _knn_1(seed: int) -> Any:
    return _pyod("knn", n_neighbors=1)


def _knn_5(seed: int) -> Any:
    return _pyod("knn", n_neighbors=5)


def _ecod(seed: int) -> Any:
    return _pyod("ecod")


def _copod(seed: int) -> Any:
    return _pyod("copod")


def _hbos(seed: int) -> Any:
    return _pyod("hbos")


def _inne(seed: int) -> Any:
    return _pyod("inne", random_state=seed)


def _loda(seed: int) -> Any:
    return _pyod("loda", random_state=seed)


def _pca(seed: int) -> Any:
    return _pyod("pca", random_state=seed)


def _of_the_paper(name: str) -> Callable[[int], Any]:
    """Return how a column of Table III is made with the paper's fixed defaults."""
    column = COLUMNS[name]

    def make(seed: int) -> Any:
        model = clone(column.estimator)
        return model.set_params(**{column.draws: seed}) if column.draws else model

    return make


_SHARE = f"beyond {CONTAMINATION:.0%} of the training rows"


def _from_pyod(name: str, make: Callable[[int], Any], *, standardizes: bool = False) -> Method:
    return Method(name, "PyOD", _SHARE, make, PYOD, standardizes)


_ALL = (
    Method("CreasedREF", "refold", "alpha 0.1, leave-one-out", _creased_ref, standardizes=True),
    Method("REF", "refold", "distance 1", _ref, standardizes=True),
    Method("REF-all", "refold", "distance 1", _ref_all, standardizes=True),
    _from_pyod("kNN-1", _knn_1),
    _from_pyod("kNN-5", _knn_5),
    Method("LOF", "scikit-learn", "factor 1.5", _lof),
    Method("IsolationForest", "scikit-learn", "score 0.5", _isolation_forest),
    Method("OneClassSVM", "scikit-learn", "nu 0.5", _one_class_svm),
    Method("GaussianMixture", "scikit-learn", f"none of its own; {_SHARE}", _gaussian_mixture),
    Method("EllipticEnvelope", "scikit-learn", _SHARE, _elliptic_envelope),
    _from_pyod("ECOD", _ecod),
    _from_pyod("COPOD", _copod),
    _from_pyod("HBOS", _hbos),
    _from_pyod("INNE", _inne),
    _from_pyod("LODA", _loda),
    _from_pyod("PCA", _pca, standardizes=True),
    *(
        Method(name, "the REF paper", "the paper's default", _of_the_paper(name))
        for name in PAPER_METHODS
        if name != "REF"
    ),
)

METHODS: dict[str, Method] = {method.name: method for method in _ALL}

# What all others are tested against.
REFERENCES = ("CreasedREF", "REF", "REF-all")
