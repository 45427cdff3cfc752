"""From finished cells to what is said of the methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from refold.studies.measured import MeasuredCell, cells_csv, over_seeds, why_unfinished
from refold.studies.tables.cells import TableJob, auroc_of, named_of
from refold.studies.tables.injection import GROUPS, KINDS
from refold.studies.tables.suite import ANOMALY

NO_VALUE = "–"
# The columns of the table of means: those of errors are means over their kinds.
OVERVIEW = (
    *("natural", "injected", *GROUPS),
    *("named", "false_alarms", "lowest", "highest", "fit_seconds", "score_seconds"),
)
TITLES = {
    "named": "reason",
    "false_alarms": "alarms",
    "fit_seconds": "learn s",
    "score_seconds": "score s",
}


class TableComparison:
    """What one run found."""

    def __init__(self, results: dict[TableJob, MeasuredCell]) -> None:
        self.results = results
        self.tables = list(dict.fromkeys(job.table for job in results))
        self.methods = list(dict.fromkeys(job.method for job in results))
        self.seeds = list(dict.fromkeys(job.seed for job in results))
        there = {name for cell in results.values() for name in cell.measures}
        self.kinds = [kind for kind in KINDS if auroc_of(kind) in there]

    def unfinished(self, table: str, method: str) -> str:
        """Return why a method has no value on a table; empty if every seed was finished."""
        return why_unfinished(self._cells(table, method))

    def value(self, measure: str, table: str, method: str) -> float:
        """Return a measure over the seeds; NaN where it is unfinished or there is none."""
        cells = self._cells(table, method)
        if any(cell.outcome != "done" for cell in cells):
            return np.nan
        values = [cell.measures[measure] for cell in cells if measure in cell.measures]
        return over_seeds(measure, values) if values else np.nan

    def mean(self, measure: str, method: str) -> float:
        """Return the mean over the tables that have the measure."""
        return _mean(self.value(measure, table, method) for table in self.tables)

    def over_kinds(self, measures: Iterable[str], method: str) -> float:
        """Return the mean over some kinds of errors, each of them the mean over the tables."""
        return _mean(self.mean(measure, method) for measure in measures)

    def injected(self, table: str, method: str) -> float:
        """Return the mean AUROC over the kinds of errors in a table."""
        return _mean(self.value(auroc_of(kind), table, method) for kind in self.kinds)

    def overview(self, method: str) -> dict[str, float]:
        """Return a method's means, by :data:`OVERVIEW`."""
        all_alarms = (self.value("false_alarms", table, method) for table in self.tables)
        alarms = [value for value in all_alarms if not np.isnan(value)]
        return {
            "natural": self.mean(auroc_of(ANOMALY), method),
            "injected": self.over_kinds(map(auroc_of, self.kinds), method),
            **{
                group: self.over_kinds(
                    (auroc_of(kind) for kind in self.kinds if KINDS[kind].group == group), method
                )
                for group in GROUPS
            },
            "named": self.over_kinds(map(named_of, self.kinds), method),
            "false_alarms": _mean(alarms),
            "lowest": min(alarms, default=np.nan),
            "highest": max(alarms, default=np.nan),
            "fit_seconds": self.mean("fit_seconds", method),
            "score_seconds": self.mean("score_seconds", method),
        }

    def csv(self) -> str:
        """Return one line per cell."""
        return cells_csv(TableJob._fields, self.results)

    def text(self) -> Iterator[str]:
        """Yield plain tables: means in percent, then AUROC and reasons by kind of error."""
        yield "AUROC, first reasons that name the column, false alarms at 5 %; in percent"
        yield from self._lines(OVERVIEW, [self.overview(method) for method in self.methods])
        if self.kinds:
            for title, measure in (("AUROC", auroc_of), ("First reason right", named_of)):
                yield ""
                yield f"{title} by kind of error"
                rows = [
                    {kind: self.mean(measure(kind), method) for kind in self.kinds}
                    for method in self.methods
                ]
                yield from self._lines(self.kinds, rows)
        for method in self.methods:
            for table in self.tables:
                if why := self.unfinished(table, method):
                    yield f"{method} on {table}: {why}"

    def _lines(self, columns: Sequence[str], rows: list[dict[str, float]]) -> Iterator[str]:
        width = max(map(len, self.methods))
        heads = [TITLES.get(name, name) for name in columns]
        yield " ".join([" " * width, *(f"{head:>8}" for head in heads)])
        for method, row in zip(self.methods, rows, strict=True):
            cells = [
                f"{shown(name, row[name]):>{max(8, len(head))}}"
                for name, head in zip(columns, heads, strict=True)
            ]
            yield " ".join([f"{method:{width}}", *cells])

    def _cells(self, table: str, method: str) -> list[MeasuredCell]:
        return [self.results[TableJob(table, method, seed)] for seed in self.seeds]


def shown(measure: str, value: float) -> str:
    """Return a value as it is printed: percent with one decimal, seconds with two."""
    if np.isnan(value):
        return NO_VALUE
    return f"{value:.2f}" if measure.endswith("_seconds") else f"{100 * value:.1f}"


def _mean(values: Iterable[float]) -> float:
    """Return the mean of those that are there; NaN if none is."""
    there = [value for value in values if not np.isnan(value)]
    return float(np.mean(there)) if there else np.nan
