"""``refold explain``: why a row is normal or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from refold.cli import _options as options

if TYPE_CHECKING:
    from refold._typing import Floats
    from refold.cli._models import LoadedModel
    from refold.tabular import Table


def explain(
    model: options.ModelFile,
    table: options.Data,
    row: Annotated[
        list[int],
        typer.Option(
            help="Which row, counted from 1. Give it again for more rows.",
            min=1,
            show_default=False,
        ),
    ],
    reasons: Annotated[int, typer.Option(help="How many reasons to give.", min=1)] = 5,
    no_header: options.NoHeader = False,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    as_json: options.AsJson = False,
) -> None:
    """Say why a row is normal or not: each feature's share, what is normal, and a way out.

    Rows are counted from 1 below the header, as in the output of refold score.

    For example:
      refold explain model.json new.csv --row 17
      refold explain model.json new.parquet --row 17 --row 20 --reasons 10 --json
    """
    from refold.cli._answers import as_document
    from refold.cli._failures import as_bad_input
    from refold.cli._models import LoadedModel

    loaded = LoadedModel(model)
    wanted = sorted(set(row))
    with options.open_data(table, no_header, delimiter, decimal) as data:
        X = _rows(loaded, data, wanted)
        with as_bad_input(data.name):
            found = loaded.explain(wanted, loaded.judge.rows(X, explained=True), reasons)
    if as_json:
        options.print_json(
            {
                "threshold": loaded.judge.threshold,
                "alpha": loaded.judge.alpha,
                "rows": [as_document(one) for one in found],
            }
        )
    else:
        options.say("\n\n".join(one.text(reasons) for one in found))


def _rows(loaded: LoadedModel, table: Table, wanted: list[int]) -> Floats:
    """Read the rows with these numbers; nothing beyond the last one."""
    import numpy as np

    from refold.tabular import InputError

    features = loaded.features_in(table)
    found, rows = [], 0
    for block in table.blocks(features.columns, numbers=features.numeric):
        rows = block.first + block.rows - 1
        chosen = np.isin(np.arange(block.first, rows + 1), wanted)
        if chosen.any():
            found.append(features.matrix(block.only(chosen)))
        if rows >= wanted[-1]:
            break
    else:
        raise InputError(f"{table.name} has {rows} rows: there is no row {wanted[-1]}.")
    return np.concatenate(found)
