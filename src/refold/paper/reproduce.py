"""All of it: run what is asked for and write tables, figures and pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from refold.paper import tables
from refold.paper.cells import CellStore
from refold.paper.data import load_tasks
from refold.paper.figures import save_figures
from refold.paper.page import write_page
from refold.paper.report import Report, Request, make_report
from refold.paper.reproduction import reproduction_page
from refold.paper.run import run


def reproduce(
    request: Request,
    out: Path,
    *,
    n_jobs: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Report:
    """Reproduce tables and figures of the paper.

    Parameters
    ----------
    request : Request
        Which ones.
    out : Path
        Folder for all files. Cells that an earlier run has finished there are not run again.
    n_jobs : int, default=1
        Processes; no result depends on it.
    progress : callable, optional
        ``progress(done, total)`` is called after each cell.

    Returns
    -------
    Report
        What was found, as written into ``index.html`` and ``reproduction.md``.
    """
    out.mkdir(parents=True, exist_ok=True)
    tasks = load_tasks()
    results = run(
        request.columns(), tasks, CellStore(out / "cells"), n_jobs=n_jobs, progress=progress
    )
    counts = tables.counted(tasks) if 1 in request.tables else []
    report = make_report(request, counts, results)
    _write_tables(report, out)
    save_figures(request.figures, tasks, out)
    write_page(report, out)
    _write(out / "reproduction.md", reproduction_page(report))
    return report


def _write_tables(report: Report, out: Path) -> None:
    if report.counts:
        _write(out / "table1.csv", tables.csv_of_table1(report.counts))
        _write(out / "table1.md", tables.markdown_of_table1(report.counts))
        _write(out / "table1.tex", tables.latex_of_table1(report.counts))
    for number, judged in report.judged.items():
        entries = [entry for entry, _ in judged]
        _write(out / f"table{number}.csv", tables.csv_of_entries(number, entries))
        _write(out / f"table{number}.md", tables.markdown_of_entries(number, entries))
        _write(out / f"table{number}.tex", tables.latex_of_entries(number, entries))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
