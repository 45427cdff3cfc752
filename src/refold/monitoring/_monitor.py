"""New rows in, in chunks; a comparison with the training rows out."""

from __future__ import annotations

import os
from copy import copy
from pathlib import Path
from typing import Any, Self

from refold._typing import Array
from refold.base.files import write_file
from refold.base.version import VERSION
from refold.decisions.calibration_file import read_rate
from refold.decisions.thresholds import check_rate
from refold.judgement import Judge, Judgement, unwrapped
from refold.modelfile.document import checked_members, sealed, unsealed
from refold.modelfile.errors import ModelFileError
from refold.modelfile.json_text import MOST_MEMORY, Budget, content_of
from refold.monitoring import _monitor_file as file_format
from refold.monitoring._change import ChangeTest, StreamChange
from refold.monitoring._drift_counts import Baseline, DriftCounts, QuantileCuts
from refold.monitoring._drift_result import Drift
from refold.monitoring._evidence import FalseAlarms, weigh


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
        self._cuts = QuantileCuts.of(self._training.summary)
        self._digest = file_format.digest_of(self._judge, self._training, self._cuts)
        self._alarms = FalseAlarms.of(self._judge)
        self._counts = DriftCounts.nothing(self._training)
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
        if self._digest != other._digest:
            raise ValueError("These monitors are of different models: their counts do not add up.")
        if (self._change is None) != (other._change is None):
            raise ValueError("One of the monitors has watch=False: give both the same.")
        self._counts = self._counts.plus(other._counts)
        if self._change is not None and other._change is not None:
            self._change.merge(other._change)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what the rows so far have shown to a file, to go on after a restart.

        The file is one JSON document with a checksum, as a model file. It has no row, but the
        values of categories with their counts; the model is not in it.

        Parameters
        ----------
        path : str or path-like
            Where to write. A file that is there is replaced when the new one is complete.

        Examples
        --------
        >>> import os, tempfile
        >>> import numpy as np
        >>> from refold import REF
        >>> from refold.monitoring import DriftMonitor
        >>> rng = np.random.default_rng(0)
        >>> model = REF(alpha=0.01).fit(rng.normal(size=(1000, 2)))
        >>> path = os.path.join(tempfile.mkdtemp(), "monitor.json")
        >>> DriftMonitor(model).update(rng.normal(size=(300, 2))).save(path)
        >>> monitor = DriftMonitor.load(path, model)
        >>> monitor.update(rng.normal(size=(200, 2))).change().rows
        500
        """
        members = {
            "model": self._digest,
            "alpha": self.alpha,
            "counts": file_format.counts_to_document(self._counts),
            "change": self._change and file_format.change_to_document(self._change),
        }
        content = sealed(file_format.FORMAT, members, Budget(MOST_MEMORY), VERSION)
        write_file(Path(path), content, private=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str], model: Any) -> Self:
        """Read what :meth:`save` has written.

        Parameters
        ----------
        path : str or path-like
            The file. Everything in it is checked, and no code runs.
        model : estimator
            The model that the rows were compared with.

        Returns
        -------
        DriftMonitor
            It goes on as if it had never been put away.

        Raises
        ------
        ModelFileError
            If it is not such a file, was damaged, or is of another model.
        """
        try:
            document, checksum = unsealed(content_of(Path(path)), file_format.FORMAT)
            members, _ = checked_members(document, checksum, *file_format.MEMBERS)
            alpha = read_rate(members["alpha"])
            if alpha is None:
                members["alpha"].refuse("must be a number")
            monitor = cls(model, alpha=alpha, watch=not members["change"].is_null())
            if members["model"].text() != monitor._digest:
                members["model"].refuse(
                    "this monitor is of another model: its counts cannot be compared with the "
                    "training rows of this one"
                )
            monitor._counts = file_format.read_drift_counts(members["counts"], monitor._training)
            if monitor._change is not None:
                file_format.read_change(members["change"], monitor._change)
        except ModelFileError as error:
            raise error.in_file(os.fspath(path)) from None
        return monitor

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
