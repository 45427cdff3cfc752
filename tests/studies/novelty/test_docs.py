"""The tables of docs/novelty.md are those of the runs whose results are beside it."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from refold.studies.novelty.published import printed_figures

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "novelty.md").read_text(encoding="utf-8")
RESULTS = sorted(path for path in (DOCS / "results").iterdir())


def plain_rows(text):
    """Return each line of a table as cells without bold."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [re.sub(r"\*\*", "", line).strip("| ").split(" | ") for line in lines]


@pytest.mark.parametrize("folder", RESULTS, ids=lambda path: path.name)
def test_figures_are_those_of_the_run(folder):
    with (folder / "summary.csv").open(encoding="utf-8", newline="") as file:
        summary = list(csv.DictReader(file))
    shown = {(row[0].partition(" (")[0], *row[1:]) for row in plain_rows(PAGE)}
    for row in summary:
        if folder.name == "streams":
            rank = row["rank_auroc"]
            [found] = [line for line in shown if line[0] == row["method"] and line[4:] == (rank,)]
            expected = [float(row[name]) for name in ("auroc", "auprc")]
            assert [float(cell) for cell in found[1:3]] == pytest.approx(expected, abs=0.051)
        else:
            names = [name for name in row if name not in ("method", "sets", "wins_auprc")]
            expected = [row[name] for name in names[:-1]]
            expected.append(f"{1000 * float(row['seconds_per_1000']):.1f}")
            assert (row["method"], *expected) in shown, row["method"]


def test_printed_figures_are_those_of_the_page():
    table = PAGE.partition("| printed")[2].partition("\n\n")[0]
    rows = {row[0].partition(" (")[0]: row[1:] for row in plain_rows(table)}
    for figure in printed_figures("OddBench"):
        assert [float(cell) for cell in rows[figure.method]] == [figure.auroc, figure.auprc]


@pytest.mark.parametrize("folder", RESULTS, ids=lambda path: path.name)
def test_means_are_those_of_the_tasks(folder):
    with (folder / "summary.csv").open(encoding="utf-8", newline="") as file:
        summary = {row["method"]: row for row in csv.DictReader(file)}
    for name in ("auroc", "auprc"):
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            tasks = list(csv.DictReader(file))
        for method, row in summary.items():
            values = [float(task[method]) for task in tasks if task[method] != "–"]
            assert len(values) == int(row["sets"])
            assert sum(values) / len(values) == pytest.approx(float(row[name]), abs=0.011)
