"""All of it: run what is asked for and write the table of cells and the page."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from itertools import product
from pathlib import Path

from refold.base.files import replacing
from refold.benchmark.cells import CellStore, Job
from refold.benchmark.data import fetch
from refold.benchmark.page import page_of
from refold.benchmark.protocol import MEASURES
from refold.benchmark.run import Results, run
from refold.benchmark.summary import Summary, summarize


@dataclass(frozen=True)
class Request:
    """What to compare.

    Parameters
    ----------
    sets : tuple of str
        Names from :data:`refold.benchmark.data.FILES`.
    methods : tuple of str
        Names from :data:`refold.benchmark.methods.METHODS`.
    seeds : tuple of int
        Each divides every set once.
    """

    sets: tuple[str, ...]
    methods: tuple[str, ...]
    seeds: tuple[int, ...]

    def jobs(self) -> list[Job]:
        """Return the cells, those of a data set together."""
        return [Job(*key) for key in product(self.sets, self.methods, self.seeds)]


def benchmark(
    request: Request,
    out: Path,
    *,
    time_limit: float = 120.0,
    n_jobs: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Summary:
    """Compare methods over data sets.

    Parameters
    ----------
    request : Request
        Which ones.
    out : Path
        Folder for ``cells.csv`` and ``index.html``. Cells that an earlier run has finished there
        are not run again.
    time_limit : float, default=120.0
        Seconds after which a cell is stopped.
    n_jobs : int, default=1
        Processes; no result but the times depends on it.
    progress : callable, optional
        ``progress(done, total)`` is called after each cell.

    Returns
    -------
    Summary
        What was found, as written into ``index.html``.
    """
    fetch(request.sets)
    out.mkdir(parents=True, exist_ok=True)
    store = CellStore(out / "cells", time_limit)
    results = run(request.jobs(), store, n_jobs=n_jobs, progress=progress)
    summary = summarize(results)
    for name, text in (("cells.csv", csv_of(results)), ("index.html", page_of(summary))):
        with replacing(out / name) as file:
            file.write(text.encode())
    return summary


def csv_of(results: Results) -> str:
    """Return one line per cell."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["set", "method", "seed", "outcome", *MEASURES, "note"])
    for job, cell in results.items():
        values = [cell.measures.get(name, "") for name in MEASURES]
        writer.writerow([*job, cell.outcome, *values, cell.note])
    return text.getvalue()
