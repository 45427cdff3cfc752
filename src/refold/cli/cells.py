"""What the commands that compute many cells share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import typer


def chosen(
    text: str | None, allowed: Sequence[str], option: str, all_if_none: bool = False
) -> tuple[str, ...]:
    """Read a list with commas; the answer is in the order of `allowed`."""
    if text is None:
        return tuple(allowed) if all_if_none else ()
    names = [part.strip() for part in text.split(",")]
    unknown = [name for name in names if name not in allowed]
    if unknown:
        raise typer.BadParameter(
            f"{', '.join(map(repr, unknown))} is not among {', '.join(allowed)}. "
            "Separate several by commas.",
            param_hint=option,
        )
    return tuple(name for name in allowed if name in names)


def cores() -> int:
    """Return how many cores this process may use."""
    from joblib import cpu_count

    return int(cpu_count())


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int], None]]:
    """Show a bar on the error stream, so that the output stays clean."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        cells = bar.add_task("Cells", total=None)
        yield lambda done, total: bar.update(cells, completed=done, total=total)
