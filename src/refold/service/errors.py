"""What went wrong with a request, as its sender is told."""

from __future__ import annotations

from functools import partial
from typing import Any

_SHOWN = 100  # characters of a column's name


class RequestError(Exception):
    """A request that is not answered with verdicts: why, and which row, from 0, and column."""

    def __init__(
        self, status: int, message: str, *, row: int | None = None, column: str | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.row, self.column = status, message, row, column

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle all parts."""
        return partial(type(self), self.status, self.message, row=self.row, column=self.column), ()

    def document(self) -> dict[str, Any]:
        """Return what is sent."""
        where = {"row": self.row, "column": self.column}
        return {"error": self.message, **{k: v for k, v in where.items() if v is not None}}


def row_error(problem: str, row: int, column: str | None = None) -> RequestError:
    """Return the error of a cell that cannot be used."""
    where = f"row {row}" + ("" if column is None else f", column {column[:_SHOWN]!r}")
    return RequestError(400, f"{where}: {problem}.", row=row, column=column)
