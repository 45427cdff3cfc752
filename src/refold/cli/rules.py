"""``refold rules``: what a model takes as normal, as rules."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from refold.base.files import write_file
from refold.base.words import printable
from refold.cli import options


class Format(StrEnum):
    """What is written."""

    TEXT = "text"
    TOML = "toml"
    JSON = "json"
    SQL = "sql"
    PANDERA = "pandera"
    ODCS = "odcs"


_BY_SUFFIX = {".toml": Format.TOML, ".json": Format.JSON, ".sql": Format.SQL, ".py": Format.PANDERA}


def rules(
    model: options.ModelFile,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file to write.", show_default="the output"),
    ] = None,
    form: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="toml and json are for refold fit --rules; sql counts violations in a database; "
            "pandera is a module of Python; odcs a data contract.",
            show_default="by the name of the file, else text",
        ),
    ] = None,
    table: Annotated[str, typer.Option(help="The name of the table in sql and odcs.")] = "data",
    dialect: Annotated[str, typer.Option(help="The database dialect of sql.")] = "duckdb",
) -> None:
    """Show what a model takes as normal as rules that a person can review and edit.

    Ranges, values, formats, and what goes with a value of another column; each with the training
    rows that it was learned from and the share of them that would violate it had they been left
    out. Rules of your own come first.

    For example:
      refold rules model.json
      refold rules model.json -o rules.toml
      refold fit good-parts.csv -o model.json --rules rules.toml
      refold rules model.json --format sql --table parts --dialect postgres
    """
    from refold.cli.models import LoadedModel
    from refold.decisions.rules import rules_in_words
    from refold.decisions.rules_reading import read_rules

    if out is not None:
        options.check_output(out, [model])
        form = form or _BY_SUFFIX.get(out.suffix.lower())
    loaded = LoadedModel(model).model
    found, form = loaded.rules_, form or Format.TEXT
    if form is Format.TEXT:
        own = rules_in_words(read_rules(getattr(loaded, "rules", None)))
        given = [f"{printable(name)}: {printable('; '.join(said))} (yours)" for name, said in own]
        text = "\n".join([*given, str(found), ""])
    elif form is Format.SQL:
        text = found.to_sql(table, dialect) + "\n"
    elif form is Format.ODCS:
        text = found.to_odcs(table)
    else:
        text = {
            Format.TOML: found.to_toml,
            Format.JSON: found.to_json,
            Format.PANDERA: found.to_pandera,
        }[form]()
    if out is None:
        options.say(text.rstrip("\n"))
        return
    write_file(out, text.encode())
    options.say(f"{len(found):,} rules are in {printable(str(out))}.")
