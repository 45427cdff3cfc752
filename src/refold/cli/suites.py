"""The suites of public tables that ``refold benchmark`` knows."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from refold.base.needs import needs
from refold.cli import options
from refold.cli.studies import chosen

if TYPE_CHECKING:
    from refold.studies.novelty.suite import Suite

TIME_LIMIT = 120.0


class DataSuite(StrEnum):
    """Where the data sets come from."""

    adbench = "adbench"
    adbench_dte = "adbench-dte"
    oddbench = "oddbench"
    oddbench_test = "oddbench-test"
    ovrbench = "ovrbench"
    streams = "streams"
    tables = "tables"


def numeric_suite(
    suite: DataSuite,
    sets: str | None,
    methods: str | None,
    seeds: int | None,
    time_limit: float | None,
    *,
    hard: bool = False,
) -> Callable[..., Any]:
    """Return the comparison on numbers that is asked for."""
    for module in ("matplotlib", "jinja2", "rich", "pebble", "pyod"):
        needs(module, "benchmark")  # now, not after hours
    from refold.studies.novelty.benchmark import benchmark as run
    from refold.studies.novelty.methods import METHODS, QUICK
    from refold.studies.novelty.published import COMPARED, adbench_dte, oddbench
    from refold.studies.novelty.streams import streams
    from refold.studies.novelty.suite import ADBENCH

    suites: dict[DataSuite, Callable[[], Suite]] = {
        DataSuite.adbench: lambda: ADBENCH,
        DataSuite.adbench_dte: adbench_dte,
        DataSuite.oddbench: oddbench,
        DataSuite.oddbench_test: partial(oddbench, "oddbench-test"),
        DataSuite.ovrbench: partial(oddbench, "ovrbench", "OvRBench"),
        DataSuite.streams: streams,
    }
    tasks = suites[suite]()
    if methods == "quick":
        methods = ",".join(QUICK)
    elif methods is None and suite is not DataSuite.adbench:
        # One Gaussian ranks rows by Mahalanobis' distance, which is usual for streams.
        more = ("GaussianMixture",) if suite is DataSuite.streams else ()
        methods = ",".join((*COMPARED, *more))
    names = chosen(sets, tuple(tasks.files), "--sets", True)
    if hard:
        names = _with_hard_anomalies(tasks, names)
        tasks = tasks.hard_only()
    return partial(
        run,
        tasks,
        names,
        chosen(methods, tuple(METHODS), "--methods", True),
        range(seeds or tasks.seeds),
        time_limit=time_limit or tasks.time_limit,
    )


def _with_hard_anomalies(tasks: Suite, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the sets that have enough of them, and say which others are left out."""
    from refold.studies.novelty.suite import LEAST_HARD

    tasks.fetch(names)
    left = tuple(name for name in names if tasks.n_hard(name) >= LEAST_HARD)
    if len(left) < len(names):
        others = ", ".join(name for name in names if name not in left)
        options.say(
            f"Left out, because fewer than {LEAST_HARD} anomalies are normal in every single "
            f"column: {others}."
        )
    if not left:
        raise typer.BadParameter("No set is left.", param_hint="--hard")
    return left


def mixed_tables(
    suite: DataSuite,
    sets: str | None,
    methods: str | None,
    seeds: int | None,
    time_limit: float | None,
) -> Callable[..., Any]:
    """Return the comparison on mixed tables that is asked for."""
    for module in ("jinja2", "rich", "pebble", "pyod", "pandas", "skrub"):
        needs(module, "benchmark")
    from refold.studies.tables.comparison import benchmark as run
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
        time_limit=time_limit or TIME_LIMIT,
    )
