"""What a Detector reads of tables, keeps of their rows, and judges by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from refold._typing import Floats, Integers
from refold.base import errors
from refold.base.errors import UserError
from refold.base.findings import Finding
from refold.columns.context.context import ContextColumns
from refold.columns.context.window import Window
from refold.columns.encoding.encoder import N_INIT, TableEncoder
from refold.columns.encoding.state import TableState
from refold.columns.frames import check_enough
from refold.columns.summary import Summary
from refold.columns.table import Table
from refold.decisions.rules_reading import read_rules
from refold.decisions.thresholds import Calibration
from refold.models.detector.accepted import AcceptingTable, with_accepted
from refold.models.detector.detector_findings import trimmed
from refold.models.detector.learned import LearnedTable, RowSample
from refold.models.detector.scorer import encoded_rows
from refold.models.detector.trim import TableCut
from refold.models.feedback import FeedbackLog, FeedbackMixin
from refold.models.feedback.entry import JudgedRows


class TableMixin(FeedbackMixin):
    """Reads tables, keeps what was learned, and takes feedback about rows of tables."""

    _learned: LearnedTable
    # What calibrate() has set, until the model learns again.
    _set_threshold: float | None
    _set_calibration: Calibration | None
    _noticed: tuple[Finding, ...]

    if TYPE_CHECKING:  # what the estimator brings
        method: Literal["auto", "creased", "ref"]
        alpha: float | Literal["auto"]
        roles: Mapping[str, str] | None
        id_column: str | None
        by: str | Sequence[str] | None
        over: str | None
        context: str | Sequence[str] | None
        window: int | str | timedelta | None
        rules: Mapping[str, Any] | None
        random_state: int | np.random.RandomState | None
        n_jobs: int | None
        alpha_: float | None
        noticed_: tuple[Finding, ...]

        @property
        def encoder_(self) -> TableEncoder:
            """Return what makes numbers of a table."""

    @property
    def threshold_(self) -> float:
        """The threshold in use."""
        check_is_fitted(self)
        chosen = self._set_threshold
        return self._learned.inside.threshold if chosen is None else chosen

    @threshold_.setter
    def threshold_(self, value: float) -> None:
        if self._learned.rules:  # outside the user's limits is an outlier whatever is set
            value = min(value, float(np.nextafter(self._learned.scorer.violation, -np.inf)))
        self._set_threshold = value

    @property
    def calibration_(self) -> Calibration:
        """Distances of normal rows that the model has not seen."""
        check_is_fitted(self)
        chosen = self._set_calibration
        return self._learned.inside.calibration if chosen is None else chosen

    @calibration_.setter
    def calibration_(self, value: Calibration) -> None:
        self._set_calibration = value

    @property
    def summary_(self) -> Summary | None:
        """What is remembered of the columns of numbers; None if there is none."""
        check_is_fitted(self)
        return self._learned.summary

    def _begin(self, X: Any) -> Table:
        """Read the first rows: they decide which columns there are."""
        encoder = TableEncoder(roles=self._all_roles, n_jobs=self.n_jobs)
        table = encoder.read(X, reset=True)
        check_enough(table.rows, None)
        self.n_features_in_ = encoder.n_features_in_
        if hasattr(encoder, "feature_names_in_"):
            self.feature_names_in_ = encoder.feature_names_in_
        else:
            self.__dict__.pop("feature_names_in_", None)
        self._nothing()[0].given.check(table.names)
        read_rules(self.rules)  # first of all: what is wrong with them is said at once
        return table

    def _more(self, X: Any) -> Table:
        """Read further rows: all columns, or those that are in use if that is decided."""
        counts = self._learned.table.counts
        table = self.encoder_.read(X, reset=False, all_columns=counts is None)
        return table if counts is None else table.select(counts.plan.names)

    def _nothing(self) -> tuple[TableState, RowSample]:
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        given = ContextColumns(_names(self.by), _names(self.over), _names(self.context))
        window = None if self.window is None else Window.of(self.window)
        return TableState(self._all_roles, N_INIT, given=given, window=window), RowSample(int(seed))

    @property
    def _all_roles(self) -> dict[str, str]:
        """Return the roles that were set; the column that names rows is not learned."""
        named = {} if self.id_column is None else {self.id_column: "ignore"}
        return {**(self.roles or {}), **named}

    def _learned_of(
        self, state: TableState, sample: RowSample, cut: TableCut | None
    ) -> LearnedTable:
        if state.counts is not None:
            sample = sample.select(state.counts.plan.names)  # what is ignored is not kept
        return LearnedTable(
            self._encoder_of(state),
            sample,
            "creased" if self.method == "auto" else self.method,
            None if self.alpha == "auto" else float(self.alpha),
            self.random_state if isinstance(self.random_state, Integral) else sample.seed,
            self.n_jobs,
            cut,
            self.rules,
        )

    def _notice_trimmed(self) -> None:
        """Say how many rows were left out; which ones, only ``fit`` can say by a number."""
        others = (found for found in self.noticed_ if found.kind != "trimmed")
        self.noticed_ = (*others, *trimmed(self))

    def _learn(self, learned: LearnedTable) -> None:
        self._learned = learned
        self.dropped_ = np.empty(0, dtype=np.int64)
        self._set_threshold = self._set_calibration = None
        self.alpha_ = learned.rate

    def _apply_feedback(self, log: FeedbackLog) -> None:
        counts = self._underneath.table.counts
        if counts is not None:
            log = log.mapped(self._as_kept)
        super()._apply_feedback(log)

    def _as_kept(self, judged: JudgedRows) -> Table:
        """Return rows in the context of now, and as in all that is kept of columns in use alone."""
        state, rows = self._underneath.table, cast("Table", judged)
        if state.context is not None and rows.inputs is not None:
            rows = state.context[1].apply(rows.inputs)
        return self._in_context(rows).select(state.ready.plan.names)

    def _in_context(self, rows: Table) -> Table:
        """Return rows as they are judged; as long as rows wait, all are kept as they came."""
        encoder: TableEncoder = self._underneath.encoder
        if encoder.context is None or rows.inputs is not None:
            return rows
        return encoder.read(rows, reset=False)

    def _read_feedback(self, X: Any) -> Table:
        table = self._without_feedback()._more(X)
        empty = np.isnan(encoded_rows(self._learned.counts, table)).all(axis=1)
        if empty.any():
            raise errors.empty_row(int(empty.argmax()))
        return table

    def _distances_of(self, rows: JudgedRows) -> Floats:
        assert isinstance(rows, Table)
        return self._learned.distances(self._in_context(rows))

    def _with_accepted(self, base: LearnedTable, rows: Table, counts: Integers) -> AcceptingTable:
        each = rows.take(np.repeat(np.arange(rows.rows), counts))
        return with_accepted(base, self._in_context(each))

    def _encoder_of(self, state: TableState) -> TableEncoder:
        encoder = TableEncoder(roles=self._all_roles, n_jobs=self.n_jobs)
        encoder._state = state
        encoder.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            encoder.feature_names_in_ = self.feature_names_in_
        return encoder


def refuse_window(model: Any, what: str) -> None:
    """Refuse what a model that looks back at the rows before cannot do."""
    if getattr(model, "window", None) is not None:
        raise UserError(
            f"{what} does not take a model with window=. Learn the whole table with fit; judge "
            "rows with those before them, or one by one with stream."
        )


def refuse_rules(model: Any, what: str) -> None:
    """Refuse what a model whose rules change distances cannot do; blame changes none."""
    if read_rules(getattr(model, "rules", None)).calibrates:
        raise UserError(
            f"{what} does not take a model with rules that change verdicts: they look at cells as "
            "they came. Judge rows with predict, refold score or refold serve, or fit without them."
        )


def _names(columns: str | Sequence[str] | None) -> tuple[str, ...]:
    if columns is None:
        return ()
    return (columns,) if isinstance(columns, str) else tuple(columns)
