"""``refold mcp``: models for agents, by the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from refold.cli import options
from refold.cli.serve import check_token, models_by_name


def mcp(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]...",
            help="Model files, each known by its name without .json, or name=file.",
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="The folder in which agents may read tables and models and write new models; no "
            "other file is opened for them.",
            show_default="none: rows come with each question",
        ),
    ] = None,
    http: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Serve HTTP there, at /mcp, instead of standard input and output; port 0 is any "
            "that is free.",
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="With --http: a file with the token that clients must send as Authorization: "
            "Bearer …"
        ),
    ] = None,
    max_rows: Annotated[int, typer.Option(help="Rows of one table.", min=1)] = 100_000,
    max_body: Annotated[int, typer.Option(help="Megabytes of one file.", min=1)] = 64,
) -> None:
    """Let agents check, learn, score, explain and compare, by the Model Context Protocol.

    For example:
      refold mcp model.json --folder tables
      refold mcp line4=model.json line5=other.json
      refold mcp model.json --http 127.0.0.1:8090 --token-file token.txt
    """
    if (http is None) != (token_file is None):
        raise typer.BadParameter("--http and --token-file go together: give both.")
    if not models and folder is None:
        raise typer.BadParameter("A model or a --folder is needed.")
    from refold.base.needs import needs

    for module in ("uvicorn", "starlette", "prometheus_client", "mcp"):
        needs(module, "mcp")
    from refold.integrations.mcp import ModelTools, create_server, serve_http
    from refold.models.files import load
    from refold.service import listen

    files = models_by_name(models or [])
    for file in files.values():
        load(file)  # now, not when an agent first asks
    tools = ModelTools(files, folder, max_rows, max_body * 2**20)
    if http is None or token_file is None:
        create_server(tools).run("stdio")
        return
    host, _, port = http.rpartition(":")
    if not host or not port.isdecimal():
        raise typer.BadParameter(
            "It must be an address and a port, such as 127.0.0.1:8090.", param_hint="--http"
        )
    token = token_file.read_text(encoding="utf-8", errors="replace").strip()
    check_token(token, "--token-file")
    at = listen(host.strip("[]"), int(port))
    address = f"http://{host}:{at.getsockname()[1]}/mcp"
    serve_http(tools, at, token, lambda: options.say(f"Serving at {address}", err=True))
