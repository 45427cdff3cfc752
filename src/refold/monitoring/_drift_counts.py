"""Columns of training and new rows: what is counted of each, part by part."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats, Integers
from refold.columns.encoding.plan import Plan
from refold.columns.summary import N_QUANTILES, Summary
from refold.columns.table import Column
from refold.judgement import Judge, Judgement
from refold.monitoring._classes import ColumnClasses, Tallies, added


@dataclass(frozen=True, eq=False)
class Baseline:
    """What a model remembers of its training rows."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    numeric: list[int]
    summary: Summary | None
    rows: float
    states: Floats
    divided: dict[int, ColumnClasses]
    plan: Plan | None
    # The columns whose numbers are standard deviations from what their context lets expect.
    scored: Collection[str] = ()

    @classmethod
    def of(cls, model: Any, judge: Judge) -> Baseline:
        """Look at a fitted model."""
        summary: Summary | None = getattr(model, "summary_", None)
        if judge.encoder is None:
            return cls._of_numbers(model, judge, summary)
        counts = judge.encoder.counts
        states = [counts.states(k) for k in range(len(judge.names))]
        return cls(
            judge.names,
            tuple(column.role for column in counts.plan.used),
            judge.numeric,
            summary,
            float(counts.rows),
            np.array(states, dtype=np.float64),
            {k: ColumnClasses.of(counts.plan.used[k], each) for k, each in counts.others.items()},
            counts.plan,
            judge.encoder.scored,
        )

    @classmethod
    def _of_numbers(cls, model: Any, judge: Judge, summary: Summary | None) -> Baseline:
        if summary is None:
            raise ValueError(
                f"This {type(model).__name__} has no summary of its training rows (summary_), so "
                "there is nothing to compare with. Fit it again with this version of refold."
            )
        rows = independent_rows(summary)
        missing = np.round(summary.missing / summary.weight * rows)
        states = np.column_stack([rows - missing, missing, np.zeros(len(missing))])
        kinds = ("number",) * len(judge.names)
        return cls(judge.names, kinds, judge.numeric, summary, rows, states, {}, None)

    @property
    def missing(self) -> Floats:
        """The share of missing values of each column."""
        if self.plan is None and self.summary is not None:
            return self.summary.missing / self.summary.weight
        return np.asarray(self.states[:, 1] / self.rows)

    @property
    def read(self) -> list[int]:
        """The columns that are read, so that a cell may turn out to be something else."""
        return [k for k, kind in enumerate(self.kinds) if self.plan and kind in ("number", "date")]

    def cells(self, found: Judgement) -> list[Column]:
        """Return the cells of rows that were judged, as the roles of their columns have them."""
        if self.plan is None:
            return []
        assert found.cells is not None
        return found.cells.columns

    def states_of(self, found: Judgement, cells: list[Column]) -> Integers:
        """Return how many cells of each column are readable, missing, unreadable."""
        if cells:
            return np.array([np.bincount(each.state, minlength=3) for each in cells])
        missing = np.isnan(found.rows).sum(axis=0)
        return np.column_stack([len(found) - missing, missing, np.zeros_like(missing)])


def independent_rows(summary: Summary) -> float:
    """Weights are frequencies, but a row that counts ten times is no ten observations."""
    return float(min(summary.rows, np.floor(summary.weight)))


@dataclass(frozen=True, eq=False)
class QuantileCuts:
    """Between which values the true training quantiles lie."""

    lower: Floats
    upper: Floats
    single: NDArray[np.bool_]

    @classmethod
    def of(cls, summary: Summary | None) -> QuantileCuts:
        """Widen the quantiles by their resolution; the smallest and largest value are exact."""
        if summary is None:
            none = np.empty((N_QUANTILES, 0))
            return cls(none, none, np.empty(0, dtype=np.bool_))
        quantiles, low, high = summary.quantiles, summary.low, summary.high
        with np.errstate(over="ignore"):  # infinity is brought back to the range
            lower = np.maximum(quantiles - summary.resolution, low)
            upper = np.minimum(quantiles + summary.resolution, high)
        lower[-1], upper[0] = high, low
        return cls(lower, upper, (_in_single(quantiles) == quantiles).all(axis=0))

    def of_column(self, column: int, dtype: Any) -> tuple[NDArray[Any], NDArray[Any], bool]:
        """Return the cuts of a feature in the precision to compare with, and if that is single."""
        lower, upper = self.lower[:, column], self.upper[:, column]
        single = dtype == np.float32 or bool(self.single[column])
        return (_in_single(lower), _in_single(upper), True) if single else (lower, upper, False)


def _in_single(values: NDArray[Any]) -> NDArray[np.float32]:
    """Round; rounding keeps the order, so that rows can only become more alike."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


@dataclass(eq=False)
class CumulativeCounts:
    """How many values of a set of rows lie below each cut, feature by feature."""

    below: Integers
    up_to: Integers
    present: Integers
    smallest: Floats
    largest: Floats

    @classmethod
    def none(cls, columns: int) -> CumulativeCounts:
        """Count no row."""
        return cls(
            below=np.zeros((N_QUANTILES, columns), np.int64),
            up_to=np.zeros((N_QUANTILES, columns), np.int64),
            present=np.zeros(columns, np.int64),
            smallest=np.full((N_QUANTILES + 1, columns), np.inf),
            largest=np.full((N_QUANTILES + 1, columns), -np.inf),
        )

    def add(self, X: NDArray[Any], cuts: QuantileCuts) -> None:
        """Count more rows."""
        for j, column in enumerate(X.T):
            values = np.sort(column)  # NaN last
            values = values[: len(values) - np.count_nonzero(np.isnan(values))]
            lower, upper, single = cuts.of_column(j, X.dtype)
            compared = _in_single(values) if single else values
            up_to = np.searchsorted(compared, upper, side="right")
            self.below[:, j] += np.searchsorted(compared, lower, side="left")
            self.up_to[:, j] += up_to
            self.present[j] += len(values)
            begin, end = np.append(0, up_to), np.append(up_to, len(values))
            some = end > begin
            smallest, largest = self.smallest[some, j], self.largest[some, j]
            self.smallest[some, j] = np.minimum(smallest, values[begin[some]])
            self.largest[some, j] = np.maximum(largest, values[end[some] - 1])

    def plus(self, other: CumulativeCounts) -> CumulativeCounts:
        """Return the counts of the rows of both."""
        return CumulativeCounts(
            below=self.below + other.below,
            up_to=self.up_to + other.up_to,
            present=self.present + other.present,
            smallest=np.minimum(self.smallest, other.smallest),
            largest=np.maximum(self.largest, other.largest),
        )

    def medians(self) -> Floats:
        """Return the median of each feature, NaN without values.

        It lies between two neighbouring cuts, where the values are taken as evenly spread.
        """
        medians = np.full(len(self.present), np.nan)
        for j in np.flatnonzero(self.present):
            rank = (self.present[j] + 1) // 2
            before = np.append(0, self.up_to[:, j])
            part = int(np.searchsorted(before, rank, side="left")) - 1
            among = np.append(before, self.present[j])[part + 1] - before[part]
            along = (rank - before[part] - 1) / max(among - 1, 1)
            low, high = self.smallest[part, j], self.largest[part, j]
            medians[j] = min(max(low * (1.0 - along) + high * along, low), high)
        return medians


@dataclass(eq=False)
class DriftCounts:
    """All that is remembered of new rows."""

    rows: int
    judged: int
    rejected: int
    states: Integers
    places: CumulativeCounts
    places_rejected: CumulativeCounts
    classes: dict[int, Tallies]
    classes_rejected: dict[int, Tallies]

    @classmethod
    def nothing(cls, training: Baseline) -> DriftCounts:
        """Have seen no row."""
        columns = len(training.numeric)
        none = {k: divided.nothing() for k, divided in training.divided.items()}
        states = np.zeros(training.states.shape, np.int64)
        return cls(
            0,
            0,
            0,
            states,
            CumulativeCounts.none(columns),
            CumulativeCounts.none(columns),
            none,
            dict(none),
        )

    def add(self, found: Judgement, training: Baseline, cuts: QuantileCuts) -> None:
        """See more rows."""
        rejected = found.outlier  # first, so that bad input changes nothing
        cells, numbers = training.cells(found), found.numbers
        everybody = np.ones(len(found), dtype=np.bool_)
        classes = {k: each.counted(cells[k], everybody) for k, each in training.divided.items()}
        out = {k: each.counted(cells[k], rejected) for k, each in training.divided.items()}
        self.states = self.states + training.states_of(found, cells)
        self.rows += len(found)
        self.judged += int(np.count_nonzero(found.judged))
        self.rejected += int(np.count_nonzero(rejected))
        self.places.add(numbers, cuts)
        self.places_rejected.add(numbers[rejected], cuts)
        self.classes = {k: added(self.classes[k], more) for k, more in classes.items()}
        self.classes_rejected = {
            k: added(self.classes_rejected[k], more) for k, more in out.items()
        }

    def plus(self, other: DriftCounts) -> DriftCounts:
        """Return the counts of the rows of both."""
        return DriftCounts(
            rows=self.rows + other.rows,
            judged=self.judged + other.judged,
            rejected=self.rejected + other.rejected,
            states=self.states + other.states,
            places=self.places.plus(other.places),
            places_rejected=self.places_rejected.plus(other.places_rejected),
            classes={k: added(each, other.classes[k]) for k, each in self.classes.items()},
            classes_rejected={
                k: added(each, other.classes_rejected[k])
                for k, each in self.classes_rejected.items()
            },
        )
