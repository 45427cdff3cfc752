"""What a Detector notices of a table: of its columns, its cells and the threshold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from refold.base.findings import Finding
from refold.columns.bring import Brought
from refold.columns.encoding.noticed import notice_cells
from refold.columns.noticed import far_cells
from refold.decisions.noticed import ties
from refold.models.creased import CreasedREF

if TYPE_CHECKING:
    from refold.models.detector.estimator import Detector

# What is warned of: everything else is for those who look.
WARNED = frozenset({"too-few-rows", "ties", "false-alarms"})


def findings(model: Detector, table: Brought) -> Iterator[Finding]:
    """Say what was noticed of the columns, then of the numbers and the threshold."""
    yield from model.encoder_.noticed_
    yield from notice_cells(model._learned.table.ready, table)
    yield from trimmed(model)
    if model.model_ is None and model.alpha_ is not None:
        yield from filter(None, [ties(model.calibration_, model.threshold_, model.alpha_)])
    counts, inside = model._learned.table.ready, model.model_
    numbers = [counts.plan.names[k] for k in counts.plan.numbers.tolist()]
    looked_at = None
    if isinstance(inside, CreasedREF):  # it may not have seen all rows, nor in this order
        looked_at = "absurd-cell"
        yield from far_cells(counts.numbers_of(table), numbers)
    names = {f"x{place}": name for place, name in enumerate(numbers)}
    for found in getattr(inside, "noticed_", ()):
        if found.column is None:
            yield found
        elif found.column in names and found.kind != looked_at:
            yield found.about(names[found.column])


def trimmed(model: Detector) -> Iterator[Finding]:
    """Say how many rows were left out."""
    if (by := model._learned.cut) is not None:
        yield by.cut.noticed(model.dropped_)
