"""REF without the rows that it puts farthest out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from refold._typing import Array, Floats
from refold.algorithm.chain import FoldChain
from refold.algorithm.engines import ENGINES
from refold.base import errors
from refold.base.arrays import have_values, take_array_rows, to_numpy
from refold.base.findings import Finding
from refold.columns.frames import check_enough
from refold.decisions.thresholds import Calibration
from refold.models.scoring import FoldScorer
from refold.models.trim import Cut, dropped

if TYPE_CHECKING:
    from refold.models.ref import REF

# After the first time, rows are compared with others than those that were left out.
_TIMES = 2


@dataclass(frozen=True, eq=False)
class FoldCut:
    """A cut, and the folds by which a row lies beyond it; what is learned later changes neither."""

    chain: FoldChain  # Learned from the first rows, without those that were odd at first sight
    cut: Cut  # Up to which distance rows are learned


def kept_weights(model: REF, X: Array, weights: Floats | None, *, first: bool) -> Floats | None:
    """Return how often rows count without those that `trim` leaves out.

    The model gets its cut, set by the first rows, and the numbers of the rows beyond it.
    """
    model.dropped_ = np.empty(0, dtype=np.int64)
    if first:
        model._cut = None
    if model.trim == 0.0:
        return weights
    counts = _counts(X, weights)
    check_enough(X.shape[0], counts)
    by = model._cut or _frozen(model, X, counts)
    odd = _distances(model, by.chain, X)
    kept = by.cut.kept(odd, counts)
    model._cut = replace(by, cut=by.cut.counting(counts, kept))
    model.dropped_ = dropped(odd, counts, by.cut)
    return kept


def forgotten(model: REF, X: Array, weights: Floats | None) -> Floats | None:
    """Return how often rows counted when they were learned: those beyond the cut did not."""
    by = model._cut
    if by is None:
        return weights
    counts = _counts(X, weights)
    kept = by.cut.kept(_distances(model, by.chain, X), counts)
    model._cut = replace(by, cut=by.cut.minus(by.cut.emptied().counting(counts, kept)))
    return kept


def merged(cuts: Sequence[FoldCut | None]) -> FoldCut | None:
    """Return the first cut, by which a merged model goes on, with the rows of all counted."""
    known = [by for by in cuts if by is not None]
    return replace(known[0], cut=reduce(Cut.plus, (by.cut for by in known))) if known else None


def noticed(model: REF) -> tuple[Finding, ...]:
    """Say how many rows were left out."""
    return () if model._cut is None else (model._cut.cut.noticed(model.dropped_),)


def _frozen(model: REF, X: Array, counts: Floats) -> FoldCut:
    """Set the cut by rows that are there at once."""
    chain = _learned(model, X, counts)
    for _ in range(1, _TIMES):
        odd = _distances(model, chain, X)
        kept = Cut.of(odd, counts, model.trim).kept(odd, counts)
        try:
            chain = _learned(model, X, kept)
        except errors.TableError as error:  # all rows together were fine
            raise errors.too_few_without_odd(error) from None
    return FoldCut(chain, Cut.of(_distances(model, chain, X), counts, model.trim))


def calibrated(
    model: REF, calibration: Calibration, X: Array, weights: Floats | None
) -> Calibration:
    """Add the rows that were left out, as the model that has not seen them judges them."""
    rows = model.dropped_
    out = _distances(model, model.chain_, take_array_rows(X, rows))
    return calibration.plus(out, None if weights is None else weights[rows])


def _counts(X: Array, weights: Floats | None) -> Floats:
    """Return how often each row counts; one without any value does not."""
    return np.where(have_values(X), 1.0 if weights is None else weights, 0.0)


def _learned(model: REF, X: Array, weights: Floats | None) -> FoldChain:
    if model.engine_ == "sketch":
        return model._sketch(X, weights).chain(**model._recipe())
    return ENGINES[model.engine_].learn(X, weights, **model._recipe())


def _distances(model: REF, chain: FoldChain, X: Array) -> Floats:
    """Return how far out rows are; 0 of those without any value."""
    path = model.levels_ == "all"
    scorer = FoldScorer(chain, model.engine_, model.distance, path, model.n_jobs)
    seen = have_values(X)
    if seen.all():
        return to_numpy(scorer.distances(X))
    out, some = np.zeros(len(seen)), np.flatnonzero(seen)
    try:
        out[some] = to_numpy(scorer.distances(take_array_rows(X, some)))
    except errors.TableError as error:
        if error.row is None or error.column is None:
            raise
        raise errors.infinite(int(some[error.row]), error.column) from None
    return out
