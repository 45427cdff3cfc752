"""A model that judges rows, and what it says of some: read once, scored once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from refold._typing import Array, Booleans, Floats, Integers
from refold.base.arrays import is_foreign_array, to_numpy
from refold.base.errors import TableError
from refold.columns.context.gaps import ContextGaps
from refold.columns.context.history import History
from refold.columns.encoding.encoder import TableEncoder
from refold.columns.frames import feature_names, row_names_of, validate_table
from refold.columns.summary import Summary
from refold.columns.table import NumberColumn, Table
from refold.decisions.rules import NO_RULES, Rules
from refold.decisions.thresholds import Calibration
from refold.judgement.blame import near_expected, shares_of
from refold.judgement.expected import expected_numbers
from refold.judgement.scored_rows import ScoredRows
from refold.judgement.unwrapping import unwrapped
from refold.models.detector import refuse_window
from refold.models.detector.ruled import judged_rows, muting_rules
from refold.models.detector.scorer import TableScorer
from refold.models.scoring import Attribution, Scorer

if TYPE_CHECKING:
    from refold.judgement.pipelines import PipelineSteps

_COMMON = 0.05  # a value that so many of the training rows have is a common one
LEAST_SHARE = 0.01  # what matters less is no reason


@dataclass(frozen=True, eq=False)
class Judge:
    """A fitted model as far as judging rows needs it; it pickles, and holds no training row.

    >>> import numpy as np
    >>> from refold import REF
    >>> model = REF(alpha=0.05).fit(np.random.default_rng(0).normal(size=(300, 2)))
    >>> Judge.of(model).rows(np.array([[0.1, 0.2], [0.3, 9.0]])).labels
    array([ 1, -1], dtype=int8)
    """

    scorer: Scorer
    names: tuple[str, ...]  # the features; x0, x1, … if the model was fitted without names
    threshold: float  # a row is normal if its distance is at most this
    alpha: float | None  # the rate that the threshold was set for, if for one
    calibration: Calibration | None  # what p-values are read from, if there is anything
    summary: Summary | None = None  # what is remembered of the columns of numbers, if there are any
    encoder: TableEncoder | None = None  # what makes rows of a table of other columns than numbers
    id_column: str | None = None  # the column that names rows, if the model knows one

    @classmethod
    def of(cls, model: Any, *, on_worker: bool = False) -> Judge:
        """Make a judge of a fitted model; on a worker, one of many, it uses a single thread."""
        model = unwrapped(model)
        check_is_fitted(model)
        if not hasattr(model, "scorer"):
            raise TypeError(
                f"{type(model).__name__} is not one of refold's own models, which are Detector, "
                "CreasedREF and REF, alone or at the end of a pipeline."
            )
        if on_worker:  # the rows before those of its part are elsewhere
            refuse_window(model, "A cluster, which judges part by part,")
        scorer: Scorer = model.scorer()
        encoder = getattr(model, "encoder_", None)
        return cls(
            scorer=scorer.on_threads(1) if on_worker else scorer,
            names=tuple(feature_names(model) if encoder is None else encoder.counts.plan.names),
            threshold=float(model.threshold_),
            alpha=model.alpha_,
            calibration=getattr(model, "calibration_", None),
            summary=model.summary_,
            encoder=encoder,
            id_column=getattr(model, "id_column", None),
        )

    def called(self, names: Iterable[str]) -> Judge:
        """Return the same judge with other names for the features."""
        return replace(self, names=tuple(names))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns that rows must have: the features, and the columns of their context."""
        plan = None if self.encoder is None else self.encoder.inputs
        if plan is None or self.encoder is None or plan is self.encoder.counts.plan:
            return self.names
        return tuple(plan.names)

    @property
    def numeric(self) -> list[int]:
        """Which features are numbers."""
        plan = None if self.encoder is None else self.encoder.counts.plan
        return list(range(len(self.names)) if plan is None else plan.numbers.tolist())

    @property
    def rules(self) -> Rules:
        """The user's own."""
        return self.scorer.rules if isinstance(self.scorer, TableScorer) else NO_RULES

    @cached_property
    def common(self) -> dict[int, Floats]:
        """The numbers that a twentieth of the training rows have, by the place of their column."""
        found = {}
        for place, q in enumerate(() if self.summary is None else self.summary.quantiles.T):
            values, counts = np.unique(q, return_counts=True)
            common = values[counts > _COMMON * len(q)]
            if len(common):  # of measurements none is
                found[place] = common
        return found

    def rows(self, X: NDArray[Any], *, explained: bool = False) -> Judgement:
        """Judge an array whose columns are the model's, in its order; see :class:`Judgement`."""
        return Judgement(self, X, explained=explained)

    def known(self, X: NDArray[Any], distances: Floats) -> Judgement:
        """Return the judgement of rows of numbers that were scored before."""
        cells = None
        if self.encoder is not None:
            cells = Table.of_numbers(self.names, X.T)
        found = Judgement(self, X, cells=cells)
        found.distances = distances
        return found

    def table(
        self, X: Any, *, explained: bool = False, history: History | None = None
    ) -> Judgement:
        """Judge a table with columns of any kind, found by name, by a model that has an encoder.

        With a window its rows follow those of the `history`, if there is one.
        """
        assert self.encoder is not None
        assert isinstance(self.scorer, TableScorer)
        counts = self.encoder.counts
        table = counts.plan.parse(self.encoder.read(X, reset=False, history=history))
        try:
            rows = judged_rows(self.scorer, self.encoder, table, n_jobs=self.encoder.n_jobs)
        except TableError as error:
            raise error.named(self.names) from None
        return Judgement(self, rows, cells=table, explained=explained)

    def _through(self, steps: PipelineSteps, X: Any, *, explained: bool) -> Judgement:
        """Judge rows that go through the steps of a pipeline: exactly as its last step does."""
        rows = steps.numbers(X)
        found = Judge.of(steps.judges).called(self.names).rows(rows, explained=explained)
        return self.known(steps.units.of(rows), found.distances)


class Judgement(ScoredRows):
    """What a model says of rows. Each thing is computed when it is first asked for, and once.

    By REF and CreasedREF a row without any value is not judged: its label is 0, its distance and
    p-value are NaN (null where a table has nulls), and it has no reasons. `rows` are numbers in the
    model's order, `cells` the table that they were encoded from, parsed. If reasons will be asked
    for (`explained`), and come with the distances, rows are scored once for both.

    >>> import numpy as np
    >>> from refold import REF
    >>> model = REF(alpha=0.05).fit(np.random.default_rng(0).normal(size=(300, 2)))
    >>> found = Judgement.of(model, [[0.1, 0.2], [0.3, 9.0]])
    >>> found.labels, found.judged
    (array([ 1, -1], dtype=int8), array([ True,  True]))
    """

    def __init__(
        self,
        judge: Judge,
        rows: NDArray[Any],
        *,
        cells: Table | None = None,
        explained: bool = False,
    ) -> None:
        super().__init__(judge, rows, explained=explained)
        self.cells = cells
        # What rows are called: cells of the id column, or labels of an index of pandas.
        self.row_names: Sequence[Any] | None = None

    @classmethod
    def of(cls, model: Any, X: Array | Judgement, *, explained: bool = False) -> Judgement:
        """Read a table and judge its rows; a judgement is returned as it is.

        The model is any of refold's, fitted, or a ``Pipeline`` that ends in one.
        """
        if isinstance(X, Judgement):
            return X
        found = cls._of(unwrapped(model), X, explained=explained)
        found.row_names = row_names_of(X, found.judge.id_column)
        return found

    @classmethod
    def _of(cls, model: Any, X: Array, *, explained: bool) -> Judgement:
        judge, steps = Judge.of(model), getattr(model, "steps_before", None)
        if judge.encoder is not None:
            return judge.table(X if steps is None else steps(X), explained=explained)
        if steps is not None:
            return judge._through(steps, X, explained=explained)
        X = to_numpy(X) if is_foreign_array(X) else X
        rows = np.asarray(validate_table(model, X, reset=False, native=False))
        return judge.rows(rows, explained=explained)

    @cached_property
    def numbers(self) -> Floats:
        """The features that are numbers: ``judge.numeric`` says which."""
        if self.cells is not None:  # by rules, rows may count as others
            own = [c.values for c in self.cells.columns if isinstance(c, NumberColumn)]
            return np.reshape(own, (len(own), len(self))).T
        if isinstance(self.judge.scorer, TableScorer):
            return self.judge.scorer.numbers(self.rows)
        return self.rows

    def numbers_as_read(self, place: int) -> Floats:
        """Return a column of numbers as it was read, by its place in ``numbers``.

        Where rows are judged in their context, ``numbers`` are standard deviations.
        """
        inputs = None if self.cells is None else self.cells.inputs
        if inputs is None:
            return self.numbers[:, place]
        column = inputs[self.names[self.judge.numeric[place]]]
        assert isinstance(column, NumberColumn)
        return column.values

    @property
    def context_gaps(self) -> ContextGaps:
        """How many rows have no group or time that was learned."""
        encoder, inputs = self.judge.encoder, None if self.cells is None else self.cells.inputs
        if encoder is None or encoder.context is None or inputs is None:
            return ContextGaps()
        return ContextGaps.of(encoder.context, inputs)

    @cached_property
    def violated(self) -> Booleans:
        """Which cells lie outside the limits that the user has set."""
        return self._flags[0]

    @cached_property
    def muted(self) -> Booleans:
        """Which rows are no outliers because the user has muted them."""
        return self._flags[1]

    def muted_by(self, row: int) -> str:
        """Return the rule that mutes a row, in words; empty if none does."""
        if not self.muted[row] or self.cells is None or self.judge.encoder is None:
            return ""
        one = self.cells.take(np.array([row]))
        return muting_rules(self.judge.rules, self.judge.encoder, one)

    @property
    def _flags(self) -> tuple[Booleans, Booleans]:
        if isinstance(self.judge.scorer, TableScorer):
            return self.judge.scorer.flags(self.rows)
        return np.zeros((len(self), len(self.names)), np.bool_), np.zeros(len(self), np.bool_)

    @property
    def expected(self) -> Floats | None:
        """What the other values of each row let expect of its numbers; None if that is unknown."""
        return None if self._expectation is None else self._expectation[0]

    @cached_property
    def _expectation(self) -> tuple[Floats, Booleans] | None:
        return expected_numbers(self)

    @property
    def told_expected(self) -> Floats | None:
        """The same; NaN where it is the value itself, or would be beyond all normal values."""
        if self._expectation is None:
            return None
        expected, beyond = self._expectation
        return np.where(beyond | near_expected(self, far_out=True), np.nan, expected)

    @cached_property
    def shares(self) -> Floats:
        """Each column's share of its row's distance; a row's shares add up to at most 1."""
        return shares_of(self)

    @cached_property
    def by_blame(self) -> Integers:
        """The columns of each row by number, those with the largest shares first."""
        return np.argsort(-self.shares, axis=1, kind="stable")

    def reasons(self, most: int) -> Integers:
        """Return for each row the columns that make it an outlier, by number, the first `most`.

        -1 where a row has no more reasons; a normal row has none.
        """
        order = self.by_blame[:, :most]
        matter = np.take_along_axis(self.shares, order, axis=1) >= LEAST_SHARE
        return np.where(matter & self.outlier[:, None], order, -1)

    @cached_property
    def of_outliers(self) -> Judgement:
        """The judgement of the outliers alone: who explains these explains them once."""
        return self.take(np.flatnonzero(self.outlier))

    @property
    def thresholds_inside(self) -> Floats:
        """The largest normal distance of each row to the estimator inside."""
        thresholds = np.full(len(self), self.judge.threshold)
        if isinstance(self.judge.scorer, TableScorer):
            thresholds *= self.judge.scorer.scales(self.rows)
        return thresholds

    def with_numbers(self, X: Floats, rows: Integers) -> Judgement:
        """Judge some of the rows, by number, with other numbers, where they hold nothing else."""
        behind = self.rows[rows, len(self.names) :]  # what is said of the whole row stays
        if behind.shape[1]:
            X = np.hstack([X, np.where(np.isnan(X).all(axis=1, keepdims=True), np.nan, behind)])
        return self.judge.rows(X)

    def take(self, rows: Integers) -> Judgement:
        """Return the judgement of some of the rows, by number; what is known stays known."""
        if len(rows) == len(self) and (rows == np.arange(len(self))).all():
            return self
        cells = None if self.cells is None else self.cells.take(rows)
        part = Judgement(self.judge, self.rows[rows], cells=cells)
        part.distances = self.distances[rows]
        part.row_names = None if self.row_names is None else [self.row_names[k] for k in rows]
        if self._attribution is not None:
            part._attribution = self._attribution.of_rows(rows)
        return part

    @staticmethod
    def joined(parts: Sequence[Judgement]) -> Judgement:
        """Return the judgement of the rows of several, all by one judge."""
        cells = [part.cells for part in parts if part.cells is not None]
        whole = Judgement(
            parts[0].judge,
            np.concatenate([part.rows for part in parts]),
            cells=Table.concat(cells) if cells else None,
        )
        whole.distances = np.concatenate([part.distances for part in parts])
        names = [part.row_names for part in parts if part.row_names is not None]
        if len(names) == len(parts):
            whole.row_names = [name for part in names for name in part]
        known = [part._attribution for part in parts if part._attribution is not None]
        if len(known) == len(parts):
            whole._attribution = Attribution.joined(known)
        return whole


@dataclass
class WorstRows:
    """The rows farthest out so far, at most so many, the worst first."""

    most: int
    rows: list[int] = field(default_factory=list)  # their numbers
    found: Judgement | None = None  # what is said of them

    def add(self, found: Judgement, numbers: Integers) -> None:
        """Look for worse rows among some with these numbers."""
        out = found.of_outliers  # whoever asked for their reasons has explained these
        if len(out) == 0:
            return
        worst = out.worst_first[: self.most]
        both = out.take(worst)
        rows = np.array([*self.rows, *numbers[found.outlier][worst]])
        if self.found is not None:
            both = Judgement.joined([self.found, both])
        order = np.argsort(-both.distances, kind="stable")[: self.most]
        self.rows, self.found = rows[order].tolist(), both.take(order)
