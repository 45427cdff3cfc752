"""The command ``refold``; each group of commands has a file of its own."""

try:
    import typer
except ImportError:
    # This is what runs when someone types the command: a sentence helps, a traceback does not.
    raise SystemExit(
        "The command refold needs typer and rich, which are not installed. Install 'refold[cli]', "
        "or 'refold[paper]' to reproduce the paper."
    ) from None

from refold.cli.benchmark import benchmark
from refold.cli.export import export
from refold.cli.reproduce import reproduce

__all__ = ["app"]

app = typer.Typer(
    name="refold",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def _refold() -> None:
    """One-class classification by Repeated Element-wise Folding."""


app.command()(export)
app.command()(reproduce)
app.command()(benchmark)
