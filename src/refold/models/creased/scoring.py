"""From what was learned to a distance: the score in units of its leave-one-out threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Booleans, Floats, Integers
from refold.algorithm import kernels
from refold.base.once import fields_only, once
from refold.columns.box import MOST_EXCESS, OFTEN, Box
from refold.columns.extremes import ColumnExtremes, TableExtremes, extremes_of, join_extremes
from refold.columns.frames import check_enough
from refold.columns.summary import Summary
from refold.decisions.thresholds import Calibration, auto_rate
from refold.models.creased import row_sample
from refold.models.creased.creases import Creases
from refold.models.creased.known import KnownRows, have_twins
from refold.models.creased.leverage import (
    Leverage,
    Sums,
    deleted_leverages,
    few_leverages,
    of_parts,
)
from refold.models.creased.refits import CrossFitParts, n_parts, refitted
from refold.models.creased.row_sample import Sample, n_threads
from refold.models.creased.state import TrainingState
from refold.models.draws import draws

# A value beyond zero in a column that never crosses it adds so many thresholds.
BEYOND_ZERO = 10.0
NO_ROWS = "The model has creases but has not learned any rows yet: call partial_fit first."


@dataclass(frozen=True, eq=False)
class Scoring:
    """Gives distances: S/T, S = s/s̃ + box · Σ min(excess, 3)² + 10 T · values beyond zero."""

    creases: Creases  # A row's features
    leverage: Leverage  # Their score s
    box: Box | None  # What was learned of each column by itself; None counts for nothing
    gain: float  # What a column at one unit outside its box adds
    typical: float  # s̃, the median of the leave-one-out scores s; 1 without a box
    unit: float  # T, the leave-one-out score S that a normal row exceeds with probability alpha
    calibration: Calibration  # The leave-one-out scores over T
    left_out: Floats  # The leave-one-out distances of the rows that the state keeps
    known: KnownRows  # The same, for whoever does not know the rows

    def distances(self, X: NDArray[Any], n_jobs: int | None = None) -> Floats:
        """Return the distance of each row; infinity and rows without a value are refused."""
        out = kernels.crease_distances(
            self.creases.map,
            self.form,
            None if self.box is None else self.box.sides,
            self._known,
            X,
            self.n_threads(len(X), n_jobs),
            typical=self.typical,
            unit=self.unit,
            gain=self.gain,
            most=MOST_EXCESS,
        )
        if self.box is not None and (beyond := self.box.beyond_zero(X)).any():
            out += BEYOND_ZERO * beyond.sum(axis=1)
        return out

    def n_threads(self, rows: int, n_jobs: int | None) -> int:
        """Return how many threads so many rows are worth."""
        return n_threads(rows * self.leverage.products, n_jobs)

    @once
    def form(self) -> kernels.LeverageForm:
        """The leverage as the kernels evaluate it."""
        return self.leverage.form(self.creases)

    @once
    def learned_forms(self) -> tuple[kernels.LeverageForm, ...]:
        """What rows that were learned need beside it."""
        return self.leverage.learned_forms(self.creases)

    @once
    def _known(self) -> kernels.KnownMarks | None:
        return self.known.compiled(len(self.creases.center)) if len(self.known.marks) else None

    __getstate__ = fields_only

    def outside(self, rows: Floats) -> Floats:
        """Return what each column adds to S because it lies outside the box."""
        if self.box is None:
            return np.zeros(rows.shape)
        beyond_zero = BEYOND_ZERO * self.unit * self.box.beyond_zero(rows)
        return _penalty(self.box.excess(rows), self.gain) + beyond_zero

    def outside_unlearned(self, rows: Floats) -> Floats:
        """Return the same of rows that were learned, had they not been."""
        if self.box is None:
            return np.zeros(rows.shape)
        return _penalty(np.maximum(self.box.excess(rows), self.box.beyond_cut(rows)), self.gain)

    @property
    def most_outside(self) -> float:
        """What all columns together can add."""
        if self.box is None:
            return 0.0
        return len(self.box.unit) * (self.gain * MOST_EXCESS**2 + BEYOND_ZERO * self.unit)


@dataclass(frozen=True, eq=False)
class _Parts:
    """The two parts of the score, and what they are made of, before they are calibrated."""

    creases: Creases
    leverage: Leverage
    box: Box | None
    edges: TableExtremes
    gain: float
    form: kernels.LeverageForm
    n_jobs: int | None

    @classmethod
    def of(cls, state: TrainingState, ridge: float, n_jobs: int | None) -> _Parts:
        """Factor what was learned."""
        creases, leverage = _factored(state, ridge, n_jobs)
        form = leverage.form(creases, n_jobs)
        state, gain = state.ready, state.recipe.box
        box = state.box if gain > 0.0 else None
        return cls(creases, leverage, box, state.edges or (), gain, form, n_jobs)

    def left_out(self, X: NDArray[Any], weights: Floats) -> Floats:
        """Return s of rows that were learned, as if each had been left out; of weight 0, just s."""
        threads = n_threads(len(X) * self.leverage.products, self.n_jobs)
        forms = self.form, *self.leverage.learned_forms(self.creases, self.n_jobs)
        found = (kernels.leverages(self.creases.map, form, X, threads) for form in forms)
        return of_parts(partial(deleted_leverages, weights=weights), *found)

    def outside_left_out(self, X: NDArray[Any], weights: Floats) -> Floats:
        """Return what such rows add because they lie outside the box of the others."""
        outside = np.zeros(len(X))
        if self.box is not None:
            for part, rows in row_sample.float_slices(X):
                excess = self.box.left_out(rows, weights[part], self.edges)
                outside[part] = _penalty(excess, self.gain).sum(axis=1)
        return outside

    def typical(self, scores: Floats, weights: Floats) -> float:
        """Return the median of leave-one-out scores, the unit of a sum; 1 if there is none."""
        return 1.0 if self.box is None else _median(scores, weights)

    def scoring(
        self,
        typical: float,
        unit: float,
        calibration: Calibration,
        sample: Sample,
        left_out: Floats,
        accepted: Accepted | None = None,
    ) -> Scoring:
        """Return what scores; rows that were learned have their leave-one-out distances.

        Not so those that somebody has accepted since: they are to be normal if the model can.
        """
        rows, weights, distances = sample.rows, sample.weights, left_out
        if accepted is not None:
            rows, weights, distances = (a[~accepted.copies] for a in (rows, weights, distances))
        known = KnownRows.of(self.creases.all_standardized(rows), weights, distances)
        scoring = Scoring(
            self.creases,
            self.leverage,
            self.box,
            self.gain,
            typical,
            unit,
            calibration,
            left_out,
            known,
        )
        Scoring.form.keep(scoring, self.form)
        return scoring


def _penalty(excess: Floats, gain: float) -> Floats:
    return np.asarray(gain * np.square(np.minimum(excess, MOST_EXCESS)))


def _median(values: Floats, weights: Floats) -> float:
    """Return the smallest value with half of the weight at or below it."""
    order = np.argsort(values)
    up_to = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(up_to, up_to[-1] / 2.0 * (1.0 - 1e-12))])


@dataclass(frozen=True, eq=False)
class DistanceUnit:
    """What a scoring was calibrated to, for making it again."""

    ridge: float  # The leverage's
    typical: float  # The scoring's
    unit: float
    calibration: Calibration
    left_out: Floats  # The leave-one-out distances of the rows that the state keeps

    def scoring(self, state: TrainingState, n_jobs: int | None) -> Scoring:
        """Return the scoring of what was learned."""
        parts = _Parts.of(state, self.ridge, n_jobs)
        return parts.scoring(self.typical, self.unit, self.calibration, state.sample, self.left_out)


@dataclass(frozen=True, eq=False)
class Accepted:
    """Rows that were learned because somebody has called them normal."""

    rows: Floats  # The rows, and how often each counts
    weights: Floats
    copies: Booleans  # Which rows of the sample were accepted themselves: the model has them twice
    base: Learned  # What was learned without the rows

    def least_left_out(self, scores: Floats) -> Floats:
        """Return leave-one-out scores of the sample without what was learned twice.

        A row that was picked because it was reported must count for the rate as it was.
        """
        if not self.copies.any():
            return scores
        known = self.base.unit or self.base.scoring
        return np.where(self.copies, np.maximum(scores, known.left_out * known.unit), scores)


def accepted_edges(rows: Floats, weights: Floats, magnitudes: int) -> TableExtremes:
    """Return what is kept of the columns of accepted rows, whose every value may come again.

    A column is discrete if each value of it came often: one row that was accepted does not make it
    a column where anything between is normal.
    """

    def as_levels(edge: ColumnExtremes) -> ColumnExtremes:
        if edge.levels is None:
            return edge
        often = edge.levels.weights.clip(min=OFTEN)
        return replace(edge, levels=replace(edge.levels, weights=often))

    edges = extremes_of(rows, weights, magnitudes=magnitudes)
    return tuple(as_levels(edge.without_rows()) for edge in edges)


@dataclass(frozen=True, eq=False)
class Learned:
    """What CreasedREF has learned, and how it scores; threads share it without a lock."""

    state: TrainingState  # What is kept of the rows
    # CreasedREF's parameters when it learned; no alpha is what so many rows allow
    alpha: float | None
    ridge: float
    n_jobs: int | None
    unit: DistanceUnit | None = None  # What it was calibrated to before it went through a file
    accepted: Accepted | None = None  # Rows of the state that do not calibrate

    @property
    def rate(self) -> float:
        """The rate that the threshold is set for."""
        return auto_rate(self.state.seen) if self.alpha is None else self.alpha

    @once
    def scoring(self) -> Scoring:
        """What gives distances, calibrated on the sample unless ``fit`` did so on all rows."""
        if self.unit is not None:
            return self.unit.scoring(self.state, self.n_jobs)
        return self.calibrated(self.state.sample.rows, self.state.sample.weights)

    def calibrated(
        self, X: NDArray[Any], weights: Floats, divided: CrossFitParts | None = None
    ) -> Scoring:
        """Return the scoring by leave-one-out scores of rows that came.

        Those that were learned are left out; those beyond the cut have been. Where they were
        encoded, `divided` encodes some without the others.
        """
        parts, state = _Parts.of(self.state, self.ridge, self.n_jobs), self.state.ready
        which, came = np.flatnonzero(weights), weights
        if not weights.all():
            X, weights = X[which], weights[which]
        kept = weights
        if state.cut is not None:
            kept = state.cut.kept(X, weights, self.n_jobs)
        scores = parts.left_out(X, kept)
        typical = parts.typical(scores, kept)
        scores = scores / typical + parts.outside_left_out(X, kept)
        learned = kept > 0.0
        scores[learned] = self._refitted(
            parts,
            X[learned],
            kept[learned],
            scores[learned],
            None if divided is None else divided.of(which[learned]),
        )
        counted = scores if self.accepted is None else self.accepted.least_left_out(scores)
        left_out = Calibration.of(counted, weights, "leave-one-out")
        unit = left_out.threshold(self.rate)
        calibration = Calibration(left_out.scores / unit, left_out.weights, left_out.source)
        sample = state.sample
        if len(sample.rows) < len(X):  # only these can be recognised later
            sampled = row_sample.kept(draws(sample.seed, 0, len(came)), came)
            scores = scores[np.searchsorted(which, sampled)]
        return parts.scoring(typical, unit, calibration, sample, scores / unit, self.accepted)

    def _refitted(
        self,
        parts: _Parts,
        X: NDArray[Any],
        weights: Floats,
        scores: Floats,
        divided: CrossFitParts | None,
    ) -> Floats:
        """Return the scores of a few rows by models made without them; of many, as they are."""
        levels = () if parts.box is None else parts.box.levels
        discrete = sum(values is not None for values in levels)
        paired = divided is not None and divided.paired
        n = n_parts(weights, X.shape[1], discrete, paired=paired)
        if n == 0:
            return scores
        rows = np.asarray(X, dtype=np.float64)

        def score(rest: Integers, counts: Floats, left: Integers) -> Floats:
            if divided is None:
                return self._anew(rows[rest], counts, rows[left])
            learned, others = divided.encode(rest, left)
            return self._anew(learned, counts, others)

        anew = refitted(rows, weights, score, scores, n, self.state.recipe.seed)
        # New copies of a row that comes often all score what is known already: a threshold
        # among the scores of models that scatter around it would decide about all of them.
        twins = have_twins(parts.creases.all_standardized(rows), weights)
        return np.where(twins, np.maximum(anew, scores), anew)

    def _anew(self, rows: Floats, weights: Floats, others: Floats) -> Floats:
        """Learn from a few rows and nothing else, and score others."""
        recipe, n = self.state.recipe, len(rows)
        creases = recipe.creases_of(*row_sample.first([(rows, weights)], recipe.n_init), 1)
        learned, counts = rows, weights
        if self.accepted is not None:
            learned = np.concatenate([rows, self.accepted.rows])
            counts = np.concatenate([weights, self.accepted.weights])
        sums = Sums.of(creases, learned, counts, 1)
        if sums.gram is None:
            features = kernels.crease_features(creases.map, others, 1)
            known, scores = few_leverages(sums, features, self.ridge)
        else:
            form = Leverage.of(sums, self.ridge).form(creases)
            known, scores = (kernels.leverages(creases.map, form, X, 1) for X in (learned, others))
        if recipe.box == 0.0:
            return scores
        typical = _median(deleted_leverages(known[:n], weights), weights)
        edges = extremes_of(rows, weights, magnitudes=recipe.magnitudes)
        if self.accepted is not None:
            more = accepted_edges(learned[n:], counts[n:], recipe.magnitudes)
            edges = join_extremes(edges, more)
        box = Box.of(edges, rows, weights, magnitudes=recipe.magnitudes)
        excess = box.excess(others) + MOST_EXCESS * box.beyond_zero(others)
        return np.asarray(scores / typical + _penalty(excess, recipe.box).sum(axis=1))


def _factored(state: TrainingState, ridge: float, n_jobs: int | None) -> tuple[Creases, Leverage]:
    if state.sketch is None:
        raise ValueError(NO_ROWS)
    rows, weight = state.sketch.rows, state.weight
    check_enough(rows, None if weight == rows else weight)
    ready = state.ready
    assert ready.creases is not None
    assert ready.sums is not None
    return ready.creases, Leverage.of(ready.sums, ridge, n_jobs)


def rescaled(learned: Learned, center: Floats, scale: Floats, summary: Summary) -> Learned:
    """Return the same for rows that are center + scale · those learned, of which `summary` is.

    It judges and explains; it does not learn on.
    """
    scoring, sample = learned.scoring, learned.state.sample
    state = replace(learned.state, sample=replace(sample, rows=center + scale * sample.rows))
    TrainingState.summary.keep(state, summary)
    TrainingState.box.keep(state, summary.box)
    again = replace(learned, state=state)
    creases = scoring.creases
    moved = replace(creases, center=center + scale * creases.center, scale=scale * creases.scale)
    box = None if scoring.box is None else summary.box
    scoring_again = replace(scoring, creases=moved, box=box)
    Scoring.form.keep(scoring_again, scoring.form)
    Learned.scoring.keep(again, scoring_again)
    return again
