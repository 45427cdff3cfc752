"""What estimators do with feedback: they lay it over what they have learned, and take it off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from refold._typing import Floats, Integers
from refold.base.errors import UserError
from refold.base.learning import snapshot
from refold.columns.frames import validate_table
from refold.decisions.thresholds import Calibration
from refold.models.feedback.entry import (
    LONGEST_NOTE,
    Decision,
    FeedbackEntry,
    JudgedRows,
    Kind,
    Verdict,
)
from refold.models.feedback.log import FeedbackLog
from refold.models.model_mixin import ModelMixin


class FeedbackMixin(ModelMixin):
    """Takes what people say of rows: base ⊕ accepted rows is what judges.

    What was learned without them stays as it is, underneath: taking feedback back restores it to
    the bit, learning goes on there, and the model file holds both.
    """

    _learned: Any
    # What was learned without the accepted rows; None while there are none.
    _base: Any = None
    _feedback: FeedbackLog = FeedbackLog()
    # The attributes that hold what calibrate and tune_threshold have set.
    _DECIDED: ClassVar[tuple[str, str, str]] = ("_set_threshold", "alpha_", "_set_calibration")

    if TYPE_CHECKING:  # what the estimator brings
        threshold_: float

        def _stored_calibration(self) -> Calibration:
            """Return the distances of normal rows."""

        def score_samples(self, X: Any) -> Any:
            """Return the negative distances."""

        def _with_accepted(self, base: Any, rows: Any, counts: Integers) -> Any:
            """Return what was learned, and rows that count so often, of which none calibrates."""

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learned")

    def _unfitted_copy(self) -> Self:
        """Return a model with the same parameters and columns that has learned nothing."""
        model: Self = clone(self)
        model.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_
        return model

    def _check_accepting(self) -> None:
        """Refuse if rows cannot be learned any more, and say what to do."""

    @property
    def feedback_(self) -> tuple[FeedbackEntry, ...]:
        """What was said of rows by ``accept`` and ``reject``, in its order."""
        return self._feedback.entries

    def accept(self, X: Any, *, times: int = 1, note: str = "") -> Self:
        """Take rows as normal after all: false alarms, or something new that is all right.

        They are learned as ``partial_fit`` learns rows, but never calibrated on: rows that were
        picked because they were reported would spoil the rate. ``feedback_[-1]`` says what came of
        it; a row so far out that one like it changes little may still be reported.

        Parameters
        ----------
        X : array-like, dataframe or list of dict, as for ``predict``
            The rows.
        times : int, default=1
            As how many rows each is learned: how many like it are to be expected among the rows
            learned.
        note : str, default=""
            Why; it is kept with them.

        Returns
        -------
        estimator
            Itself; as it was if it fails.

        Examples
        --------
        >>> import numpy as np
        >>> from refold import CreasedREF
        >>> model = CreasedREF(alpha=0.01).fit(np.random.default_rng(0).normal(size=(500, 3)))
        >>> alarm = [[0.5, 4.5, 0.5]]
        >>> model.predict(alarm), model.accept(alarm).predict(alarm)
        (array([-1]), array([1]))
        >>> print(model.feedback_[-1])
        1 row accepted; it is normal now.
        """
        check_is_fitted(self)
        with self._learning() as model:
            model._check_accepting()
            model._say("accepted", X, times, note)
        return self

    def reject(self, X: Any, *, note: str = "") -> Self:
        """Keep rows that are known not to be normal. Nothing is learned from them.

        ``tune_threshold()`` without arguments sets the threshold between them and normal rows.

        Parameters
        ----------
        X : array-like, dataframe or list of dict, as for ``predict``
            The rows.
        note : str, default=""
            Why; it is kept with them.

        Returns
        -------
        estimator
            Itself; as it was if it fails.

        Examples
        --------
        >>> import numpy as np
        >>> from refold import CreasedREF
        >>> model = CreasedREF(alpha=0.01).fit(np.random.default_rng(0).normal(size=(500, 3)))
        >>> fault = [[1.8, 1.8, -1.8]]
        >>> model.predict(fault), model.reject(fault).tune_threshold().predict(fault)
        (array([1]), array([-1]))
        """
        check_is_fitted(self)
        with self._learning() as model:
            model._say("rejected", X, 1, note)
        return self

    def undo_feedback(self, entry: int = -1) -> Self:
        """Take back something that was said; the model is as if it had never been.

        A threshold that ``calibrate`` or ``tune_threshold`` has set since then is taken back too.

        Parameters
        ----------
        entry : int, default=-1
            Its number as ``refold feedback --list`` counts them: 1 is the first, 2 the second, -1
            the last.

        Returns
        -------
        estimator
            Itself.
        """
        check_is_fitted(self)
        with self._learning() as model:
            entries = len(model.feedback_)
            number = _whole(entry)
            if number is None or not 1 <= abs(number) <= entries:
                raise UserError(
                    f"There is no feedback number {entry!r}: the numbers are 1 to {entries}, "
                    "-1 is the last."
                    if entries
                    else "There is no feedback to undo."
                )
            place = number - 1 if number > 0 else number
            decision = model.feedback_[place].decision
            model._apply_feedback(model._feedback.without(place))
            model._decide_as(decision)
        return self

    def _say(self, kind: Kind, X: Any, times: int, note: str) -> None:
        _check_note(note)
        rows, whole = self._read_feedback(X), _check_times(times)
        if len(rows) == 0:
            raise UserError(f"There are no rows to be {kind}.")
        entry = FeedbackEntry.now(kind, rows, whole, note, self._verdict(rows), self._decision())
        self._apply_feedback(self._feedback.plus(entry))
        self._feedback = self._feedback.replaced(-1, entry.settled(self._verdict(rows)))

    def _apply_feedback(self, log: FeedbackLog) -> None:
        """Become what was learned and what the log accepts."""
        accepted = log.rows("accepted")
        self._forget_feedback()
        if log.entries:
            self._feedback = log
        if accepted is not None:
            base = self._learned
            self._learned, self._base = self._with_accepted(base, *accepted), base

    def _decision(self) -> Decision:
        return Decision(*(vars(self).get(name) for name in self._DECIDED))

    def _decide_as(self, decision: Decision) -> None:
        """Come back to what was decided before."""
        for name, value in zip(self._DECIDED, decision, strict=True):
            if value is None and name == "calibration_":
                self.__dict__.pop(name, None)
            else:
                self.__dict__[name] = value

    @property
    def _underneath(self) -> Any:
        """What was learned without the accepted rows."""
        return self._learned if self._base is None else self._base

    def _without_feedback(self) -> Self:
        """Return the model as if nobody had said anything."""
        model = snapshot(self)
        model._forget_feedback()
        return model

    def _forget_feedback(self) -> None:
        """Become what was learned without it; a model without feedback has no trace of it."""
        if self._base is not None:
            self._learned = self._base
        for name in ("_base", "_feedback"):
            self.__dict__.pop(name, None)

    @contextmanager
    def _learning_on(self) -> Iterator[Self]:
        """Give a copy to go on learning with: rows go underneath what people have said."""
        with self._learning() as model:
            log = model._feedback
            model._forget_feedback()
            yield model
            if log.entries:
                model._apply_feedback(log.decided(model._decision()))

    def _read_feedback(self, X: Any) -> JudgedRows:
        """Return rows as the model takes them, and its own."""
        rows = validate_table(self, X, reset=False, native=False)
        return np.array(rows, dtype=np.float64)

    def _distances_of(self, rows: JudgedRows) -> Floats:
        """Return how far out rows are that the model has read already."""
        plain = snapshot(self)
        plain.__dict__.pop("feature_names_in_", None)  # an array has none
        return -np.asarray(plain.score_samples(rows), dtype=np.float64)

    def _verdict(self, rows: JudgedRows) -> Verdict:
        return Verdict(self._distances_of(rows), float(self.threshold_))

    def _labelled(self) -> tuple[Floats, Integers, Floats]:
        """Return distances of rows of which it is known what they are, labels and weights.

        Normal are the rows that calibrate and those accepted, outliers those rejected.
        """
        rejected, accepted = self._feedback.rows("rejected"), self._feedback.rows("accepted")
        if rejected is None:
            raise UserError(
                "No row was rejected yet, so there is nothing to tune the threshold by: call "
                "reject(rows) with rows that are known not to be normal, or give X_val and y_val."
            )
        calibration = self._stored_calibration()
        distances, labels = [calibration.scores], [np.ones(len(calibration.scores), dtype=np.int64)]
        weights = [calibration.weights]
        for label, some in ((1, accepted), (-1, rejected)):
            if some is not None:
                distances.append(self._distances_of(some[0]))
                labels.append(np.full(len(some[1]), label))
                weights.append(some[1].astype(np.float64))
        return np.concatenate(distances), np.concatenate(labels), np.concatenate(weights)


def _whole(value: object) -> int | None:
    """Return a whole number as Python has it; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        return None
    return int(value)


def _check_times(times: object) -> int:
    whole = _whole(times)
    if whole is None or whole < 1:
        raise UserError(f"times={times!r} must be a whole number, at least 1.")
    return whole


def _check_note(note: str) -> None:
    if not isinstance(note, str) or len(note) > LONGEST_NOTE:
        raise UserError(f"A note is a text of at most {LONGEST_NOTE:,} characters.")
    try:
        note.encode()
    except UnicodeEncodeError:
        raise UserError("The note holds half a surrogate pair, which is not a character.") from None
