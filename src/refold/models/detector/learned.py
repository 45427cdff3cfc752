"""What the front door has learned of a table, and the estimator inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.base.once import once
from refold.columns.encoding.counts import Encoded, TableCounts
from refold.columns.encoding.encoder import TableEncoder, features
from refold.columns.encoding.plan import Plan
from refold.columns.encoding.state import TableState
from refold.columns.encoding.surprise import LeftOut
from refold.columns.summary import Summary
from refold.columns.table import Table
from refold.decisions.group_scales import group_scales
from refold.decisions.rules import Rules
from refold.decisions.rules_reading import read_rules
from refold.decisions.thresholds import Calibration, auto_rate
from refold.models.creased import CreasedREF, CreasedScorer
from refold.models.creased.refits import FEW_PAIRED, CrossFitParts
from refold.models.detector.ruled import centers_and_steps, judged_rows, left_out_in_folds
from refold.models.detector.scorer import CERTAIN, MeanScorer, TableScorer
from refold.models.detector.trim import TableCut, merged_rows
from refold.models.draws import draws
from refold.models.ref import REF
from refold.models.scoring import Scorer

SIZE = 10_000


@dataclass(frozen=True, eq=False)
class RowSample:
    """At most 10,000 rows, each of all rows seen with the same chance."""

    # Where the random numbers come from: that of a row depends on this and its place alone
    seed: int
    seen: int = 0  # How many rows have had theirs
    # (r,): the random numbers of the rows kept: the smallest
    keys: Floats = field(default_factory=lambda: np.empty(0))
    rows: Table | None = None  # These rows; None before the first

    def plus_rows(self, table: Table) -> RowSample:
        """Return the sample with more rows to choose from."""
        keys = draws(self.seed, self.seen, table.rows)
        return self.plus(RowSample(self.seed, self.seen + table.rows, keys, table))

    def select(self, names: Sequence[str]) -> RowSample:
        """Return the same rows, and of their columns only some."""
        return self if self.rows is None else replace(self, rows=self.rows.select(names))

    def plus(self, other: RowSample) -> RowSample:
        """Return the sample of the rows of both."""
        keys = np.concatenate([self.keys, other.keys])
        parts = [sample.rows for sample in (self, other) if sample.rows is not None]
        rows = Table.concat(parts) if parts else None
        if rows is not None and len(keys) > SIZE:
            chosen = np.sort(np.argpartition(keys, SIZE)[:SIZE])
            keys, rows = keys[chosen], rows.take(chosen)
        return RowSample(self.seed, max(self.seen, other.seen), keys, rows)


Method = Literal["creased", "ref"]

NO_ROWS = "The model knows its columns but has not learned any rows yet: call partial_fit first."


@dataclass(frozen=True, eq=False)
class Inside:
    """What judges encoded rows, ready."""

    scorer: Scorer  # Gives distances
    threshold: float  # A row is normal up to this
    calibration: Calibration  # The distances of training rows, each left out
    model: REF | CreasedREF | None  # The estimator; None where the mean of magnitudes is all


@dataclass(frozen=True, eq=False)
class LearnedTable:
    """What was learned; threads share it without a lock."""

    encoder: TableEncoder  # What the columns are, and all that is counted of them
    sample: RowSample  # Rows to learn from and calibrate on
    method: Method  # What judges
    alpha: float | None  # The rate; None is as small as so many rows allow, at least 0.01
    random_state: Any  # Draws the creases
    n_jobs: int | None  # Threads
    # Which rows are not learned from, only calibrated on; None if there are none
    cut: TableCut | None = None
    given_rules: Mapping[str, Any] | None = None  # The user's own

    @once
    def rules(self) -> Rules:
        """The user's own."""
        return read_rules(self.given_rules)

    @property
    def table(self) -> TableState:
        """What the columns are, and all that is counted of them."""
        return self.encoder.state

    @property
    def counts(self) -> TableCounts:
        """What is counted of all rows, as if no further ones came."""
        return self.encoder.counts

    @property
    def plan(self) -> Plan:
        """What the columns are."""
        return self.encoder.counts.plan

    @once
    def rows(self) -> Table:
        """The rows of the sample, parsed; without a time, as what is now expected of them."""
        rows, context = self.sample.rows, self.encoder.context
        if rows is None:
            raise ValueError(NO_ROWS)
        if context is not None and self.table.counts is None:
            rows = self.table.decided[1]
        if context is not None and context.axis is None and rows.inputs is not None:
            # REF takes rows out of sums again: with exactly the numbers that went in.
            rows = context.left_out(rows.inputs, smaller_groups=self.method != "ref")
            rows = rows.select(self.plan.names)
        return self.plan.parse(rows)

    @once
    def beyond(self) -> Booleans:
        """Which rows of the sample lie beyond the cut, by their numbers when they were counted."""
        rows = self.sample.rows
        if self.cut is None or rows is None:
            return np.zeros(self.rows.rows, dtype=np.bool_)
        return self.cut.beyond(self.plan.parse(rows))

    @once
    def learned_rows(self) -> Table:
        """The rows of the sample but for those beyond the cut."""
        return self.rows if self.cut is None else self.rows.take(np.flatnonzero(~self.beyond))

    @property
    def rate(self) -> float:
        """The rate that the threshold is set for."""
        return auto_rate(self.table.rows) if self.alpha is None else self.alpha

    @once
    def inside(self) -> Inside:
        """What judges encoded rows; made when it is first asked for."""
        return self.of_rows(self.rows, self.beyond)

    def of_rows(self, rows: Table, beyond: Booleans) -> Inside:
        """Learn from rows but for those beyond the cut, and set the threshold with the rules."""
        return self.with_rules(self.without_rules(rows, beyond), rows, beyond)

    def with_rules(self, inside: Inside, rows: Table, beyond: Booleans) -> Inside:
        """Return what judges; rows are calibrated on as they are judged by the rules."""
        if not self.rules.calibrates:
            return inside
        calibration, most = left_out_in_folds(self, rows, beyond)
        threshold = min(calibration.threshold(self.rate), most)
        return replace(inside, threshold=threshold, calibration=calibration)

    def without_rules(self, rows: Table, beyond: Booleans) -> Inside:
        """Learn from rows, of which those beyond the cut count for the threshold alone."""
        if not beyond.any():
            return self.with_novelties(self._fitted(self._encoded(rows), None, rows))
        learned = self._encoded(rows.take(np.flatnonzero(~beyond)))
        others = rows.take(np.flatnonzero(beyond))
        whole = merged_rows(beyond, learned, self.counts.encode(others, n_jobs=self.n_jobs))
        inside = self._fitted(whole, np.where(beyond, 0.0, 1.0), rows)
        return self.counting(inside, others)

    def with_novelties(self, inside: Inside, novel: float = 0.0) -> Inside:
        """Return what judges; rows that would be novel, had they been left out, are far out.

        They are as likely as others to be far out anyway. So many more rows are novel as `novel`
        says. Of more than may lie above the threshold nothing is lost but their rate: all that is
        novel stays abnormal.
        """
        calibration, threshold = inside.calibration, inside.threshold
        context, rows = self.encoder.context, max(self.counts.rows, 1)
        share = self.counts.novel_left_out / rows
        if context is not None and context.once_seen:
            share = min(share + context.once_seen / rows, 0.5)
        if share == novel == 0.0:
            return inside
        most = float(calibration.scores[-1])
        far_out, novelties = most + CERTAIN * threshold, share * calibration.total + novel
        others = Calibration(
            calibration.scores, calibration.weights * (1.0 - share), calibration.source
        )
        calibration = others.plus(np.array([far_out]), np.array([novelties]))
        threshold = min(calibration.threshold(self.rate), most)
        return replace(inside, threshold=threshold, calibration=calibration)

    def counting(self, inside: Inside, others: Table) -> Inside:
        """Return what judges; rows that were not learned count for the threshold."""
        scorer = self.scorer_of(inside)
        rows = judged_rows(scorer, self.encoder, others, n_jobs=self.n_jobs)
        rows = rows[~np.isnan(rows).all(axis=1)]
        novel = scorer.unpack(rows)[1].any(axis=1)
        calibration = inside.calibration.plus(scorer.distances(rows[~novel]), None)
        inside = replace(
            inside, threshold=calibration.threshold(self.rate), calibration=calibration
        )
        return self.with_novelties(inside, float(novel.sum()))

    def _encoded(self, rows: Table) -> Encoded:
        """Return rows that were counted as if each had not been."""
        return self.counts.encode(rows, left_out=self.left_out, n_jobs=self.n_jobs)

    @property
    def left_out(self) -> LeftOut:
        """How rows of the sample are encoded as if they had not been counted.

        Numbers of more rows than are kept were counted as their context was then: they cannot be
        taken out again.
        """
        seen = self.sample.seen if self.encoder.context is not None else 0
        return "exactly" if self.method == "ref" and seen <= SIZE else True

    def _divided(self, rows: Table, rest: Integers, left: Integers) -> tuple[Floats, Floats]:
        """Return some rows as if each had not been counted, and others that were not at all."""
        learned = rows.take(rest)
        counts = TableCounts.of(self.plan, learned, n_jobs=self.n_jobs)
        return (
            features(counts.encode(learned, left_out=True, n_jobs=self.n_jobs)),
            features(counts.encode(rows.take(left), n_jobs=self.n_jobs)),
        )

    def _fitted(self, encoded: Encoded, weights: Floats | None, rows: Table) -> Inside:
        plan = self.plan
        if plan.plain:
            return of_model(self.estimator().fit(encoded.numbers, sample_weight=weights))
        model = self.estimator(encoded.magnitudes.shape[1])
        if isinstance(model, CreasedREF):
            paired = len(self.counts.contingency_tables) > 0 and len(plan.used) <= FEW_PAIRED
            divided = CrossFitParts(partial(self._divided, rows), paired)
            return of_model(model._fit_encoded(features(encoded), weights, divided))
        scorer = MeanScorer(len(plan.leading))
        learned = encoded.judged if weights is None else encoded.judged & (weights > 0.0)
        distances = scorer.distances(features(encoded))
        calibration = Calibration.of(distances[learned], None, "leave-one-out")
        return Inside(scorer, calibration.threshold(self.rate), calibration, None)

    def estimator(self, magnitudes: int = 0) -> REF | CreasedREF:
        """Return the estimator inside, not fitted; its last columns are magnitudes."""
        model: REF | CreasedREF
        if self.method == "ref":
            model = REF(alpha=self.rate, levels="all", n_jobs=self.n_jobs)
        else:
            model = CreasedREF(
                alpha=self.rate, random_state=self.random_state, n_jobs=self.n_jobs
            )._of_magnitudes(magnitudes)
        model._quiet = True
        return model

    @once
    def summary(self) -> Summary | None:
        """What is remembered of the columns of numbers."""
        inside, numbers = self.inside.model, self.counts.numbers
        if inside is not None and self.plan.plain:
            return inside.summary_
        if numbers is None:
            return None
        found = Summary.of_sketch(numbers.sketch)
        if isinstance(inside, CreasedREF) and (box := inside.summary_.box) is not None:
            return replace(found, box=box.of_columns(range(len(found.low))))
        return found

    @once
    def scorer(self) -> TableScorer:
        """What judges rows."""
        return replace(self.scorer_of(self.inside), group_scales=self.group_scales)

    @once
    def group_scales(self) -> Floats | None:
        """By what distances are divided in each group, and 1 for rows of none; None if nowhere."""
        context = self.encoder.context
        if context is None or context.window is not None:  # it takes more than leaving out one row
            return None
        distances, places = self._left_out
        return self.scales_of(distances, self.rows.take(places))

    def scales_of(self, distances: Floats, rows: Table) -> Floats | None:
        """Return the same by the distances of rows to what is learned without them."""
        context = self.encoder.context
        if context is None or not context.given.by:
            return None
        groups = context.groups.codes(rows.as_read)
        scales = group_scales(distances, groups, len(context.groups.keys), self.rate)
        return np.append(scales, 1.0) if (scales > 1.0).any() else None

    @property
    def _left_out(self) -> tuple[Floats, Integers]:
        """The distances of the rows that were learned, each left out, and which these are."""
        places, model = np.flatnonzero(~self.beyond), self.inside.model
        encoded = self._encoded(self.learned_rows)
        X = features(encoded)
        if isinstance(model, CreasedREF):  # what has no value at all was not learned
            return model.scoring_.left_out, places[~np.isnan(X).all(axis=1)]
        return self.inside.scorer.distances(X[encoded.judged]), places[encoded.judged]

    def encoded(self, X: Any) -> tuple[Floats, Table | None]:
        """Return rows as the scorer takes them, and parsed; None where all cells are numbers."""
        numbers = None if self.rules else self.encoder.plain_rows(X)
        if numbers is None:
            table = self.plan.parse(self.encoder.read(X, reset=False))
        elif np.isfinite(numbers).all():
            return numbers, None
        else:
            table = Table.of_numbers(self.plan.names, numbers.T)
        return self._judged(table), table

    def distances(self, table: Table) -> Floats:
        """Return how far out rows are."""
        return self.scorer.distances(self._judged(table))

    def _judged(self, table: Table) -> Floats:
        return judged_rows(self.scorer, self.encoder, table, n_jobs=self.n_jobs)

    def scorer_of(self, inside: Inside) -> TableScorer:
        """Return what judges rows by an estimator that is ready."""
        plan = self.plan
        scorer, columns = inside.scorer, len(plan.used)
        if isinstance(scorer, CreasedScorer) and not plan.plain:
            scorer = replace(scorer, owners=np.append(plan.leading, np.arange(columns)))
        own = TableScorer(scorer, plan.numbers, plan.leading, columns, inside.threshold)
        numbers = self.counts.numbers
        if not isinstance(scorer, CreasedScorer) and numbers and self.encoder.context is None:
            own = replace(own, zero_ends=self.counts.zero_ends)
        if not self.rules:
            return own
        self.check_rules()
        centers, steps = centers_and_steps(self.counts, self.rows, scorer)
        usual = None
        if any(rule.mutes for rule in self.rules.columns) and not plan.plain:
            sizes = self.counts.encode(self.rows, left_out=True, n_jobs=self.n_jobs).magnitudes
            usual = np.quantile(sizes, 0.5, axis=0, method="lower")
        return replace(own, rules=self.rules, centers=centers, steps=steps, usual=usual)

    def check_rules(self) -> None:
        """Refuse rules that do not fit the columns."""
        encoder = self.encoder
        columns = (*encoder.inputs.used, *self.plan.used)
        roles = {column.name: str(column.role) for column in columns}
        known = [str(name) for name in getattr(encoder, "feature_names_in_", self.table.names)]
        self.rules.check(roles, known, context=encoder.context is not None)


def of_model(model: REF | CreasedREF) -> Inside:
    """Return a fitted estimator as what judges."""
    return Inside(model.scorer(), float(model.threshold_), model.calibration_, model)
