"""``refold drift``: whether new rows are still like those of training."""

from __future__ import annotations

from typing import Annotated

import typer

from refold.cli import options


@options.reads_tables
def drift(
    model: options.ModelFile,
    table: options.Data,
    alpha: Annotated[
        float, typer.Option(help="The chance of a false alarm, over all columns together.")
    ] = 0.01,
    fail_on_drift: Annotated[
        bool, typer.Option("--fail-on-drift", help="Exit with 1 if the rows are not the same.")
    ] = False,
    *,
    reading: options.Reading,
    as_json: options.AsJson = False,
) -> None:
    """Say whether new rows are still like those of training, and what has changed.

    It tells apart that the data has changed and that there are more outliers.

    For example:
      refold drift model.json new.parquet
      refold drift model.json today.csv --fail-on-drift --json
    """
    from refold.base.progress import counting
    from refold.cli.failures import as_bad_input
    from refold.cli.models import LoadedModel
    from refold.monitoring import DriftMonitor

    loaded = LoadedModel(model)
    with reading.open(table) as data:
        reader = loaded.on(data, reading.bad_cells)
        with as_bad_input(data.name):
            monitor = DriftMonitor(loaded.model, alpha=alpha, watch=False)
        with counting("comparing", data.rows, show=True) as count:
            for block in reader.blocks(data, reader.columns):
                monitor.update(reader.judge(block))
                count(block.rows)
        with as_bad_input(data.name):
            result = monitor.result()
    if as_json:
        options.print_json(result.to_dict())
    else:
        options.say(str(result))
    if fail_on_drift and result.verdict != "same":
        raise typer.Exit(1)
