"""What is said of a column when it is decided what it is; the message begins with its name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np

from refold.base.advice import Advice, set_role
from refold.base.findings import Finding
from refold.base.words import printable
from refold.columns.date_form import DateForm
from refold.columns.number_form import NumberForm

_DAY = DateForm("iso", has_date=True, has_clock=False)
_SHOWN = 40  # characters of a cell


def shown(value: float | str) -> str:
    """Return a value as people read it, not longer than a few words."""
    if isinstance(value, float):
        return f"{value:.10g}"
    return printable(value if len(value) <= _SHOWN else value[: _SHOWN - 1] + "…")


def moment(seconds: float, form: DateForm) -> str:
    """Return a moment as ISO writes it, as far as the form says it."""
    whole = np.datetime64(int(np.floor(seconds)), "s")
    day, _, clock = str(whole).partition("T")
    return " ".join([day] * form.has_date + [clock] * form.has_clock)


def empty(name: str, rows: int) -> Finding:
    """Say that a column has no value at all."""
    return Finding(
        kind="empty",
        message=f"{name} has no value in any of {rows:,} rows: a value there will be an outlier.",
        column=name,
        advice=set_role("To leave it out", name, "ignore"),
    )


def missing_words(
    name: str, missing: Mapping[str, int], values: Collection[str], rows: int
) -> Iterator[Finding]:
    """Say which words of a column were taken as missing values, and which as values."""
    if missing:
        told = " and ".join(f"{word!r} in {n:,}" for word, n in sorted(missing.items()))
        yield Finding(
            kind="missing-words",
            message=f"{name}: {told} of {rows:,} rows is taken as a missing value.",
            column=name,
            values=tuple(sorted(missing)),
            advice=Advice("If it is a value", "keep", value=",".join(sorted(missing))),
        )
    for word in values:
        yield Finding(
            kind="missing-words",
            message=f"{name}: {word!r} is taken as a value, since most of the {rows:,} rows have "
            "it.",
            column=name,
            values=(word,),
            advice=Advice("If it stands for a missing value", "missing", value=word),
        )


def constant(name: str, value: str) -> Finding:
    """Say that a column always has the same value."""
    return Finding("constant", name, (), (value,), f"{name} is always {shown(value)}.")


# A column whose numbers leave out more than nine in ten is no numbering: a count that grows.
_NUMBERS_PER_ROW = 10


def running_number(
    name: str, first: float | str, last: float | str, *, otherwise: str, rows: int | None = None
) -> Finding:
    """Say that a column numbers the rows, and the role with which it would be learned.

    Of the numbers of so many `rows` it is looked at whether they number these, or only go on.
    """
    ends = f"from {shown(first)} to {shown(last)}"
    message = f"{name} numbers the rows {ends} and is left out."
    if rows is not None and not rows - 1 <= float(last) - float(first) <= _NUMBERS_PER_ROW * rows:
        message = f"{name} goes on from row to row, {ends}, and is left out."
    return Finding(
        kind="running-number",
        message=message,
        column=name,
        values=(first, last),
        advice=set_role("New rows lie beyond it. To learn from it all the same", name, otherwise)
        if rows is not None
        else _names_rows(name, otherwise),
    )


def running_time(name: str, first: float, last: float) -> Finding:
    """Say that a column of moments goes on from row to row."""
    days = [moment(seconds, _DAY) for seconds in (first, last)]
    return Finding(
        kind="running-time",
        message=f"{name} goes on from row to row, from {days[0]} to {days[1]}: "
        "new rows are later, so its end does not count.",
        column=name,
        values=(first, last),
        advice=set_role("To leave it out", name, "ignore"),
    )


def numeric_time(name: str, first: float, last: float) -> Finding:
    """Say that numbers of a column are moments, beyond which all new rows lie."""
    return Finding(
        kind="numeric-time",
        message=f"{name} is a time written as a number, from {shown(first)} to {shown(last)}: "
        "later rows lie beyond it, and sooner or later all would be outliers.",
        column=name,
        values=(first, last),
        advice=set_role("To leave it out", name, "ignore"),
    )


def identifier(name: str, example: str) -> Finding:
    """Say that a column names each row."""
    return Finding(
        kind="identifier",
        message=f"{name} is different in every row, like {shown(example)}: it identifies rows.",
        column=name,
        advice=_names_rows(name, "ignore"),
    )


def _names_rows(name: str, role: str) -> Advice:
    return Advice("To call rows by it, and not to learn it", "id_column", column=name, role=role)


def code(name: str, example: str) -> Finding:
    """Say that numbers of a column are names."""
    return Finding(
        kind="code",
        message=f"{name} is taken as names that are written as numbers, such as {shown(example)}.",
        column=name,
        advice=set_role("If it measures or counts something", name, "number"),
    )


def sentinel(name: str, value: float | str, rows: int) -> Finding:
    """Say that a value may stand for a missing one."""
    return Finding(
        kind="sentinel",
        message=f"{name} is {shown(value)} in {rows:,} rows, apart from all other values.",
        column=name,
        values=(value,),
        advice=Advice(
            "If that stands for a missing value",
            "missing",
            value=shown(value),
            otherwise="or leave the cells empty",
        ),
    )


def ambiguous_number(name: str, example: str, taken: NumberForm, rival: NumberForm) -> Finding:
    """Say that a mark may be one of thousands or the decimal one, and which was taken."""
    values = tuple(float(form.read([example])[0]) for form in (taken, rival))
    return Finding(
        kind="ambiguous-number",
        message=f"{name} {shown(example)} is read as {shown(values[0])}; "
        f"{shown(values[1])} would be possible too.",
        column=name,
        values=values,
        advice=set_role("If that is meant", name, f"number:{rival.decimal}"),
    )


def ambiguous_date(name: str, example: str, taken: DateForm, rival: DateForm) -> Finding:
    """Say that the day or the month may come first, and which was taken."""
    days = [moment(float(form.read([example])[0]), _DAY) for form in (taken, rival)]
    return Finding(
        kind="ambiguous-date",
        message=f"{name} {shown(example)} is read as {days[0]} ({taken.format}); "
        f"{days[1]} would be possible too.",
        column=name,
        values=tuple(days),
        advice=set_role("If that is meant", name, f"date:{rival.format}"),
    )
