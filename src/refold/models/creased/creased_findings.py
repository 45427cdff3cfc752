"""What CreasedREF notices of a table and its threshold: what keeps it from telling rows apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.base.findings import Finding
from refold.columns.frames import feature_names
from refold.columns.table_findings import find_absurd_cells, find_odd_columns
from refold.decisions import threshold_findings

if TYPE_CHECKING:
    from refold.models.creased.creased_mixin import CreasedMixin
    from refold.models.creased.estimator import CreasedREF


def findings(model: CreasedREF, X: NDArray[Any], weights: Floats | None) -> Iterator[Finding]:
    """Look for what will keep the model from telling normal rows from others."""
    yield from find_odd_columns(X, weights, feature_names(model))
    yield from far_cells(model)
    yield from trimmed(model)
    scoring = model.scoring_
    found = [threshold_findings.ties(scoring.calibration, 1.0, model._learned.rate)]
    if model._magnitudes == 0:  # whoever encodes rows knows what a fault makes of them
        found.append(_too_few_rows(model))
    yield from filter(None, found)


def far_cells(model: CreasedMixin) -> Iterator[Finding]:
    """Name single cells far from all others; a model without a box takes them as normal."""
    box = model._learned.state.box if hasattr(model, "_learned") else None
    if box is not None:
        learned = model._learned.state.recipe.box == 0.0
        yield from find_absurd_cells(box, feature_names(model), learned=learned)


def trimmed(model: CreasedMixin) -> Iterator[Finding]:
    """Say how many rows were left out."""
    cut = model._learned.state.cut if hasattr(model, "_learned") else None
    if cut is not None:
        yield cut.cut.noticed(model.dropped_)


def _too_few_rows(model: CreasedREF) -> Finding | None:
    """Put one value after the other of a typical row beyond all that was learned."""
    scoring, rows = model.scoring_, model._learned.state.sample.rows
    middle = np.argsort(scoring.left_out)[len(rows) // 2]
    box = model.summary_ if scoring.box is None else scoring.box
    typical = float(scoring.left_out[middle])
    gained = (
        scoring.distances(threshold_findings.with_faults(rows[middle], box.low, box.high)) - typical
    )
    return threshold_findings.too_few_rows(gained, typical, 1.0, scoring.calibration)
