"""``refold feedback``: tell a model what it got wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refold.base.words import printable
from refold.cli import options
from refold.cli.failures import as_bad_input

if TYPE_CHECKING:
    from refold.cli.models import LoadedModel
    from refold.models.feedback import FeedbackEntry


@options.reads_tables
def feedback(
    model: options.ModelFile,
    accept: Annotated[
        str | None, typer.Option(help="A table of rows that are normal after all.")
    ] = None,
    reject: Annotated[
        str | None, typer.Option(help="A table of rows that are known not to be normal.")
    ] = None,
    undo: Annotated[
        int | None,
        typer.Option(
            help="The number of an entry to take back, as --list shows it; -1 is the last one."
        ),
    ] = None,
    tune: Annotated[
        bool,
        typer.Option(
            "--tune", help="Lower the threshold where that labels rejected and normal rows better."
        ),
    ] = False,
    list_all: Annotated[
        bool,
        typer.Option(
            "--list", help="Show all feedback; without other options nothing else is done."
        ),
    ] = False,
    times: Annotated[
        int, typer.Option(min=1, help="How many times each accepted row is learned.")
    ] = 1,
    note: Annotated[str, typer.Option(help="Why; it is kept with the rows.")] = "",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The model file to write.", show_default="the one that is read"
        ),
    ] = None,
    *,
    reading: options.Reading,
    as_json: options.AsJson = False,
) -> None:
    """Tell a model which rows are normal after all, and which are known not to be.

    Accepted rows are learned; rejected ones are kept for --tune. The rate of false alarms is not
    set anew on either. Tables may have further columns, such as those that score has added.

    For example:
      refold feedback model.json --accept false-alarms.csv --note "new supplier"
      refold feedback model.json --reject faults.xlsx --tune -o stricter.json
      refold feedback model.json --list
      refold feedback model.json --undo 2
    """
    changes = accept is not None or reject is not None or undo is not None or tune
    tables = [table for table in (accept, reject) if table is not None]
    if tables == ["-", "-"]:
        raise typer.BadParameter("Standard input can be one of --accept and --reject, not both.")
    options.check_output(out or model, tables)
    from refold.cli.models import LoadedModel

    loaded = LoadedModel(model)
    said = []
    if undo is not None:
        said.append(_undone(loaded.model, undo))
    for kind, table in (("accept", accept), ("reject", reject)):
        if table is not None:
            given = {"note": note} | ({"times": times} if kind == "accept" else {})
            said.append(_told(loaded, kind, table, reading, given))
    if tune:
        said.append(_tuned(loaded.model))
    if changes:
        import refold

        refold.save(loaded.model, out or model)
        said.append(f"The model is in {printable(str(out or model))}.")
    if as_json:
        options.print_json(_document(loaded.model, out or model))
        return
    if list_all or not changes:
        said += _lines(loaded.model)
    for line in said:
        options.say(line)


def _told(
    loaded: LoadedModel, kind: str, source: str, reading: options.Reading, given: dict[str, Any]
) -> str:
    """Tell the model of the rows of a table, and say what came of it."""
    import numpy as np

    from refold.tabular.errors import located

    model = loaded.model
    with reading.open(source) as data:
        rows, where = loaded.on(data, reading.bad_cells).rows(data)
        if not hasattr(model, "feature_names_in_"):
            rows = np.column_stack([column.to_numpy() for column in rows.columns])
        with as_bad_input(data.name), located(data.name, where):
            getattr(model, kind)(rows, **given)
    return _sentence(model.feedback_[-1])


def _undone(model: Any, number: int) -> str:
    """Take back an entry by its number, counted from 1, or from the end."""
    before = model.feedback_
    with as_bad_input("--undo"):
        model.undo_feedback(number)
    entry = before[number - 1 if number > 0 else number]
    return f"Taken back, of {entry.time}: {_sentence(entry)}"


def _tuned(model: Any) -> str:
    before = model.threshold_
    model.tune_threshold()
    if model.threshold_ == before:
        return f"The threshold stays {before:.6g}: a lower one would not label these rows better."
    return (
        f"The threshold is now {model.threshold_:.6g}, and was {before:.6g}. It is no longer set "
        "for a rate of false alarms."
    )


def _lines(model: Any) -> list[str]:
    """Say all that was said, numbered from 1."""
    entries = model.feedback_
    if not entries:
        return ["The model has no feedback yet."]
    return [f"{k}. {each.time}: {_sentence(each)}" for k, each in enumerate(entries, start=1)]


def _sentence(entry: FeedbackEntry) -> str:
    """Return an entry in words, for somebody who types commands."""
    return printable(str(entry).replace("tune_threshold()", "--tune"))


def _document(model: Any, out: Path) -> dict[str, Any]:
    return {
        "model": str(out),
        "threshold": float(model.threshold_),
        "alpha": model.alpha_,
        "feedback": [
            {
                "kind": entry.kind,
                "rows": len(entry),
                "standing": int(entry.standing.sum()),
                "times": entry.times,
                "time": entry.time,
                "note": entry.note,
                "before": _verdict(entry.before),
                "after": _verdict(entry.after),
            }
            for entry in model.feedback_
        ],
    }


def _verdict(verdict: Any) -> dict[str, Any]:
    return {
        "threshold": verdict.threshold,
        "distances": verdict.distances.tolist(),
        "labels": verdict.labels.tolist(),
    }
