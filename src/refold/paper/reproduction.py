"""reproduction.md: what was reproduced, what was not, and why, from the results of one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from refold.paper.printed import AVERAGE
from refold.paper.registry import (
    SEEDS_FOR_DRAWS,
    SEEDS_FOR_FOLDS,
    SEEDS_FOR_FOLDS_OF_SSVDD,
)
from refold.paper.report import Report, all_evidence
from refold.paper.tables import NUMERALS, SETTING_TITLES, as_text
from refold.paper.verdict import TITLES

_INTRODUCTION = """# The paper, reproduced

This page is written by the command

    pip install 'refold[paper]'
    refold reproduce --out reproduction

and states what one run of it found. The paper is J. Raitoharju, "Linear-time One-Class
Classification with Repeated Element-wise Folding"; the data and its five splits are the author's
own, fetched from the author's repository at a fixed commit. The folder that the command writes has
the tables as CSV, Markdown and LaTeX, the figures as PNG and SVG, and all of it side by side with
the paper in `index.html`.

A cell is *equal* if mean and standard deviation over the five splits round to the printed digits.
Where folds or draws are random the paper's are not published; we repeat such a cell with several
seeds and call it *within seed noise* if the printed mean is within three standard deviations from
one seed to another. All others *differ*, and the reason is given."""


_SEEDS = (
    f"Methods that draw random numbers are run with {SEEDS_FOR_DRAWS} seeds in the default\n"
    f"setting. The optimized setting is run with {SEEDS_FOR_FOLDS} seeds for folds and draws\n"
    f"({SEEDS_FOR_FOLDS_OF_SSVDD} for SSVDD). The value of such a cell is the average over seeds."
)


def reproduction_page(report: Report) -> str:
    """Return the page as Markdown."""
    parts = [_INTRODUCTION, _SEEDS]
    if report.counts:
        parts.append(
            "## Table I\n\nThe counts of all six data sets, five splits each, are those printed."
        )
    if report.judged:
        parts += ["## Tables II and III", _tally(report), _columns(report)]
        parts += ["## What differs", *_differences(report)]
    if report.request.figures:
        parts += ["## Figures", _figures(report)]
    if report.judged:
        parts += ["## Errata of the paper", *_errata(report)]
    return "\n\n".join(parts) + "\n"


def _tally(report: Report) -> str:
    tally = report.tally()
    total = sum(tally.values())
    said = ", ".join(f"{tally[kind]} {title}" for kind, title in TITLES.items())
    return f"Of {total} cells (averages not counted): {said}."


def _columns(report: Report) -> str:
    lines = [
        "| Table | Setting | Column | Average, ours | Average, printed | "
        + " | ".join(TITLES.values())
        + " |",
        "|---|---|---|---:|---:|---:|---:|---:|",
    ]
    for table, judged in report.judged.items():
        tallies: dict[tuple[str, tuple[str, ...]], Counter[str]] = {}
        for entry, verdict in judged:
            tally = tallies.setdefault(entry.key[:2], Counter())
            if entry.key.task != AVERAGE:
                tally[verdict.kind] += 1
        for entry, _ in judged:
            if entry.key.task == AVERAGE:
                counts = [str(tallies[entry.key[:2]][kind]) for kind in TITLES]
                cells = [NUMERALS[table], entry.key.setting, " ".join(entry.key.column)]
                cells += [as_text(entry.ours.cell), as_text(entry.printed), *counts]
                lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _differences(report: Report) -> Iterator[str]:
    for table, judged in report.judged.items():
        for setting, title in SETTING_TITLES.items():
            reasons: dict[str, list[str]] = {}
            for entry, verdict in judged:
                if verdict.kind == "differs" and entry.key.setting == setting:
                    place = f"{' '.join(entry.key.column)} {entry.key.task}"
                    values = f"{as_text(entry.ours.cell)}, printed {as_text(entry.printed)}"
                    reasons.setdefault(verdict.because, []).append(f"{place} ({values})")
            if reasons:
                yield f"### Table {NUMERALS[table]}: {title.lower()}"
                yield "\n".join(
                    f"- {'; '.join(places)}: because {because}."
                    for because, places in reasons.items()
                )
    if not any(verdict.kind == "differs" for _, verdict in report.all_judged()):
        yield "Nothing."


def _figures(report: Report) -> str:
    said = {
        1: "Figure 1 illustrates the folding on rows made for it; the paper's is a drawing.",
        2: "Figure 2 shows Gmean over the iterations. Its average curve begins and ends at the "
        "averages of Table II's two default columns; the split and the thresholds of the paper's "
        "single curves are not published.",
    }
    return "\n\n".join(said[number] for number in report.request.figures)


def _errata(report: Report) -> Iterator[str]:
    for erratum, lines in all_evidence(report):
        yield f"### {erratum.number}. {erratum.title}"
        yield erratum.text
        yield "\n".join(f"- {line}" for line in lines) or "This run computed nothing that shows it."
