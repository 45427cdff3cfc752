"""Detector from a table in parts: rows drawn of all say what columns are, then all are counted."""

from __future__ import annotations

from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.encoder import N_INIT
from refold.columns.encoding.plan import Plan
from refold.columns.encoding.state import TableState
from refold.columns.table import Table
from refold.models.creased import CreasedREF
from refold.models.detector import Detector
from refold.models.detector.learned import Inside, LearnedTable, auto_rate, of_model
from refold.models.detector.noticed import WARNED
from refold.models.detector.scorer import encoded_rows
from refold.models.parts.counting import TableCount, TableTotals
from refold.models.parts.learner import HELD_OUT, Learner, held_out, observed
from refold.models.parts.look import Look
from refold.models.parts.of_creased import creased_count
from refold.models.parts.of_ref import learn_sketch
from refold.models.ref import REF


class DetectorLearner(Learner):
    """Teaches Detector."""

    model: Detector

    @property
    def alpha(self) -> float:
        """The parameter; ``"auto"`` is what it is for many rows."""
        alpha = self.model.alpha
        return auto_rate(HELD_OUT) if alpha == "auto" else float(alpha)

    @property
    def n_init(self) -> int:
        """The rows that decide what columns are."""
        return N_INIT

    def fit(self, rows: Table) -> None:
        """Learn from all rows of a small table."""
        self.model._fit(rows)

    def frozen(self, look: Look, held: int) -> TableCount:
        """Decide what the columns are."""
        _, first, _ = look.drawn.divided(held, self.n_init)
        out, (state, sample) = look.drawn.held_out(held), self.model._nothing()
        counts = TableCounts.of(*Plan.of(first, state.roles))
        learned = self.model._learned_of(state.with_counts(counts), sample, None)
        inside, model = None, learned.estimator()
        if counts.plan.plain and isinstance(model, CreasedREF):
            inside = creased_count(model, counts.numbers_of(first), out)
        return TableCount(counts.plan, sample.seed, out, inside)

    def learn(self, look: Look, held: int, counted: TableTotals) -> None:
        """Learn from the counts."""
        model, (out, _) = self.model, look.drawn.divided(held)
        state = self._nothing.with_counts(counted.counts)
        learned = model._learned_of(state, counted.sample, None)
        if counted.counts.plan.plain:
            LearnedTable.inside.keep(learned, _inside(learned, counted, out))
        model._learn(learned)
        rows = observed(encoded_rows(counted.counts, out, n_jobs=model.n_jobs))
        model._decide_by(held_out(model.scorer().distances(rows)), learned.rate)
        model._notice([*model.encoder_.noticed_, *self._of_threshold()], WARNED)

    def _check(self) -> None:
        self.model._encoder_of(self._nothing)._check_roles(list(self.header.names))

    @property
    def _nothing(self) -> TableState:
        return TableState(dict(self.model.roles or {}), N_INIT)


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
