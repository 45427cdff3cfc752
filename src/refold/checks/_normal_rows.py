"""The normal rows that are shifted: handed over, kept by the model, or drawn from its quantiles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats, Integers
from refold.columns.summary import Summary
from refold.columns.table import NumberColumn, Table
from refold.decisions.thresholds import Calibration
from refold.judgement import Judge, Judgement

# Of more rows so many are drawn: enough for every column to have its share of accepted ones.
_MOST_ROWS = 2_000
# Not 0: rows that were made with that would come in the order of the numbers they were made of.
_SEED = 746_120_891


class NormalRows(NamedTuple):
    """Rows that a model accepts."""

    values: Floats  # their numbers, NaN where missing
    offsets: Floats  # what is to be added to their distances: 0 for rows that really are
    source: str  # where they come from, in words
    cells: Table | None = None  # all their cells, where they hold more than numbers
    inputs: Table | None = None  # the rows as they came, where they are judged in their context

    def distances(self, judge: Judge, rows: Integers, moved: Floats) -> Floats:
        """Return how far out rows are with other numbers."""
        if self.cells is None:
            return judge.rows(moved).distances + self.offsets[rows]
        assert judge.encoder is not None
        table = judge.encoder.counts.plan.with_numbers(self.cells.take(rows), moved)
        return judge.table(table).distances


def normal_rows(model: Any, judge: Judge, X: Any) -> NormalRows:
    """Return the rows to shift: those handed over, or what the model has kept."""
    if judge.encoder is not None:
        return _of_table(model, judge, X)
    if X is not None:
        rows, source = Judgement.of(model, X).rows, "handed over"
    elif hasattr(model, "training_sample"):
        rows, source = model.training_sample(), "kept by the model"
    else:
        return _independent(judge, model.summary_)
    found = judge.rows(draw_rows([rows]))
    accepted = found.labels == 1
    if not accepted.any():
        raise ValueError("The model accepts none of the rows as they are: they must be normal.")
    return NormalRows(found.rows[accepted], np.zeros(accepted.sum()), source)


def _of_table(model: Any, judge: Judge, X: Any) -> NormalRows:
    """Return rows with all their cells."""
    assert judge.encoder is not None
    plan = judge.encoder.counts.plan
    source = "kept by the model" if X is None else "handed over"
    found = judge.table(model.kept_rows()) if X is None else Judgement.of(model, X)
    order = np.random.default_rng(_SEED).permutation(len(found))[:_MOST_ROWS]
    found = found.take(order)
    assert found.cells is not None
    usable = (found.labels == 1) & ~found.muted
    for column in found.cells.columns:
        if isinstance(column, NumberColumn):  # what is no number there could not be put back
            usable &= ~column.unreadable
    accepted = found.take(np.flatnonzero(usable))
    if len(accepted) == 0:
        raise ValueError("The model accepts none of the rows as they are: they must be normal.")
    assert accepted.cells is not None
    alone = plan.plain and accepted.rows.shape[1] == len(accepted.names)
    cells = None if alone else accepted.cells
    inputs = accepted.cells.inputs
    return NormalRows(accepted.numbers, np.zeros(len(accepted)), source, cells, inputs)


def draw_rows(blocks: Iterable[NDArray[Any]]) -> Floats:
    """Return at most 2,000 of the rows of some blocks, each with the same chance, mixed up.

    Examples
    --------
    >>> import numpy as np
    >>> from refold.checks import draw_rows
    >>> draw_rows(np.full((5000, 3), number) for number in range(4)).shape
    (2000, 3)
    """
    rng, keys, rows = np.random.default_rng(_SEED), np.empty(0), None
    for block in blocks:
        keys = np.concatenate([keys, rng.random(len(block))])
        rows = block if rows is None else np.concatenate([rows, block])
        chosen = np.argsort(keys)[:_MOST_ROWS]
        keys, rows = keys[chosen], rows[chosen]
    if rows is None or len(rows) == 0:
        raise ValueError("There are no rows.")
    return np.asarray(rows, dtype=np.float64)


def _independent(judge: Judge, summary: Summary) -> NormalRows:
    """Draw every column by itself; columns that belong together are not as far out together.

    Where the model is calibrated that is made up for: the farthest of these rows gets the distance
    of the farthest row there, and so on.
    """
    rng = np.random.default_rng(_SEED)
    rows = np.column_stack([rng.permutation(column[1:]) for column in summary.quantiles.T])
    distances = judge.rows(rows).distances
    offsets = np.zeros(len(rows))
    if judge.calibration is not None:
        offsets[np.argsort(distances)] = _spread(judge.calibration, len(rows))
        offsets -= distances
    accepted = distances + offsets <= judge.threshold
    if not accepted.any():
        raise ValueError("The model accepts none of its own training rows.")
    return NormalRows(rows[accepted], offsets[accepted], "drawn from the quantiles of each column")


def _spread(calibration: Calibration, n: int) -> Floats:
    """Return n distances that are distributed as those of a calibration, ascending."""
    up_to = np.cumsum(calibration.weights)
    at = np.searchsorted(up_to, (np.arange(n) + 0.5) / n * up_to[-1])
    return np.asarray(calibration.scores[np.minimum(at, len(up_to) - 1)])
