"""``refold drift``: whether new rows are still like those of training."""

from __future__ import annotations

from typing import Annotated

import typer

from refold.cli import _options as options


def drift(
    model: options.ModelFile,
    table: options.Data,
    alpha: Annotated[
        float, typer.Option(help="The chance of a false alarm, over all features together.")
    ] = 0.01,
    fail_on_drift: Annotated[
        bool, typer.Option("--fail-on-drift", help="Exit with 1 if the rows are not the same.")
    ] = False,
    no_header: options.NoHeader = False,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    as_json: options.AsJson = False,
) -> None:
    """Say whether new rows are still like those of training, and what has changed.

    It tells apart that the data has changed and that there are more outliers.

    For example:
      refold drift model.json new.parquet
      refold drift model.json today.csv --fail-on-drift --json
    """
    from refold.base.progress import counting
    from refold.cli._failures import as_bad_input
    from refold.cli._models import LoadedModel, judged_blocks
    from refold.drift import DriftMonitor

    loaded = LoadedModel(model)
    with options.open_data(table, no_header, delimiter, decimal) as data:
        reader = loaded.on(data)
        with as_bad_input(data.name):
            monitor = DriftMonitor(loaded.model, alpha=alpha)
        with counting("comparing", data.rows, show=True) as count:
            for _, found in judged_blocks(
                reader, data, columns=reader.columns, explained=False, count=count
            ):
                monitor.update(found)
        with as_bad_input(data.name):
            result = monitor.result()
    if as_json:
        options.print_json(result.as_dict())
    else:
        options.say(str(result))
    if fail_on_drift and result.verdict != "same":
        raise typer.Exit(1)
