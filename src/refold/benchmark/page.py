"""index.html: what one run found, in one file that needs no other."""

from __future__ import annotations

from typing import Any

import numpy as np

from refold.benchmark.diagram import diagram
from refold.benchmark.methods import METHODS
from refold.benchmark.protocol import MEASURES, RANKED
from refold.benchmark.summary import Comparison, Summary, Verdict, over_seeds
from refold.experiments.pages import render

TITLES = {
    "auroc": "AUROC",
    "auprc": "AUPRC",
    "gmean": "Gmean",
    "false_alarms": "False alarms",
    "fit_seconds": "Learning, s",
    "score_seconds": "Scoring, s",
}

# Shapes as well as colours: not everyone sees colours.
SYMBOLS: dict[Verdict, str] = {"better": "▲", "level": "≈", "worse": "▼"}


def page_of(summary: Summary) -> str:
    """Return the page as HTML."""
    from markupsafe import Markup

    rankings = {name: summary.ranking(name) for name in RANKED}
    ranks = {
        name: dict(zip(found.methods, found.ranks, strict=True)) if found else {}
        for name, found in rankings.items()
    }
    order = sorted(summary.methods, key=lambda method: ranks["auroc"].get(method, 0.0))
    return render(
        "refold.benchmark",
        "benchmark",
        summary=summary,
        titles=TITLES,
        symbols=SYMBOLS,
        methods=[METHODS[name] for name in order],
        means=_means(summary, order, ranks),
        diagrams=[
            (found, Markup(diagram(found, summary.references)))
            for found in rankings.values()
            if found
        ],
        tests={name: _tests(summary, name) for name in summary.references},
        overview=[_overview(summary, dataset, order) for dataset in summary.sets],
        sets=[_set(summary, dataset, order) for dataset in summary.sets],
        unfinished=[
            (method, dataset, why)
            for method in order
            for dataset in summary.sets
            if (why := summary.unfinished(dataset, method))
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
    summary: Summary, order: list[str], ranks: dict[str, dict[str, float]]
) -> list[dict[str, Any]]:
    means = {name: [summary.mean(name, method) for method in order] for name in MEASURES}
    rows = []
    for i, method in enumerate(order):
        cells = [
            {"text": shown(name, means[name][i]), "best": _is_best(name, means[name], i)}
            for name in MEASURES
        ]
        own_ranks = [f"{ranks[name][method]:.2f}" if ranks[name] else "–" for name in RANKED]
        finished = summary.n_finished(method)
        rows.append({"method": method, "cells": cells, "ranks": own_ranks, "finished": finished})
    return rows


def _is_best(measure: str, values: list[float], i: int) -> bool:
    """Whether a value is the best as printed; less is better of alarms and seconds.

    Few alarms alone are no merit (a method that rejects nothing has none), so none is best.
    """
    if measure == "false_alarms" or np.isnan(values).all():
        return False
    best = np.nanmax(values) if measure in RANKED else np.nanmin(values)
    return shown(measure, values[i]) == shown(measure, float(best))


def _tests(summary: Summary, reference: str) -> list[tuple[str, list[Comparison]]]:
    """Return the comparisons of a reference: other methods down, measures across."""
    columns = [summary.comparisons(name, reference) for name in RANKED]
    return [(row[0].other, list(row)) for row in zip(*columns, strict=True)]


def _overview(summary: Summary, dataset: str, order: list[str]) -> dict[str, Any]:
    row = summary.values["auroc"][summary.sets.index(dataset)]
    values = [float(row[summary.methods.index(method)]) for method in order]
    cells = [
        {
            "text": shown("auroc", value),
            "best": _is_best("auroc", values, i),
            "why": summary.unfinished(dataset, order[i]),
        }
        for i, value in enumerate(values)
    ]
    return {"name": dataset, "cells": cells}


def _set(summary: Summary, dataset: str, order: list[str]) -> dict[str, Any]:
    """Return a data set's own table, its best method first."""
    values = summary.comparable("auroc")[summary.sets.index(dataset)]
    row = dict(zip(summary.methods, values, strict=True))
    rows = []
    for method in sorted(order, key=lambda name: -row[name]):
        cells = summary.cells(dataset, method)
        why = summary.unfinished(dataset, method)
        columns = {} if why else {name: [c.measures[name] for c in cells] for name in MEASURES}
        notes = dict.fromkeys(cell.note for cell in cells if cell.note and not why)
        rows.append(
            {
                "method": method,
                "why": why,
                "notes": "; ".join(notes),
                "cells": [_with_spread(name, found) for name, found in columns.items()],
            }
        )
    return {"name": dataset, "rows": rows, "warned": any(row["notes"] for row in rows)}


def _with_spread(measure: str, values: list[float]) -> str:
    mean = shown(measure, over_seeds(measure, values))
    if measure.endswith("_seconds") or len(values) == 1:
        return mean
    return f"{mean} ± {100 * np.std(values, ddof=1):.1f}"
