"""``refold fit``: learn what is normal."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refold.base.findings import told
from refold.base.words import printable
from refold.cli import _options as options
from refold.cli._failures import as_bad_input

if TYPE_CHECKING:
    from refold.tabular import Training


class Learner(StrEnum):
    """What learns."""

    REF = "ref"
    CREASED = "creased"


class Levels(StrEnum):
    """Which levels of the folding make the distance."""

    AUTO = "auto"
    LAST = "last"
    ALL = "all"


def fit(
    table: options.Data,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="The model file to write.", show_default=False),
    ],
    alpha: Annotated[
        float | None,
        typer.Option(
            help="The share of normal rows that may be called outliers, such as 0.01.",
            show_default="ref: the paper's threshold 1, which promises no rate; creased: 0.1",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(help="The columns to learn, such as a,b,c.", show_default="all"),
    ] = None,
    target_column: Annotated[
        str | None,
        typer.Option(help="The column that says what a row is; it is not learned."),
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="What it says of normal rows; others are left out.")
    ] = None,
    categorical: Annotated[
        str | None,
        typer.Option(help="Columns of categories, such as machine,shift: a feature for each one."),
    ] = None,
    ignore_text: Annotated[
        bool, typer.Option("--ignore-text", help="Leave out columns that hold no numbers.")
    ] = False,
    method: Annotated[
        Learner,
        typer.Option(help="creased sees how columns depend on each other; ref, each by itself."),
    ] = Learner.REF,
    levels: Annotated[
        Levels,
        typer.Option(
            help="For ref: all ranks rows better; last is the paper's distance.",
            show_default="all with --alpha, last without",
        ),
    ] = Levels.AUTO,
    no_header: options.NoHeader = False,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    as_json: options.AsJson = False,
) -> None:
    """Learn what is normal from a table of normal rows, and write a model file.

    Missing values may be empty or NA, N/A, NaN, null, None, - or ?; true and false are 1 and 0.

    For example:
      refold fit good-parts.csv -o model.json --alpha 0.01
      refold fit parts.parquet -o model.json --target-column class --target good
      zcat log.gz | refold fit - -o model.json --categorical machine
      refold fit parts.csv -o model.json --method creased --alpha 0.01
    """
    if (target is None) != (target_column is None):
        raise typer.BadParameter("--target-column and --target need each other.")
    options.check_output(out, [table])
    from refold.base.progress import counting
    from refold.tabular import Wanted, read_training

    wanted = Wanted(
        columns=options.names_in(columns) if columns is not None else None,
        categorical=options.names_in(categorical),
        ignore_text=ignore_text,
        target_column=target_column,
        target=target,
    )
    with options.open_data(table, no_header, delimiter, decimal) as data:
        with counting("reading", data.rows, show=True) as count:
            training = read_training(data, wanted, count)
        with as_bad_input(data.name):
            model = _learn(_model(method, alpha, levels), training)
    import refold

    refold.save(model, out)
    for text in told(found.counting_from_one() for found in model.noticed_):
        options.say(f"Noticed: {printable(text)}", err=True)
    if as_json:
        options.print_json(_document(model, training, out))
    else:
        _say(model, training, out)


def _model(method: Learner, alpha: float | None, levels: Levels) -> Any:
    from refold import REF, CreasedREF

    if method is Learner.REF:
        return REF(alpha=alpha, levels=levels.value)
    if levels is not Levels.AUTO:
        raise typer.BadParameter("--levels is for --method ref.")
    return CreasedREF() if alpha is None else CreasedREF(alpha=alpha)


def _learn(model: Any, training: Training) -> Any:
    import numpy as np

    from refold.base.errors import TableError
    from refold.models.files import check_columns

    check_columns(model, training.X.shape[1])
    try:
        model.fit(training.X)
    except TableError as error:
        raise error.named(training.names) from None
    # What fit learns from a table with names; a table would be copied once more.
    model.feature_names_in_ = np.array(training.names, dtype=object)
    names = {f"x{number}": name for number, name in enumerate(training.names)}
    model.noticed_ = tuple(
        found if found.column is None else found.about(names[found.column])
        for found in model.noticed_
    )
    return model


def _document(model: Any, training: Training, out: Path) -> dict[str, Any]:
    return {
        "model": str(out),
        "rows": len(training.X),
        "rows_read": training.rows_read,
        "features": training.names,
        "ignored": training.ignored,
        "threshold": float(model.threshold_),
        "alpha": model.alpha_,
        "noticed": [str(found.counting_from_one()) for found in model.noticed_],
        "kind": type(model).__name__,
        "levels": getattr(model, "levels_", None),
        "engine": getattr(model, "engine_", None),
    }


def _say(model: Any, training: Training, out: Path) -> None:
    rows, read = len(training.X), training.rows_read
    of_all = f" of {read:,}" if rows != read else ""
    features = "1 feature" if len(training.names) == 1 else f"{len(training.names)} features"
    options.say(f"Learned from {rows:,}{of_all} rows, {features}.")
    if training.ignored:
        options.say(
            f"Left out, for they hold no numbers: {', '.join(map(printable, training.ignored))}."
        )
    rate = "" if model.alpha_ is None else f", to reject {100 * model.alpha_:g} % of normal rows"
    options.say(f"A row is normal up to a distance of {model.threshold_:.4g}{rate}.")
    options.say(f"The model is in {printable(str(out))}.")
