"""How far long work has come: a bar for a terminal, and a share for whoever watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")


class _Watcher(NamedTuple):
    report: Callable[[float], None]
    begin: float = 0.0
    end: float = 1.0


_WATCHER: ContextVar[_Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(report: Callable[[float], None]) -> Iterator[None]:
    """Tell `report` which share of the work is done, from 0 to 1; what it raises ends the work.

    The share never shrinks: work may be done again for a part of the rows.

    >>> seen = []
    >>> with watched(seen.append):
    ...     with part(0.0, 0.5):
    ...         for _ in steps(["first", "second"]):
    ...             pass
    ...     advance(1.0)
    >>> seen
    [0.0, 0.25, 0.5, 1.0]
    """
    most = 0.0

    def grown(share: float) -> None:
        nonlocal most
        most = max(most, share)
        report(most)

    token = _WATCHER.set(_Watcher(grown))
    try:
        yield
    finally:
        _WATCHER.reset(token)


def advance(share: float) -> None:
    """Say which share of the current part is done; nothing happens unless somebody watches."""
    watcher = _WATCHER.get()
    if watcher is not None:
        watcher.report(watcher.begin + share * (watcher.end - watcher.begin))


@contextmanager
def part(begin: float, end: float) -> Iterator[None]:
    """Take what is done inside as so much of the current part."""
    watcher = _WATCHER.get()
    if watcher is None:
        yield
        return
    width = watcher.end - watcher.begin
    inner = _Watcher(watcher.report, watcher.begin + begin * width, watcher.begin + end * width)
    token = _WATCHER.set(inner)
    try:
        yield
    finally:
        _WATCHER.reset(token)


def steps(items: Sequence[Item]) -> Iterator[Item]:
    """Give items, each of which is an equal share of the current part."""
    for k, item in enumerate(items):
        advance(k / len(items))
        yield item
    advance(1.0)


@contextmanager
def counting(what: str, total: int | None, *, show: bool) -> Iterator[Callable[[int], None]]:
    """Give a function to report rows to, `total` in all; silent without a terminal or rich."""
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
