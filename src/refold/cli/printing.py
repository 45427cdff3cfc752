"""What commands print: explanations as a table, and what a model has learned."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refold.base.findings import Finding, told
from refold.base.words import percent, printable, shortened
from refold.cli.roles import as_option

if TYPE_CHECKING:
    from rich.table import Table

    from refold import Detector
    from refold.columns.encoding.column_info import ColumnInfo
    from refold.explanation import Explanation


def with_number(row: Explanation) -> Explanation:
    """Return the same for people: a row of a file has a number, and it may have a name."""
    return row if row.name is None else replace(row, name=f"{row.row} ({shortened(str(row.name))})")


def as_table(rows: Sequence[Explanation], title: str) -> Table:
    """Return explanations as a table, one reason per line."""
    from refold.explanation import times_limit

    rare = any(row.p_value is not None for row in rows)
    cells = []
    for row in rows:
        p_value = [f"{row.p_value:.2g}"] if row.p_value is not None else []
        because = "\n".join(row.because(len(row.reasons)))
        name = with_number(row).name
        called = str(row.row if name is None else name)
        far = times_limit(row.distance, row.threshold)
        cells.append([called, far, *p_value, because])
    headings = ["row", "how far", *(["p-value"] if rare else []), "because of"]
    return table_of(headings, cells, words=("because of",), title=title, show_lines=True)


def table_of(
    headings: Sequence[str], rows: Sequence[Sequence[str]], *, words: Collection[str], **style: Any
) -> Table:
    """Return a table for people; what is in it from users' files cannot steer the terminal.

    `words` are the headings of the columns that hold no numbers.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(title_justify="left", **style)
    for heading in headings:
        if heading in words:
            table.add_column(heading, overflow="fold")
        else:
            table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*(Text(printable(cell, lines=True)) for cell in row))
    return table


_ROLES = ("context", "number", "category", "date", "text", "identifier", "ignore")
_IGNORED = {
    "running-number": "a running number",
    "empty": "no value",
    "calendar": "repeats the time",
}
_NOTICED, _WIDE, _LONG = 5, 88, 400  # lines, and characters of a list and of a sentence


def model_document(
    model: Detector, rows_read: int, out: Path, suspects: Sequence[int] | None = None
) -> dict[str, Any]:
    """Return all that is said as plain values; `suspects` are rows of a list that was written."""
    ignored = [column.name for column in model.columns_ if column.role == "ignore"]
    return {
        "model": str(out),
        "kind": type(model).__name__,
        "method": model.method,
        "rows": _rows(model),
        "rows_read": rows_read,
        "trimmed": len(model.dropped_),
        "features": list(model.encoder_.counts.plan.names),
        "ignored": [*ignored, *unread_columns(model)],
        "columns": [column_document(column) for column in model.columns_],
        "threshold": float(model.threshold_),
        "alpha": model.alpha_,
        "noticed": list(map(sentence, model.noticed_)),
        **({} if suspects is None else {"suspects": list(suspects)}),
    }


def column_document(column: ColumnInfo) -> dict[str, Any]:
    """Return what a column was taken for as plain values."""
    fields = asdict(column)
    del fields["views"]
    noticed = list(map(sentence, column.noticed))
    return {**fields, "reading": column.reading, "noticed": noticed}


def sentence(found: Finding) -> str:
    """Return what was noticed, for somebody who types commands."""
    return found.render(as_option)


def noticed_lines(model: Detector, out: Path) -> Iterator[str]:
    """Say what was noticed: of the rate and of single cells first."""
    first = sorted(model.noticed_, key=lambda found: found.column is not None and not found.rows)
    said = list(told(first, as_option))
    for text in said[:_NOTICED]:
        cut = text if len(text) <= _LONG else f"{text[:_LONG]}…"
        yield f"Noticed: {printable(cut)}"
    if len(said) > _NOTICED:
        yield f"And {len(said) - _NOTICED} more: refold inspect {printable(str(out))}"


def unread_columns(model: Detector) -> dict[str, str]:
    """Return the columns that were not learned because somebody said so, and why."""
    ignored = [name for name, role in (model.roles or {}).items() if role == "ignore"]
    named = {} if model.id_column is None else {model.id_column: "names the rows"}
    known = {column.name for column in model.columns_}
    asked = {**dict.fromkeys(ignored, "as you say"), **named}
    return {name: why for name, why in asked.items() if name not in known}


def summary_lines(model: Detector, rows_read: int) -> Iterator[str]:
    """Say what was learned: rows, what each column was taken for, and the rate."""
    left_out = unread_columns(model)
    rows = _rows(model)
    of_all = f" of {rows_read:,}" if rows != rows_read else ""
    number = len(model.columns_) + len(left_out)
    columns = "1 column" if number == 1 else f"{number:,} columns"
    trimmed = f", without the {len(model.dropped_):,} oddest" if len(model.dropped_) else ""
    yield f"Learned from {rows:,}{of_all} rows{trimmed}, {columns}:"
    named: dict[str, list[str]] = {role: [] for role in _ROLES}
    for column in model.columns_:
        named[column.role].append(_named(column))
    named["ignore"] += [f"{shortened(name)} ({why})" for name, why in left_out.items()]
    for role, names in named.items():
        if names:
            yield f"  {'ignored' if role == 'ignore' else role:10}  {_listed(names)}"
    yield rate_sentence(model)


def _rows(model: Detector) -> int:
    """Return how many rows were given, those that were left out included."""
    return model.encoder_.counts.rows + len(model.dropped_)


def _named(column: ColumnInfo) -> str:
    name = shortened(column.name)
    if column.role == "ignore":
        return f"{name} ({', '.join(_IGNORED[found.kind] for found in column.noticed)})"
    if column.role == "category":
        return f"{name} ({column.distinct:,} {'value' if column.distinct == 1 else 'values'})"
    return name


def _listed(words: Sequence[str]) -> str:
    """Return as many of them as a line holds."""
    shown, width = 1, len(words[0])
    while shown < len(words) and (width := width + 2 + len(words[shown])) <= _WIDE:
        shown += 1
    more = f" and {len(words) - shown:,} more" if shown < len(words) else ""
    return ", ".join(words[:shown]) + more


def rate_sentence(model: Detector) -> str:
    """Say how many normal rows will be called outliers."""
    if model.alpha_ is None:
        return f"A row is normal up to a distance of {model.threshold_:.4g}."
    calibration = model.calibration_
    if calibration.source == "held-out":
        held = f"{calibration.total:,.0f} rows were held out to ensure that."
        return f"At most {percent(model.alpha_)} of normal rows will be called outliers: {held}"
    tied = next((found for found in model.noticed_ if found.kind == "ties"), None)
    realised = model.alpha_ if tied is None else float(tied.values[0])
    said = f"About {percent(realised)} of normal rows will be called outliers"
    if tied is not None:
        return f"{said}: many have the same distance."
    few = model.alpha == "auto" and model.alpha_ > 0.01
    return f"{said}: there are too few rows for 1 %." if few else f"{said}."
