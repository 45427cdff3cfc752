"""Tables I–III as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields

from refold.paper.data import Task
from refold.paper.entries import Entry
from refold.paper.printed import AVERAGE, Cell, TaskInfo, table1, tasks

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


@dataclass(frozen=True)
class Block:
    """A part of Table II or III as the paper lays it out: tasks down, columns across.

    Parameters
    ----------
    title : str
        The part's heading.
    columns : tuple of str
        The columns' headings.
    rows : dict
        For each task, and the average, its entries, one per column.
    """

    title: str
    columns: tuple[str, ...]
    rows: dict[str, tuple[Entry, ...]]


def blocks(table: int, entries: Sequence[Entry]) -> list[Block]:
    """Lay entries out: Table II in one part, Table III in one for each setting."""
    settings = list(dict.fromkeys(entry.key.setting for entry in entries))
    if table == 2:
        title = " and ".join(SETTING_TITLES[s].lower() for s in settings).capitalize()
        return [_block(title, entries, with_setting=len(settings) > 1)]
    return [
        _block(SETTING_TITLES[s], [e for e in entries if e.key.setting == s], with_setting=False)
        for s in settings
    ]


def _block(title: str, entries: Sequence[Entry], *, with_setting: bool) -> Block:
    columns: dict[tuple[str, tuple[str, ...]], str] = {}
    for entry in entries:
        name = " ".join(entry.key.column)
        is_default = with_setting and entry.key.setting == "default"
        columns[entry.key.setting, entry.key.column] = f"{name}, default" if is_default else name
    place = {(e.key.setting, e.key.column, e.key.task): e for e in entries}
    rows = {
        task: tuple(place[(*column, task)] for column in columns) for task in (*tasks(), AVERAGE)
    }
    return Block(title, tuple(columns.values()), rows)


def best_in(row: Sequence[Entry], value: Callable[[Entry], Cell]) -> list[bool]:
    """Say which entries of a row have the best mean, to the printed decimal."""
    means = [round(value(entry).mean, 1) for entry in row]
    return [mean == max(means) for mean in means]


def as_text(cell: Cell, separator: str = " ± ") -> str:
    """Return a cell as the paper prints it."""
    return f"{cell.mean:.1f}{separator}{cell.std:.1f}"


def csv_of_entries(table: int, entries: Iterable[Entry]) -> str:
    """Return Table II or III as CSV: percent, not rounded, ours and the printed values."""
    names = ["fold", "distance"] if table == 2 else ["method"]
    values = ["gmean_mean", "gmean_std", "paper_mean", "paper_std"]
    rows = ([e.key.setting, *e.key.column, e.key.task, *e.ours.cell, *e.printed] for e in entries)
    return _csv(["setting", *names, "task", *values], rows)


def markdown_of_entries(table: int, entries: Sequence[Entry]) -> str:
    """Return Table II or III as Markdown: ours, and below it what the paper prints."""
    parts = [
        f"## Table {NUMERALS[table]}. {CAPTIONS[table]}",
        "Mean ± standard deviation over the five splits in percent, the best of each row in bold; "
        "what the paper prints in brackets.",
    ]
    for block in blocks(table, entries):
        parts += [f"### {block.title}", _markdown_grid(block)]
    return "\n\n".join(parts) + "\n"


def _markdown_grid(block: Block) -> str:
    lines = [
        "| Task | " + " | ".join(block.columns) + " |",
        "|---" + "|---:" * len(block.columns) + "|",
    ]
    for task, row in block.rows.items():
        best = best_in(row, lambda entry: entry.ours.cell)
        cells = []
        for entry, is_best in zip(row, best, strict=True):
            text = as_text(entry.ours.cell)
            ours = f"**{text}**" if is_best else text
            cells.append(f"{ours} ({as_text(entry.printed)})")
        lines.append(f"| {task} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def latex_of_entries(table: int, entries: Sequence[Entry]) -> str:
    """Return Table II or III as LaTeX in the paper's layout, ours alone."""
    parts = []
    for block in blocks(table, entries):
        head = " & ".join(["Task", *map(_latex, block.columns)])
        lines = [
            f"% Table {NUMERALS[table]}: {block.title}",
            r"\begin{tabular}{l" + "r" * len(block.columns) + "}",
            r"\hline",
            head + r" \\",
            r"\hline",
        ]
        for task, row in block.rows.items():
            best = best_in(row, lambda entry: entry.ours.cell)
            cells = [_latex_cell(e.ours.cell, b) for e, b in zip(row, best, strict=True)]
            lines += [r"\hline"] if task == AVERAGE else []
            lines.append(" & ".join([task, *cells]) + r" \\")
        parts.append("\n".join([*lines, r"\hline", r"\end{tabular}"]))
    return "\n\n".join(parts) + "\n"


def _latex_cell(cell: Cell, best: bool) -> str:
    text = as_text(cell, r" \pm ")
    return rf"{{\boldmath${text}$}}" if best else f"${text}$"


def _latex(text: str) -> str:
    return text.replace("L1/D", "$L_1/D$").replace("L2/D", "$L_2/D$")


def counted(loaded: Iterable[Task]) -> list[TaskInfo]:
    """Count Table I again from the data itself, from each task's first split."""
    return [
        TaskInfo(
            dataset=task.info.dataset,
            classes=task.info.classes,
            n_total=len(task.y_train) + len(task.y_test),
            n_features=task.X_train.shape[1],
            task=task.info.task,
            target_class=task.info.target_class,
            n_target_train=len(task.train_target),
        )
        for task in loaded
        if task.split == 0
    ]


def csv_of_table1(rows: Sequence[TaskInfo]) -> str:
    """Return Table I as CSV: counted from the data, and the printed counts."""
    counts = ["classes", "n_total", "n_features", "n_target_train"]
    head = [field.name for field in fields(TaskInfo)]
    lines = (
        [*asdict(row).values(), *(asdict(printed)[name] for name in counts)]
        for row, printed in zip(rows, table1(), strict=True)
    )
    return _csv([*head, *(f"paper_{name}" for name in counts)], lines)


TABLE1_HEAD = ("Data set", "C", "N total", "D", "Task", "Target class", "N")


def markdown_of_table1(rows: Sequence[TaskInfo]) -> str:
    """Return Table I as Markdown."""
    lines = [
        "| " + " | ".join(TABLE1_HEAD) + " |",
        "|---|---:|---:|---:|---|---|---:|",
        *("| " + " | ".join(str(value) for value in asdict(row).values()) + " |" for row in rows),
    ]
    return f"## Table I. {CAPTIONS[1]}\n\n" + "\n".join(lines) + "\n"


def latex_of_table1(rows: Sequence[TaskInfo]) -> str:
    """Return Table I as LaTeX."""
    lines = [
        r"\begin{tabular}{lrrrllr}",
        r"\hline",
        " & ".join(TABLE1_HEAD) + r" \\",
        r"\hline",
        *(" & ".join(str(value) for value in asdict(row).values()) + r" \\" for row in rows),
        r"\hline",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()
