"""``refold fit``: learn what is normal."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from refold.base.words import printable
from refold.cli import _options as options
from refold.cli._failures import as_bad_input

if TYPE_CHECKING:
    from refold import Detector
    from refold.tabular import Table, Training, Wanted


class Method(StrEnum):
    """What learns."""

    AUTO = "auto"
    CREASED = "creased"
    REF = "ref"


@options.reads_tables
def fit(
    table: options.Data,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="The model file to write.", show_default=False),
    ],
    alpha: Annotated[
        float | None,
        typer.Option(
            help="The share of normal rows that may be called outliers.",
            show_default="0.01, or 5/(n+1) for few rows",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(help="The columns to learn, such as a,b,c.", show_default="all"),
    ] = None,
    ignore: Annotated[str | None, typer.Option(help="Columns that are not learned.")] = None,
    roles: Annotated[
        str | None,
        typer.Option(
            help="What columns are, such as shift=category,day=date:%d/%m/%Y: number, category, "
            "text, identifier, date or ignore.",
            show_default="guessed",
        ),
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help="The column that names the rows; it is not learned.")
    ] = None,
    target_column: Annotated[
        str | None,
        typer.Option(help="The column that says what a row is; it is not learned."),
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="What it says of normal rows; others are left out.")
    ] = None,
    trim: Annotated[
        float,
        typer.Option(
            help="The share of the rows to leave out because they look least like the rest."
        ),
    ] = 0.0,
    method: Annotated[
        Method,
        typer.Option(
            help="creased sees how columns depend on each other; ref adds up how surprising each "
            "one is. auto is creased."
        ),
    ] = Method.AUTO,
    *,
    reading: options.Reading,
    as_json: options.AsJson = False,
) -> None:
    """Learn what is normal from a table of normal rows, and write a model file.

    Columns may hold numbers, categories, dates, codes and text, with gaps. What each one was taken
    for is said; --roles says otherwise.

    For example:
      refold fit good-parts.csv -o model.json
      refold fit parts.xlsx -o model.json --roles shift=category --ignore remark
      refold fit parts.parquet -o model.json --target-column class --target good
      zcat log.gz | refold fit - -o model.json --alpha 0.001
    """
    if (target is None) != (target_column is None):
        raise typer.BadParameter("--target-column and --target need each other.")
    options.check_output(out, [table])
    # First of all: where rows have taken all memory, an import fails in ways of its own.
    from refold import Detector
    from refold.base.progress import counting
    from refold.cli._roles import roles_in
    from refold.tabular import Wanted, read_training

    said = roles_in(roles)
    asked = [*options.names_in(ignore), *(name for name in said if said[name] == "ignore")]
    left_out = dict.fromkeys(asked, "as you say")
    if id_column is not None:
        left_out[id_column] = "names the rows"
    wanted = Wanted(
        options.names_in(columns) if columns is not None else None,
        left_out.keys(),
        target_column,
        target,
    )
    with reading.open(table) as data:
        said = _roles(data, wanted, said)
        with counting("reading", data.rows, show=True) as count:
            training = read_training(data, wanted, count)
        model = Detector(
            method=method.value,
            alpha="auto" if alpha is None else alpha,
            roles=said,
            trim=trim,
        )
        _learn(model, training, data.name, strict=reading.bad_cells is options.BadCells.ERROR)
    import refold
    from refold.cli._learned import document, noticed_lines, summary_lines

    refold.save(model, out)
    for line in noticed_lines(model, out):
        options.say(line, err=True)
    if as_json:
        options.print_json(document(model, training.rows_read, left_out, out))
        return
    for line in summary_lines(model, training.rows_read, left_out):
        options.say(line)
    options.say(f"The model is in {printable(str(out))}.")


def _roles(data: Table, wanted: Wanted, said: dict[str, str]) -> dict[str, str]:
    """Return the roles of columns that are learned; refuse those of others."""
    from refold.tabular import InputError
    from refold.tabular.errors import listed

    data.require(said)
    learned = wanted.of(data)
    idle = [name for name in said if name not in learned and name not in wanted.ignore]
    if idle:
        raise InputError(f"{data.name}: {listed(idle)} has a role but is not to be learned.")
    return {name: role for name, role in said.items() if name in learned}


def _learn(model: Detector, training: Training, name: str, *, strict: bool) -> None:
    from refold.cli._models import check_cells, saying_where
    from refold.models.files import check_columns

    with as_bad_input(name), saying_where(training.where, name):
        check_columns(model, training.table.num_columns)
        model.fit(training.table)
    if strict:
        encoder = model.encoder_
        check_cells(encoder, encoder.read(training.table, reset=False), training.where)
