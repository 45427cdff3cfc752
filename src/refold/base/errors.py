"""Errors of users' input, and any error as a sentence."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import partial

from refold.base.advice import Advice, Setting, in_python


class UserError(ValueError):
    """Input that cannot be used; the text says where, why, and, by its `advice`, what to do.

    Whatever is to blame on input is one of these. It costs nothing to import.
    """

    def __init__(self, problem: str = "", *, advice: Advice | None = None) -> None:
        super().__init__(problem)
        self.advice = advice

    def __str__(self) -> str:
        return self.render(in_python)

    def render(self, setting: Setting) -> str:
        """Say what is wrong and what to do; `setting` says how a surface sets what is advised."""
        said = super().__str__()
        return f"{said} {self.advice.render(setting)}" if self.advice else said

    def about(self, name: str) -> UserError:
        """Return the same error of a file or a table of that name."""
        return UserError(f"{name}: {super().__str__()}", advice=self.advice)


def require_columns(what: str, names: Iterable[str], there: Container[str]) -> None:
    """Refuse a table in which some of the columns are not there."""
    absent = [name for name in names if name not in there]
    if absent:
        more = ", …" if len(absent) > _NAMED else ""
        raise UserError(f"{what} has no column {', '.join(map(repr, absent[:_NAMED]))}{more}.")


_NAMED = 10


class TableError(UserError):
    """A table that cannot be used, with the row and column (from 0) that are to blame.

    `problem` has ``{where}`` in the place of the position. Engines know columns by number;
    :meth:`named` says the same with the user's names. Without, they are x0, x1, …
    """

    def __init__(
        self,
        problem: str,
        *,
        row: int | None = None,
        column: int | None = None,
        names: Sequence[str] | Mapping[int, str] | None = None,
        advice: Advice | None = None,
    ) -> None:
        self.problem, self.row, self.column = problem, row, column
        self._named = None if names is None or column is None else {column: names[column]}
        super().__init__(self.at(self._position()), advice=advice)

    def at(self, where: str) -> str:
        """Say what is wrong, the place in other words."""
        before, _, after = self.problem.partition("{where}")  # users' own words may have braces
        return before + where + after

    def located(self, place: str, names: Sequence[str] | None = None) -> str:
        """Say what is wrong: the row by its place, such as ``line 7``, the column by its name."""
        named = self.named(names)
        return self.at(", ".join(filter(None, [place, named._column()])))

    def named(self, names: Sequence[str] | None) -> TableError:
        """Return the same error with the column called by its name, unless it is already."""
        if self._named is not None:
            return self
        return TableError(
            self.problem, row=self.row, column=self.column, names=names, advice=self.advice
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle all parts: errors travel between processes."""
        again = partial(TableError, self.problem, row=self.row, column=self.column)
        return partial(again, names=self._named, advice=self.advice), ()

    def _position(self) -> str:
        row = "" if self.row is None else f"row {self.row}"
        return ", ".join(filter(None, [row, self._column()]))

    def _column(self) -> str:
        if self.column is None:
            return ""
        name = f"x{self.column}" if self._named is None else self._named[self.column]
        return f"column {name!r}"


def infinite(row: int, column: int) -> TableError:
    """Report an infinite value."""
    return TableError(
        "Input X contains infinity: {where}. Only finite numbers and NaN (a missing value) can be "
        "used; replace it or mark it as missing.",
        row=row,
        column=column,
    )


def not_a_number(row: int, column: int, value: object) -> TableError:
    """Report a cell that holds something else."""
    return TableError(
        f"{{where}} holds {value!r}, not a number. Encode text as numbers first, or mark the value "
        "as missing (NaN).",
        row=row,
        column=column,
    )


def empty_row(row: int) -> TableError:
    """Report a row without any observed value."""
    return TableError(
        "Nothing is observed in {where}: every value is missing, so it has no distance. Leave the "
        "row out.",
        row=row,
    )


def empty_column(column: int) -> TableError:
    """Report a training column without any observed value."""
    return TableError(
        "Nothing is observed in {where}: every value is missing or has weight zero, so nothing can "
        "be learned from it. Leave the column out.",
        column=column,
    )


def light_column(column: int) -> TableError:
    """Report a training column whose observed rows weigh too little for a variance."""
    return TableError(
        "The weights of the rows observed in {where} sum to 1 or less. Weights are frequencies and "
        "the variance divides by their sum minus 1: rescale sample_weight, for example to a mean "
        "of 1.",
        column=column,
    )


def heavy_column(column: int) -> TableError:
    """Report a training column whose observed rows weigh more than can be added up."""
    return TableError(
        "The weights of the rows observed in {where} sum to more than 1e300. Weights are "
        "frequencies: rescale sample_weight, for example to a mean of 1.",
        column=column,
    )


def too_few_without_part(error: TableError) -> TableError:
    """Report a training column that can be learned from all rows, but not without some."""
    return TableError(
        "Too few rows have a value in {where} to learn from: alpha sets the threshold from rows "
        "that a model has not seen, and without some of them nothing is left there. Leave the "
        "column out, or fit without alpha and call calibrate with rows of their own.",
        column=error.column,
    )


def too_few_without_odd(error: TableError) -> TableError:
    """Report a training column that can be learned from all rows, but not without odd ones."""
    return TableError(
        "Too few rows have a value in {where} to learn from: hardly any is left without the rows "
        "that trim leaves out.",
        column=error.column,
        advice=Advice("Leave the column out, or keep odd rows", "trim", value=0),
    )


def not_counted(column: int) -> TableError:
    """Report rows that are to be forgotten but were never counted in."""
    return TableError(
        "More rows would be forgotten than were learned: {where} would count below zero. Only rows "
        "that were learned, with the same weights, can be forgotten; nothing was changed.",
        column=column,
    )


SHOW_TRACEBACK = "REFOLD_TRACEBACK"
# What Python says where there is no room for a thread.
_NO_THREAD = "can't start new thread"


def sentence_of(error: Exception, setting: Setting = in_python) -> str:
    """Return what to tell about an error; what no user can have caused is called a bug.

    `setting` says how a surface sets what is advised.

    >>> sentence_of(UserError("parts.csv has no columns."))
    'parts.csv has no columns.'
    """
    if isinstance(error, UserError):
        return error.render(setting)
    if isinstance(error, ImportError):
        return str(error)
    if isinstance(error, OSError):
        return f"{_what_failed(error)}: {error.strerror or error}"
    if isinstance(error, MemoryError) or _NO_THREAD in str(error):
        return f"There is not enough memory for this. {error}".strip()
    if isinstance(error, _table_errors()):
        return f"The table cannot be read: {' '.join(str(error).split())}"
    return (
        f"This is a bug in refold ({type(error).__name__}: {error}). Please report it; with "
        f"{SHOW_TRACEBACK}=1 in the environment, the command shows where it happened."
    )


def _what_failed(error: OSError) -> str:
    name = error.filename
    if name is None:
        return "Reading or writing failed"
    return str(name) if isinstance(name, int) else os.fsdecode(name)


def _table_errors() -> tuple[type[Exception], ...]:
    """Return what the readers of tables raise; Arrow is not imported for that."""
    arrow = sys.modules.get("pyarrow")
    return (csv.Error,) if arrow is None else (csv.Error, arrow.ArrowException)
