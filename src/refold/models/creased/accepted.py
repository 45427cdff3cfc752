"""Rows that somebody has called normal: learned like others, but nothing is calibrated on them."""

from __future__ import annotations

from dataclasses import replace

from refold._typing import Booleans, Floats
from refold.algorithm.engines.sketch import Sketch
from refold.columns.extremes import join_extremes
from refold.models.creased import row_sample
from refold.models.creased.leverage import Sums
from refold.models.creased.scoring import Accepted, Learned, accepted_edges
from refold.models.creased.state import TrainingState
from refold.models.feedback.entry import equal_rows


def with_accepted_rows(
    base: Learned,
    rows: Floats,
    weights: Floats,
    *,
    copies: Booleans | None = None,
    before: Learned | None = None,
) -> Learned:
    """Return what was learned, and rows that were accepted; creases and calibration rows stay.

    Parameters
    ----------
    base : Learned
        What was learned without them.
    rows : ndarray of shape (k, d)
        The rows.
    weights : ndarray of shape (k,)
        How often each counts.
    copies : ndarray of bool, optional
        Which rows of the sample were accepted themselves; None is those that are equal to one.
    before : Learned, optional
        What these rows' leave-one-out distances are read from; None is `base`.
    """
    state = _plus_unsampled(base.state, rows, weights, base.n_jobs)
    if copies is None:
        copies = equal_rows(base.state.sample.rows, rows)
    return Learned(
        state,
        base.rate,  # it is that of the rows that calibrate
        base.ridge,
        base.n_jobs,
        accepted=Accepted(rows, weights, copies, before or base),
    )


def relearned(learned: Learned, rows: Floats) -> Learned:
    """Return what is learned from other rows along the same creases."""
    nothing = learned.state.ready.emptied()
    state = nothing.plus_rows(rows, None, last=True, n_jobs=learned.n_jobs)
    return replace(learned, state=state, unit=None)


def _plus_unsampled(
    state: TrainingState, X: Floats, weights: Floats, n_jobs: int | None
) -> TrainingState:
    """Return this and more rows, none of which is drawn into the sample."""
    ready = state.ready
    assert ready.creases is not None
    assert ready.sums is not None
    assert ready.sketch is not None
    assert ready.edges is not None
    sketch = Sketch.of(X, weights, n_jobs=n_jobs)  # this also refuses infinity
    counts = row_sample.counted(X, weights)
    return replace(
        ready,
        sums=ready.sums.plus(Sums.of(ready.creases, X, counts, n_jobs)),
        sketch=ready.sketch.plus(sketch),
        edges=join_extremes(ready.edges, accepted_edges(X, counts, ready.recipe.magnitudes)),
    )
