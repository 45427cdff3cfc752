"""From finished cells to what is said of the methods, in a table and on a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from refold.studies.measured import (
    MeasuredCell,
    MeasuredComparison,
    mean_of,
    over_seeds,
    run_comparison,
    text_table,
    write_study_page,
)
from refold.studies.run import Progress, silent
from refold.studies.tables.cells import TableJob, TableStudy, auroc_of, named_of
from refold.studies.tables.injection import GROUPS, KINDS
from refold.studies.tables.methods import METHODS
from refold.studies.tables.suite import ANOMALY, TableFiles

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


class TableComparison(MeasuredComparison):
    """What one run found."""

    heads = TableJob._fields

    def __init__(self, results: dict[TableJob, MeasuredCell]) -> None:
        super().__init__(results)
        self.tables = list(dict.fromkeys(job.table for job in results))
        there = {name for cell in results.values() for name in cell.measures}
        self.kinds = [kind for kind in KINDS if auroc_of(kind) in there]

    def value(self, measure: str, table: str, method: str) -> float:
        """Return a measure over the seeds; NaN where it is unfinished or there is none."""
        cells = self.cells(table, method)
        if any(cell.outcome != "done" for cell in cells):
            return np.nan
        values = [cell.measures[measure] for cell in cells if measure in cell.measures]
        return over_seeds(measure, values) if values else np.nan

    def mean(self, measure: str, method: str) -> float:
        """Return the mean over the tables that have the measure."""
        return mean_of(self.value(measure, table, method) for table in self.tables)

    def over_kinds(self, measures: Iterable[str], method: str) -> float:
        """Return the mean over some kinds of errors, each of them the mean over the tables."""
        return mean_of(self.mean(measure, method) for measure in measures)

    def injected(self, table: str, method: str) -> float:
        """Return the mean AUROC over the kinds of errors in a table."""
        return mean_of(self.value(auroc_of(kind), table, method) for kind in self.kinds)

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
            "false_alarms": mean_of(alarms),
            "lowest": min(alarms, default=np.nan),
            "highest": max(alarms, default=np.nan),
            "fit_seconds": self.mean("fit_seconds", method),
            "score_seconds": self.mean("score_seconds", method),
        }

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
        for method, table, why in self.all_unfinished(self.methods, self.tables):
            yield f"{method} on {table}: {why}"

    def _lines(self, columns: Sequence[str], rows: list[dict[str, float]]) -> Iterator[str]:
        heads = ["", *(TITLES.get(name, name) for name in columns)]
        cells = [
            [method, *(value_text(name, row[name]) for name in columns)]
            for method, row in zip(self.methods, rows, strict=True)
        ]
        return text_table([heads, *cells])


def value_text(measure: str, value: float) -> str:
    """Return a value as it is printed: percent with one decimal, seconds with two."""
    if np.isnan(value):
        return NO_VALUE
    return f"{value:.2f}" if measure.endswith("_seconds") else f"{100 * value:.1f}"


# Of these no value is best: few alarms alone are no merit, and seconds are another matter.
_NO_CONTEST = ("false_alarms", "lowest", "highest", "fit_seconds", "score_seconds")


class GridCell(NamedTuple):
    """A cell of a table on the page; `why` there is no value, if there is none."""

    text: str
    best: bool = False
    why: str = ""


class Grid(NamedTuple):
    """A table on the page."""

    name: str
    title: str
    says: str
    head: list[str]
    rows: list[tuple[str, list[GridCell]]]


def write_index(found: TableComparison, folder: Path) -> None:
    """Write ``index.html`` into a folder."""
    grids = [_means(found)]
    if found.kinds:
        grids += [_kinds(found, "kinds", auroc_of), _kinds(found, "reasons", named_of)]
    grids += list(_by_table(found))
    write_study_page(
        folder / "index.html",
        "refold.studies.tables",
        found=found,
        grids=grids,
        methods=[METHODS[name] for name in found.methods],
        unfinished=found.all_unfinished(found.methods, found.tables),
    )


_SAYS = {
    "means": (
        "Means",
        "Natural anomalies are a mean over their tables. Errors are means over kinds, each of them "
        "a mean over the tables that allow it. Reason: the share of errors whose first reason "
        "names the column of the wrong cell. Alarms: normal rows rejected when 5 % are asked for, "
        "with the lowest and the highest of all tables. Seconds of processor time for one table.",
    ),
    "kinds": ("AUROC by kind of error", "Errors against normal rows, mean over the tables."),
    "reasons": (
        "First reasons by kind of error",
        "The share of errors whose first reason names the column of the wrong cell.",
    ),
    "natural": ("Natural anomalies by table", "AUROC of anomalies against normal rows."),
    "injected": ("Injected errors by table", "AUROC, mean over the kinds that a table allows."),
    "alarms": (
        "False alarms by table",
        "The share of normal rows that is rejected when 5 % are asked for.",
    ),
}


def _means(found: TableComparison) -> Grid:
    rows = {method: found.overview(method) for method in found.methods}
    return _grid(found, "means", OVERVIEW, lambda name, method: rows[method][name])


def _kinds(found: TableComparison, name: str, measure: Callable[[str], str]) -> Grid:
    return _grid(found, name, found.kinds, lambda kind, method: found.mean(measure(kind), method))


def _by_table(found: TableComparison) -> Iterable[Grid]:
    def natural(table: str, method: str) -> float:
        return found.value(auroc_of(ANOMALY), table, method)

    def alarms(table: str, method: str) -> float:
        return found.value("false_alarms", table, method)

    for name, value in (("natural", natural), ("injected", found.injected), ("alarms", alarms)):
        tables = [
            table
            for table in found.tables
            if not all(np.isnan(value(table, method)) for method in found.methods)
        ]
        if tables:
            yield _grid(found, name, tables, value)


def _grid(
    found: TableComparison, name: str, columns: Iterable[str], value: Callable[[str, str], float]
) -> Grid:
    """Return a table with methods down."""
    columns = list(columns)
    across = [_column(found, name, column, value) for column in columns]
    rows = [
        (method, list(cells))
        for method, cells in zip(found.methods, zip(*across, strict=True), strict=True)
    ]
    title, says = _SAYS[name]
    return Grid(name, title, says, [TITLES.get(column, column) for column in columns], rows)


def _column(
    found: TableComparison, name: str, column: str, value: Callable[[str, str], float]
) -> list[GridCell]:
    """Return a cell for each method; those that are the best as printed are marked."""
    values = [value(column, method) for method in found.methods]
    there = [v for v in values if not np.isnan(v)]
    contest = name != "alarms" and column not in _NO_CONTEST
    best = value_text(column, max(there)) if contest and there else None
    whys = [found.unfinished(column, m) if column in found.tables else "" for m in found.methods]
    texts = [value_text(column, v) for v in values]
    return [GridCell(text, text == best, why) for text, why in zip(texts, whys, strict=True)]


def benchmark(
    files: TableFiles,
    tables: Iterable[str],
    methods: Iterable[str],
    seeds: Iterable[int],
    out: Path,
    *,
    time_limit: float = 120.0,
    n_jobs: int = 1,
    progress: Progress = silent,
) -> TableComparison:
    """Compare methods over tables."""
    # Those of a table together: a process keeps the last one that it has divided.
    jobs = [
        TableJob(table, method, seed) for table, seed, method in product(tables, seeds, methods)
    ]
    study = TableStudy(files, time_limit)
    found = run_comparison(study, jobs, TableComparison, out, n_jobs, progress)
    write_index(found, out)
    return found
