"""All of it: run what is asked for and write the table of cells and the page."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from pathlib import Path

from refold.studies.output import write_text
from refold.studies.run import Progress, run, silent
from refold.studies.tables.cells import TableJob, TableStudy
from refold.studies.tables.comparison import TableComparison
from refold.studies.tables.page import write_index
from refold.studies.tables.suite import TableFiles


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
