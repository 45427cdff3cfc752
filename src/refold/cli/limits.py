"""``refold limits``: what a model would miss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from refold.base.errors import UserError
from refold.cli import options

if TYPE_CHECKING:
    from refold.judgement import Judgement
    from refold.judgement.reading import Reader
    from refold.tabular import TableSource

_ROWS = 2_000  # no more are looked at


@options.reads_tables
def limits(
    model: options.ModelFile,
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="[TABLE]",
            help="Normal rows, preferably not those learned. Default: the training rows that the "
            "model has kept.",
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
    from refold.checks import limits as limits_of
    from refold.cli.failures import as_bad_input
    from refold.cli.models import LoadedModel

    loaded = LoadedModel(model)
    if table is None:
        found = limits_of(loaded.model)
    else:
        with reading.open(table) as data:
            rows = _drawn(loaded.on(data, reading.bad_cells), data)
            with as_bad_input(data.name):
                found = limits_of(loaded.model, rows)
    if as_json:
        options.print_json(found.to_dict())
    else:
        options.say(str(found))


def _drawn(reader: Reader, table: TableSource) -> Judgement:
    """Judge some of the rows, each drawn with the same chance; most others are not judged."""
    import numpy as np

    from refold.judgement import Judgement

    rng, keys, kept = np.random.default_rng(0), np.empty(0), None
    for block in reader.blocks(table, reader.columns):
        new = rng.random(block.rows)
        chosen = new < (keys.max() if len(keys) == _ROWS else 1.0)
        if not chosen.any():
            continue
        found = reader.judge(block.only(chosen))
        keys = np.concatenate([keys, new[chosen]])
        order = np.sort(np.argsort(keys)[:_ROWS])
        kept = (found if kept is None else Judgement.joined([kept, found])).take(order)
        keys = keys[order]
    if kept is None:
        raise UserError(f"{table.name} has column names but no rows.")
    return kept
