"""A bar that shows how many rows are done and how fast, where somebody can see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec


@contextmanager
def counting(what: str, total: int | None, *, show: bool) -> Iterator[Callable[[int], None]]:
    """Give a function to report rows to; silent without a terminal or without rich.

    Parameters
    ----------
    what : str
        Stands before the bar.
    total : int or None
        How many rows there are, if that is known.
    show : bool
        False is silent.
    """
    if not (show and sys.stderr.isatty() and find_spec("rich")):
        yield lambda rows: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining
    from rich.text import Text

    class RowsPerSecond(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.completed / max(task.elapsed or 0.0, 1e-3):,.0f} rows/s")

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,} rows"))
    console = Console(file=sys.stderr)
    with Progress(*columns, RowsPerSecond(), Remaining(), console=console) as progress:
        task = progress.add_task(what, total=total)
        yield lambda rows: progress.advance(task, rows)
