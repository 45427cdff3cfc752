"""``refold export``: a model as an ONNX graph, as one SQL statement or as a test of dbt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from refold.base.files import write_file
from refold.base.words import names_in
from refold.cli import options
from refold.cli.failures import as_bad_input

if TYPE_CHECKING:
    from refold import REF, Detector


class View(StrEnum):
    """What can be left out where it cannot be said."""

    shape = "shape"
    character = "character"


class Target(StrEnum):
    """What a model can be written as."""

    onnx = "onnx"
    sql = "sql"
    dbt = "dbt"


def export(
    model: options.ModelFile,
    to: Annotated[Target, typer.Option(help="What to write.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The file to write. Default for SQL and dbt: standard output."
        ),
    ] = None,
    table: Annotated[
        str | None, typer.Option(help="SQL: the table to judge, such as plant.readings.")
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            help="SQL: duckdb, postgres, sqlite, snowflake or bigquery; dbt: several of these too, "
            "such as duckdb,postgres."
        ),
    ] = None,
    view: Annotated[str | None, typer.Option(help="SQL: create a view with this name.")] = None,
    prefix: Annotated[
        str, typer.Option(help="Beginning of the names of added columns, or of outputs.")
    ] = "",
    without: Annotated[
        list[View] | None,
        typer.Option(help="Leave out this view of texts that were never seen; answers differ."),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="SQL: a column of the table, once for each column of a model without column names."
        ),
    ] = None,
    float32: Annotated[
        bool, typer.Option("--float32", help="ONNX: a graph in single precision.")
    ] = False,
) -> None:
    """Write a model as an ONNX graph, as one SQL statement or as a test of dbt.

    A file is whole or not there: what it held before stays until the new one is complete.

    For example:
      refold export model.json --to onnx -o model.onnx
      refold export model.json --to sql --table plant.readings --dialect postgres
      refold export model.json --to dbt --dialect postgres -o macros/model.sql
      refold export model.json --to onnx -o model.onnx --without shape --without character
    """
    of_sql = {"--table": table, "--dialect": dialect, "--view": view}
    of_sql["--column"] = ", ".join(column or []) or None
    _check_options(to, out, of_sql, prefix, float32)
    options.check_output(out or "-", [model])
    from refold import load

    loaded, left_out = load(model), [view.value for view in without or []]
    with as_bad_input(str(model)):
        if to is Target.sql:
            content = _sql(loaded, str(table), str(dialect), view, prefix, column, left_out)
        elif to is Target.dbt:
            from refold.export import to_dbt

            name = re.sub(r"\W", "_", model.stem.lower(), flags=re.ASCII)
            content = to_dbt(
                loaded, name, names_in(dialect), columns=column, without=left_out
            ).encode()
        else:
            content = _onnx(loaded, float32, prefix, left_out)
    _write(content, out)


def _check_options(
    to: Target, out: Path | None, of_sql: dict[str, str | None], prefix: str, float32: bool
) -> None:
    """Refuse what would be ignored, and ask for what is needed."""
    if to is not Target.onnx:
        needed = ("--table", "--dialect") if to is Target.sql else ("--dialect",)
        missing = [name for name in needed if of_sql[name] is None]
        if missing:
            what = "SQL" if to is Target.sql else "dbt"
            raise typer.BadParameter(f"{what} needs {' and '.join(missing)}.", param_hint="--to")
        if float32:
            raise typer.BadParameter("It is for --to onnx only.", param_hint="--float32")
        if to is Target.dbt and (of_sql["--table"] or of_sql["--view"] or prefix):
            raise typer.BadParameter(
                "The test of dbt says which table, and its columns begin with refold_.",
                param_hint="--table --view --prefix",
            )
        return
    given = [name for name, value in of_sql.items() if value is not None]
    if given:
        raise typer.BadParameter("It is for --to sql only.", param_hint=" ".join(given))
    if out is None:
        raise typer.BadParameter("A graph is written to a file: say -o FILE.", param_hint="--out")


def _sql(
    model: REF | Detector,
    table: str,
    dialect: str,
    view: str | None,
    prefix: str,
    columns: list[str] | None,
    without: Sequence[str],
) -> bytes:
    from refold.export import to_sql

    statement = to_sql(
        model, table, dialect, view=view, prefix=prefix, columns=columns, without=without
    )
    return f"{statement};\n".encode()


def _onnx(model: REF | Detector, float32: bool, prefix: str, without: Sequence[str]) -> bytes:
    from refold.export import to_onnx

    graph = to_onnx(
        model, dtype="float32" if float32 else "float64", prefix=prefix, without=without
    )
    return bytes(graph.SerializeToString())


def _write(content: bytes, out: Path | None) -> None:
    if out is None:
        typer.echo(content, nl=False)  # for a database, not for people: it stays as it is
        return
    write_file(out, content)
