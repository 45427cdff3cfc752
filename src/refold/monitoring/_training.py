"""The training rows of a model, as far as new rows are compared with them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from refold._typing import Floats, Integers
from refold.columns.encoding.plan import Plan
from refold.columns.summary import Summary
from refold.columns.table import Column
from refold.judgement import Judge, Judgement
from refold.monitoring._classes import Divided


@dataclass(frozen=True, eq=False)
class Baseline:
    """What a model remembers of its training rows."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    numeric: list[int]
    summary: Summary | None
    rows: float
    states: Floats
    divided: dict[int, Divided]
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
            {k: Divided.of(counts.plan.used[k], each) for k, each in counts.others.items()},
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
