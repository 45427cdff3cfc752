"""``refold limits``: what a model would miss."""

from __future__ import annotations

from typing import Annotated

import typer

from refold.cli import _options as options


@options.reads_tables
def limits(
    model: options.ModelFile,
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="[TABLE]",
            help="Normal rows, best ones that the model has not learned from. Default: what it has "
            "kept of those.",
            show_default=False,
        ),
    ] = None,
    *,
    reading: options.Reading,
    as_json: options.AsJson = False,
) -> None:
    """Say how far each column must be off before a row is rejected, and what is never noticed.

    One value of a normal row is shifted. Shown is the shift, up and down, from which on half of the
    rows and 90 % of them are rejected.

    For example:
      refold limits model.json
      refold limits model.json good-parts.csv --json | jq '.features[] | select(.up_90 == null)'
    """
    from refold.check import drawn
    from refold.check import limits as limits_of
    from refold.cli._failures import as_bad_input
    from refold.cli._models import LoadedModel

    loaded = LoadedModel(model)
    if table is None:
        found = limits_of(loaded.model)
    else:
        with reading.open(table) as data:
            reader = loaded.on(data, reading.bad_cells)
            blocks = reader.blocks(data, reader.columns)
            with as_bad_input(data.name):
                rows = drawn(reader.judge(block).rows for block in blocks)
                found = limits_of(loaded.model, loaded.judge.rows(rows))
    if as_json:
        options.print_json(found.to_dict())
    else:
        options.say(str(found))
