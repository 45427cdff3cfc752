"""Rows that somebody has called normal, in a table: counted and learned, never calibrated on."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from refold._typing import Booleans, Floats
from refold.base.learning import snapshot
from refold.base.once import once
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.encoder import features
from refold.columns.table import Table
from refold.decisions.crossfit import cross_fitted
from refold.decisions.thresholds import Calibration
from refold.models.creased import Learned, relearned, with_accepted_rows
from refold.models.detector.learned import Inside, LearnedTable, of_model
from refold.models.detector.scorer import MeanScorer
from refold.models.detector.trim import counts_without
from refold.models.feedback.entry import equal_rows
from refold.models.learned import FromSketch
from refold.models.ref import REF


def with_accepted(base: LearnedTable, rows: Table) -> AcceptingTable:
    """Return what was learned of a table, and rows that were accepted."""
    counts = base.counts
    if base.encoder.context is not None and counts.rows == base.learned_rows.rows:
        counts = _in_context_of_now(base)
    rows = counts.plan.parse(rows)
    more = TableCounts.of(counts.plan, rows, n_jobs=base.n_jobs)
    known = {field.name: getattr(base, field.name) for field in fields(LearnedTable)}
    known["encoder"] = base.encoder.with_state(base.table.settled.with_counts(counts.plus(more)))
    known["sample"] = base.sample.select(counts.plan.names)
    known["alpha"] = base.rate  # it is that of the rows that calibrate
    return AcceptingTable(**known, base=base, accepted=rows)


def _in_context_of_now(base: LearnedTable) -> TableCounts:
    """Return the counts of the rows that are kept, with what is now expected of them."""
    return counts_without(base.plan, base.rows, base.beyond, n_jobs=base.n_jobs)


@dataclass(frozen=True, eq=False, kw_only=True)
class AcceptingTable(LearnedTable):
    """What was learned, with rows that were accepted."""

    base: LearnedTable  # What was learned without them
    # The rows, each as often as it counts; the table's counts have them, the sample has not
    accepted: Table

    @once
    def inside(self) -> Inside:
        """What judges encoded rows: the estimator inside, once it has learned the rows too."""
        before = self.base.inside
        if before.model is None:
            return self._of_means()
        if isinstance(before.model, REF):
            return self._of_folds(before.model)
        learn = self._of_numbers if self.plan.plain else self._of_features
        model = snapshot(before.model)
        model._learned = learn(before.model._learned)
        return self._rated(of_model(model))

    @once
    def rows(self) -> Table:
        """The rows of the sample, parsed: as before rows were accepted."""
        return self.base.rows

    @once
    def group_scales(self) -> Floats | None:
        """By what distances are divided in each group: as before rows were accepted."""
        return self.base.group_scales

    def _of_numbers(self, learned: Learned) -> Learned:
        """Learn further rows: numbers are what they were."""
        numbers = self.counts.numbers_of(self.accepted)
        return with_accepted_rows(learned, numbers, np.ones(len(numbers)))

    def _of_features(self, learned: Learned) -> Learned:
        """Learn all rows anew, along the same creases: now cells are less surprising.

        Rows that were accepted are learned as they will look when they come again.
        """
        counts = self.counts
        kept = counts.encode(self.learned_rows, left_out=True, n_jobs=self.n_jobs)
        again = relearned(learned, features(kept))
        accepted = features(counts.encode(self.accepted, n_jobs=self.n_jobs))
        ones = np.ones(len(accepted))
        return with_accepted_rows(again, accepted, ones, copies=self._copies, before=learned)

    def _of_folds(self, before: REF) -> Inside:
        """Fold all rows anew; the counts have them, and the sample is what calibrates.

        Where it cannot be taken out of them again, it alone is folded.
        """
        counts, model = self.counts, snapshot(before)
        if self.left_out != "exactly":
            accepted = TableCounts.of(self.plan, self.accepted, n_jobs=self.n_jobs)
            counts = _in_context_of_now(self.base).plus(accepted)
        assert counts.numbers is not None
        model._learned = FromSketch(counts.numbers.sketch, before._recipe())
        model.engine_ = "sketch"
        calibration = cross_fitted(
            counts.numbers_of(self.learned_rows),
            None,
            chain=model.chain_,
            engine=model.engine_,
            sketch=model.sketch_,
            recipe=model._recipe(),
            distance=model.distance,
            path=model.levels_ == "all",
            beside=counts.numbers_of(self.accepted),
        )
        model._decide_by(calibration, self.rate)
        return self._rated(of_model(model))

    def _of_means(self) -> Inside:
        """Look at the sample again: now cells are less surprising."""
        scorer = MeanScorer(len(self.plan.leading))
        distances, judged = self._means(self.counts, scorer)
        if self._copies.any():  # what was picked because it was reported counts as it was
            before, _ = self._means(self.base.counts, scorer)
            distances = np.where(self._copies, np.maximum(distances, before), distances)
        calibration = Calibration.of(distances[judged], None, "leave-one-out")
        return self._rated(Inside(scorer, calibration.threshold(self.rate), calibration, None))

    def _means(self, counts: TableCounts, scorer: MeanScorer) -> tuple[Floats, Booleans]:
        encoded = counts.encode(self.learned_rows, left_out=self.left_out, n_jobs=self.n_jobs)
        return scorer.distances(features(encoded)), encoded.judged

    def _rated(self, inside: Inside) -> Inside:
        """Return what judges; the rows that `trim` has left out count too.

        A calibration on more rows than the sample keeps, or on stretches of rows with a window,
        cannot be made again: it stays as it was.
        """
        if self.rules.calibrates:
            return self.with_rules(inside, self.rows, self.beyond)
        if self.cut is not None:
            others = self.rows.take(np.flatnonzero(self.beyond))
            return self.counting(inside, others)
        before, context = self.base.inside, self.encoder.context
        if context is not None and (context.window is not None or context.axis is not None):
            return replace(inside, threshold=before.threshold, calibration=before.calibration)
        if before.model is not None or before.calibration.total <= self.learned_rows.rows:
            return self.with_novelties(inside)
        return replace(inside, threshold=before.threshold, calibration=before.calibration)

    @once
    def _copies(self) -> Booleans:
        """Which rows of the sample were accepted themselves."""
        return equal_rows(self.learned_rows, self.accepted)
