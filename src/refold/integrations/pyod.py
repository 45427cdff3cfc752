"""REF for PyOD: higher is more abnormal, 1 is an outlier, and the training rows contain some."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from refold._typing import Array
from refold.base.errors import UserError
from refold.base.findings import RateWarning
from refold.base.needs import needs
from refold.columns.conversion import is_table, to_table
from refold.columns.table import DateColumn, Table, TextColumn
from refold.judgement import Judgement
from refold.models.ref import REF

BaseDetector: Any = needs("pyod.models.base", "pyod").BaseDetector


class REFDetector(BaseDetector):
    """Repeated Element-wise Folding as a PyOD detector.

    Everything that PyOD's detectors have is there: ``predict_proba``, ``predict_confidence``,
    ``predict_with_rejection`` and so on. What they do not have: a row's score never depends on the
    rows beside it, missing values (NaN) are fine, columns of dataframes are checked by name, and
    each score comes with its reasons.

    Read more in ``docs/adapters.md``.

    Parameters
    ----------
    contamination : float or PyThresh thresholder, default=0.1
        The share of outliers in the training rows, above 0 and at most 0.5. It sets the threshold
        only, not the scores.
    n_iter : int, default=101
        The number of standardizations.
    fold : {"abs", "sqr", "cos-abs", "cos", "sin", "tanh"} or callable, default="abs"
        The folding operation.
    distance : {"l1", "l2"} or callable, default="l1"
        How the features' magnitudes become one score.
    levels : {"all", "last"}, default="all"
        ``"all"`` is the path score. ``"last"``, the paper's distance, needs training rows that are
        all normal: with outliers among them it ranks far worse.
    trim : float, default=0.0
        The share of the rows to leave out of training because they look least like the rest.
    engine : {"auto", "exact", "reference", "sketch"}, default="auto"
        How the model is learned.
    max_gain : "auto", float or None, default="auto"
        A feature stops folding before rounding errors would be amplified by more than this;
        ``"auto"`` is 1e6.
    n_bins : int, default=8192
        Bins per feature of the engine ``"sketch"``.
    n_jobs : int or None, default=None
        Threads; None is all cores that the process may use. No result depends on it.

    Attributes
    ----------
    model_ : REF
        The fitted model, to be saved or exported. Its threshold is the detector's, so that both
        decide alike; with a PyThresh thresholder it is the highest score of a training inlier.
    decision_scores_ : ndarray of shape (n,)
        The scores of the training rows: the higher, the more abnormal.
    threshold_ : float
        A row is an outlier if its score is above this.
    labels_ : ndarray of int, shape (n,)
        The training rows: 0 is an inlier, 1 an outlier.

    Examples
    --------
    >>> from pyod.utils.data import generate_data
    >>> from refold.integrations.pyod import REFDetector
    >>> X, X_new, y, y_new = generate_data(n_train=500, random_state=42)
    >>> detector = REFDetector(contamination=0.1).fit(X)
    >>> int(detector.labels_.sum())
    50
    >>> detector.predict([[5.0, 5.0], [-40.0, 5.0]])
    array([0, 1])
    >>> detector.contributions([[-40.0, 5.0]]).argmax()  # because of column 0
    np.int64(0)
    """

    def __init__(
        self,
        contamination: float | Any = 0.1,
        *,
        n_iter: int = 101,
        fold: str | Callable[[Array], Array] = "abs",
        distance: str | Callable[[Array], Array] = "l1",
        levels: Literal["all", "last"] = "all",
        trim: float = 0.0,
        engine: str = "auto",
        max_gain: float | Literal["auto"] | None = "auto",
        n_bins: int = 8192,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(contamination=contamination)
        self.n_iter = n_iter
        self.fold = fold
        self.distance = distance
        self.levels = levels
        self.trim = trim
        self.engine = engine
        self.max_gain = max_gain
        self.n_bins = n_bins
        self.n_jobs = n_jobs

    def fit(self, X: Array, y: object = None) -> Self:
        """Learn from rows of which most are normal. If it fails, the detector stays as it was.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Normal rows with some outliers among them, numbers only. NaN is a missing value.
        y : object, default=None
            Not used; PyOD warns if it is there.

        Returns
        -------
        REFDetector
            The detector itself.
        """
        before = dict(vars(self))
        try:
            return self._fit(X, y)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit(self, X: Array, y: object) -> Self:
        self._check_contamination()
        self._set_n_classes(y)
        params = self.get_params(deep=False)
        del params["contamination"]
        with warnings.catch_warnings():  # the model's own threshold is not the one in use
            warnings.filterwarnings("ignore", "threshold=", RateWarning)
            with _numbers_only(X):
                self.model_ = REF(**params).fit(X)
        self.model_.noticed_ = tuple(f for f in self.model_.noticed_ if f.kind != "false-alarms")
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.model_, name):
                setattr(self, name, getattr(self.model_, name))
        self.decision_scores_ = self.decision_function(X)
        self._process_decision_scores()
        # A thresholder's own figure need not be in the unit of the scores.
        inliers = self.decision_scores_[self.labels_ == 0]
        rate_given = isinstance(self.contamination, float | int)
        self.model_.threshold_ = float(self.threshold_ if rate_given else inliers.max(initial=0.0))
        return self

    def _check_contamination(self) -> None:
        given = self.contamination
        if not isinstance(given, float | int) and not hasattr(given, "fit"):
            raise TypeError(
                f"contamination={given!r} is neither a Python number, such as 0.1, nor a PyThresh "
                "thresholder."
            )
        super().__init__(contamination=given)  # has PyOD check what set_params has set

    def decision_function(self, X: Array) -> NDArray[np.float64]:
        """Return the score of each row, its distance: the higher, the more abnormal.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self, "model_")
        return Judgement.of(self.model_, X).distances

    def contributions(self, X: Array) -> NDArray[np.float64]:
        """Return each feature's share of each row's score.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Rows to explain.

        Returns
        -------
        ndarray of shape (n, d)
            Not negative, 0 for a missing value; a row's shares add up to its score.
        """
        check_is_fitted(self, "model_")
        return Judgement.of(self.model_, X, explained=True).attribution().parts

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


@contextmanager
def _numbers_only(X: Any) -> Iterator[None]:
    """Say of a table that cannot be learned which columns are to blame, and what takes it."""
    try:
        yield
    except (TypeError, ValueError):
        others = _not_numbers(to_table(X)) if is_table(X) else []
        if not others:
            raise
        raise UserError(
            f"PyOD's detectors take numbers; {', '.join(map(repr, others))} "
            f"{'holds' if len(others) == 1 else 'hold'} something else. refold.Detector takes such "
            "a table as it is, from rows that are all normal: there 1 is normal and -1 is not."
        ) from None


def _not_numbers(table: Table) -> list[str]:
    """Return the columns of texts, dates or times; truth values are numbers."""
    return [
        name
        for name, column in table.items()
        if isinstance(column, DateColumn)
        or (isinstance(column, TextColumn) and not {"False", "True"}.issuperset(column.values))
    ]
