"""What a Detector notices of a table: of its columns, its cells and the threshold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from refold._typing import Booleans
from refold.base.findings import Finding
from refold.columns.context.time_findings import notice_time
from refold.columns.labels import find_labels
from refold.columns.table import Table
from refold.columns.table_findings import find_far_cells, find_single_values, find_unreadable_cells
from refold.decisions.threshold_findings import ties, too_few_rows, with_faults
from refold.models.creased import CreasedREF
from refold.models.detector.context_findings import ALPHA_TRIED, groups_matter, trend_matters
from refold.models.detector.ruled import rule_findings

if TYPE_CHECKING:
    from refold.models.detector.estimator import Detector

# What is warned of: everything else is for those who look.
WARNED = frozenset(
    {
        *("too-few-rows", "ties", "false-alarms", "single-value", "groups", "trend", "wandering"),
        *("idle-rule", "outside-rule"),
    }
)
# Of so many rows a typical one is chosen.
_ROWS_TRIED = 200


def findings(model: Detector, table: Table) -> Iterator[Finding]:
    """Say what was noticed of the columns, then of the numbers and the threshold."""
    context = model.encoder_.context
    measures = () if context is None or context.window is None else context.window.columns
    for found in model.encoder_.noticed_:  # that a value never stands still is nothing to notice
        if found.kind != "constant" or found.column not in measures:
            yield found
    yield from find_unreadable_cells(model._learned.counts, table)
    plan = model._learned.counts.plan
    yield from find_labels(plan.parse(table), [column.role for column in plan.used])
    yield from trimmed(model)
    yield from rule_findings(model._learned.rules, model.encoder_, table)
    if model.model_ is None and model.alpha_ is not None:
        yield from filter(None, [ties(model.calibration_, model.threshold_, model.alpha_)])
    if not model._learned.counts.plan.plain:
        yield from filter(None, [_too_few_rows(model, table)])
    counts, inside = model._learned.counts, model.model_
    numbers = [counts.plan.names[k] for k in counts.plan.numbers.tolist()]
    looked_at = {"single-value"}  # the estimator inside may not have seen all rows
    yield from find_single_values(counts.numbers_of(table), numbers)
    if isinstance(inside, CreasedREF):  # nor in this order
        looked_at.add("absurd-cell")
        yield from find_far_cells(counts.numbers_of(table), numbers)
    yield from filter(None, [context_matters(model, plan.parse(table))])
    if context is not None and context.axis is not None:
        outlier = model._learned.distances(plan.parse(table)) > model.threshold_
        yield from notice_time(context, table, outlier)
    names = {f"x{place}": name for place, name in enumerate(numbers)}
    for found in getattr(inside, "noticed_", ()):
        if found.column is None:
            yield found
        elif found.column in names and found.kind not in looked_at:
            yield found.about(names[found.column])


def context_matters(model: Detector, table: Table) -> Finding | None:
    """Say that rows should be judged by their group or time, if the model does not."""
    if model._has_context:
        return None

    def outliers(rows: Table) -> Booleans:
        return np.asarray(model._learned.distances(rows) > model.threshold_)

    def another(names: Sequence[str]) -> Detector:
        roles = {column.name: str(column.role) for column in model._learned.plan.used}
        quiet = type(model)(
            method=model.method,
            alpha=ALPHA_TRIED,
            roles={name: roles[name] for name in names},
            random_state=0,
        )
        quiet._quiet = True
        return quiet

    return groups_matter(table, outliers) or trend_matters(table, another)


def _too_few_rows(model: Detector, table: Table) -> Finding | None:
    """Put one number after the other of a typical row beyond all that was learned."""
    learned, counts = model._learned, model._learned.counts
    summary = learned.summary
    if summary is None:
        return None

    tried = table.take(np.arange(0, len(table), max(len(table) // _ROWS_TRIED, 1)))
    found = learned.distances(tried)
    middle = np.argsort(found)[len(found) // 2]
    usual = tried.take(np.array([middle]))
    within = summary if summary.box is None else summary.box
    faulty = with_faults(counts.numbers_of(usual)[0], within.low, within.high)
    copies = usual.take(np.zeros(len(faulty), dtype=np.int64))
    gained = learned.distances(counts.plan.with_numbers(copies, faulty)) - found[middle]
    calibration, threshold = model.calibration_, model.threshold_
    return too_few_rows(gained, calibration.threshold(0.5), threshold, calibration)


def trimmed(model: Detector) -> Iterator[Finding]:
    """Say how many rows were left out."""
    if (by := model._learned.cut) is not None:
        yield by.cut.noticed(model.dropped_)
