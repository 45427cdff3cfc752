"""New rows in, in chunks; a comparison with the training rows out."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from refold._typing import Array
from refold.base import errors
from refold.base.arrays import is_foreign_array, to_numpy
from refold.columns.frames import read_table
from refold.columns.summary import Summary
from refold.drift._counts import Cuts, Seen
from refold.drift._evidence import FalseAlarms, weigh
from refold.drift._result import Drift


def compare(model: Any, X: Array, *, alpha: float = 0.01) -> Drift:
    """Compare new rows with those that a model was trained on.

    Parameters
    ----------
    model : estimator
        A fitted model with ``summary_``. Calibrate it first: without, its rate of rejected rows
        has nothing to be compared with.
    X : array-like or dataframe of shape (n, d)
        New rows, with the columns of training.
    alpha : float, default=0.01
        The chance of a false alarm of any kind, over all features together.

    Returns
    -------
    Drift

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF, drift
    >>> rng = np.random.default_rng(0)
    >>> model = REF().fit(rng.normal(size=(2000, 3)))
    >>> model = model.calibrate(rng.normal(size=(2000, 3)), alpha=0.01)
    >>> new = rng.normal(size=(2000, 3))
    >>> new[::20] = 50.0  # a broken row in twenty
    >>> found = drift.compare(model, new)
    >>> found.verdict
    'more outliers'
    >>> found.rejected > found.expected
    True
    """
    return DriftMonitor(model, alpha=alpha).update(X).result()


class DriftMonitor:
    """Compares a stream of new rows with those that a model was trained on.

    It keeps counts, about 20 kB per feature and never a row; the result is the same however the
    rows come in chunks. What is learned by the model later is not taken into account.

    Parameters
    ----------
    model : estimator
        A fitted model with ``summary_``.
    alpha : float, default=0.01
        The chance of a false alarm of any kind, over all features together, each time that a result
        is looked at.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.drift import DriftMonitor
    >>> rng = np.random.default_rng(0)
    >>> monitor = DriftMonitor(REF().fit(rng.normal(size=(1000, 2))))
    >>> for _ in range(5):
    ...     monitor = monitor.update(rng.normal(size=(200, 2)))
    >>> print(monitor.result())
    The rows are like those of training.
    1,000 rows; 0 of 2 features differ; ... rejected, with nothing to compare it with: the model is
    not calibrated.
    """

    def __init__(self, model: Any, *, alpha: float = 0.01) -> None:
        check_is_fitted(model)
        if not 0.0 < alpha < 1.0:
            raise ValueError(f"alpha={alpha!r} is not a rate: it must lie between 0 and 1.")
        self.alpha = alpha
        self._summary = _summary_of(model)
        self._cuts = Cuts.of(self._summary)
        self._model = copy(model)
        # Rows are read by name once; the same model without names then judges what was read.
        self._judge = copy(model)
        vars(self._judge).pop("feature_names_in_", None)
        self._names = _names_of(model)
        self._alarms = FalseAlarms.of(model)
        self._seen = Seen.nothing(len(self._names))

    def update(self, X: Array) -> Self:
        """Count more rows. If it fails, the monitor stays as it was.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            New rows, possibly none. Rows without any value count as missing in every feature; the
            model cannot judge them.

        Returns
        -------
        DriftMonitor
            Itself.
        """
        if getattr(X, "shape", (1,))[0] == 0:
            return self
        if is_foreign_array(X):
            X = to_numpy(X)
        X = read_table(self._model, X, reset=False, native=False)
        _refuse_infinity(X, self._names)
        judged = ~np.isnan(X).all(axis=1)
        rejected = np.zeros(len(X), dtype=bool)
        if judged.any():
            known = X if judged.all() else X[judged]
            rejected[judged] = np.asarray(self._judge.predict(known)) == -1
        self._seen.add(X, judged, rejected, self._cuts)
        return self

    def result(self) -> Drift:
        """Return what the rows so far have shown.

        Returns
        -------
        Drift
        """
        if self._seen.rows == 0:
            raise ValueError("There are no rows to compare yet: pass some to update().")
        return weigh(self._seen, self._summary, self._alarms, self._names, self.alpha)


def _summary_of(model: Any) -> Summary:
    summary: Summary | None = getattr(model, "summary_", None)
    if summary is None:
        raise ValueError(
            f"This {type(model).__name__} has no summary of its training rows (summary_), so there "
            "is nothing to compare with. Fit it again with this version of refold."
        )
    return summary


def _names_of(model: Any) -> list[str]:
    names = getattr(model, "feature_names_in_", None)
    return (
        [f"x{j}" for j in range(model.n_features_in_)] if names is None else list(map(str, names))
    )


def _refuse_infinity(X: NDArray[Any], names: list[str]) -> None:
    infinite = np.isinf(X)
    if infinite.any():
        row, column = np.argwhere(infinite)[0].tolist()
        raise errors.infinite(row, column).named(names)
