"""``refold benchmark``: REF, CreasedREF and their peers on ADBench's data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from refold.base.needs import needs
from refold.base.words import printable
from refold.cli import _options as options
from refold.cli._cells import chosen, cores, progress_bar


def benchmark(
    sets: Annotated[
        str | None,
        typer.Option(
            help="Data sets of ADBench, such as wine,musk. Default: all 43 that are known."
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(help="Methods, such as REF,kNN-5,LOF. Default: all."),
    ] = None,
    seeds: Annotated[int, typer.Option(help="How many times each set is divided anew.", min=1)] = 5,
    out: Annotated[Path, typer.Option(help="Folder for what is written.", file_okay=False)] = Path(
        "benchmark"
    ),
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
    downloaded once. Finished cells are kept in the output folder; run the command again to continue
    after an interruption. Methods that fail or take too long are shown as such.

    Example: refold benchmark --sets wine,musk --methods REF,kNN-5,LOF
    """
    for module in ("matplotlib", "jinja2", "rich", "pebble", "pyod"):
        needs(module, "benchmark")  # now, not after hours
    from refold.studies.novelty.adbench import ADBENCH
    from refold.studies.novelty.benchmark import benchmark as run
    from refold.studies.novelty.methods import METHODS

    with progress_bar() as progress:
        found = run(
            ADBENCH,
            chosen(sets, tuple(ADBENCH.files), "--sets", True),
            chosen(methods, tuple(METHODS), "--methods", True),
            range(seeds),
            out,
            time_limit=time_limit,
            n_jobs=jobs or cores(),
            progress=progress,
        )
    for line in found.text():
        options.say(line)
    options.say(f"Open {printable(str(out / 'index.html'))}")
