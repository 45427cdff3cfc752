"""All of it: run what is asked for and write the table of cells and the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import NamedTuple

from refold.studies.output import write_text
from refold.studies.own.cells import OwnJob, OwnStudy
from refold.studies.own.comparison import Extent, OwnComparison, fitted
from refold.studies.own.faults import InjectedKind, injected
from refold.studies.own.page import write_index
from refold.studies.own.table import OwnTable, divide, n_anomalies, sizes, usual_rate
from refold.studies.run import Progress, run, silent


class OwnResult(NamedTuple):
    """What one run found, which faults it put in, and how the best of refold's is fitted."""

    found: OwnComparison
    faults: list[InjectedKind]
    fitted: str | None
    command: str | None


def benchmark(
    table: OwnTable,
    methods: Iterable[str],
    seeds: Iterable[int],
    out: Path,
    *,
    alpha: float | None = None,
    time_limit: float = 120.0,
    n_jobs: int = 1,
    absent: Iterable[str] = (),
    command: Callable[[str], str] = lambda method: f"refold fit TABLE -o MODEL  # {method}",
    progress: Progress = silent,
) -> OwnResult:
    """Compare methods on one table."""
    alpha = usual_rate(table) if alpha is None else alpha
    seeds = list(seeds)
    faults = [] if table.anomalies is not None else list(injected(divide(table, seeds[0])))
    out.mkdir(parents=True, exist_ok=True)
    # Those of a seed together: a process keeps the last division that it has made.
    jobs = [OwnJob(method, seed) for seed, method in product(seeds, list(methods))]
    study = OwnStudy(table, alpha, time_limit)
    cells = run(study, jobs, out / "cells", n_jobs=n_jobs, progress=progress)
    found = OwnComparison(cells, alpha, Extent(*sizes(table), n_anomalies(table)))
    ours = fitted(found)
    result = OwnResult(found, faults, ours, None if ours is None else command(ours))
    write_text(out / "cells.csv", found.csv())
    write_index(found, table, faults, absent, result.fitted, result.command, out)
    return result
