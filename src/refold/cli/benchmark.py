"""``refold benchmark``: refold's detectors and their peers on suites of tables."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from refold.base.needs import needs
from refold.base.words import printable
from refold.cli import _options as options
from refold.cli._cells import chosen, cores, progress_bar


class DataSuite(StrEnum):
    """Where the data sets come from."""

    adbench = "adbench"
    oddbench = "oddbench"
    tables = "tables"


def benchmark(
    suite: Annotated[
        DataSuite,
        typer.Option(
            help="adbench; or what is in a folder of REFOLD_DATA: the tasks in oddbench, or the "
            "mixed tables in tables."
        ),
    ] = DataSuite.adbench,
    sets: Annotated[
        str | None,
        typer.Option(
            help="Data sets, such as wine,musk of ADBench. Default: all, of ADBench 43 are known."
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            help="Methods, such as REF,kNN-5,LOF; quick are the dozen that take seconds. "
            "Default: all, or quick for oddbench. Mixed tables have methods of their own."
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            help="How many times rows are drawn anew. Default: 5 for adbench, else 1.", min=1
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for what is written. Default: benchmark, or benchmark- and the suite.",
            file_okay=False,
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Processes. Default: one for each core.", min=1)
    ] = None,
    time_limit: Annotated[
        float, typer.Option(help="Seconds after which a method is stopped on a set.", min=1.0)
    ] = 120.0,
) -> None:
    """Compare refold with its peers in novelty detection.

    Each method learns from half of the normal rows of a set and judges the others and the
    anomalies. The data is ADBench's: in the folder adbench of the one that REFOLD_DATA names, or
    downloaded once. With --suite oddbench it is the tasks in the folder oddbench there, .npz files
    with train, test and test_labels. With --suite tables it is the mixed tables in the folder
    tables there: clean-NAME.csv.gz, into which errors of thirteen kinds are put, and
    natural-NAME.csv.gz, whose column row_is says normal or anomaly. Finished cells are kept in the
    output folder; run the command again to continue after an interruption. Methods that fail or
    take too long are shown as such.

    For example:
      refold benchmark --sets wine,musk --methods REF,kNN-5,LOF
      refold benchmark --suite oddbench --methods CreasedREF,kNN-1
      refold benchmark --suite tables --sets clean-flights,clean-taxis
    """
    default = "benchmark" if suite is DataSuite.adbench else f"benchmark-{suite}"
    folder = out or Path(default)
    study = _tables if suite is DataSuite.tables else _novelty
    run = study(suite, sets, methods, seeds)
    with progress_bar() as progress:
        found = run(folder, time_limit=time_limit, n_jobs=jobs or cores(), progress=progress)
    for line in found.text():
        options.say(line)
    options.say(f"Open {printable(str(folder / 'index.html'))}")


def _novelty(
    suite: DataSuite, sets: str | None, methods: str | None, seeds: int | None
) -> Callable[..., Any]:
    """Return the comparison on numbers that is asked for."""
    for module in ("matplotlib", "jinja2", "rich", "pebble", "pyod"):
        needs(module, "benchmark")  # now, not after hours
    from refold.studies.novelty.adbench import ADBENCH
    from refold.studies.novelty.benchmark import benchmark as run
    from refold.studies.novelty.methods import METHODS, QUICK
    from refold.studies.novelty.oddbench import oddbench

    tasks = oddbench() if suite is DataSuite.oddbench else ADBENCH
    if methods == "quick" or (methods is None and suite is DataSuite.oddbench):
        methods = ",".join(QUICK)
    return partial(
        run,
        tasks,
        chosen(sets, tuple(tasks.files), "--sets", True),
        chosen(methods, tuple(METHODS), "--methods", True),
        range(seeds or tasks.seeds),
    )


def _tables(
    suite: DataSuite, sets: str | None, methods: str | None, seeds: int | None
) -> Callable[..., Any]:
    """Return the comparison on mixed tables that is asked for."""
    for module in ("jinja2", "rich", "pebble", "pyod", "pandas", "skrub"):
        needs(module, "benchmark")
    from refold.studies.tables.benchmark import benchmark as run
    from refold.studies.tables.methods import METHODS
    from refold.studies.tables.suite import tables

    files = tables()
    names = chosen(methods, tuple(METHODS), "--methods", True)
    absent = [name for name in names if not METHODS[name].is_installed]
    for name in absent:
        options.say(f"{name} is left out: {METHODS[name].module} is not installed.")
    return partial(
        run,
        files,
        chosen(sets, tuple(files.sha256), "--sets", True),
        [name for name in names if name not in absent],
        range(seeds or 1),
    )
