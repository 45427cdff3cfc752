"""``refold reproduce``: the paper's tables and figures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from refold.cli._cells import check_extras, chosen, cores, progress_bar

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
    tables = chosen(table, _TABLES, "--table", everything)
    figures = chosen(figure, _FIGURES, "--figure", everything)
    settings = chosen(setting, _SETTINGS, "--setting")
    check_extras(("matplotlib", "jinja2", "rich"), "to reproduce the paper", "paper")
    from refold.experiments.download import DataError
    from refold.paper.registry import METHODS
    from refold.paper.report import Request
    from refold.paper.reproduce import reproduce as run

    request = Request(
        tables=tuple(map(int, tables)),
        figures=tuple(map(int, figures)),
        settings=settings,
        methods=chosen(methods, METHODS, "--methods", True),
    )
    try:
        with progress_bar() as progress:
            report = run(request, out, n_jobs=jobs or cores(), progress=progress)
    except DataError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from None
    _say(report, out)


def _say(report: Report, out: Path) -> None:
    from refold.paper.verdict import TITLES

    tally = report.tally()
    if tally:
        said = ", ".join(f"{tally[kind]} {title}" for kind, title in TITLES.items())
        typer.echo(f"{sum(tally.values())} cells compared with the paper: {said}.")
    typer.echo(f"Open {out / 'index.html'}")
