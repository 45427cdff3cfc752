"""Tables I–III as CSV, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields

from refold.studies.output import csv_text
from refold.studies.paper.entries import Entry
from refold.studies.paper.printed import AVERAGE, Gmean, Key, TaskInfo, table1, tasks

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
