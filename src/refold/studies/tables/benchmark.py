"""All of it: run what is asked for, and write the table of cells and the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from refold.studies.output import write_page, write_text
from refold.studies.run import Progress, run, silent
from refold.studies.tables.cells import TableJob, TableStudy, auroc_of, named_of
from refold.studies.tables.comparison import OVERVIEW, TITLES, TableComparison, shown
from refold.studies.tables.methods import METHODS
from refold.studies.tables.suite import ANOMALY, TableFiles

# Of these no value is best: few alarms alone are no merit, and seconds are another matter.
_NO_CONTEST = ("false_alarms", "lowest", "highest", "fit_seconds", "score_seconds")


class Shown(NamedTuple):
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
    rows: list[tuple[str, list[Shown]]]


def write_index(found: TableComparison, folder: Path) -> None:
    """Write ``index.html`` into a folder."""
    grids = [_means(found)]
    if found.kinds:
        grids += [_kinds(found, "kinds", auroc_of), _kinds(found, "reasons", named_of)]
    grids += list(_by_table(found))
    write_page(
        folder / "index.html",
        "refold.studies.tables",
        found=found,
        grids=grids,
        methods=[METHODS[name] for name in found.methods],
        unfinished=[
            (method, table, why)
            for method in found.methods
            for table in found.tables
            if (why := found.unfinished(table, method))
        ],
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
) -> list[Shown]:
    """Return a cell for each method; those that are the best as printed are marked."""
    values = [value(column, method) for method in found.methods]
    there = [v for v in values if not np.isnan(v)]
    contest = name != "alarms" and column not in _NO_CONTEST
    best = shown(column, max(there)) if contest and there else None
    whys = [found.unfinished(column, m) if column in found.tables else "" for m in found.methods]
    texts = [shown(column, v) for v in values]
    return [Shown(text, text == best, why) for text, why in zip(texts, whys, strict=True)]


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
    out.mkdir(parents=True, exist_ok=True)
    # Those of a table together: a process keeps the last one that it has divided.
    jobs = [
        TableJob(table, method, seed) for table, seed, method in product(tables, seeds, methods)
    ]
    study = TableStudy(files, time_limit)
    found = TableComparison(run(study, jobs, out / "cells", n_jobs=n_jobs, progress=progress))
    write_text(out / "cells.csv", found.csv())
    write_index(found, out)
    return found
