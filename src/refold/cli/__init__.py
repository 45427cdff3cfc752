"""The command ``refold``; each group of commands has a file of its own."""

try:
    import typer
except ImportError:
    # This is what runs when someone types the command: a sentence helps, a traceback does not.
    raise SystemExit(
        "The command refold needs typer and rich, which are not installed. Install 'refold[cli]', "
        "or 'refold[paper]' to reproduce the paper."
    ) from None

from typing import Annotated

from refold.cli._failures import Commands
from refold.cli.benchmark import benchmark
from refold.cli.demo import demo
from refold.cli.drift import drift
from refold.cli.explain import explain
from refold.cli.export import export
from refold.cli.fit import fit
from refold.cli.inspect import inspect
from refold.cli.report import report
from refold.cli.reproduce import reproduce
from refold.cli.score import score

__all__ = ["app"]

app = typer.Typer(
    name="refold",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        from refold import __version__

        typer.echo(f"refold {__version__}")
        raise typer.Exit


@app.callback()
def _refold(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Learn from normal rows what is normal, and say which new rows are not, and why.

    Exit codes: 0 done; 1 only with --fail-on-outlier or --fail-on-drift, if there are any; 2 bad
    input.
    """


for command in (fit, score, explain, inspect, drift, report, export, demo, reproduce, benchmark):
    app.command()(command)
