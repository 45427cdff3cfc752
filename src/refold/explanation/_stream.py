"""Rows that come one by one, each judged with those before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, overload

import numpy as np

from refold.base.learning import snapshot
from refold.columns.context.history import History
from refold.explanation._explain import explain
from refold.explanation._explanations import Explanation, Explanations
from refold.judgement import Judge, Judgement, unwrapped


class RowStream:
    """Judges rows one by one, or some at a time, in the order of time.

    Of a model with a window it remembers the last rows of each group, as many as the window needs,
    and of at most 100,000 groups those that were heard of last. Learning on does not change it.

    Parameters
    ----------
    model : estimator
        Fitted; ``model.stream()`` makes one.
    history : dataframe, Arrow table, list of dict or None, default=None
        Rows that came before and are not judged.
    reasons : int or None, default=3
        How many columns to name for an outlier; None is all.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import Detector
    >>> values = np.random.default_rng(0).normal(5, 1, 1000).round(2)
    >>> model = Detector(window=30).fit([{"pressure": value} for value in values])
    >>> stream = model.stream(history=[{"pressure": value} for value in values[-30:]])
    >>> for _ in range(12):
    ...     found = stream.judge({"pressure": 5.1})
    >>> found.label, found.sentence()
    (-1, 'pressure has not changed for 12 rows (normal: at most 1)')
    """

    def __init__(self, model: Any, *, history: Any = None, reasons: int | None = 3) -> None:
        self._model = snapshot(unwrapped(model))
        self._judge, self._reasons = Judge.of(self._model), reasons
        self._history, self._rows = History(), 0
        if history is not None:
            self._read(history)

    @overload
    def judge(self, X: Mapping[str, Any]) -> Explanation: ...
    @overload
    def judge(self, X: Any) -> Explanation | Explanations: ...
    def judge(self, X: Any) -> Explanation | Explanations:
        """Judge a row, or some, after those that came before.

        Parameters
        ----------
        X : dict, dataframe, Arrow table, list of dict or array of shape (n, d)
            One row as a dict (or a pandas Series), or rows in the order of time. If it cannot be
            judged, the stream stays as it was.

        Returns
        -------
        Explanation or Explanations
            Label, p-value, and for outliers the reasons; of a dict one, else one for each row.
        """
        one = isinstance(X, Mapping) or (hasattr(X, "to_dict") and np.ndim(X) == 1)
        found = self._read([dict(X.items())] if one else X)
        reasons = {
            int(row): answer
            for row, answer in zip(
                np.flatnonzero(found.outlier),
                explain(self._model, found.of_outliers, reasons=self._reasons, nearest=False),
                strict=True,
            )
        }
        p_values = found.p_values
        answers = [
            replace(reasons[i], row=self._rows + i)
            if i in reasons
            else Explanation(
                row=self._rows + i,
                label=int(found.labels[i]),
                distance=float(found.distances[i]),
                threshold=found.judge.threshold,
                p_value=None if p_values is None else float(p_values[i]),
                reasons=(),
                muted=found.muted_by(i),
            )
            for i in range(len(found))
        ]
        self._rows += len(answers)
        return answers[0] if one else Explanations(answers)

    def _read(self, X: Any) -> Judgement:
        if self._judge.encoder is None:
            return Judgement.of(self._model, X)
        found = self._judge.table(X, history=self._history)
        found.distances  # noqa: B018  # now: what cannot be judged is not remembered
        self._history.commit()
        return found
