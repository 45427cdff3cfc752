"""``refold app``: a page for people who do not write Python."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from refold.base.words import printable
from refold.cli import options


def open_app(
    table: Annotated[
        Path | None, typer.Argument(help="A table of normal rows to begin with.")
    ] = None,
    port: Annotated[int, typer.Option(help="The port; 0 is any that is free.")] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open a browser; print the address only.")
    ] = False,
) -> None:
    """Open a page on this machine: from a table to a model and to new rows, without Python.

    Nothing leaves the machine, and only a browser that has the printed address is let in. What was
    done is forgotten when the command ends: take the model along before.

    For example:
      refold app
      refold app good-parts.xlsx
      refold app --no-browser --port 9000
    """
    from refold.base.needs import needs

    for module in ("uvicorn", "starlette", "prometheus_client", "jinja2"):
        needs(module, "app")
    from refold.app import Session, Workspace, create_app
    from refold.service import listen, serve

    if table is not None and not table.is_file():
        raise typer.BadParameter(f"There is no file {printable(str(table))}.", param_hint="TABLE")
    at = listen("127.0.0.1", port)
    session = Session(at.getsockname()[1])
    with TemporaryDirectory(prefix="refold-", ignore_cleanup_errors=True) as folder:
        workspace = Workspace(Path(folder))
        if table is not None:
            workspace.open_file(table, printable(table.name), keep=True)

        def started() -> None:
            options.say(f"The page is at {session.address()} (Ctrl-C ends it)", err=True)
            if not no_browser:
                webbrowser.open(session.address_once())

        serve(create_app(workspace, session), at, started=started)
