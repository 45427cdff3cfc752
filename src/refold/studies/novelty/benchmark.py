"""All of it: run what is asked for, and write the table of cells and the page."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from refold.base.needs import needs
from refold.studies.measured import (
    BLUE,
    compared,
    drawing_style,
    over_seeds,
    svg_text,
    write_page,
)
from refold.studies.novelty.cells import MEASURES, RANKED, TITLES, NoveltyJob, NoveltyStudy
from refold.studies.novelty.comparison import NoveltyComparison, Pairing, Ranking, Standing, groups
from refold.studies.novelty.methods import METHODS
from refold.studies.novelty.suite import Suite
from refold.studies.run import Progress, silent

_INK, _SOFT = "#1b1f24", "#59636e"
_WIDTH, _ROW = 9.6, 0.23  # inches: the whole, and one line of text
_BAR, _MARGIN = 0.4, 0.26  # a group's bar in rows; a label's room as a share of the axis


def diagram(ranking: Ranking, ours: Collection[str]) -> str:
    """Draw a ranking as SVG for a page; names in `ours` stand out."""
    figures = needs("matplotlib.figure", "paper")
    k, ranks = len(ranking.ranks), np.array(list(ranking.ranks.values()))
    runs = groups(ranks, ranking.critical_difference)
    top = _BAR * (len(runs) + 1) + 0.6  # where the first name is, in rows below the axis
    height = top + (k + 1) // 2
    # Text stays text: it can be searched and is read aloud.
    with drawing_style(**{"svg.fonttype": "none"}):
        figure = figures.Figure(figsize=(_WIDTH, _ROW * (height + 3.2)))
        ax = figure.add_axes((0, 0, 1, 1))
        room = _MARGIN * max(k - 1, 1)
        ax.set(xlim=(1 - room, k + room), ylim=(height, -3.2))
        ax.axis("off")
        _draw_axis(ax, k, ranking.critical_difference)
        for level, (first, last) in enumerate(runs, start=1):
            ends = ranks[first] - 0.04, ranks[last] + 0.04
            ax.plot(ends, [_BAR * level] * 2, color=_INK, lw=3.2, solid_capstyle="butt")
        for i, (name, rank) in enumerate(ranking.ranks.items()):
            left = i < (k + 1) // 2
            y = top + (i if left else k - 1 - i)
            edge, align = (1 - room / 20, "right") if left else (k + room / 20, "left")
            beside = edge + (-room if left else room) / 30
            color, weight = (BLUE, "bold") if name in ours else (_INK, "normal")
            ax.plot([rank, rank, edge], [0, y, y], color=color, lw=0.9)
            label = f"{name} {rank:.2f}" if left else f"{rank:.2f} {name}"
            ax.text(beside, y, label, ha=align, va="center", color=color, weight=weight)
        return _inline(svg_text(figure), ranking.measure)


def _draw_axis(ax: Any, k: int, difference: float) -> None:
    ax.plot([1, k], [0, 0], color=_INK, lw=1.2)
    for rank in range(1, k + 1):
        ax.plot([rank, rank], [0, -0.3], color=_INK, lw=1.2)
        ax.text(rank, -0.45, str(rank), ha="center", va="bottom", color=_SOFT)
    wider = " (wider than the axis)" if difference > k - 1 else ""
    end = min(1 + difference, k)
    ax.plot([1, end], [-2, -2], color=_SOFT, lw=1.2, marker="|", markersize=7)
    ax.text(1, -2.35, f"critical difference {difference:.2f}{wider}", va="bottom", color=_SOFT)


def _inline(svg: str, measure: str) -> str:
    """Return the element alone, as wide as its place, with names of its own inside the page."""
    label = f"Average ranks by {measure}"
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{measure}-", svg)
    return re.sub(
        r'<svg ([^>]*?)width="[^"]*" height="[^"]*"|<svg ',
        lambda found: f'<svg role="img" aria-label="{label}" {found.group(1) or ""}',
        svg,
        count=1,
    )


# Shapes as well as colours: not everyone sees colours.
SYMBOLS: dict[Standing, str] = {"better": "▲", "level": "≈", "worse": "▼"}


def write_index(found: NoveltyComparison, suite: Suite, folder: Path) -> None:
    """Write ``index.html`` into a folder."""
    markupsafe = needs("markupsafe", "paper")
    rankings = [ranking for name in RANKED if (ranking := found.ranking(name))]
    ranks = {ranking.measure: ranking.ranks for ranking in rankings}
    order = list(ranks["auroc"]) if ranks else found.methods
    write_page(
        folder / "index.html",
        "refold.studies.novelty",
        found=found,
        suite=suite,
        titles=TITLES,
        ranked=RANKED,
        symbols=SYMBOLS,
        methods=[METHODS[name] for name in order],
        means=_means(found, order, ranks),
        diagrams=[
            (ranking, markupsafe.Markup(diagram(ranking, found.references))) for ranking in rankings
        ],
        tests={name: _tests(found, name) for name in found.references},
        overviews={
            name: [_overview(found, name, dataset, order) for dataset in found.sets]
            for name in ("auroc", "auprc")
        },
        sets=[_set(found, dataset, order) for dataset in found.sets],
        unfinished=[
            (method, dataset, why)
            for method in order
            for dataset in found.sets
            if (why := found.unfinished(dataset, method))
        ],
    )


def shown(measure: str, value: float) -> str:
    """Return a value as the page shows it: percent with one decimal, seconds with three digits."""
    if np.isnan(value):
        return "–"
    if measure.endswith("_seconds"):
        return f"{value:.3f}" if value < 1 else f"{value:.1f}"
    return f"{100 * value:.1f}"


def _means(
    found: NoveltyComparison, order: list[str], ranks: dict[str, dict[str, float]]
) -> list[dict[str, Any]]:
    means = {name: [found.mean(name, method) for method in order] for name in MEASURES}
    rows = []
    for i, method in enumerate(order):
        cells = [
            {"text": shown(name, means[name][i]), "best": _is_best(name, means[name], i)}
            for name in MEASURES
        ]
        own_ranks = [f"{ranks[name][method]:.2f}" if ranks else "–" for name in RANKED]
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
    return shown(measure, values[i]) == shown(measure, float(best))


def _tests(found: NoveltyComparison, reference: str) -> list[tuple[str, list[Pairing]]]:
    """Return the comparisons of a reference: other methods down, measures across."""
    columns = [found.pairings(name, reference) for name in RANKED]
    return [(row[0].other, list(row)) for row in zip(*columns, strict=True)]


def _overview(
    found: NoveltyComparison, measure: str, dataset: str, order: list[str]
) -> dict[str, Any]:
    row = found.values[measure][found.sets.index(dataset)]
    values = [float(row[found.methods.index(method)]) for method in order]
    cells = [
        {
            "text": shown(measure, value),
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
        columns = {} if why else {name: [c.measures[name] for c in cells] for name in MEASURES}
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
    mean = shown(measure, over_seeds(measure, values))
    if measure.endswith("_seconds") or len(values) == 1:
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
    """Compare methods over data sets."""
    sets = list(sets)
    suite.fetch(sets)
    # Those of a set together: a process keeps the last set that it has read.
    jobs = [NoveltyJob(*key) for key in product(sets, methods, seeds)]
    study = NoveltyStudy(suite, time_limit)
    found = compared(study, jobs, NoveltyComparison, out, n_jobs, progress)
    write_index(found, suite, out)
    return found
