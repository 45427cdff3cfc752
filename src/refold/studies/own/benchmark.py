"""All of it: run what is asked for, and write the table of cells and the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from refold.studies.measured import run_comparison, write_study_page
from refold.studies.own.cells import METHODS, OwnJob, OwnStudy, caught_of
from refold.studies.own.comparison import (
    ALARMS,
    SECONDS,
    TITLES,
    Extent,
    OwnComparison,
    fitted,
    verdict,
)
from refold.studies.own.faults import FaultKind, InjectedKind, injected
from refold.studies.own.table import OwnTable, divide_rows, n_anomalies, sizes, usual_rate
from refold.studies.run import Progress, silent
from refold.studies.tables.comparison import value_text

WIDTH, HEIGHT = 300, 150
LEFT, TOP = 34, 8  # what is left of the plot, and above it
NAMED = 5  # methods that have a colour


class CurveLine(NamedTuple):
    """A method's curve: its path, and the number of its colour (None is grey)."""

    method: str
    path: str
    colour: int | None


class PowerCurves(NamedTuple):
    """The curves of one kind of faults."""

    kind: FaultKind  # the kind
    lines: list[CurveLine]  # one for each method, those without a colour first
    ticks: list[tuple[float, str]]  # where the sizes are across, and what they are
    rate: float  # how far down the rate of false alarms is


def named_methods(found: OwnComparison) -> list[str]:
    """Return the methods that have a colour: the best one and those that follow it."""
    first = [] if found.best is None else [found.best]
    return [*first, *(method for method in found.finished if method != found.best)][:NAMED]


def power_curves(found: OwnComparison, kind: FaultKind) -> PowerCurves:
    """Draw the curves of a kind of faults; sizes are as far from each other, whatever they are."""
    named = named_methods(found)
    sizes = [
        (size, tag)
        for size, tag in zip(kind.sizes, kind.tags(), strict=True)
        if not all(np.isnan(found.mean(caught_of(tag), method)) for method in found.methods)
    ]
    across = np.linspace(LEFT, LEFT + WIDTH, len(sizes) + 2)[1:-1].tolist()
    lines = []
    for method in found.finished:
        points = [
            (x, value)
            for x, (_, tag) in zip(across, sizes, strict=True)
            if not np.isnan(value := found.mean(caught_of(tag), method))
        ]
        colour = named.index(method) if method in named else None
        lines.append(CurveLine(method, _path(points), colour))
    lines.sort(key=lambda line: -np.inf if line.colour is None else -line.colour)
    ticks = [(round(x, 1), f"{size:g}") for x, (size, _) in zip(across, sizes, strict=True)]
    return PowerCurves(kind, lines, ticks, down(found.alpha))


def down(share: float) -> float:
    """Return how far down a share is."""
    return round(TOP + HEIGHT * (1.0 - share), 1)


def _path(points: list[tuple[float, float]]) -> str:
    """Return a line through points, with a dot on each."""
    return "M" + "L".join(f"{x:.1f} {down(value)}" for x, value in points) if points else ""


class ShownMethod(NamedTuple):
    """A row of the table: a method, where it stands, its cells, and the share of the main one."""

    name: str
    mark: str
    cells: list[str]
    loud: bool


def write_index(
    found: OwnComparison,
    table: OwnTable,
    faults: Iterable[InjectedKind],
    absent: Iterable[str],
    fitted: str | None,
    command: str | None,
    folder: Path,
) -> None:
    """Write ``index.html`` into a folder; `command` fits the best of what ``refold fit`` makes."""
    write_study_page(
        folder / "index.html",
        "refold.studies.own",
        found=found,
        table=table,
        verdict=list(verdict(found)),
        heads=[TITLES.get(name, name) for name in found.columns],
        rows=[_row(found, method) for method in found.finished],
        unfinished=[(m, why) for m in found.methods if (why := found.unfinished(m))],
        absent=list(absent),
        curves=[power_curves(found, kind) for kind in found.sized],
        named=named_methods(found),
        tags=_by_tag(found),
        faults=list(faults),
        methods=[METHODS[name] for name in found.methods],
        fitted=fitted,
        command=command,
        alpha=f"{100 * found.alpha:.3g}",
        plot={"width": WIDTH, "height": HEIGHT, "left": LEFT, "top": TOP},
        levels=[(down(share), f"{share:.0%}") for share in (0.0, 0.5, 1.0)],
        alarm_column=found.columns.index(ALARMS),
        seconds=SECONDS,
    )


def _row(found: OwnComparison, method: str) -> ShownMethod:
    level = found.level_with_best()
    mark = "best" if method == found.best else "within noise" if method in level else ""
    cells = [found.cell(name, method) for name in found.columns]
    return ShownMethod(method, mark, cells, found.exceeds_rate(method))


def _by_tag(found: OwnComparison) -> list[tuple[str, list[str]]]:
    """Return for each kind and size what each method caught, as it is printed."""
    return [
        (tag, cells)
        for kind in found.kinds
        for tag in kind.tags()
        if (cells := [value_text("", found.mean(caught_of(tag), m)) for m in found.finished])
        and set(cells) != {value_text("", float("nan"))}
    ]


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
    faults = [] if table.anomalies is not None else list(injected(divide_rows(table, seeds[0])))
    # Those of a seed together: a process keeps the last division that it has made.
    jobs = [OwnJob(method, seed) for seed, method in product(seeds, list(methods))]
    study = OwnStudy(table, alpha, time_limit)
    extent = Extent(*sizes(table), n_anomalies(table))
    found = run_comparison(
        study, jobs, lambda cells: OwnComparison(cells, alpha, extent), out, n_jobs, progress
    )
    ours = fitted(found)
    result = OwnResult(found, faults, ours, None if ours is None else command(ours))
    write_index(found, table, faults, absent, result.fitted, result.command, out)
    return result
