"""All of it: run what is asked for, and write the table of cells and the page."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from refold.base.needs import needs
from refold.studies.measured import (
    csv_text,
    over_seeds,
    run_comparison,
    write_study_page,
    write_text,
)
from refold.studies.novelty.cells import NoveltyJob, NoveltyStudy
from refold.studies.novelty.comparison import NoveltyComparison, Pairing, Standing
from refold.studies.novelty.figures import cost_figure, diagram
from refold.studies.novelty.measures import RANKED, TIMES, TITLES
from refold.studies.novelty.methods import METHODS
from refold.studies.novelty.published import printed_figures
from refold.studies.novelty.suite import Suite
from refold.studies.run import Progress, silent

# Shapes as well as colours: not everyone sees colours.
SYMBOLS: dict[Standing, str] = {"better": "▲", "level": "≈", "worse": "▼"}


def write_index(found: NoveltyComparison, suite: Suite, folder: Path) -> None:
    """Write ``index.html`` into a folder, and its first figure for use elsewhere."""
    markup = needs("markupsafe", "paper").Markup
    rankings = [ranking for name in found.ranked if (ranking := found.ranking(name))]
    ranks = {ranking.measure: ranking.ranks for ranking in rankings}
    order = list(ranks["auroc"]) if ranks else found.methods
    cost = cost_figure(found, rankings[0]) if rankings else ""
    if cost:
        write_text(folder / "time.svg", cost)
    write_study_page(
        folder / "index.html",
        "refold.studies.novelty",
        found=found,
        suite=suite,
        titles={name: TITLES[name] for name in found.measures},
        ranked=found.ranked,
        symbols=SYMBOLS,
        methods=[METHODS[name] for name in order],
        means=_means(found, order, ranks),
        summary=summary_rows(found),
        printed=printed_figures(suite.title),
        groupings=_groupings(found, suite, order),
        diagrams=[(ranking, markup(diagram(ranking, found.references))) for ranking in rankings],
        cost=markup(cost),
        tests={name: _tests(found, name) for name in found.references},
        overviews={
            name: [_overview(found, name, dataset, order) for dataset in found.sets]
            for name in _PAIR
        },
        sets=[_set(found, dataset, order) for dataset in found.sets],
        unfinished=found.all_unfinished(order, found.sets),
        environment=environment(),
    )


def environment() -> str:
    """Return what the figures were computed with."""
    libraries = ("refold", "numpy", "scipy", "scikit-learn", "pyod")
    versions = ", ".join(f"{name} {version(name)}" for name in libraries)
    return f"Python {platform.python_version()}, {versions}; {platform.machine()}"


_PAIR = ("auroc", "auprc")
SUMMARY = (
    *("method", "sets", "auroc", "auprc", "median_auroc", "median_auprc", "rank_auroc"),
    *("rank_auprc", "elo_auroc", "elo_auprc", "wins_auroc", "wins_auprc", "seconds_per_1000"),
)


def summary_rows(found: NoveltyComparison) -> list[dict[str, str]]:
    """Return one line per method, the best rank by AUROC first; figures as they are printed."""
    rankings = {name: ranking.ranks for name in _PAIR if (ranking := found.ranking(name))}
    ratings = {name: found.elo(name) for name in _PAIR}
    rows = []
    for method in rankings.get("auroc", found.methods):
        row = {"method": method, "sets": str(found.n_finished(method))}
        for name in _PAIR:
            row[name] = _percent(found.mean(name, method))
            row[f"median_{name}"] = _percent(found.median(name, method))
            row[f"rank_{name}"] = f"{rankings[name][method]:.2f}" if rankings else "–"
            row[f"elo_{name}"] = f"{ratings[name][method]:.0f}" if ratings[name] else "–"
            row[f"wins_{name}"] = str(found.wins(name, method))
        seconds = found.median("seconds_per_1000", method)
        row["seconds_per_1000"] = "–" if np.isnan(seconds) else f"{seconds:.3g}"
        rows.append({name: row[name] for name in SUMMARY})
    return rows


def _percent(value: float) -> str:
    return "–" if np.isnan(value) else f"{100 * value:.2f}"


def _groupings(found: NoveltyComparison, suite: Suite, order: list[str]) -> list[dict[str, Any]]:
    """Return, for each grouping of the sets, each method's AUROC and AUPRC in the groups."""
    answer = []
    for title, groups in suite.groupings(found.sets).items():
        parts = [found.of_sets(names) for names in groups.values()]
        rows = [
            (
                method,
                [[measure_text(name, part.mean(name, method)) for name in _PAIR] for part in parts],
            )
            for method in order
        ]
        heads = [f"{group} ({len(names)})" for group, names in groups.items()]
        answer.append({"title": title, "heads": heads, "rows": rows})
    return answer


def measure_text(measure: str, value: float) -> str:
    """Return a value as the page shows it: percent with one decimal, seconds with three digits."""
    if np.isnan(value):
        return "–"
    if measure in TIMES:
        return f"{value:.3f}" if value < 1 else f"{value:.1f}"
    return f"{100 * value:.1f}"


def _means(
    found: NoveltyComparison, order: list[str], ranks: dict[str, dict[str, float]]
) -> list[dict[str, Any]]:
    means = {name: [found.mean(name, method) for method in order] for name in found.measures}
    rows = []
    for i, method in enumerate(order):
        cells = [
            {"text": measure_text(name, means[name][i]), "best": _is_best(name, means[name], i)}
            for name in found.measures
        ]
        own_ranks = [f"{ranks[name][method]:.2f}" if ranks else "–" for name in found.ranked]
        finished = found.n_finished(method)
        rows.append({"method": method, "cells": cells, "ranks": own_ranks, "finished": finished})
    return rows


def _is_best(measure: str, values: list[float], i: int) -> bool:
    """Whether a value is the best as printed; less is better of alarms and seconds.

    Few alarms alone are no merit (a method that rejects nothing has none), so none is best.
    """
    if measure in ("false_alarms", "alarms_05") or np.isnan(values).all():
        return False
    best = np.nanmax(values) if measure in RANKED else np.nanmin(values)
    return measure_text(measure, values[i]) == measure_text(measure, float(best))


def _tests(found: NoveltyComparison, reference: str) -> list[tuple[str, list[Pairing]]]:
    """Return the comparisons of a reference: other methods down, measures across."""
    columns = [found.pairings(name, reference) for name in found.ranked]
    return [(row[0].other, list(row)) for row in zip(*columns, strict=True)]


def _overview(
    found: NoveltyComparison, measure: str, dataset: str, order: list[str]
) -> dict[str, Any]:
    row = found.values[measure][found.sets.index(dataset)]
    values = [float(row[found.methods.index(method)]) for method in order]
    cells = [
        {
            "text": measure_text(measure, value),
            "best": _is_best(measure, values, i),
            "why": found.unfinished(dataset, order[i]),
        }
        for i, value in enumerate(values)
    ]
    return {"name": dataset, "cells": cells}


def _set(found: NoveltyComparison, dataset: str, order: list[str]) -> dict[str, Any]:
    """Return a data set's own table, its best method first."""
    values = found.comparable("auroc")[found.sets.index(dataset)]
    row = dict(zip(found.methods, values, strict=True))
    rows = []
    for method in sorted(order, key=lambda name: -row[name]):
        cells = found.cells(dataset, method)
        why = found.unfinished(dataset, method)
        names = () if why else found.measures
        columns = {name: [cell.measures[name] for cell in cells] for name in names}
        notes = dict.fromkeys(cell.note for cell in cells if cell.note and not why)
        rows.append(
            {
                "method": method,
                "why": why,
                "notes": "; ".join(notes),
                "cells": [_with_spread(name, values) for name, values in columns.items()],
            }
        )
    return {"name": dataset, "rows": rows, "warned": any(row["notes"] for row in rows)}


def _with_spread(measure: str, values: list[float]) -> str:
    mean = measure_text(measure, over_seeds(measure, values))
    if measure in TIMES or len(values) == 1:
        return mean
    return f"{mean} ± {100 * np.std(values, ddof=1):.1f}"


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
    """Compare methods over data sets.

    A seed is tried where it decides something: the rows of a set, or what a method draws.
    """
    sets, seeds = list(sets), list(seeds)
    suite.fetch(sets)
    draws = {name: METHODS[name].draws for name in methods}
    # Those of a set together: a process keeps the last set that it has read.
    jobs = [
        NoveltyJob(name, method, seed)
        for name in sets
        for method in draws
        for seed in (seeds if draws[method] or suite.draws_rows(name) else seeds[:1])
    ]
    study = NoveltyStudy(suite, time_limit)
    found = run_comparison(study, jobs, NoveltyComparison, out, n_jobs, progress)
    rows = summary_rows(found)
    write_text(out / "summary.csv", csv_text(SUMMARY, ([*row.values()] for row in rows)))
    for name in _PAIR:
        lines = zip(found.sets, found.values[name], strict=True)
        table = ([dataset, *(_percent(value) for value in line)] for dataset, line in lines)
        write_text(out / f"{name}.csv", csv_text(["set", *found.methods], table))
    write_index(found, suite, out)
    return found
