"""``refold explain``: why a row is normal or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from refold.base.errors import UserError
from refold.base.words import outliers_among
from refold.cli import options

if TYPE_CHECKING:
    from refold.cli.scoring import Scores
    from refold.judgement import Judgement
    from refold.judgement.reading import Reader
    from refold.tabular import TableSource


@options.reads_tables
def explain(
    model: options.ModelFile,
    table: options.Data,
    row: Annotated[
        list[int] | None,
        typer.Option(
            help="Which row, counted from 1. Give it again for more rows.",
            min=1,
            show_default="the worst ones",
        ),
    ] = None,
    worst: Annotated[
        int, typer.Option(help="Without --row: how many of the worst rows to show.", min=1)
    ] = 5,
    reasons: Annotated[int, typer.Option(help="How many reasons to give.", min=1)] = 5,
    *,
    reading: options.Reading,
    as_json: options.AsJson = False,
) -> None:
    """Say why rows are normal or not: each column's share, what is normal, and a way out.

    Without --row, these are the rows that are farthest from normal. Rows are counted from 1 below
    the header, as in the output of refold score.

    For example:
      refold explain model.json new.csv
      refold explain model.json new.csv --row 17
      refold explain model.json new.parquet --row 17 --row 20 --reasons 10 --json
    """
    from refold.base.progress import counting
    from refold.cli.failures import as_bad_input
    from refold.cli.models import LoadedModel
    from refold.cli.printing import with_number
    from refold.cli.scoring import score_table

    loaded, scores = LoadedModel(model), None
    with reading.open(table) as data:
        reader = loaded.on(data, reading.bad_cells)
        if row:
            numbers = sorted(set(row))
            judged: Judgement | None = _rows(reader, data, numbers)
        else:
            with counting("scoring", data.rows, show=True) as count:
                scores = score_table(loaded, reader, data, worst=worst, count=count)
            numbers, judged = scores.worst.rows, scores.worst.found
        with as_bad_input(data.name):
            found = loaded.explain(numbers, judged, reasons)
    if as_json:
        options.print_json(
            {
                "threshold": loaded.judge.threshold,
                "alpha": loaded.judge.alpha,
                "rows": [one.to_dict() for one in found],
            }
        )
        return
    if scores is not None:
        options.say(_counted(scores))
    if found:
        options.say("\n\n".join(with_number(one).text(reasons) for one in found))


def _rows(reader: Reader, table: TableSource, wanted: list[int]) -> Judgement:
    """Judge the rows with these numbers; nothing is read beyond the last one."""
    import numpy as np

    from refold.judgement import Judgement

    found, rows = [], 0
    for block in reader.blocks(table, reader.columns):
        rows = block.first + block.rows - 1
        chosen = np.isin(np.arange(block.first, rows + 1), wanted)
        if chosen.any():
            found.append(reader.judge(block.only(chosen), explained=True))
        if rows >= wanted[-1]:
            break
    else:
        raise UserError(f"{table.name} has {rows} rows: there is no row {wanted[-1]}.")
    return Judgement.joined(found)


def _counted(scores: Scores) -> str:
    """Say how many rows there are to explain."""
    if scores.outliers == 0:
        return f"None of the {scores.rows:,} rows is an outlier."
    shown = len(scores.worst.rows)
    which = "" if shown == scores.outliers else f" The {shown} farthest out:"
    return f"{outliers_among(scores.outliers, scores.rows)}.{which}\n"
