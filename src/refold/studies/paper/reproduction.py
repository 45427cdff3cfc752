"""What is to be reproduced, and what one run found and writes."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refold.studies.measured import write_study_page, write_text
from refold.studies.paper import figures, printed
from refold.studies.paper.cells import PaperCell, PaperJob, PaperStudy
from refold.studies.paper.columns import (
    SEEDS_FOR_DRAWS,
    SEEDS_FOR_FOLDS,
    SEEDS_FOR_FOLDS_OF_SSVDD,
    TRIALS,
    column_of,
)
from refold.studies.paper.data import N_SPLITS, Task, load_tasks
from refold.studies.paper.entries import (
    CAPTIONS,
    NUMERALS,
    SETTING_TITLES,
    TABLE1_HEAD,
    TITLES,
    Agreement,
    Entry,
    Reproduced,
    TablePart,
    best_in,
    files_of_entries,
    files_of_table1,
    make_entries,
    markdown_table,
    over_splits,
    parts,
)
from refold.studies.paper.figures import save_figures
from refold.studies.paper.printed import AVERAGE, ERRATA, Erratum, Key, TaskInfo, table1, tasks
from refold.studies.run import Progress, run, silent


@dataclass(frozen=True)
class Selection:
    """What is to be reproduced."""

    tables: tuple[int, ...]  # their numbers
    figures: tuple[int, ...]
    settings: tuple[str, ...]  # of Tables II and III
    methods: tuple[str, ...]  # columns of Table III

    def keys(self) -> dict[int, list[Key]]:
        """Return the cells of Tables II and III, in the paper's order of rows and columns."""
        return {
            table: [
                key
                for key in printed.cells(table)
                if key.setting in self.settings and (table == 2 or key.column[0] in self.methods)
            ]
            for table in (2, 3)
            if table in self.tables
        }

    def jobs(self) -> list[PaperJob]:
        """Return the cells to run, with the trials that errata need."""
        keys = [key for keys in self.keys().values() for key in keys]
        pairs = list(dict.fromkeys((column_of(key.column), key.setting) for key in keys))
        trials = [(name, "default") for name, (of, _) in TRIALS.items() if (of, "default") in pairs]
        return [
            PaperJob(*pair, task, split)
            for pair in (*pairs, *trials)
            for task in tasks()
            for split in range(N_SPLITS)
        ]


@dataclass(frozen=True)
class Reproduction:
    """What one run found."""

    selection: Selection  # what was asked for
    counted: list[TaskInfo]  # table I as counted from the data; empty if it was not asked for
    entries: dict[int, list[Entry]]  # those of Tables II and III
    trials: dict[str, dict[str, Reproduced]]  # the columns that show errata

    def all_entries(self) -> Iterator[Entry]:
        """Yield the entries of all tables."""
        for entries in self.entries.values():
            yield from entries

    def tally(self) -> Counter[Agreement]:
        """Count how tasks agree, averages left out."""
        return Counter(e.agreement for e in self.all_entries() if e.key.task != AVERAGE)

    def evidence(self) -> list[tuple[Erratum, list[str]]]:
        """Return each erratum with what this run shows of it, a sentence each."""
        return [(erratum, list(self._evidence(erratum))) for erratum in ERRATA]

    def _evidence(self, erratum: Erratum) -> Iterator[str]:
        for name in erratum.trials:
            if name in self.trials:
                yield _trial_sentence(name, self.trials[name])
        for entry in self.all_entries():
            if entry.agreement == "differs" and erratum.applies(entry.table, entry.key):
                yield f"{entry.name}, {entry.key.setting}, {entry.key.task}: ours {entry.values()}."


def compare_with_printed(
    selection: Selection, loaded: Sequence[Task], cells: dict[PaperJob, PaperCell]
) -> Reproduction:
    """Put all that was computed beside what is printed."""
    counted = [task.info for task in loaded if 1 in selection.tables and task.split == 0]
    entries = {table: make_entries(table, keys, cells) for table, keys in selection.keys().items()}
    ran = {job.column for job in cells}
    trials = {name: over_splits(name, "default", cells) for name in TRIALS if name in ran}
    return Reproduction(selection, counted, entries, trials)


def _trial_sentence(name: str, ours: dict[str, Reproduced]) -> str:
    of, _ = TRIALS[name]
    table, column = (2, ("abs", "L1/D")) if of == "abs L1/D" else (3, (of,))
    keys = {task: Key("default", column, task) for task in ours}
    theirs = {task: printed.cells(table)[key] for task, key in keys.items()}
    differing = [
        task
        for task in tasks()
        if Entry(table, keys[task], ours[task], theirs[task]).agreement != "equal"
    ]
    n = len(tasks())
    where = f" (not on {', '.join(differing)})" if 0 < len(differing) < 8 else ""
    return (
        f"{name}: {n - len(differing)} of {n} tasks equal the printed column{where}; average "
        f"{ours[AVERAGE].gmean.mean:.1f}, printed {theirs[AVERAGE].mean:.1f}."
    )


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


_FIGURES = {
    1: "Figure 1 illustrates the folding on rows made for it; the paper's is a drawing.",
    2: "Figure 2 shows Gmean over the iterations. Its average curve begins and ends at the "
    "averages of Table II's two default columns; the split and the thresholds of the paper's "
    "single curves are not published.",
}


def summary(found: Reproduction) -> str:
    """Return the page as Markdown."""
    texts = [_INTRODUCTION, _SEEDS]
    if found.counted:
        texts += [
            "## Table I",
            "The counts of all six data sets, five splits each, are those printed.",
        ]
    if found.entries:
        texts += ["## Tables II and III", _tally(found), _averages(found)]
        texts += ["## What differs", *(_differences(found) or ["Nothing."])]
    if found.selection.figures:
        texts += ["## Figures", *(_FIGURES[number] for number in found.selection.figures)]
    if found.entries:
        texts += ["## Errata of the paper", *_errata(found)]
    return "\n\n".join(texts) + "\n"


def _tally(found: Reproduction) -> str:
    tally = found.tally()
    said = ", ".join(f"{tally[kind]} {title}" for kind, title in TITLES.items())
    return f"Of {tally.total()} cells (averages not counted): {said}."


def _averages(found: Reproduction) -> str:
    """Return each column's average, and how many of its tasks agree."""
    head = ["Table", "Setting", "Column", "Average, ours", "Average, printed", *TITLES.values()]
    averages = [entry for entry in found.all_entries() if entry.key.task == AVERAGE]
    return markdown_table(head, "lllrrrrr", [_average_row(found, entry) for entry in averages])


def _average_row(found: Reproduction, average: Entry) -> list[object]:
    tally = Counter(
        entry.agreement
        for entry in found.entries[average.table]
        if entry.key[:2] == average.key[:2] and entry.key.task != AVERAGE
    )
    place = [NUMERALS[average.table], average.key.setting, average.name]
    values = [average.ours.gmean.text(), average.printed.text()]
    return [*place, *values, *(tally[kind] for kind in TITLES)]


def _differences(found: Reproduction) -> list[str]:
    """Return what differs, grouped by reason."""
    texts = []
    for table, entries in found.entries.items():
        for setting, title in SETTING_TITLES.items():
            reasons: dict[str, list[str]] = {}
            for entry in entries:
                if entry.because and entry.key.setting == setting:
                    said = f"{entry.name} {entry.key.task} ({entry.values()})"
                    reasons.setdefault(entry.because, []).append(said)
            if reasons:
                texts.append(f"### Table {NUMERALS[table]}: {title.lower()}")
                lines = (f"- {'; '.join(said)}: because {why}." for why, said in reasons.items())
                texts.append("\n".join(lines))
    return texts


def _errata(found: Reproduction) -> Iterator[str]:
    for erratum, lines in found.evidence():
        yield f"### {erratum.number}. {erratum.title}"
        yield erratum.text
        yield "\n".join(f"- {line}" for line in lines) or "This run computed nothing that shows it."


# Shapes as well as colours: not everyone sees colours.
SYMBOLS: dict[Agreement, str] = {"equal": "=", "noise": "≈", "differs": "≠"}


def write_index(found: Reproduction, folder: Path) -> None:
    """Write ``index.html`` into the folder where ``figure1.svg``, … are."""
    write_study_page(
        folder / "index.html",
        "refold.studies.paper",
        counts=[(TITLES[kind], SYMBOLS[kind], kind, found.tally()[kind]) for kind in TITLES],
        table1=list(zip(found.counted, table1(), strict=True)) if found.counted else [],
        table1_head=TABLE1_HEAD,
        tables=[
            {
                "number": number,
                "numeral": NUMERALS[number],
                "parts": [_part(part) for part in parts(number, entries)],
            }
            for number, entries in found.entries.items()
        ],
        figures=[_figure(number, folder) for number in found.selection.figures],
        errata=found.evidence() if found.entries else [],
        captions=CAPTIONS,
        average=AVERAGE,
    )


def _part(part: TablePart) -> dict[str, Any]:
    """Return what the template needs of a part; places that differ are grouped by reason."""
    reasons: dict[str, list[str]] = {}
    for task, row in part.rows.items():
        for name, entry in zip(part.columns, row, strict=True):
            if entry.because:
                reasons.setdefault(entry.because, []).append(f"{name} {task}")
    rows = {task: _row(row) for task, row in part.rows.items()}
    return {"title": part.title, "columns": part.columns, "rows": rows, "reasons": reasons}


def _row(row: Sequence[Entry]) -> list[dict[str, Any]]:
    best = best_in(entry.ours.gmean for entry in row)
    paper_best = best_in(entry.printed for entry in row)
    return [
        {
            "mean": f"{entry.ours.gmean.mean:.1f}",
            "std": f"{entry.ours.gmean.std:.1f}",
            "printed": entry.printed.text(),
            "best": best[i],
            "paper_best": paper_best[i],
            "kind": entry.agreement,
            "symbol": SYMBOLS[entry.agreement],
            "title": entry.title,
        }
        for i, entry in enumerate(row)
    ]


def _figure(number: int, folder: Path) -> dict[str, Any]:
    svg = (folder / f"figure{number}.svg").read_bytes()
    return {
        "number": number,
        "caption": figures.CAPTIONS[number],
        "source": f"data:image/svg+xml;base64,{b64encode(svg).decode()}",
    }


def reproduce(
    selection: Selection, out: Path, *, n_jobs: int = 1, progress: Progress = silent
) -> Reproduction:
    """Reproduce tables and figures of the paper."""
    tasks = load_tasks()
    out.mkdir(parents=True, exist_ok=True)
    jobs = selection.jobs()
    cells = run(PaperStudy(), jobs, out / "cells", n_jobs=n_jobs, progress=progress)
    found = compare_with_printed(selection, tasks, cells)
    files = {1: files_of_table1(found.counted)} if found.counted else {}
    files |= {table: files_of_entries(table, entries) for table, entries in found.entries.items()}
    for table, formats in files.items():
        for suffix, text in formats:
            write_text(out / f"table{table}.{suffix}", text)
    save_figures(selection.figures, tasks, out)
    write_index(found, out)
    write_text(out / "reproduction.md", summary(found))
    return found
