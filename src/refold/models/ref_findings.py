"""What REF notices of a table and its threshold: what will keep it from telling rows apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from refold._typing import Array, Floats
from refold.algorithm.chain import MAX_GAIN
from refold.base.arrays import is_foreign_array, to_numpy
from refold.base.findings import Finding
from refold.columns.frames import feature_names
from refold.columns.table_findings import find_absurd_cells, find_odd_columns
from refold.decisions import threshold_findings
from refold.decisions.crossfit import few_left_out
from refold.models import ref_trim

if TYPE_CHECKING:
    from refold.models.ref import REF

# Of so many rows a typical one is chosen.
_ROWS_TRIED = 1000


def findings(model: REF, X: Array, weights: Floats | None) -> Iterator[Finding]:
    """Look at the rows that a model was fitted on, and at its threshold."""
    rows = to_numpy(X) if is_foreign_array(X) else X
    yield from find_odd_columns(rows, weights, feature_names(model))
    # A sketch has no box, and reading its summary takes time.
    if model.engine_ != "sketch" and model.summary_.box is not None:
        yield from find_absurd_cells(model.summary_.box, feature_names(model), learned=True)
    yield from ref_trim.noticed(model)
    found: list[Finding | None]
    if model.alpha is None:
        found = [_false_alarms(model, X, weights)]
    else:
        found = [
            threshold_findings.ties(model.calibration_, model.threshold_, model.alpha),
            _too_few_rows(model, X, rows),
        ]
    yield from filter(None, found)


def _false_alarms(model: REF, X: Array, weights: Floats | None) -> Finding | None:
    """Leave rows out, if they are few: the compiled engine stands in for the others."""
    if is_foreign_array(X) or callable(model.fold) or callable(model.distance):
        return None
    left_out = few_left_out(
        X,
        weights,
        recipe=model._recipe() | {"max_gain": model.max_gain_ or MAX_GAIN},
        distance=model.distance,
        path=model.levels_ == "all",
    )
    return None if left_out is None else threshold_findings.false_alarms(left_out, model.threshold_)


def _too_few_rows(model: REF, X: Array, rows: NDArray[Any]) -> Finding | None:
    """Put one value after the other of a typical row a quarter of its range beyond."""
    if rows.dtype.kind != "f":
        rows = rows.astype(np.float64)
    tried = rows[:: max(len(rows) // _ROWS_TRIED, 1)]
    tried = tried[~np.isnan(tried).all(axis=1)]
    usual = tried[[np.argsort(_distances(model, X, tried))[len(tried) // 2]]]
    faulty = threshold_findings.with_faults(usual[0], model.summary_.low, model.summary_.high)
    gained = _distances(model, X, faulty) - _distances(model, X, usual)
    typical = model.calibration_.threshold(0.5)
    return threshold_findings.too_few_rows(gained, typical, model.threshold_, model.calibration_)


def _distances(model: REF, like: Array, rows: NDArray[Any]) -> Floats:
    """Return the distances of rows that are handed over as those learned from were."""
    if is_foreign_array(like):
        rows = array_namespace(like).asarray(rows, device=device(like))
    return to_numpy(model.scorer().distances(rows))
