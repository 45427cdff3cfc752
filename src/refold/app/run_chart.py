"""New rows one after the other, or over time: a run chart with incidents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refold.app.learning import TrainedModel
from refold.columns.table import DateColumn
from refold.judgement import Judgement
from refold.monitoring import DriftMonitor, Incident, StreamChange
from refold.monitoring.incident_finder import IncidentFinder
from refold.monitoring.timeline import Timeline
from refold.report.parts import RunChart, RunRows

_INCIDENTS = 1000  # that are kept, those with most outliers
_WATCHED = 4_000_000  # numbers that a change is looked for in: some seconds


@dataclass(frozen=True, eq=False)
class RunOfRows:
    """How far out rows are in their order, and what belongs together."""

    chart: RunChart | None  # None if no row has a value
    incidents: list[Incident]  # those with most outliers first; rows are places, from 0
    total: int  # how many there are
    change: StreamChange | None  # whether rows change from some row on; None of very many

    @classmethod
    def of(cls, trained: TrainedModel, found: Judgement, names: list[str]) -> RunOfRows:
        """Follow rows over the time of the model, else over a date that never goes back."""
        timeline = Timeline(trained.model, time=_rising(trained, found))
        times, groups = timeline.times(found, found), timeline.groups(found, found)
        finder = IncidentFinder(
            trained.in_use, None, timed=timeline.timed, most=_INCIDENTS, most_rows=_INCIDENTS
        )
        finder.add(found, np.arange(len(found)), times, groups, names)
        rows, incidents = RunRows(), finder.incidents()
        rows.add(0, found.distances, times, names)
        chart = rows.chart(found.judge.threshold, incidents)
        by_weight = sorted(incidents, key=lambda one: (-one.outliers, -one.severity))
        change = None
        if found.numbers.size <= _WATCHED:
            change = DriftMonitor(trained.in_use).update(found).change()
        return cls(chart, by_weight, finder.total, change)


def _rising(trained: TrainedModel, found: Judgement) -> str | None:
    """Return a column of dates that never goes back; None if the model has a time of its own."""
    if getattr(trained.model, "over", None) is not None or found.cells is None:
        return None
    for name, column in zip(found.cells.names, found.cells.columns, strict=True):
        if isinstance(column, DateColumn) and column.has_date:
            seconds = column.seconds[~np.isnan(column.seconds)]
            if len(seconds) and (np.diff(seconds) >= 0.0).all():
                return name
    return None
