"""``refold fit``: learn what is normal."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from refold.base.errors import UserError
from refold.base.words import names_in, printable
from refold.cli import options
from refold.cli.failures import as_bad_input
from refold.cli.suspects import SuspectList, check_list

if TYPE_CHECKING:
    from refold import Detector, Finding
    from refold.tabular import TableSource, Training, TrainingSelection


def _share(trim: float) -> float:
    if not 0.0 <= trim < 0.5:
        raise typer.BadParameter("The share to leave out is 0 or more and below 0.5, such as 0.05.")
    return trim


class Method(StrEnum):
    """What learns."""

    AUTO = "auto"
    CREASED = "creased"
    REF = "ref"


@options.reads_tables
def fit(
    table: options.Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file to write.")],
    alpha: options.Alpha = None,
    columns: Annotated[
        str | None, typer.Option(help="The columns to learn, such as a,b,c.", show_default="all")
    ] = None,
    ignore: Annotated[str | None, typer.Option(help="Columns that are not learned.")] = None,
    roles: options.Roles = None,
    id_column: Annotated[
        str | None, typer.Option(help="The column that names the rows; it is not learned.")
    ] = None,
    target_column: Annotated[
        str | None, typer.Option(help="The column of labels; it is not learned.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="The label of normal rows; other rows are left out.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="The column of the group, such as the machine, site or customer: a row is judged "
            "by what is normal for its group. Several, the largest first: site,line,machine."
        ),
    ] = None,
    over: Annotated[
        str | None,
        typer.Option(help="The column of the time: calendar and trend are expected."),
    ] = None,
    context: Annotated[
        str | None,
        typer.Option(help="Columns that explain others and are not judged, such as load,product."),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            help="A number of rows up to each row, or a duration such as 7d, in the order of "
            "--over, else of the rows: steps, rolling means, spreads and standstill are "
            "judged too."
        ),
    ] = None,
    rules: Annotated[
        Path | None,
        typer.Option(
            help="A file of rules, TOML or JSON: limits, allowed values, differences that do not "
            "count, columns that are never a reason, muted rows."
        ),
    ] = None,
    trim: Annotated[
        float,
        typer.Option(
            help="The share of the rows to leave out because they look least like the rest.",
            callback=_share,
        ),
    ] = 0.0,
    method: Annotated[
        Method,
        typer.Option(
            help="creased sees how columns depend on each other; ref adds up how surprising each "
            "one is. auto is creased."
        ),
    ] = Method.AUTO,
    suspects: Annotated[
        Path | None,
        typer.Option(
            help="Write the rows that look least like the rest to this table, with reasons, to be "
            "looked at. A row with an x in its column leave_out is left out by --without."
        ),
    ] = None,
    budget: Annotated[
        int, typer.Option(help="How many rows --suspects writes at most.", min=1)
    ] = 50,
    without: Annotated[
        Path | None,
        typer.Option(help="Learn without the rows that are ticked in this table of suspects."),
    ] = None,
    *,
    reading: options.Reading,
    as_json: options.AsJson = False,
) -> None:
    """Learn what is normal from a table of normal rows, and write a model file.

    Columns may hold numbers, categories, dates, codes and text, with gaps. What each one was taken
    for is said; --roles says otherwise. Rows of more than 128 MB are not held in memory: a file is
    read twice, standard input goes through a temporary file, and up to 20,000 rows are held out to
    set the threshold.

    For example:
      refold fit good-parts.csv -o model.json
      refold fit parts.xlsx -o model.json --roles shift=category --ignore remark
      refold fit parts.parquet -o model.json --target-column class --target good
      zcat log.gz | refold fit - -o model.json --alpha 0.001
      refold fit fleet.csv -o model.json --by site,machine --over time
      refold fit parts.csv -o model.json --rules rules.toml

    No table is entirely normal. Write a list of its oddest rows, put an x into the column leave_out
    of those that are wrong, and learn without them:
      refold fit parts.csv -o model.json --suspects suspects.xlsx
      refold fit parts.csv -o model.json --without suspects.xlsx
    """
    if (target is None) != (target_column is None):
        raise typer.BadParameter("--target-column and --target go together: give both.")
    read: list[str | Path] = [table, *(each for each in (without, rules) if each is not None)]
    options.check_output(out, read)
    if suspects is not None:
        check_list(suspects, read, out)
    # First of all: where rows have taken all memory, an import fails in ways of its own.
    from refold import Detector
    from refold.cli.large import Rows
    from refold.cli.roles import roles_in
    from refold.cli.suspects import without_ticked
    from refold.decisions.rules_reading import load_rules
    from refold.tabular import TrainingSelection

    said = roles_in(roles)
    asked = [*names_in(ignore), *(name for name in said if said[name] == "ignore")]
    left_out = [*asked, *([] if id_column is None else [id_column])]
    wanted = TrainingSelection(
        names_in(columns) if columns is not None else None,
        left_out,
        target_column,
        target,
        whole=suspects is not None or without is not None,
    )
    again = (lambda: reading.open(table)) if Path(table).is_file() else None
    with reading.open(table) as data, Rows(data, again, wanted) as rows:
        grouped, explaining = names_in(by), names_in(context)
        data.require([*grouped, *([] if over is None else [over]), *explaining])
        said = _roles(data, wanted, said)
        model = Detector(
            method=method.value,
            alpha="auto" if alpha is None else alpha,
            roles=said,
            by=grouped or None,
            over=over,
            context=explaining or None,
            window=window,
            rules=None if rules is None else load_rules(rules),
            trim=trim,
        )
        strict = reading.bad_cells is options.BadCells.ERROR
        training = rows.training(
            in_memory=trim > 0.0 or wanted.whole or bool(by or over or context or window)
        )
        odd = None
        if training is None:
            rows.teach(model, strict=strict)
        else:
            ticked: list[Finding] = []
            if without is not None:
                training, *ticked = without_ticked(training, without, data.name)
            _learn(model, training, data.name, strict=strict)
            numbers = training.numbers
            found = (each.numbered(numbers) for each in model.noticed_)
            model.noticed_ = (*ticked, *found)
            if suspects is not None:
                with as_bad_input(data.name):
                    odd = SuspectList.of(training, model, budget, suspects)
        rows_read = rows.rows_read
    # What was left out before reading is known to the model too: refold inspect shows it.
    unread = [*asked, *([] if target_column is None else [target_column])]
    model.set_params(roles={**said, **dict.fromkeys(unread, "ignore")}, id_column=id_column)
    import refold
    from refold.cli.printing import model_document, noticed_lines, summary_lines

    if odd is not None:
        odd.write(id_column)
    refold.save(model, out)
    for line in noticed_lines(model, out):
        options.say(line, err=True)
    if as_json:
        listed = None if odd is None else odd.rows
        options.print_json(model_document(model, rows_read, out, listed))
        return
    for line in summary_lines(model, rows_read):
        options.say(line)
    name = printable(str(out))
    options.say(f"The model is in {name}. How each column was read: refold inspect {name}")
    if odd is not None:
        options.say(odd.said())


def _roles(data: TableSource, wanted: TrainingSelection, said: dict[str, str]) -> dict[str, str]:
    """Return the roles of columns that are learned; refuse those of others."""
    from refold.tabular.errors import listed

    data.require(said)
    learned = wanted.of(data)
    idle = [name for name in said if name not in learned and name not in wanted.ignore]
    if idle:
        raise UserError(f"{data.name}: {listed(idle)} has a role but is not to be learned.")
    return {name: role for name, role in said.items() if name in learned}


def _learn(model: Detector, training: Training, name: str, *, strict: bool) -> None:
    from refold.judgement.reading import check_cells
    from refold.models.files import check_columns
    from refold.tabular import InputError
    from refold.tabular.errors import located

    if training.table.num_rows < 2:
        raise InputError(f"{name}: one row is too few to learn from. Add rows.")
    with as_bad_input(name), located(name, training.where):
        check_columns(model, training.table.num_columns)
        model.fit(training.table)
    if strict and any(column.unreadable for column in model.columns_):
        encoder = model.encoder_
        check_cells(encoder, encoder.read(training.table, reset=False), training.where)
