"""The command ``refold``; each group of commands has a file of its own."""

import atexit
import gc
import sys
import warnings

try:
    import rich  # noqa: F401 - tables and help are drawn with it
    import typer
except ImportError as error:
    # This is what runs when someone types the command: a sentence helps, a traceback does not.
    sys.stderr.write(
        f"Error: The command refold needs typer and rich ({error}). Install 'refold[cli]', or "
        "'refold[paper]' to reproduce the paper.\n"
    )
    raise SystemExit(2) from None

from typing import Annotated, NoReturn

from refold.base.findings import RateWarning
from refold.cli.application import open_app
from refold.cli.benchmark import benchmark
from refold.cli.card import card
from refold.cli.check import check
from refold.cli.compare import compare
from refold.cli.demo import demo
from refold.cli.drift import drift
from refold.cli.explain import explain
from refold.cli.export import export
from refold.cli.failures import exit_code
from refold.cli.feedback import feedback
from refold.cli.fit import fit
from refold.cli.inspect import inspect
from refold.cli.limits import limits
from refold.cli.mcp import mcp
from refold.cli.options import say
from refold.cli.report import report
from refold.cli.rules import rules
from refold.cli.score import score
from refold.cli.serve import serve
from refold.cli.studies import reproduce

__all__ = ["app"]

_commands = typer.Typer(name="refold", no_args_is_help=True, add_completion=False)


def app() -> NoReturn:
    """Run the command that was typed, and exit with its code."""
    # What is imported lives until the end. To search it for garbage, now and then and at the end,
    # took a fifth of a short command's CPU time (`refold score` of 2,000 rows: 1.30, now 1.04 s).
    gc.set_threshold(50_000)
    atexit.register(gc.freeze)
    sys.exit(exit_code(_run))


def _run() -> None:
    warnings.simplefilter("ignore", RateWarning)  # commands say themselves what was noticed
    typed = typer.main.get_command(_commands)
    with typed.make_context("refold", sys.argv[1:]) as context:
        typed.invoke(context)


def _version(asked: bool) -> None:
    if asked:
        from refold import __version__

        say(f"refold {__version__}")
        raise typer.Exit


@_commands.callback()
def _refold(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Learn from normal rows what is normal, and say which new rows are not, and why.

    Exit codes: 0 done; 1 only with --gate, --max-outliers or an option that begins with --fail, if
    what it asks for does not hold; 2 it failed, and a sentence says why.
    """


commands = (
    check,
    fit,
    score,
    explain,
    feedback,
    inspect,
    card,
    limits,
    rules,
    compare,
    drift,
    report,
    export,
    serve,
    mcp,
    open_app,
    demo,
    reproduce,
    benchmark,
)
for command in commands:
    # ``app`` is what starts all of them, so the command of that name is called otherwise here.
    _commands.command("app" if command is open_app else None)(command)
