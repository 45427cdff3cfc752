"""All of it: run what is asked for and write tables, figures and pages."""

from __future__ import annotations

from pathlib import Path

from refold.studies.output import write_text
from refold.studies.paper.cells import PaperStudy
from refold.studies.paper.data import load_tasks
from refold.studies.paper.figures import save_figures
from refold.studies.paper.page import summary, write_index
from refold.studies.paper.reproduction import Reproduction, Selection, compare
from refold.studies.paper.tables import files_of_entries, files_of_table1
from refold.studies.run import Progress, run, silent


def reproduce(
    selection: Selection, out: Path, *, n_jobs: int = 1, progress: Progress = silent
) -> Reproduction:
    """Reproduce tables and figures of the paper."""
    tasks = load_tasks()
    out.mkdir(parents=True, exist_ok=True)
    jobs = selection.jobs()
    cells = run(PaperStudy(), jobs, out / "cells", n_jobs=n_jobs, progress=progress)
    found = compare(selection, tasks, cells)
    files = {1: files_of_table1(found.counted)} if found.counted else {}
    files |= {table: files_of_entries(table, entries) for table, entries in found.entries.items()}
    for table, formats in files.items():
        for suffix, text in formats:
            write_text(out / f"table{table}.{suffix}", text)
    save_figures(selection.figures, tasks, out)
    write_index(found, out)
    write_text(out / "reproduction.md", summary(found))
    return found
