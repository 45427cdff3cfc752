"""New rows in, in chunks; a comparison with the training rows out."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np

from refold._typing import Array
from refold.decisions.thresholds import check_rate
from refold.judgement import Judge, Judgement, unwrapped
from refold.monitoring._change import ChangeTest, StreamChange
from refold.monitoring._counts import Baseline, Counts, Cuts
from refold.monitoring._evidence import FalseAlarms, weigh
from refold.monitoring._result import Drift


def drift(model: Any, X: Array, *, alpha: float = 0.01) -> Drift:
    """Compare new rows with those that a model was trained on.

    Parameters
    ----------
    model : estimator
        A fitted model with ``summary_``. Calibrate it first: without, its rate of rejected rows
        has nothing to be compared with.
    X : array-like, dataframe or Judgement of n rows
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
    >>> found = drift(model, new)
    >>> found.verdict
    'more outliers'
    >>> found.rejected > found.expected
    True
    """
    return DriftMonitor(model, alpha=alpha, watch=False).update(X).result()


class DriftMonitor:
    """Compares a stream of new rows with those that a model was trained on.

    It keeps counts, about 30 kB per feature and never a row; the result is the same however the
    rows come in chunks. What is learned by the model later is not taken into account.

    Parameters
    ----------
    model : estimator
        A fitted model with ``summary_``.
    alpha : float, default=0.01
        The chance of a false alarm of any kind, over all features together, each time that a result
        is looked at.
    watch : bool, default=True
        Whether the order of rows is looked at, for :meth:`change`; it takes some microseconds
        per row and column.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.monitoring import DriftMonitor
    >>> rng = np.random.default_rng(0)
    >>> monitor = DriftMonitor(REF().fit(rng.normal(size=(1000, 2))))
    >>> for _ in range(5):
    ...     monitor = monitor.update(rng.normal(size=(200, 2)))
    >>> print(monitor.result())
    No difference from the training rows is proven.
    1,000 rows; 0 of 2 columns differ; ... are outliers, with nothing to compare it with: the model
    is not calibrated.
    """

    def __init__(self, model: Any, *, alpha: float = 0.01, watch: bool = True) -> None:
        self.alpha = check_rate(alpha, "alpha")
        self._model = copy(unwrapped(model))
        self._judge = Judge.of(self._model)
        self._training = Baseline.of(self._model, self._judge)
        self._cuts = Cuts.of(self._training.summary)
        self._alarms = FalseAlarms.of(self._judge)
        self._counts = Counts.nothing(self._training)
        self._change = ChangeTest(self._judge, self._training) if watch else None

    def update(self, X: Array) -> Self:
        """Count more rows. If it fails, the monitor stays as it was.

        Parameters
        ----------
        X : array-like, dataframe or Judgement of n rows
            New rows, possibly none. Rows without any value count as missing in every feature; the
            model cannot judge them.

        Returns
        -------
        DriftMonitor
            Itself.
        """
        if getattr(X, "shape", (1,))[0] == 0:
            return self
        found = X if isinstance(X, Judgement) else Judgement.of(self._model, X)
        self._counts.add(found, self._training, self._cuts)
        if self._change is not None:
            self._change.update(found)
        return self

    def merge(self, other: DriftMonitor) -> Self:
        """Add the rows that another monitor of the same model has seen, such as that of a site.

        Counts are as if all rows had come here. A change is looked for in each of the streams, and
        the evidence of the one that has most is divided by their number, so that the answer still
        is ever wrong with probability alpha at most.

        Parameters
        ----------
        other : DriftMonitor
            It stays as it is.

        Returns
        -------
        DriftMonitor
            Itself.

        Examples
        --------
        >>> import numpy as np
        >>> from refold import REF
        >>> from refold.monitoring import DriftMonitor
        >>> rng = np.random.default_rng(0)
        >>> model = REF(alpha=0.01).fit(rng.normal(size=(1000, 2)))
        >>> north, south = (DriftMonitor(model).update(rng.normal(size=(300, 2))) for _ in range(2))
        >>> north.merge(south).result().rows
        600
        """
        if other is self:
            raise ValueError("A monitor cannot be merged with itself: its rows would count twice.")
        same = (
            self._judge.names == other._judge.names
            and self._judge.threshold == other._judge.threshold
            and self._training.rows == other._training.rows
            and np.array_equal(self._training.states, other._training.states)
            and np.array_equal(self._cuts.lower, other._cuts.lower)
        )
        if not same:
            raise ValueError("These monitors are of different models: their counts do not add up.")
        if (self._change is None) != (other._change is None):
            raise ValueError("One of the monitors has watch=False: give both the same.")
        self._counts = self._counts.plus(other._counts)
        if self._change is not None and other._change is not None:
            self._change.merge(other._change)
        return self

    def result(self) -> Drift:
        """Return what the rows so far have shown.

        Returns
        -------
        Drift
        """
        if self._counts.rows == 0:
            raise ValueError("There are no rows to compare yet: pass some to update().")
        return weigh(self._counts, self._training, self._alarms, self.alpha)

    def change(self) -> StreamChange:
        """Say whether the stream has changed, in any column of numbers or in the distances.

        It may be asked after every row: as long as nothing changes, the answer is ever wrong
        with probability alpha at most. The order of rows matters.

        Returns
        -------
        StreamChange
        """
        if self._change is None:
            raise ValueError("This monitor does not look at the order of rows: set watch=True.")
        return self._change.result(self.alpha)
