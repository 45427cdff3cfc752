"""``refold serve``: models as a service."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated

import typer

from refold.cli.failures import FAILED
from refold.cli.roles import as_option

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="Model files, each served under its name without .json, or name=file.",
        ),
    ],
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 is any that is free.")] = 8080,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="REFOLD_TOKEN",
            help="The token that clients must send as Authorization: Bearer …; better set by the "
            "variable REFOLD_TOKEN, which other users of the machine do not see.",
            show_envvar=False,
        ),
    ] = None,
    insecure: Annotated[
        bool,
        typer.Option(
            "--insecure", help="Listen without a token on an address that other machines can reach."
        ),
    ] = False,
    certfile: Annotated[
        Path | None, typer.Option(help="Use TLS with this certificate chain (PEM).")
    ] = None,
    keyfile: Annotated[
        Path | None, typer.Option(help="The key to --certfile, if it is not in it.")
    ] = None,
    cors: Annotated[
        str | None,
        typer.Option(
            help="Web pages that may send requests from a browser, such as https://line4.example."
        ),
    ] = None,
    max_body: Annotated[int, typer.Option(help="Megabytes of one request.", min=1)] = 64,
    max_rows: Annotated[int, typer.Option(help="Rows of one request.", min=1)] = 100_000,
    max_requests: Annotated[
        int, typer.Option(help="Requests that are handled at the same time.", min=1)
    ] = 64,
    seconds: Annotated[
        float,
        typer.Option(help="How long a request may take to arrive, and to be answered.", min=0.001),
    ] = 60.0,
    max_header: Annotated[
        int, typer.Option(help="Kilobytes of the header of one request.", min=1)
    ] = 16,
    max_header_lines: Annotated[int, typer.Option(help="Headers of one request.", min=1)] = 100,
    header_seconds: Annotated[
        float, typer.Option(help="How long a connection may take to send a header.", min=0.1)
    ] = 10.0,
    idle_seconds: Annotated[
        float, typer.Option(help="How long a connection may be idle between requests.", min=0.1)
    ] = 15.0,
    max_connections: Annotated[
        int,
        typer.Option(help="Open connections; beyond that, those idle longest are closed.", min=1),
    ] = 1000,
    no_drift: Annotated[
        bool, typer.Option("--no-drift", help="Do not compare scored rows with those learned.")
    ] = False,
    webhook: Annotated[
        str | None,
        typer.Option(
            envvar="REFOLD_WEBHOOK",
            help="Send incidents and changes of the scored rows to this address.",
            show_envvar=False,
        ),
    ] = None,
    webhook_secret_file: Annotated[
        Path | None, typer.Option(help="Sign what is sent there with the text in this file.")
    ] = None,
    webhook_format: Annotated[
        str, typer.Option(help="What the receiver reads: json, slack or teams.")
    ] = "json",
    webhook_rows: Annotated[
        int, typer.Option(help="Report incidents with at least this many outliers.", min=1)
    ] = 3,
) -> None:
    """Serve models: rows in by HTTP, verdicts out.

    Model files that change are loaded again. The addresses are described at /docs.

    For example:
      refold serve model.json
      refold serve line4=model.json line5=other.json --port 9000
      REFOLD_TOKEN=... refold serve model.json --host 0.0.0.0 --certfile c.pem --keyfile k.pem
      curl --json '[{"torque": 75.1}]' 127.0.0.1:8080/v1/models/model/score
    """
    if token is not None:
        check_token(token, "--token")
    if token is None and not insecure and not _is_loopback(host):
        raise typer.BadParameter(
            f"Other machines can ask at {host}: set a --token, or say --insecure.",
            param_hint="--host",
        )
    if keyfile is not None and certfile is None:
        raise typer.BadParameter("Give --certfile too.", param_hint="--keyfile")
    from refold.base.errors import UserError, sentence_of
    from refold.base.needs import needs
    from refold.base.words import names_in

    for module in ("uvicorn", "starlette", "prometheus_client", "jinja2"):
        needs(module, "app")
    from refold.service import (
        Certificate,
        ModelStore,
        Settings,
        WebhookTarget,
        create,
        listen,
        log_lines,
        serve,
    )

    if webhook is not None and no_drift:
        raise typer.BadParameter("Without --no-drift only.", param_hint="--webhook")
    if webhook is None and webhook_secret_file is not None:
        raise typer.BadParameter("Give --webhook too.", param_hint="--webhook-secret-file")
    target = None
    if webhook is not None:
        target = WebhookTarget(
            url=webhook,
            secret=_secret_in(webhook_secret_file),
            format=webhook_format,
            rows=webhook_rows,
        )
    settings = Settings(
        token=token,
        hosts=_LOOPBACK if token is None and not insecure else (),
        origins=tuple(names_in(cors)),
        max_body=max_body * 2**20,
        max_rows=max_rows,
        max_requests=max_requests,
        seconds=seconds,
        max_header=max_header * 2**10,
        max_header_lines=max_header_lines,
        header_seconds=header_seconds,
        idle_seconds=idle_seconds,
        max_connections=max_connections,
        drift=not no_drift,
        webhook=target,
    )
    files = models_by_name(models)
    try:
        tls = None if certfile is None else Certificate(certfile, keyfile).context()
        store = ModelStore(files, drift=settings.drift)
        at = listen(host, port)
    except UserError as error:  # whoever reads the log reads JSON
        log_lines({"event": "not started", "problem": sentence_of(error, as_option)})
        raise typer.Exit(FAILED) from None
    scheme = "http" if tls is None else "https"
    address = f"{scheme}://{f'[{host}]' if ':' in host else host}:{at.getsockname()[1]}"
    digests = {served.name: served.digest for served in store}
    entry = {"event": "started", "address": address, "models": digests}
    app = create(store, settings)
    serve(app, at, started=lambda: log_lines(entry), tls=tls)


def _secret_in(file: Path | None) -> str | None:
    """Return what is in the file of a secret, without the end of its line."""
    if file is None:
        return None
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        problem = getattr(error, "strerror", None) or "it is not text"
        raise typer.BadParameter(
            f"{file}: {problem}.", param_hint="--webhook-secret-file"
        ) from None


def check_token(token: str, option: str) -> None:
    """Refuse a token that is easily guessed, or that no header can hold."""
    if not token.isascii() or len(token) < 16 or " " in token:
        raise typer.BadParameter("At least 16 ASCII characters without spaces.", param_hint=option)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def models_by_name(models: list[str]) -> dict[str, Path]:
    """Return the files by the names that they are served under."""
    files: dict[str, Path] = {}
    for given in models:
        name, equals, file = given.partition("=")
        path = Path(file if equals else given)
        name = name if equals else path.stem
        if name in files:
            raise typer.BadParameter(f"Two models are called {name}: give one another, name=file.")
        files[name] = path
    return files
