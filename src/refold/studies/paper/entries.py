"""The entries of Tables II and III beside the printed ones; tables as CSV, Markdown, LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from math import hypot, sqrt
from typing import Literal, NamedTuple

import numpy as np

from refold._typing import Floats
from refold.studies.measured import csv_text
from refold.studies.paper import printed
from refold.studies.paper.cells import PaperCell, PaperJob
from refold.studies.paper.columns import column_of
from refold.studies.paper.data import N_SPLITS
from refold.studies.paper.printed import (
    AVERAGE,
    OTHER_CHOICES,
    Gmean,
    Key,
    TaskInfo,
    errata_of,
    table1,
    tasks,
)

Agreement = Literal["equal", "noise", "differs"]
TITLES: dict[Agreement, str] = {
    "equal": "equal",
    "noise": "within seed noise",
    "differs": "different",
}

# Half of the last printed digit, and a little for numbers that end in a 5 there.
_HALF_DIGIT = 0.05 + 1e-9
# The standard deviation of what rounding to one decimal does.
_ROUNDING = 0.1 / sqrt(12.0)
_MAX_Z = 3.0


class Reproduced(NamedTuple):
    """What we get for one cell, in percent.

    `noise` is the standard deviation of the mean from one seed to another, `n_seeds` how many there
    were; with one seed nothing is random and the noise is 0.
    """

    gmean: Gmean
    noise: float
    n_seeds: int


@dataclass(frozen=True)
class Entry:
    """One cell of Table II or III; `because` says why it differs, if it does."""

    table: int
    key: Key
    ours: Reproduced
    printed: Gmean
    because: str = ""

    @property
    def name(self) -> str:
        """The column's heading."""
        return " ".join(self.key.column)

    @property
    def agreement(self) -> Agreement:
        """Whether ours rounds to the printed digits, differs by chance or differs."""
        pairs = zip(self.ours.gmean, self.printed, strict=True)
        if all(abs(ours - theirs) <= _HALF_DIGIT for ours, theirs in pairs):
            return "equal"
        spread = hypot(self.ours.noise * sqrt(1.0 + 1.0 / self.ours.n_seeds), _ROUNDING)
        z = abs(self.printed.mean - self.ours.gmean.mean) / spread
        return "noise" if self.ours.n_seeds > 1 and z <= _MAX_Z else "differs"

    @property
    def title(self) -> str:
        """The agreement in words."""
        differs = self.agreement == "differs"
        return f"differs, because {self.because}" if differs else TITLES[self.agreement]

    def values(self) -> str:
        """Return ours and the printed cell."""
        return f"{self.ours.gmean.text()}, printed {self.printed.text()}"


def make_entries(table: int, keys: Iterable[Key], cells: dict[PaperJob, PaperCell]) -> list[Entry]:
    """Put ours beside the printed values."""
    columns: dict[tuple[str, str], dict[str, Reproduced]] = {}
    entries = []
    for key in keys:
        pair = column_of(key.column), key.setting
        if pair not in columns:
            columns[pair] = over_splits(*pair, cells)
        entries.append(Entry(table, key, columns[pair][key.task], printed.cells(table)[key]))
    return [
        replace(entry, because=_reason(entry, entries)) if entry.agreement == "differs" else entry
        for entry in entries
    ]


def over_splits(
    column: str, setting: str, cells: dict[PaperJob, PaperCell]
) -> dict[str, Reproduced]:
    """Return a column's cells by task, the average included.

    With several seeds mean and standard deviation over the splits are taken for each seed, and then
    averaged over seeds.
    """
    gmeans = np.array(
        [
            [cells[PaperJob(column, setting, task, split)].gmeans for split in range(N_SPLITS)]
            for task in tasks()
        ]
    )
    means, stds = gmeans.mean(axis=1), gmeans.std(axis=1, ddof=1)
    ours = {task: _ours(means[i], stds[i]) for i, task in enumerate(tasks())}
    return {**ours, AVERAGE: _ours(means.mean(axis=0), stds.mean(axis=0))}


def _ours(means: Floats, stds: Floats) -> Reproduced:
    noise = float(means.std(ddof=1)) if len(means) > 1 else 0.0
    return Reproduced(Gmean(float(means.mean()), float(stds.mean())), noise, len(means))


def _reason(entry: Entry, entries: Sequence[Entry]) -> str:
    if entry.key.task == AVERAGE:
        return _reason_of_average(entry, entries)
    known = errata_of(entry.table, entry.key)
    if known:
        # Trials run in the default setting: elsewhere an erratum is likely, but not shown.
        doubt = ", likely here too" if entry.key.setting == "optimized" else ""
        return "; ".join(f"{e.short} (erratum {e.number}{doubt})" for e in known)
    if entry.key in OTHER_CHOICES:
        return OTHER_CHOICES[entry.key]
    if entry.ours.n_seeds > 1:
        what = "folds" if entry.key.setting == "optimized" else "draws"
        return (
            f"of something that we have not found: the paper's random {what} are not published, "
            f"but ours move this cell by ±{entry.ours.noise:.1f} only ({entry.ours.n_seeds} seeds)"
        )
    return "of something that we have not found"


def _reason_of_average(average: Entry, entries: Sequence[Entry]) -> str:
    differing = [
        entry.key.task
        for entry in entries
        if entry.key[:2] == average.key[:2]
        and entry.key.task != AVERAGE
        and entry.agreement == "differs"
    ]
    if differing:
        return f"of the cells above that differ: {', '.join(differing)}"
    return "small differences of the cells above, none beyond seed noise alone, add up"


NUMERALS = {1: "I", 2: "II", 3: "III"}
CAPTIONS = {
    1: "Data sets and tasks",
    2: "Average Gmean for different variants of REF",
    3: "Average Gmean for different one-class methods",
}
SETTING_TITLES = {
    "default": "Fixed default hyperparameters",
    "optimized": "Hyperparameters optimized",
}
TABLE1_HEAD = ("Data set", "C", "N total", "D", "Task", "Target class", "N")
_TABLE1_ALIGN = "lrrrllr"


@dataclass(frozen=True)
class TablePart:
    """A part of Table II or III as the paper lays it out: tasks down, columns across."""

    title: str  # the part's heading
    columns: tuple[str, ...]  # the columns' headings
    # For each task, and the average, its entries, one per column.
    rows: dict[str, tuple[Entry, ...]]


def parts(table: int, entries: Sequence[Entry]) -> list[TablePart]:
    """Lay entries out: Table II in one part, Table III in one for each setting."""
    settings = list(dict.fromkeys(entry.key.setting for entry in entries))
    if table == 2:
        title = " and ".join(SETTING_TITLES[s].lower() for s in settings).capitalize()
        return [_part(title, entries, with_setting=len(settings) > 1)]
    return [
        _part(SETTING_TITLES[s], [e for e in entries if e.key.setting == s], with_setting=False)
        for s in settings
    ]


def _part(title: str, entries: Sequence[Entry], *, with_setting: bool) -> TablePart:
    columns = {}
    for entry in entries:
        is_default = with_setting and entry.key.setting == "default"
        columns[entry.key[:2]] = f"{entry.name}, default" if is_default else entry.name
    place = {entry.key: entry for entry in entries}
    rows = {
        task: tuple(place[Key(*column, task)] for column in columns) for task in (*tasks(), AVERAGE)
    }
    return TablePart(title, tuple(columns.values()), rows)


def best_in(row: Iterable[Gmean]) -> list[bool]:
    """Say which cells of a row have the best mean, to the printed decimal."""
    means = [round(gmean.mean, 1) for gmean in row]
    return [mean == max(means) for mean in means]


def files_of_table1(counted: Sequence[TaskInfo]) -> Iterator[tuple[str, str]]:
    """Yield Table I, as counted from the data, in each format: suffix and content."""
    counts = ["classes", "n_total", "n_features", "n_target_train"]
    head = [*(field.name for field in fields(TaskInfo)), *(f"paper_{name}" for name in counts)]
    rows = [astuple(info) for info in counted]
    printed = ([getattr(info, name) for name in counts] for info in table1())
    yield "csv", csv_text(head, ([*a, *b] for a, b in zip(rows, printed, strict=True)))
    markdown = markdown_table(TABLE1_HEAD, _TABLE1_ALIGN, rows)
    yield "md", f"## Table I. {CAPTIONS[1]}\n\n{markdown}\n"
    yield "tex", _latex(TABLE1_HEAD, _TABLE1_ALIGN, rows) + "\n"


def files_of_entries(table: int, entries: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    """Yield Table II or III in each format: suffix and content."""
    yield "csv", _entries_csv(table, entries)
    yield "md", _entries_markdown(table, entries)
    yield "tex", _entries_latex(table, entries)


def _entries_csv(table: int, entries: Iterable[Entry]) -> str:
    """Return percent, not rounded, ours and the printed values."""
    names = ["fold", "distance"] if table == 2 else ["method"]
    values = ["gmean_mean", "gmean_std", "paper_mean", "paper_std"]
    rows = ([e.key.setting, *e.key.column, e.key.task, *e.ours.gmean, *e.printed] for e in entries)
    return csv_text(["setting", *names, "task", *values], rows)


def _entries_markdown(table: int, entries: Sequence[Entry]) -> str:
    """Return ours, and behind it what the paper prints."""
    texts = [
        f"## Table {NUMERALS[table]}. {CAPTIONS[table]}",
        "Mean ± standard deviation over the five splits in percent, the best of each row in bold; "
        "what the paper prints in brackets.",
    ]
    for part in parts(table, entries):
        rows = []
        for task, row in part.rows.items():
            bold = ["**" if best else "" for best in best_in(e.ours.gmean for e in row)]
            cells = (
                f"{mark}{e.ours.gmean.text()}{mark} ({e.printed.text()})"
                for e, mark in zip(row, bold, strict=True)
            )
            rows.append([task, *cells])
        align = "l" + "r" * len(part.columns)
        texts += [f"### {part.title}", markdown_table(["Task", *part.columns], align, rows)]
    return "\n\n".join(texts) + "\n"


def _entries_latex(table: int, entries: Sequence[Entry]) -> str:
    """Return ours alone, in the paper's layout."""
    texts = []
    for part in parts(table, entries):
        rows = []
        for task, row in part.rows.items():
            best = best_in(e.ours.gmean for e in row)
            cells = (_latex_cell(e.ours.gmean, b) for e, b in zip(row, best, strict=True))
            rows.append([r"\hline" + "\n" + task if task == AVERAGE else task, *cells])
        heads = [n.replace("L1/D", "$L_1/D$").replace("L2/D", "$L_2/D$") for n in part.columns]
        grid = _latex(["Task", *heads], "l" + "r" * len(heads), rows)
        texts.append(f"% Table {NUMERALS[table]}: {part.title}\n{grid}")
    return "\n\n".join(texts) + "\n"


def _latex_cell(gmean: Gmean, best: bool) -> str:
    text = gmean.text(r" \pm ")
    return rf"{{\boldmath${text}$}}" if best else f"${text}$"


def markdown_table(head: Sequence[str], align: str, rows: Iterable[Sequence[object]]) -> str:
    """Return a table as Markdown; `align` has l or r for each column."""
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in (head, *rows)]
    lines.insert(1, "|" + "|".join({"l": "---", "r": "---:"}[side] for side in align) + "|")
    return "\n".join(lines)


def _latex(head: Sequence[str], align: str, rows: Iterable[Sequence[object]]) -> str:
    """Return a table as LaTeX; `align` has l or r for each column."""
    top, *lines = (" & ".join(map(str, row)) + r" \\" for row in (head, *rows))
    ends = [rf"\begin{{tabular}}{{{align}}}", r"\hline", top, r"\hline"]
    return "\n".join([*ends, *lines, r"\hline", r"\end{tabular}"])
