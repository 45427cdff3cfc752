"""Arguments and options that several commands have, and what they mean."""

from __future__ import annotations

import functools
import inspect
import json
import os
import stat
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from refold.base.files import blaming, write_file
from refold.base.words import names_in, printable
from refold.cli.startup import light_imports

if TYPE_CHECKING:
    from refold.tabular import TableSource

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model, written by refold fit.")]
Data = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="CSV, Excel, JSON, Parquet or Arrow, plain or compressed; - is standard input.",
    ),
]
STANDARD_INPUT, STANDARD_OUTPUT = 0, 1
_THOUSANDS = (".", ",", " ", "'")


def _rate(alpha: float | None) -> float | None:
    if alpha is not None and not 0.0 < alpha < 1.0:
        raise typer.BadParameter("A false alarm rate lies between 0 and 1, such as 0.01.")
    return alpha


Alpha = Annotated[
    float | None,
    typer.Option(
        help="The false alarm rate: the share of normal rows that may be called outliers.",
        show_default="0.01, or 5/(n+1) for few rows",
        callback=_rate,
    ),
]
IncidentTime = Annotated[
    str | None,
    typer.Option(
        help="The column of the time, for incidents.",
        show_default="that of the model, else the order of rows",
    ),
]
IncidentBy = Annotated[
    list[str] | None,
    typer.Option(
        help="A column whose values make groups, such as machines, for incidents; may be repeated.",
        show_default="those of the model",
    ),
]
IncidentGap = Annotated[
    str | None,
    typer.Option(
        help="How far apart outliers of an incident may be: rows, or a duration such as 90min.",
        show_default="0.25 / alpha rows",
    ),
]
Roles = Annotated[
    str | None,
    typer.Option(
        help="The roles of columns, such as shift=category,day=date:%d/%m/%Y: number, "
        "category, text, identifier, date or ignore.",
        show_default="guessed",
    ),
]
Jobs = Annotated[int | None, typer.Option(help="Processes. Default: one for each core.", min=1)]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, for programs.")]


_PANEL = "How tables are read"


class BadCells(StrEnum):
    """What becomes of a cell that cannot be read."""

    ERROR = "error"
    NOTICE = "notice"


def _in_panel(help_text: str, default: str | bool = True, *names: str, **more: Any) -> Any:
    """Return an option that the help lists with those of reading; `default` in words."""
    return typer.Option(
        *names, help=help_text, show_default=default, rich_help_panel=_PANEL, **more
    )


@dataclass(frozen=True)
class Reading:
    """How tables are read: the options of all commands that read one; see `reads_tables`."""

    header: Annotated[
        bool | None,
        _in_panel(
            "Whether the CSV or sheet names its columns; without names they are x0, x1, …",
            "names, unless all are numbers",
            "--header/--no-header",
        ),
    ] = None
    delimiter: Annotated[str | None, _in_panel("The delimiter of a CSV.", "guessed")] = None
    decimal: Annotated[str | None, _in_panel("The decimal mark of a CSV: . or ,", "guessed")] = None
    thousands: Annotated[
        str | None, _in_panel("The thousands separator of a CSV: . or , or a space or '.")
    ] = None
    sheet: Annotated[
        str | None, _in_panel("The sheet of a workbook, by its name or number.", "the largest one")
    ] = None
    skip_rows: Annotated[
        int | None,
        _in_panel(
            "How many lines of a CSV or rows of a sheet come before the names.",
            "title lines, where they are clear",
            min=0,
        ),
    ] = None
    missing: Annotated[
        str | None, _in_panel("Further words or numbers for missing values, such as -999,n.d.")
    ] = None
    keep: Annotated[
        str | None,
        _in_panel(
            "Words such as none or NA that are values in a CSV or sheet.",
            "a word that most rows of a column have",
        ),
    ] = None
    bad_cells: Annotated[
        BadCells | None,
        _in_panel(
            "Cells that cannot be read in the role of their column: note them, or stop with "
            "an error.",
            "notice; error for models of REF and CreasedREF",
        ),
    ] = None

    def open(self, source: str) -> TableSource:
        """Open a table as the options say."""
        from refold.cli.roles import as_option
        from refold.tabular import open_table

        delimiter, decimal, thousands = self.delimiter, self.decimal, self.thousands
        if delimiter is not None:
            delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
            if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\n\r':
                raise typer.BadParameter(
                    "One character is needed, or tab.", param_hint="--delimiter"
                )
        if decimal not in (None, ".", ","):
            raise typer.BadParameter("It is . or ,", param_hint="--decimal")
        if thousands is not None and (thousands not in _THOUSANDS or thousands == decimal):
            raise typer.BadParameter(
                "It must be . or , or a space or ', and not the decimal mark.",
                param_hint="--thousands",
            )
        return open_table(
            source,
            header=self.header,
            delimiter=delimiter,
            decimal=decimal,
            thousands=thousands,
            sheet=self.sheet,
            skip_rows=self.skip_rows,
            missing=names_in(self.missing),
            keep=names_in(self.keep),
            say=lambda found: note(found.render(as_option)),
        )


def reads_tables(command: Callable[..., None], *, light: bool = True) -> Callable[..., None]:
    """Give a command all options of `Reading` in place of its parameter `reading`."""
    own = inspect.signature(command, eval_str=True).parameters
    hints = get_type_hints(Reading, include_extras=True)
    added = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(Reading)
    ]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        reading = Reading(
            **{option.name: given.pop(option.name, option.default) for option in added}
        )
        with light_imports() if light else nullcontext():
            command(**given, reading=reading)

    parameters = [
        option
        for name, parameter in own.items()
        for option in (
            added if name == "reading" else [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)]
        )
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in parameters}
    return run


def output_format(out: str | Path, option: str = "--out") -> str:
    """Return how to write a table: the name of its file says so; standard output is CSV."""
    from refold.tabular import InputError
    from refold.tabular.writing import format_of

    try:
        return "csv" if str(out) == "-" else format_of(Path(out))
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def check_output(out: str | Path, inputs: Sequence[str | Path] = (), option: str = "--out") -> None:
    """Refuse, before any work, a place where nothing can be written or where an input is."""
    path = Path(out)
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder.", param_hint=option)
    if not path.absolute().parent.is_dir():
        raise typer.BadParameter(f"There is no folder {path.parent}.", param_hint=option)
    written = _file(out, STANDARD_OUTPUT)
    for given in inputs:
        if written is not None and written == _file(given, STANDARD_INPUT):
            raise typer.BadParameter(
                f"{path} is the same file as {given}, which is read. Write to another one.",
                param_hint=option,
            )


def _file(name: str | Path, stream: int) -> tuple[int, int] | None:
    """Return what a regular file has whatever it is called; None for others. - is a stream."""
    try:
        found = os.stat(stream if str(name) == "-" else name)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def say(text: str, *, err: bool = False) -> None:
    """Print lines; what is in them from users' files cannot steer the terminal."""
    with blaming("standard error" if err else "standard output"):
        print(printable(text, lines=True), file=sys.stderr if err else sys.stdout)


def note(sentence: str) -> None:
    """Tell something on the error stream, so that the output stays clean."""
    say(f"Note: {sentence}", err=True)


def write_json(out: Path, document: dict[str, Any]) -> None:
    """Write a document for machines to a file, whole or not at all."""
    write_file(out, json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2).encode())


def print_json(document: dict[str, Any]) -> None:
    """Print a document for machines: no NaN, no infinity, in the order of its keys."""
    ascii_only = not sys.stdout.encoding.lower().startswith("utf")
    say(json.dumps(document, ensure_ascii=ascii_only, allow_nan=False, indent=2))
