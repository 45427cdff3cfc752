"""``refold reproduce``: the paper's tables and figures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from refold.paper.report import Report

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
    out: Annotated[Path, typer.Option(help="Folder for what is written.", file_okay=False)] = Path(
        "reproduction"
    ),
    jobs: Annotated[
        int | None, typer.Option(help="Processes. Default: one for each core.", min=1)
    ] = None,
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
    tables = _chosen(table, _TABLES, "--table", everything)
    figures = _chosen(figure, _FIGURES, "--figure", everything)
    settings = _chosen(setting, _SETTINGS, "--setting")
    _check_extras()
    from refold.paper.data import DataError
    from refold.paper.registry import METHODS
    from refold.paper.report import Request
    from refold.paper.reproduce import reproduce as run

    request = Request(
        tables=tuple(map(int, tables)),
        figures=tuple(map(int, figures)),
        settings=settings,
        methods=_chosen(methods, METHODS, "--methods", True),
    )
    try:
        with _progress() as progress:
            report = run(request, out, n_jobs=jobs or _cores(), progress=progress)
    except DataError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from None
    _say(report, out)


def _chosen(
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


def _check_extras() -> None:
    missing = [name for name in ("matplotlib", "jinja2", "rich") if find_spec(name) is None]
    if missing:
        typer.echo(
            f"Error: {' and '.join(missing)} is needed to reproduce the paper and is not "
            "installed. Install 'refold[paper]'.",
            err=True,
        )
        raise typer.Exit(1)


def _cores() -> int:
    """Return how many cores this process may use."""
    from joblib import cpu_count

    return int(cpu_count())


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """Show a bar on the error stream, so that the output stays clean."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        cells = bar.add_task("Cells", total=None)
        yield lambda done, total: bar.update(cells, completed=done, total=total)


def _say(report: Report, out: Path) -> None:
    from refold.paper.verdict import TITLES

    tally = report.tally()
    if tally:
        said = ", ".join(f"{tally[kind]} {title}" for kind, title in TITLES.items())
        typer.echo(f"{sum(tally.values())} cells compared with the paper: {said}.")
    typer.echo(f"Open {out / 'index.html'}")
