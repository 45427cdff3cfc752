"""Detector, the estimator that takes what people have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import chain
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from refold._typing import Floats
from refold.base.learning import check_learned
from refold.base.parameters import N_JOBS, RANDOM_STATE, Interval, StrOptions
from refold.base.progress import part
from refold.columns.context.time_findings import (
    notice_groups,
    notice_missing_times,
    notice_same_times,
    notice_stretches,
)
from refold.columns.encoding.column_info import ColumnInfos
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.encoder import N_INIT, TableEncoder
from refold.columns.encoding.state import RowsInContext, TableState
from refold.columns.frames import row_names_of
from refold.columns.table import Table
from refold.decisions.thresholds import Calibration, DecisionMixin
from refold.models.detector.detector_findings import WARNED, findings
from refold.models.detector.learned import SIZE, LearnedTable, RowSample
from refold.models.detector.scorer import TableScorer
from refold.models.detector.stretches import (
    left_out_in_stretches,
    rates_of_stretches,
    threshold_of_tenths,
)
from refold.models.detector.table_mixin import TableMixin, refuse_window
from refold.models.detector.trim import TableCut, of_rows, plus_rows
from refold.models.trim import MOST_TRIM


class Detector(TableMixin, DecisionMixin, OutlierMixin, BaseEstimator):
    """Learns what is normal from a table as people have it: numbers, texts, dates, gaps.

    ``fit`` infers the role of each column (``columns_``) and learns how numbers depend on each
    other and how rare each value is. For a row that is not normal it names the columns that make
    it so. There is nothing to tune.

    Read more in ``docs/tables.md``.

    Parameters
    ----------
    method : {"auto", "creased", "ref"}, default="auto"
        ``"creased"``: CreasedREF on the numbers and on how surprising each cell is; it sees how
        columns depend on each other. ``"ref"``: the mean over columns of how surprising their cells
        are, of numbers after folding; it adds up, so reasons are exact, and it takes one pass.
        ``"auto"`` is ``"creased"``.
    alpha : float or "auto", default="auto"
        The share of normal rows that may be rejected. ``"auto"`` is 0.01, or 5/(n + 1) if the n
        rows are too few for that.
    roles : dict of str to str or None, default=None
        What columns are, where the guess would be wrong: "number", "category", "text",
        "identifier", "date" or "ignore".
    id_column : str or None, default=None
        The column that names rows, such as a part number. It is not learned; explanations,
        findings and reports call rows by it, else by the labels of a pandas index.
    by : str, list of str or None, default=None
        The column that says which machine, site or customer a row is of: a row is judged by what is
        normal for its group. Several columns are nested, the largest first. See
        ``docs/context.md``.
    over : str or None, default=None
        The column that says when a row was, a date or a number: calendar and trend are expected.
    context : str, list of str or None, default=None
        Columns that explain others, such as load or product; they are not judged themselves.
    window : int, str, timedelta or None, default=None
        So many rows up to each row, or a duration such as "7d", within its group and in the order
        of `over`, else of the rows: step, rolling mean and standard deviation, and for how many
        rows a value has not changed, are judged too. Rows to judge are given with those before
        them, or to :meth:`stream`.
    rules : dict or None, default=None
        What you know of columns and the model cannot: limits, values that are allowed, a direction
        or differences that do not count, columns that are not to be blamed, rows that are muted.
        The rate is calibrated with them in place. See ``docs/rules.md``.
    trim : float, default=0.0
        The share of the rows to leave out of training because they look least like the rest. They
        count for the threshold all the same. See ``docs/trim.md``.
    random_state : int, RandomState instance or None, default=0
        Draws the creases, and the rows that are kept.
    n_jobs : int or None, default=None
        Threads; None is all cores that the process may use. No result depends on it.

    Attributes
    ----------
    columns_ : ColumnInfos
        How each column was read: role, form, unit, words for missing values, smallest and largest
        value over all rows. A list; ``to_frame`` gives a table, ``print`` a line per column.
    noticed_ : tuple of Finding
        What ``fit`` noticed about the table and the threshold.
    encoder_ : TableEncoder
        What makes numbers of the table.
    model_ : REF, CreasedREF or None
        The estimator inside; None where the mean of magnitudes is all.
    calibration_ : Calibration
        Distances of training rows, each left out, or what ``calibrate`` was given.
    threshold_ : float
        A row is normal if its distance is at most this.
    alpha_ : float or None
        The rate that ``threshold_`` was set for.
    dropped_ : ndarray of int
        The rows that `trim` has left out of ``fit``, by number, those that look least like the rest
        first. Rows that come in parts have no numbers: ``noticed_`` says how many were left out.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    See Also
    --------
    REF : The paper's method, on numbers.
    CreasedREF : The same with dependence between columns.
    TableEncoder : What makes numbers of a table.

    Notes
    -----
    A table of numbers alone goes to the estimator inside as it is. Of other tables up to 10,000
    rows, drawn at random, are kept: the estimator inside learns from these; values, shapes and
    numbers are counted over all rows. Whatever a column never had that seemed to be closed (a
    category it does not know, no value where there always was one, a text among numbers) makes a
    row abnormal; so does a row without any value.

    There is no `sample_weight`: values, texts and dates are counted in whole rows. Repeat rows that
    stand for several, or use CreasedREF, whose rows may have weights.

    Examples
    --------
    >>> from refold import Detector
    >>> rows = [
    ...     {"machine": "AB"[k % 2], "torque": 75 + k % 7, "day": f"2026-03-{1 + k % 28:02d}"}
    ...     for k in range(200)
    ... ]
    >>> model = Detector().fit(rows)
    >>> [f"{column.name}: {column.role}" for column in model.columns_]
    ['machine: category', 'torque: number', 'day: date']
    >>> model.predict([rows[0], {**rows[0], "machine": "Z"}])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "method": [StrOptions("auto", "creased", "ref")],
        "alpha": [StrOptions("auto"), Interval(Real, 0.0, 1.0, closed="neither")],
        "roles": [dict, None],
        "id_column": [str, None],
        "by": [str, list, tuple, None],
        "over": [str, None],
        "context": [str, list, tuple, None],
        "window": [Integral, str, timedelta, np.timedelta64, None],
        "rules": [dict, None],
        "trim": [Interval(Real, 0.0, MOST_TRIM, closed="left")],
        "random_state": [*RANDOM_STATE],
        "n_jobs": [*N_JOBS],
    }

    def __init__(
        self,
        *,
        method: Literal["auto", "creased", "ref"] = "auto",
        alpha: float | Literal["auto"] = "auto",
        roles: Mapping[str, str] | None = None,
        id_column: str | None = None,
        by: str | Sequence[str] | None = None,
        over: str | None = None,
        context: str | Sequence[str] | None = None,
        window: int | str | timedelta | None = None,
        rules: Mapping[str, Any] | None = None,
        trim: float = 0.0,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.alpha = alpha
        self.roles = roles
        self.id_column = id_column
        self.by = by
        self.over = over
        self.context = context
        self.window = window
        self.rules = rules
        self.trim = trim
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn what is normal. If it fails, a model learned before stays as it was.

        Parameters
        ----------
        X : dataframe, Arrow table, list of dict or array of shape (n, d)
            Normal rows only.
        y : array-like of shape (n,), default=None
            Labels, if known: rows of label -1 are left out, with a warning. Not used if it holds
            anything but 1 and -1.

        Returns
        -------
        Detector
            The estimator itself.
        """
        with self._learning() as model:
            model._forget_feedback()
            table = model._begin(X)
            normal = model._normal_rows(y, table.rows)
            model._fit(table if normal is None else table.take(np.flatnonzero(normal)))
            if normal is not None:  # rows are called by their place in X
                place = np.flatnonzero(normal)
                model.dropped_ = place[model.dropped_]
                model.noticed_ = tuple(each.renumbered(place) for each in model.noticed_)
            names = row_names_of(X, self.id_column)
            if names is not None:
                model.noticed_ = tuple(
                    found.with_row_labels(lambda row: str(names[row])) for found in model.noticed_
                )
        return self

    def _fit(self, table: Table) -> None:
        """Learn from all rows of a table that was read."""
        state, sample = self._nothing()
        found = None
        if self._has_context:
            rows_read = table.rows
            with part(0.0, 0.1):
                found = state.learn_context(table)
            state, table = found.state, found.learned
        with part(0.1, 0.2):
            state, cut, table = of_rows(state, table, trim=self.trim, n_jobs=self.n_jobs)
        learned = self._learned_of(state, sample.plus_rows(table), cut)
        with part(0.2, 0.6):
            if learned.plan.plain and table.rows > SIZE and state.context is None:
                beyond = np.zeros(table.rows, np.bool_) if cut is None else cut.beyond(table)
                LearnedTable.inside.keep(learned, learned.of_rows(table, beyond))
            learned.inside  # noqa: B018  # now: what is wrong with the rows is said by fit
        stretches = [] if found is None else self._calibrate_in_stretches(learned, found)
        self._learn(learned)
        if cut is not None:
            self.dropped_ = cut.dropped(table)
        noticed = iter(()) if self._quiet else findings(self, table)
        if found is not None:  # of the first rows nothing was foreseen
            noticed = (each.renumbered(found.places) for each in noticed)
            if (context := self.encoder_.context) is not None and not self._quiet:
                noticed = chain(notice_groups(context, found.inputs), noticed)
                if context.window is not None and found.rows is not None:
                    rates = rates_of_stretches(stretches, learned.rate)
                    noticed = chain(
                        notice_same_times(context.window, found.rows),
                        noticed,
                        notice_stretches(
                            context.window, found.rows, found.learned, found.kept, rates
                        ),
                    )
            if (missing := rows_read - found.inputs.rows) and self.over is not None:
                noticed = chain([notice_missing_times(self.over, missing, rows_read)], noticed)
        with part(0.6, 1.0):
            self._notice(noticed, WARNED)
        if found is not None:  # now: findings, made one by one, are renumbered by themselves
            self.dropped_ = found.places[self.dropped_]

    def _calibrate_in_stretches(self, learned: LearnedTable, found: RowsInContext) -> list[Floats]:
        """Set the threshold by rows that were left out with those around them.

        Return the distances of each stretch of windows. Over time alone all distances count as
        farther, if they are so in tenths that were left out.
        """
        inside, (stretches, rows) = learned.inside, left_out_in_stretches(self, found)
        if stretches:
            left_out = np.concatenate(stretches)
            scales = learned.scales_of(left_out, Table.concat(rows))
            LearnedTable.group_scales.keep(learned, scales)
            calibration = Calibration.of(left_out, None, "cross-fitted")
            threshold = calibration.threshold(learned.rate)
        else:
            threshold = threshold_of_tenths(self, found, learned.rate)
            if threshold <= inside.threshold or inside.threshold == 0.0:
                return []
            calibration = inside.calibration.times(threshold / inside.threshold)
        inside = replace(inside, threshold=threshold, calibration=calibration)
        LearnedTable.inside.keep(learned, inside)
        return stretches

    def partial_fit(self, X: Any, y: object = None) -> Self:
        """Go on learning.

        What each column is, is decided once there are 10,000 rows; until then they are kept. So is
        how odd a row may be to be learned from, with `trim`; until then none is left out. So is how
        numbers depend on their context; what is expected of each group is learned on. If it fails,
        the model stays as it was.

        Parameters
        ----------
        X : dataframe, Arrow table, list of dict or array of shape (n, d)
            More normal rows.
        y : array-like of shape (n,), default=None
            Labels, if known: rows of label -1 are left out, with a warning. Not used if it holds
            anything but 1 and -1.

        Returns
        -------
        Detector
            The estimator itself.
        """
        with self._learning_on() as model:
            refuse_window(model, "partial_fit")
            cut = None
            if not hasattr(model, "_learned"):
                table = model._begin(X)
                state, sample = model._nothing()
            else:
                learned = model._learned
                state, sample, cut = learned.table, learned.sample, learned.cut
                table = model._more(X)
            if (normal := model._normal_rows(y, table.rows)) is not None:
                table = table.take(np.flatnonzero(normal))
            settings: dict[str, Any] = {"trim": model.trim, "n_jobs": model.n_jobs}
            if state.given.names and state.counts is None and state.rows + table.rows >= N_INIT:
                state, table = state.in_context(Table.concat((*state.waiting, table)))
                state, cut, table = of_rows(state, table, **settings)
                sample = RowSample(sample.seed)
            else:
                state, cut = plus_rows(state, cut, table, **settings)
            model._learn(model._learned_of(state, sample.plus_rows(table), cut))
            model._notice_trimmed()
        return self

    def empty_like(self) -> Detector:
        """Return a model that takes columns for the same and has seen no rows.

        Train it elsewhere by ``partial_fit``; ``refold.merge`` makes one model of several that
        share what their columns are.

        Returns
        -------
        Detector
            A new model.
        """
        check_is_fitted(self)
        refuse_window(self, "empty_like")
        learned = self._underneath
        state = learned.table
        counts, rows = state.counts, learned.sample.rows
        if counts is None:
            raise ValueError(
                f"What the columns are is not final yet: {learned.table.rows:,} of {N_INIT:,} rows "
                "have been learned. Learn more rows, or use fit."
            )
        if rows is not None:
            counts = TableCounts.of(counts.plan, rows.take(np.arange(0)))
        cut = None if learned.cut is None else learned.cut.emptied()
        if state.context is not None:
            plan, context = state.context
            state = replace(state, context=(plan, context.emptied()))
        return self._with(state.with_counts(counts), RowSample(learned.sample.seed), cut)

    @property
    def _has_context(self) -> bool:
        """Whether rows are judged by their group, time or other context."""
        return any((self.by, self.over, self.context)) or self.window is not None

    def score_samples(self, X: Any) -> Floats:
        """Return the negative distance of each row: the lower, the less normal.

        Parameters
        ----------
        X : dataframe, Arrow table, list of dict or array of shape (n, d)
            Rows to judge; columns are found by name. A row without any value is not normal.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_learned(self)
        learned = self._learned
        with self._naming_columns():
            scorer = learned.scorer  # first: it says so if there is none yet
            return -scorer.distances(learned.encoded(X)[0])

    def scorer(self) -> TableScorer:
        """Return what judges encoded rows.

        Returns
        -------
        TableScorer
            It does not change when the model learns on.
        """
        check_learned(self)
        return self._learned.scorer

    def kept_rows(self) -> Table:
        """Return the training rows that are kept, at most 10,000: the columns in use.

        Returns
        -------
        Table
            They were drawn at random where there were more.
        """
        check_is_fitted(self)
        return self._learned.learned_rows

    @property
    def columns_(self) -> ColumnInfos:
        """How each column was read."""
        check_is_fitted(self)
        return self.encoder_.columns_

    @property
    def encoder_(self) -> TableEncoder:
        """What makes numbers of the table."""
        check_learned(self)
        return self._learned.encoder

    @property
    def model_(self) -> Any:
        """The estimator inside."""
        check_is_fitted(self)
        return self._learned.inside.model

    def _with(self, state: TableState, sample: RowSample, cut: TableCut | None) -> Detector:
        """Return a model with the same parameters and columns, and what was learned."""
        model = self._unfitted_copy()
        model._learn(model._learned_of(state, sample, cut))
        model._notice_trimmed()
        return model

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
