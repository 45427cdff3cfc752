"""``refold benchmark``: REF, CreasedREF and their peers on suites of labelled tables."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from refold.base.needs import needs
from refold.base.words import printable
from refold.cli import _options as options
from refold.cli._cells import chosen, cores, progress_bar


class DataSuite(StrEnum):
    """Where the data sets come from."""

    adbench = "adbench"
    oddbench = "oddbench"


def benchmark(
    suite: Annotated[
        DataSuite, typer.Option(help="adbench, or the tasks in a folder oddbench in REFOLD_DATA.")
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
            "Default: all, or quick for oddbench."
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            help="How many times rows are drawn anew. Default: 5, or 1 for oddbench.", min=1
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for what is written. Default: benchmark, or benchmark-oddbench.",
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
    """Compare REF and CreasedREF with their peers in novelty detection.

    Each method learns from half of the normal rows of a set and judges the others and the
    anomalies. The data is ADBench's: in the folder adbench of the one that REFOLD_DATA names, or
    downloaded once. With --suite oddbench it is the tasks in the folder oddbench there, .npz files
    with train, test and test_labels. Finished cells are kept in the output folder; run the command
    again to continue after an interruption. Methods that fail or take too long are shown as such.

    For example:
      refold benchmark --sets wine,musk --methods REF,kNN-5,LOF
      refold benchmark --suite oddbench --methods CreasedREF,kNN-1
    """
    for module in ("matplotlib", "jinja2", "rich", "pebble", "pyod"):
        needs(module, "benchmark")  # now, not after hours
    from refold.studies.novelty.adbench import ADBENCH
    from refold.studies.novelty.benchmark import benchmark as run
    from refold.studies.novelty.methods import METHODS, QUICK
    from refold.studies.novelty.oddbench import oddbench

    tasks = oddbench() if suite is DataSuite.oddbench else ADBENCH
    if methods == "quick" or (methods is None and suite is DataSuite.oddbench):
        methods = ",".join(QUICK)
    folder = out or Path("benchmark-oddbench" if suite is DataSuite.oddbench else "benchmark")
    with progress_bar() as progress:
        found = run(
            tasks,
            chosen(sets, tuple(tasks.files), "--sets", True),
            chosen(methods, tuple(METHODS), "--methods", True),
            range(seeds or tasks.seeds),
            folder,
            time_limit=time_limit,
            n_jobs=jobs or cores(),
            progress=progress,
        )
    for line in found.text():
        options.say(line)
    options.say(f"Open {printable(str(folder / 'index.html'))}")
