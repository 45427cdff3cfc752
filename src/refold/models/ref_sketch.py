"""REF by parts: histograms of rows that are added, and subtracted again."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from refold._typing import Array, Floats, Integers
from refold.algorithm.engines.sketch import Sketch
from refold.base.errors import UserError
from refold.columns.frames import feature_names, read_weights, validate_table
from refold.columns.table_findings import find_odd_columns
from refold.models import ref_trim
from refold.models.feedback import FeedbackMixin
from refold.models.learned import FromSketch
from refold.models.ref_parameters import check_engine, check_without_alpha


class _OnlyBySketch:
    """A method that is there with ``engine="sketch"``; with others its absence says why."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self.fn = method

    def __get__(self, model: SketchMixin | None, of: type) -> Callable[..., Any]:
        if model is None:
            return self.fn
        if model.engine != "sketch":
            raise AttributeError(
                f"REF(engine={model.engine!r}) has no {self.fn.__name__}: it needs all rows "
                "in one fit. REF(engine='sketch') learns on and forgets; CreasedREF and Detector "
                "learn on."
            )
        return MethodType(self.fn, model)


class SketchMixin(FeedbackMixin):
    """Learns from parts of a table, forgets rows, and accepts them, by the engine "sketch"."""

    if TYPE_CHECKING:  # what the estimator brings
        engine: str
        engine_: str
        threshold: float
        alpha: float | None
        n_bins: int
        n_jobs: int | None
        dropped_: Integers

        def _settle(self, weight: float) -> None: ...
        def _decide_at(self, threshold: float) -> None: ...
        def _decide_anew(self, threshold: float) -> None: ...
        def _recipe(self) -> dict[str, Any]: ...

    @_OnlyBySketch
    def partial_fit(self, X: Array, y: object = None, sample_weight: Array | None = None) -> Self:
        """Go on learning; only for ``engine="sketch"``.

        The result is that of ``fit`` on all rows seen, in whatever chunks they come; with `trim`
        the first call decides how odd a row may be. If it fails, the model stays as it was. A
        calibration does not outlive a change of the model: call ``calibrate`` when all is learned.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            More normal rows.
        y : array-like of shape (n,), default=None
            Labels, if known: rows of label -1 are left out, with a warning. Not used if it holds
            anything but 1 and -1.
        sample_weight : array-like of shape (n,), default=None
            How many times each row counts.

        Returns
        -------
        REF
            The estimator itself.
        """
        with self._learning_on() as model:
            check_without_alpha(model)
            check_engine(model, "sketch")
            first = not hasattr(model, "sketch_")
            if first:
                model.engine_ = "sketch"
                model._decide_at(model.threshold)
            X = validate_table(model, X, reset=first, native=False)
            weights = model._weights(X, y, sample_weight)
            if first:
                model._settle(float(X.shape[0] if weights is None else weights.sum()))
            part = model._sketch(X, ref_trim.kept_weights(model, X, weights, first=first))
            model._learn_anew(part if first else model.sketch_.plus(part))
            if first:  # later ones would say the same again
                model._notice_columns(X, weights)
            model._notice_trimmed()
        return self

    @_OnlyBySketch
    def forget(self, X: Array, sample_weight: Array | None = None) -> Self:
        """Undo the learning of rows; only for ``engine="sketch"``.

        As after ``partial_fit``, a calibration is given up.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Rows that were learned. Those that `trim` left out then are not subtracted now.
        sample_weight : array-like of shape (n,), default=None
            The weights they were learned with.

        Returns
        -------
        REF
            The estimator itself.
        """
        check_is_fitted(self)
        with self._learning_on() as model:
            check_without_alpha(model)
            check_engine(model, "sketch")
            X = validate_table(model, X, reset=False, native=False)
            weights = read_weights(X.shape[0], sample_weight)
            part = model._sketch(X, ref_trim.forgotten(model, X, weights))
            model._learn_anew(model.sketch_.minus(part))
            model._notice_trimmed()
        return self

    @property
    def sketch_(self) -> Sketch:
        """What the engine ``"sketch"`` has kept of the rows; others have none."""
        learned = getattr(self, "_learned", None)
        if not isinstance(learned, FromSketch):
            raise AttributeError("Only a REF learned by engine='sketch' has a sketch_.")
        return learned.sketch

    def _sketch(self, X: Array, weights: Array | None) -> Sketch:
        return Sketch.of(X, weights, n_bins=self.n_bins, n_jobs=self.n_jobs)

    def _learn_anew(self, sketch: Sketch) -> None:
        self._settle(sketch.weight)
        self._learned = FromSketch(sketch, self._recipe())
        self._decide_anew(self.threshold)

    def _check_accepting(self) -> None:
        if not isinstance(self._underneath, FromSketch):
            raise UserError(
                f"A REF of engine={self.engine_!r} keeps no rows to learn more to. Fit again with "
                "these rows among the others, or fit REF(engine='sketch'), which can accept rows."
            )

    def _with_accepted(self, base: FromSketch, rows: Floats, counts: Integers) -> FromSketch:
        return base.plus_rows(rows, counts.astype(np.float64))

    def _notice_columns(self, X: NDArray[Any], weights: Floats | None) -> None:
        self._notice(find_odd_columns(X, weights, feature_names(self)))

    def _notice_trimmed(self) -> None:
        """Say how many rows were left out; which ones, only ``fit`` can say by a number."""
        self.dropped_ = np.empty(0, dtype=np.int64)
        others = (found for found in self.noticed_ if found.kind != "trimmed")
        self.noticed_ = (*others, *ref_trim.noticed(self))
