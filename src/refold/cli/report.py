"""``refold report``: a page on what a model makes of a table."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refold.base.errors import UserError
from refold.base.words import outliers_among, printable
from refold.cli import options

if TYPE_CHECKING:
    from refold.judgement.reading import Reader
    from refold.report import Report, ReportedTable
    from refold.tabular import TableSource


@options.reads_tables
def report(
    model: options.ModelFile,
    table: options.Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="The HTML page to write.")] = Path(
        "report.html"
    ),
    title: Annotated[
        str | None, typer.Option(help="The title of the page.", show_default="the table's name")
    ] = None,
    worst: Annotated[int, typer.Option(help="How many of the worst rows to list.", min=0)] = 100,
    reasons: Annotated[
        int, typer.Option(help="How many columns to name for each of them.", min=1)
    ] = 3,
    fdr: Annotated[
        float, typer.Option(help="The share of false alarms among the rows that stand out.")
    ] = 0.1,
    id_column: Annotated[
        str | None,
        typer.Option(help="The column that names the rows.", show_default="numbers from 1"),
    ] = None,
    time: options.IncidentTime = None,
    by: options.IncidentBy = None,
    gap: options.IncidentGap = None,
    fail_on_outlier: Annotated[
        bool, typer.Option("--fail-on-outlier", help="Exit with 1 if a row is an outlier.")
    ] = False,
    *,
    reading: options.Reading,
    as_json: options.AsJson = False,
) -> None:
    """Write a page on a table: how many rows are outliers, how sure, which ones and why.

    It is one file that opens in any browser and needs no network. The page lists the worst rows and
    counts the others; of more than 100,000 rows so many, taken at random, are drawn.

    For example:
      refold report model.json today.csv
      refold report model.json today.csv --time at --by machine
      refold report model.json parts.parquet -o parts.html --id-column serial --title "Line 4"
    """
    options.check_output(out, [model, table])
    if out.suffix.lower() == ".pdf":
        raise typer.BadParameter(
            "a report is a page: name it .html; a browser prints it to PDF.", param_hint="--out"
        )
    from refold.cli.failures import as_bad_input
    from refold.cli.models import LoadedModel
    from refold.report import ReportedTable, write_report

    loaded = LoadedModel(model)
    origin = loaded.origin
    with reading.open(table) as data:
        with as_bad_input(data.name):
            judged = ReportedTable(
                loaded.model, worst=worst, first=1, time=time, by=by or None, gap=gap
            )
        _read(judged, loaded.on(data, reading.bad_cells), data, id_column)
        with as_bad_input(data.name):
            found = write_report(
                loaded.model,
                judged,
                out,
                title=title or Path(data.name).name,
                worst=worst,
                reasons=reasons,
                fdr=fdr,
                about={
                    "Model file": model.name,
                    "SHA-256 of it": sha256(model.read_bytes()).hexdigest(),
                    "Model saved": f"{origin.created} by refold {origin.refold_version}",
                    "Table": f"{data.name} ({data.format})",
                },
            )
    if as_json:
        options.print_json(_document(found, out))
    else:
        _say(found, out)
    if fail_on_outlier and found.rejected:
        raise typer.Exit(1)


def _read(table: ReportedTable, reader: Reader, data: TableSource, id_column: str | None) -> None:
    """Judge all rows, and note what they are called."""
    from refold.base.progress import counting
    from refold.cli.failures import as_bad_input
    from refold.tabular.block import block_to_arrow

    ids = [] if id_column is None else [id_column]
    data.require([*ids, *table.columns])
    with counting("reading", data.rows, show=True) as count:
        wanted = {*reader.columns, *ids, *table.columns}
        for block in reader.blocks(data, wanted, as_written=ids):
            names = None
            if id_column is not None:
                names = [word or "" for word in block.texts(id_column).to_pylist()]
            found = reader.judge(block, explained=True)
            rows = block_to_arrow(block.select(table.columns)) if table.columns else None
            with as_bad_input(data.name):
                table.add(found, found.row_names if names is None else names, rows)
            count(block.rows)
    if table.rows == 0:
        raise UserError(f"{data.name} has column names but no rows.")


def _document(found: Report, out: Path) -> dict[str, Any]:
    expected = found.expected
    return {
        "report": str(out),
        "rows": found.rows,
        "judged": found.judged,
        "outliers": found.rejected,
        "rate": found.rate,
        "rate_interval": list(found.interval),
        "expected": None if expected is None else {**vars(expected)},
        "fdr": found.fdr,
        "selected": found.selected,
        "drift": found.drift.verdict,
        **found.incidents.to_dict(),
    }


def _say(found: Report, out: Path) -> None:
    said = outliers_among(found.rejected, found.judged)
    if found.expected is not None:
        low, high = found.expected.interval
        said += f"; {low:,} to {high:,} would be if all were normal"
    options.say(f"{said}.\nThe page is in {printable(str(out))}.")
