"""Distances of rows that follow each other to models that have not seen their neighbours.

A row left out on its own is nearly there still: its window shares all rows but one with the next,
and over time what is unusual today is so tomorrow. So rows are left out in contiguous stretches,
and with them all rows whose window reaches there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.columns.context.context import ContextModel
from refold.columns.context.trend import tenths_of
from refold.columns.encoding.state import RowsInContext, TableState
from refold.columns.table import Table
from refold.models.detector.learned import SIZE, LearnedTable
from refold.models.detector.trim import of_rows

if TYPE_CHECKING:
    from refold.models.detector.estimator import Detector

N_STRETCHES = 5


def left_out_in_stretches(
    model: Detector, found: RowsInContext
) -> tuple[list[Floats], list[Table]]:
    """Return the distances of rows to what is learned without their stretch, and the rows.

    There is none of a stretch of too few.
    """
    if found.rows is None:
        return [], []
    stretch = found.rows.stretches(N_STRETCHES)
    # In which stretches the window of each row begins and ends; -1 without a group or time.
    first = found.rows.of_table(stretch[found.rows.first], -1)
    last = found.rows.of_table(stretch, -1)
    distances, rows = [], []
    for number in range(N_STRETCHES):
        state, rest, left = _divided(found, *_apart(first, last, number))
        if min(rest.rows, left.rows) >= 2:
            distances.append(_distances(model, state, rest, left))
            rows.append(left)
    return distances, rows


def threshold_of_tenths(model: Detector, found: RowsInContext, alpha: float) -> float:
    """Return a threshold that holds in tenths of the time which were left out; 0 without a time.

    It is the median of their own: a level that changed once or twice does not decide.
    """
    context = None if found.state.context is None else found.state.context[1]
    if context is None or context.axis is None or found.learned.inputs is None:
        return 0.0
    tenths, own = tenths_of(context.axis.shares(found.learned.inputs)), list[float]()
    for number in np.unique(tenths).tolist():
        rest = found.learned.take(np.flatnonzero(tenths != number))
        left = found.learned.take(_some(tenths == number))
        if min(rest.rows, left.rows) >= 2:
            distances = _distances(model, found.state, rest, left)
            own.append(float(np.quantile(distances, 1.0 - alpha)))
    return float(np.median(own)) if own else 0.0


def rates_of_stretches(distances: Sequence[Floats], alpha: float) -> list[float]:
    """Return the rate of outliers in each stretch by the threshold that the others would set."""
    rates = []
    for number, own in enumerate(distances):
        others = [d for other, d in enumerate(distances) if other != number]
        threshold = np.quantile(np.concatenate(others), 1.0 - alpha) if others else np.inf
        rates.append(float((own > threshold).mean()))
    return rates


def _apart(first: Integers, last: Integers, number: int) -> tuple[Booleans, Booleans]:
    """Return the rows whose window lies in a stretch, and those whose window has none of it.

    Where groups are so short that hardly any row is left, windows may reach over its ends.
    """
    inside, others = last == number, last != number
    whole = inside & (first == number)
    apart = (first > number) | (last < number)
    return (
        whole if 2 * whole.sum() >= inside.sum() else inside,
        apart if 2 * apart.sum() >= others.sum() else others,
    )


def _divided(
    found: RowsInContext, left: Booleans, rest: Booleans
) -> tuple[TableState, Table, Table]:
    """Return rows to learn from, which say what is expected, and rows to judge."""
    assert found.state.context is not None
    (plan, context), kept = found.state.context, found.kept
    rows = found.inputs.take(kept[rest[kept]])
    nothing = any(rows[name].is_null.all() for name in context.columns)
    # Over time, scores are those of rows that were foreseen.
    if context.axis is not None or not context.given.names or nothing:
        learned = found.learned.take(np.flatnonzero(rest[kept]))
        return found.state, learned, found.learned.take(_some(left[kept]))
    again, learned, _ = ContextModel.learn(context.given, rows, context.window)
    judged = again.apply(found.inputs.take(kept[_some(left[kept])]))
    return replace(found.state, context=(plan, again)), learned, judged


def _some(rows: Booleans) -> Integers:
    """Return the places of rows, at most so many that all stretches together are a sample."""
    places, most = np.flatnonzero(rows), SIZE // N_STRETCHES
    return places[np.linspace(0, len(places) - 1, min(len(places), most)).astype(np.int64)]


def _distances(model: Detector, state: TableState, rest: Table, left: Table) -> Floats:
    _, sample = model._nothing()
    state, cut, rest = of_rows(state, rest, trim=model.trim, n_jobs=model.n_jobs)
    learned = model._learned_of(state, sample.plus_rows(rest), cut)
    LearnedTable.inside.keep(learned, learned.without_rules(learned.rows, learned.beyond))
    return learned.distances(learned.plan.parse(left))
