"""All of it: run what is asked for and write the table of cells and the page."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from pathlib import Path

from refold.studies.novelty.cells import NoveltyJob, NoveltyStudy
from refold.studies.novelty.comparison import NoveltyComparison
from refold.studies.novelty.page import write_index
from refold.studies.novelty.suite import Suite
from refold.studies.output import write_text
from refold.studies.run import Progress, run, silent


def benchmark(
    suite: Suite,
    sets: Iterable[str],
    methods: Iterable[str],
    seeds: Iterable[int],
    out: Path,
    *,
    time_limit: float = 120.0,
    n_jobs: int = 1,
    progress: Progress = silent,
) -> NoveltyComparison:
    """Compare methods over data sets."""
    sets = list(sets)
    suite.fetch(sets)
    out.mkdir(parents=True, exist_ok=True)
    # Those of a set together: a process keeps the last set that it has read.
    jobs = [NoveltyJob(*key) for key in product(sets, methods, seeds)]
    study = NoveltyStudy(suite, time_limit)
    found = NoveltyComparison(run(study, jobs, out / "cells", n_jobs=n_jobs, progress=progress))
    write_text(out / "cells.csv", found.csv())
    write_index(found, suite, out)
    return found
