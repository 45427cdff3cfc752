"""What each estimator makes of a table in parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np

from refold._typing import Floats
from refold.algorithm.engines.sketch import Sketch
from refold.base.findings import Finding
from refold.base.needs import needs
from refold.columns.context.context import ContextModel
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.encoder import N_INIT
from refold.columns.encoding.plan import Plan
from refold.columns.encoding.state import TableState
from refold.columns.table import Table
from refold.decisions.rules_reading import read_rules
from refold.decisions.threshold_findings import ties
from refold.decisions.thresholds import Calibration, auto_rate
from refold.models.creased import CreasedREF
from refold.models.creased.creased_findings import far_cells
from refold.models.creased.state import TrainingState
from refold.models.detector import Detector, refuse_window
from refold.models.detector.detector_findings import WARNED
from refold.models.detector.learned import SIZE, Inside, LearnedTable, RowSample, of_model
from refold.models.detector.ruled import judged_rows, rule_findings
from refold.models.learned import FromSketch
from refold.models.parts.drawn import Header, HeldOut, enough, matrix
from refold.models.parts.passes import (
    ContextCount,
    CreasedCount,
    FirstPass,
    PassResult,
    TableCount,
    TableTotals,
)
from refold.models.ref import REF
from refold.models.ref_parameters import check_decision, check_engine

# The most rows that are held out, unless a small alpha needs more; a table of no more than these is
# learned as ``fit`` does, which makes more of few rows.
HELD_OUT = 20_000
# One row in so many is held out, and so many for each that may be rejected.
_ONE_IN, _FOR_EACH = 10, 2


class Learner(ABC):
    """Teaches one model.

    Parameters
    ----------
    model : REF, CreasedREF or Detector
        Its parameters have been checked. It is what changes.
    header : Header
        What the columns are called.
    """

    model: Any

    def __init__(self, model: Any, header: Header) -> None:
        self.model, self.header = model, header
        if model.trim > 0.0:
            raise ValueError(
                f"trim={model.trim:g} is not for parts that are learned at the same time: use fit "
                "or partial_fit, or set trim=0."
            )
        model._forget_feedback()
        model.dropped_ = np.empty(0, dtype=np.int64)
        self._take_names()
        self._check()

    @property
    @abstractmethod
    def alpha(self) -> float | None:
        """The rate that rows are held out for; None is none."""

    @property
    def n_init(self) -> int:
        """How many rows decide what is frozen before all are counted."""
        return 0

    @property
    def first(self) -> FirstPass:
        """What is done with each part first."""
        return FirstPass(max(HELD_OUT, self._least) + self.n_init)

    def held_out(self, rows: int) -> int:
        """Return how many of so many rows are held out; refuse a rate that needs too many."""
        if self.alpha is None:
            return 0
        if 2 * self._least > rows:
            raise ValueError(
                f"alpha={self.alpha:g} needs at least {2 * self._least:,} rows, half of which are "
                f"held out to set the threshold; there are {rows:,}. Add rows, or allow a larger "
                "alpha."
            )
        return max(min(rows // _ONE_IN, HELD_OUT), self._least)

    @abstractmethod
    def fit(self, rows: Table) -> None:
        """Learn from all rows of a small table."""

    def context_sums(self, look: PassResult, held: int) -> ContextCount | None:
        """Return what adds up the rows of each part for their context; None without one."""
        return None

    def take_context(self, model: ContextModel) -> None:  # noqa: B027 - few models have one
        """Learn what numbers should be in their context."""

    @abstractmethod
    def frozen(self, look: PassResult, held: int) -> Any:
        """Return what counts the rows of each part then; None if that has been done."""

    @abstractmethod
    def learn(self, look: PassResult, held: int, counted: Any) -> None:
        """Learn from what was found in all parts."""

    def _check(self) -> None:  # noqa: B027 - not every model has some
        """Refuse parameters with which the model cannot be learned from parts."""

    @property
    def _least(self) -> int:
        return 0 if self.alpha is None else ceil(_FOR_EACH / self.alpha)

    def _take_names(self) -> None:
        """Let the model know its columns."""
        self.model.n_features_in_ = len(self.header.names)
        self.model.__dict__.pop("feature_names_in_", None)
        if self.header.named:
            self.model.feature_names_in_ = np.array(self.header.names, dtype=object)

    def _of_threshold(self) -> Iterator[Finding]:
        """Say what is to be noticed of the threshold."""
        if self.model.alpha_ is not None:
            found = ties(self.model.calibration_, self.model.threshold_, self.model.alpha_)
            yield from filter(None, [found])


class NumberLearner(Learner):
    """Teaches a model whose columns are all numbers."""

    def fit(self, rows: Table) -> None:
        """Learn from all rows of a small table."""
        X: Any = matrix(rows)
        if self.header.named:
            X = needs("pyarrow", "parquet").table([*X.T], names=list(self.header.names))
        self.model.fit(X)


def held_out(distances: Floats) -> Calibration:
    """Return the calibration by rows that were held out."""
    return Calibration.of(np.asarray(distances), None, "held-out")


def observed(X: Floats) -> Floats:
    """Return the rows that have a value: others have no distance."""
    return X[~np.isnan(X).all(axis=1)]


class RefLearner(NumberLearner):
    """Teaches REF."""

    model: REF

    @property
    def alpha(self) -> float | None:
        """The parameter."""
        return self.model.alpha

    @property
    def first(self) -> FirstPass:
        """What is done with each part: rows that may not be held out are sketched at once."""
        return replace(super().first, n_bins=self.model.n_bins, apart=self.alpha is not None)

    def frozen(self, look: PassResult, held: int) -> None:
        """Return that all is counted."""

    def learn(self, look: PassResult, held: int, counted: None) -> None:
        """Learn from the sketch."""
        out, others = look.drawn.divided(held)
        learn_sketch(self.model, look.sketch_with(others), matrix(out))
        self.model._notice(self._of_threshold())

    def _check(self) -> None:
        if self.model.engine not in ("auto", "sketch"):
            raise ValueError(
                f"The model has engine={self.model.engine!r}, which needs all rows in memory; "
                "parts of a table are learned by 'sketch', or 'auto'."
            )
        check_engine(self.model, "sketch")
        check_decision(self.model)


def learn_sketch(model: REF, sketch: Sketch, out: Floats) -> None:
    """Make a model that of the rows of a sketch; rows that are not in it set the threshold."""
    model._settle(sketch.weight)
    model._learned = FromSketch(sketch, model._recipe())
    model._learned.chain  # noqa: B018  # now, so that what is wrong with the rows is said
    model.engine_, model.dropped_ = "sketch", np.empty(0, dtype=np.int64)
    model._decide_at(model.threshold)
    if model.alpha is not None:
        model._decide_by(held_out(model.scorer().distances(observed(out))), float(model.alpha))


class CreasedLearner(NumberLearner):
    """Teaches CreasedREF."""

    model: CreasedREF

    @property
    def alpha(self) -> float:
        """The parameter; ``"auto"`` is what it is for many rows."""
        return _rate(self.model)

    @property
    def n_init(self) -> int:
        """The parameter."""
        return int(self.model.n_init)

    def frozen(self, look: PassResult, held: int) -> CreasedCount:
        """Make the creases."""
        _, first, _ = look.drawn.divided(held, self.n_init)
        return creased_count(self.model, matrix(first), look.drawn.held_out(held))

    def learn(self, look: PassResult, held: int, counted: TrainingState) -> None:
        """Learn from the sums."""
        model, (out, _) = self.model, look.drawn.divided(held)
        model._learn(counted)
        distances = model.scoring_.distances(observed(matrix(out)), model.n_jobs)
        model._decide_by(held_out(distances), self.alpha)
        model._notice([*far_cells(model), *self._of_threshold()])


def creased_count(model: CreasedREF, first: Floats, held: HeldOut) -> CreasedCount:
    """Make creases from rows; return what adds up all rows by them."""
    nothing = TrainingState.nothing(model._recipe(), first.shape[1])
    return CreasedCount(nothing.plus_rows(first, None, last=True).emptied(), held)


def _rate(model: CreasedREF | Detector) -> float:
    return auto_rate(HELD_OUT) if model.alpha == "auto" else float(model.alpha)


class DetectorLearner(Learner):
    """Teaches Detector."""

    model: Detector
    _state: TableState  # what is known before rows are counted
    _first: Table  # the rows that decide it, as scores where there is a context

    @property
    def alpha(self) -> float:
        """The parameter; ``"auto"`` is what it is for many rows."""
        return _rate(self.model)

    @property
    def n_init(self) -> int:
        """The rows that decide what columns are."""
        return N_INIT

    def fit(self, rows: Table) -> None:
        """Learn from all rows of a small table."""
        self.model._fit(rows)

    def context_sums(self, look: PassResult, held: int) -> ContextCount | None:
        """Decide how numbers depend on their context."""
        refuse_window(self.model, "Learning from a table in parts")
        self._state, _ = self.model._nothing()
        _, self._first, _ = look.drawn.divided(held, self.n_init)
        self._state, self._first = self._state.in_context(self._first)
        if self._state.context is None:
            return None
        plan, model = self._state.context
        return ContextCount(plan, model.emptied(), look.drawn.held_out(held))

    def take_context(self, model: ContextModel) -> None:
        """Learn what numbers should be in their context; the first rows are expected so too."""
        assert self._state.context is not None
        assert self._first.inputs is not None
        self._state = replace(self._state, context=(self._state.context[0], model))
        if model.axis is None:
            self._first = model.left_out(self._first.inputs)

    def frozen(self, look: PassResult, held: int) -> TableCount:
        """Decide what the columns are."""
        out, (_, sample) = look.drawn.held_out(held), self.model._nothing()
        counts = TableCounts.of(*Plan.of(self._first, self._state.roles))
        learned = self.model._learned_of(self._state.with_counts(counts), sample, None)
        inside, model = None, learned.estimator()
        if counts.plan.plain and isinstance(model, CreasedREF) and self._state.context is None:
            inside = creased_count(model, counts.numbers_of(self._first), out)
        limit = enough(SIZE, look.rows - held)
        return TableCount(counts.plan, sample.seed, limit, out, inside, self._state.context)

    def learn(self, look: PassResult, held: int, counted: TableTotals) -> None:
        """Learn from the counts."""
        model, (out, _) = self.model, look.drawn.divided(held)
        state = self._state.with_counts(counted.counts)
        sample = counted.sample
        if self._over_time:
            sample = RowSample(sample.seed).plus_rows(self._first)
        learned = model._learned_of(state, sample, None)
        # Rows that were foreseen set the threshold, or those that are as if in smaller groups.
        if self._over_time or (state.context is not None and learned.method != "ref"):
            model._learn(learned)
        else:
            self._hold_out(learned, counted, out)
        learned = model._learned
        of_rules = rule_findings(learned.rules, learned.encoder, learned.rows)
        model._notice([*model.encoder_.noticed_, *of_rules, *self._of_threshold()], WARNED)

    def _hold_out(self, learned: LearnedTable, counted: TableTotals, out: Table) -> None:
        """Learn from the counts; rows that are not among them set the threshold."""
        model = self.model
        if learned.encoder.context is not None:
            out = learned.encoder.read(out, reset=False)
        if counted.counts.plan.plain:
            LearnedTable.inside.keep(learned, _inside(learned, counted, out))
        model._learn(learned)
        rows = observed(judged_rows(learned.scorer, learned.encoder, out, n_jobs=model.n_jobs))
        muted = learned.scorer.flags(rows)[1]
        model._decide_by(held_out(learned.scorer.distances(rows[~muted])), learned.rate)

    def _check(self) -> None:
        names, (state, _) = list(self.header.names), self.model._nothing()
        read_rules(self.model.rules)
        self.model._encoder_of(state)._check_roles(names)
        state.given.check(names)

    @property
    def _over_time(self) -> bool:
        return self._state.context is not None and self._state.context[1].axis is not None


def _inside(learned: LearnedTable, counted: TableTotals, out: Table) -> Inside:
    """Return what judges a table of numbers alone: it has learned all rows, not a sample."""
    model, counts = learned.estimator(), counted.counts
    assert counts.numbers is not None
    model.n_features_in_ = len(counts.plan.used)
    if isinstance(model, REF):
        learn_sketch(model, counts.numbers.sketch, counts.numbers_of(out))
    else:
        assert counted.inside is not None
        model._learn(counted.inside)
    return of_model(model)
