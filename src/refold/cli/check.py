"""``refold check``: what to look at in a table before a model learns from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from refold.base.errors import UserError
from refold.base.files import write_file
from refold.base.words import names_in, printable
from refold.cli import options

if TYPE_CHECKING:
    from refold import Finding, Findings


@options.reads_tables
def check(
    table: options.Data,
    alpha: options.Alpha = None,
    roles: options.Roles = None,
    ignore: Annotated[str | None, typer.Option(help="Columns to leave out of the check.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Also write an HTML page.")] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Show all findings, not only the seven that matter most.")
    ] = False,
    fail_on_finding: Annotated[
        bool, typer.Option("--fail-on-finding", help="Exit with 1 if anything was noticed.")
    ] = False,
    *,
    reading: options.Reading,
    as_json: options.AsJson = False,
) -> None:
    """Say what a careful colleague would notice about a table of normal rows.

    Cells far from all others, numbers that stand for missing values, columns that number the rows,
    that say the same as others or nothing, mixed units and forms, rows that come twice, too few
    rows, changes from the first rows to the last, and labels that leaked in.

    For example:
      refold check good-parts.csv
      refold check good-parts.csv --ignore operator --html noticed.html
      refold check parts.parquet --json | jq -r '.findings[] | [.kind, .column] | @tsv'
    """
    if html is not None:
        options.check_output(html, [table])
    found = _read(table, reading, alpha, roles, ignore).map(_in_words_of_the_command)
    if html is not None:
        write_file(html, found.to_html().encode(errors="backslashreplace"))
    if as_json:
        options.print_json(found.to_dict())
    else:
        _show(found, every=every)
        if html is not None:
            options.say(f"The page is in {printable(str(html))}.")
    if fail_on_finding and found:
        raise typer.Exit(1)


def _read(
    source: str,
    reading: options.Reading,
    alpha: float | None,
    roles: str | None,
    ignore: str | None,
) -> Findings:
    # First of all: where rows have taken all memory, an import fails in ways of its own.
    from refold import check as check_table
    from refold.base.progress import counting
    from refold.cli.failures import as_bad_input
    from refold.cli.roles import roles_in
    from refold.tabular import TrainingSelection, read_training

    said = roles_in(roles)
    left_out = [*names_in(ignore), *(name for name in said if said[name] == "ignore")]
    with reading.open(source) as data:
        data.require(said)
        with counting("reading", data.rows, show=True) as count:
            training = read_training(data, TrainingSelection(ignore=left_out), count)
        learned = {name: role for name, role in said.items() if name not in left_out}
        with as_bad_input(data.name):
            found = check_table(training.table, alpha=alpha, roles=learned)
        if reading.bad_cells is options.BadCells.ERROR and (bad := found.of("unreadable")):
            odd = bad[0].one_based()
            raise UserError(f"{data.name}: {odd.message}", advice=odd.advice)
    return found


def _in_words_of_the_command(found: Finding) -> Finding:
    """Return a finding for somebody who counts rows from 1."""
    return replace(found.one_based(), rows=tuple(row + 1 for row in found.rows))


def _show(found: Findings, *, every: bool) -> None:
    from rich.console import Console

    from refold.checks import LIMIT
    from refold.cli.printing import table_of
    from refold.cli.roles import as_option

    options.say(found.heading)
    limit = None if every else LIMIT
    if found:
        cells = [[kind, "\n".join(said)] for kind, said in found.by_kind(as_option, limit).items()]
        headings = ["what", "where and what to do"]
        Console().print(table_of(headings, cells, words=headings, show_lines=True))
    for line in found.closing(limit, "--all", as_option):
        options.say(printable(line))
