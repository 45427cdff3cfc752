"""``refold compare``: what a new model would change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refold.base.errors import UserError
from refold.base.words import printable
from refold.cli import options

if TYPE_CHECKING:
    from refold.checks import Comparer, Comparison
    from refold.cli.models import LoadedModel
    from refold.judgement.reading import Reader
    from refold.tabular import TableSource
    from refold.tabular.block import Block

_LISTED = 100  # changed rows that are explained, for the page and to find what makes the difference


@options.reads_tables
def compare(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The model in use.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The model that would replace it.")],
    table: options.Data,
    fail_if_changed: Annotated[
        float | None,
        typer.Option(
            help="Exit with 1 if more than this share of the rows changes its verdict.",
            min=0.0,
            max=1.0,
        ),
    ] = None,
    worst: Annotated[
        int, typer.Option(help="How many of the changed rows to list, clearest first.", min=0)
    ] = 10,
    reasons: Annotated[
        int, typer.Option(help="How many columns to name for each of them.", min=1)
    ] = 3,
    html: Annotated[Path | None, typer.Option(help="The HTML page to write.")] = None,
    limits: Annotated[
        bool,
        typer.Option(
            "--limits",
            help="Also compare how far columns must be off to be noticed (see refold limits); it "
            "takes longer.",
        ),
    ] = False,
    *,
    reading: options.Reading,
    as_json: options.AsJson = False,
) -> None:
    """Say what changes if a new model replaces the old one: which rows, which way, and why.

    Both models judge the table. Rows that change their verdict are counted, and the clearest of
    them explained; what the two have learned of each column stands side by side, and it is said
    where a column was learned in other units.

    For example:
      refold compare model.json retrained.json last-week.csv
      refold compare model.json retrained.json last-week.csv --fail-if-changed 0.01
      refold compare old.json new.json rows.parquet --html page.html --limits
    """
    if html is not None:
        options.check_output(html, [old, new, table])
    from refold.checks import Comparer
    from refold.cli.models import LoadedModel

    models = (LoadedModel(old), LoadedModel(new))
    comparer = Comparer(models[0].model, models[1].model, reasons=reasons, most=max(worst, _LISTED))
    with reading.open(table) as data:
        _judge(comparer, models, (old, new), data, reading)
        found = comparer.result(limits=limits)
        if not found.judged:
            raise UserError(f"{data.name}: {found.headline()} There is nothing to compare.")
        if html is not None:
            _write(found, html, (old, new), data)
    if as_json:
        options.print_json(_document(found, worst))
    else:
        options.say(found.text(worst))
        if html is not None:
            options.say(f"The page is in {printable(str(html))}.")
    if fail_if_changed is not None and (found.changed or 0.0) > fail_if_changed:
        raise typer.Exit(1)


def _judge(
    comparer: Comparer,
    models: tuple[LoadedModel, LoadedModel],
    files: tuple[Path, Path],
    data: TableSource,
    reading: options.Reading,
) -> None:
    """Let both models judge the table, block by block: it is read once."""
    from refold.base.progress import counting

    with _naming(files[0]):
        old = models[0].on(data, reading.bad_cells)
    with _naming(files[1]):
        new = models[1].on(data, reading.bad_cells)
    rows = 0
    with counting("comparing", data.rows, show=True) as count:
        for block in _blocks(old, new, data):
            comparer.update(old.judge(block), new.judge(block), first=block.first)
            rows += block.rows
            count(block.rows)
    if rows == 0:
        raise UserError(f"{data.name} has column names but no rows.")


@contextmanager
def _naming(file: Path) -> Iterator[None]:
    """Let an error say which model it is about."""
    try:
        yield
    except UserError as error:
        raise error.about(str(file)) from None


def _blocks(old: Reader, new: Reader, data: TableSource) -> Iterator[Block]:
    """Read the columns of both; what a model of tables needs comes as it is written."""
    from refold.judgement.reading import TableReader

    columns = {*old.columns, *new.columns}
    for reader, other in ((old, new), (new, old)):
        if not isinstance(reader, TableReader):
            written = other.columns if isinstance(other, TableReader) else ()
            return reader.blocks(data, columns, as_written=written)
    return old.blocks(data, columns)


def _document(found: Comparison, worst: int) -> dict[str, Any]:
    document = found.to_dict()
    return {**document, "changed_rows": document["changed_rows"][:worst]}


def _write(found: Comparison, html: Path, files: tuple[Path, Path], data: TableSource) -> None:
    from refold.report import write_comparison

    write_comparison(
        found,
        html,
        title=f"{files[0].name} → {files[1].name}",
        about={
            "Old": str(files[0]),
            "New": str(files[1]),
            "Table": f"{data.name} ({data.format}), rows counted from 1",
        },
    )
