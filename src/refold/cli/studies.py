"""``refold reproduce``: the paper's tables and figures; and what commands of many cells share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from refold.base.needs import needs
from refold.base.words import printable
from refold.cli import options

if TYPE_CHECKING:
    from refold.studies.paper.reproduction import Reproduction


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


_TABLES, _FIGURES, _SETTINGS = ("1", "2", "3"), ("1", "2"), ("default", "optimized")


def reproduce(
    table: Annotated[
        str | None, typer.Option(help="Tables, from 1,2,3. Default: all, unless figures are named.")
    ] = None,
    figure: Annotated[
        str | None, typer.Option(help="Figures, from 1,2. Default: all, unless tables are named.")
    ] = None,
    setting: Annotated[
        str, typer.Option(help="Settings of Tables II and III, from default,optimized.")
    ] = ",".join(_SETTINGS),
    methods: Annotated[
        str | None,
        typer.Option(help='Columns of Table III, such as "REF,Linear SVDD". Default: all.'),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder that has ref-paper/ with the data in it. Default: REFOLD_DATA, then the "
            "cache, then the author's repository.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for what is written.", file_okay=False)
    ] = Path("reproduction"),
    jobs: options.Jobs = None,
) -> None:
    """Reproduce the paper: Tables I to III and Figures 1 and 2, beside the printed values.

    Finished cells are kept in the output folder; run the command again to continue after an
    interruption. The default setting takes less than a minute on two cores, everything less than
    an hour.
    """
    if data is not None:
        if not (data / "ref-paper").is_dir():
            raise typer.BadParameter(f"{data} has no folder ref-paper in it.", param_hint="--data")
        os.environ["REFOLD_DATA"] = str(data)
    everything = table is None and figure is None
    tables = chosen(table, _TABLES, "--table", everything)
    figures = chosen(figure, _FIGURES, "--figure", everything)
    settings = chosen(setting, _SETTINGS, "--setting")
    for module in ("matplotlib", "jinja2", "rich", "pebble"):
        needs(module, "paper")  # now, not after an hour
    from refold.studies.paper.columns import METHODS
    from refold.studies.paper.reproduction import Selection
    from refold.studies.paper.reproduction import reproduce as run

    selection = Selection(
        tables=tuple(map(int, tables)),
        figures=tuple(map(int, figures)),
        settings=settings,
        methods=chosen(methods, METHODS, "--methods", True),
    )
    with progress_bar() as progress:
        found = run(selection, out, n_jobs=jobs or cores(), progress=progress)
    _say(found, out)


def _say(found: Reproduction, out: Path) -> None:
    from refold.studies.paper.entries import TITLES

    tally = found.tally()
    if tally:
        said = ", ".join(f"{tally[kind]} {title}" for kind, title in TITLES.items())
        options.say(f"{tally.total()} cells compared with the paper: {said}.")
    options.say(f"Open {printable(str(out / 'index.html'))}")
