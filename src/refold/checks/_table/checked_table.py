"""A table as the checks look at it: each column read once, by its role."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Booleans, Floats, Integers
from refold.base.errors import UserError
from refold.base.findings import Finding
from refold.base.once import once
from refold.columns.encoding.encoder import N_INIT, TableEncoder
from refold.columns.missing import SourceFormat
from refold.columns.roles import Guess, Role
from refold.columns.table import (
    CellState,
    Column,
    DateColumn,
    NumberColumn,
    Table,
    TextColumn,
)
from refold.columns.table_roles import guess_roles
from refold.judgement import Judgement

# Of more columns so many are drawn for what is compared within a column or among columns.
MOST_COLUMNS = 500
# Of more rows so many are drawn for what is compared; single cells are looked for in all.
SAMPLED = 10_000


@dataclass(frozen=True, eq=False)
class CheckedColumn:
    """A column and what it was taken for."""

    name: str  # what it is called
    role: Role  # what it was taken for
    observed: Column  # as it was brought
    cells: Column | None  # as its role has it; None where it is left out
    noticed: tuple[Finding, ...]  # what was said when its role was guessed
    infinite: Integers  # the rows with infinity, which is no value

    @classmethod
    def of(cls, name: str, column: Column, found: Guess, written: SourceFormat) -> CheckedColumn:
        """Read a column by its role."""
        infinite = np.empty(0, dtype=np.int64)
        if isinstance(column, NumberColumn):
            infinite = np.flatnonzero(np.isinf(column.values))
        if len(infinite):
            assert isinstance(column, NumberColumn)
            column = NumberColumn(np.where(np.isinf(column.values), np.nan, column.values))
        cells = None if found.role == "ignore" else found.parse(column, written)
        return cls(name, found.role, column, cells, found.noticed, infinite)

    @once
    def values(self) -> Floats | None:
        """The numbers, or the moments in seconds, NaN where there is none; None of texts."""
        if isinstance(self.cells, NumberColumn):
            return self.cells.values
        return self.cells.seconds if isinstance(self.cells, DateColumn) else None

    @property
    def numbers(self) -> Floats | None:
        """The numbers; None of other columns."""
        return self.values if isinstance(self.cells, NumberColumn) else None

    @property
    def texts(self) -> TextColumn | None:
        """The texts; None of numbers and dates."""
        return self.cells if isinstance(self.cells, TextColumn) else None

    @once
    def missing(self) -> Booleans:
        """Where there is no value."""
        if self.cells is not None:
            return np.asarray(self.cells.state == CellState.MISSING)
        return np.zeros(len(self.observed), dtype=np.bool_)

    @once
    def unreadable(self) -> Integers:
        """The rows with something else than numbers, or dates."""
        return np.flatnonzero(self.cells.unreadable if self.cells else ())

    @once
    def bits(self) -> NDArray[np.uint64]:
        """A number for each row, the same for the same value: what is unreadable is missing."""
        if self.texts is not None:
            return self.texts.codes.astype(np.uint64)
        assert self.values is not None
        return (self.values + 0.0).view(np.uint64)  # −0 is 0

    def take(self, rows: Integers) -> CheckedColumn:
        """Return some of the rows."""
        cells = self.cells and self.cells.take(rows)
        return replace(self, observed=self.observed.take(rows), cells=cells)

    def without(self, values: Collection[Any]) -> CheckedColumn:
        """Return the same with no value where one of these numbers is."""
        if self.numbers is None or not values:
            return self
        odd = np.isin(self.numbers, [value for value in values if isinstance(value, float)])
        cells = NumberColumn(np.where(odd, np.nan, self.numbers))
        return replace(self, cells=cells)


@dataclass(frozen=True, eq=False)
class CheckedTable:
    """The columns of a table."""

    columns: tuple[CheckedColumn, ...]  # all but those that the user wants to be ignored
    rows: int  # how many rows there are

    @classmethod
    def of(cls, X: Any, roles: Mapping[str, str]) -> CheckedTable:
        """Read a table and guess what its columns are, as a Detector would."""
        table = TableEncoder(roles=dict(roles)).read(X, reset=True)
        ignored = [name for name, role in roles.items() if role == "ignore"]
        table = table.select([name for name in table.names if name not in ignored])
        if table.rows == 0:
            raise UserError("The table has no rows: there is nothing to check.")
        first = table.head(N_INIT)
        if not table.guessed:  # an array holds numbers, if anything
            numbers = [name for name, column in first.items() if not column.is_null.all()]
            roles, first = (
                {**dict.fromkeys(numbers, "number"), **roles},
                replace(first, guessed=True),
            )
        return cls._of(table, guess_roles(first, roles))

    @classmethod
    def of_judged(cls, found: Judgement) -> CheckedTable:
        """Take the rows of a judgement, and columns for what the model takes them for."""
        encoder = found.judge.encoder
        if encoder is not None and found.cells is not None:
            plans = encoder.inputs.used
            guesses = [Guess(plan.role, plan.form) for plan in plans]
            return cls._of(found.cells.as_read.select([plan.name for plan in plans]), guesses)
        table = Table.of_numbers(found.names, found.rows.T)
        return cls._of(table, [Guess("number")] * len(table.columns))

    @classmethod
    def _of(cls, table: Table, guesses: list[Guess]) -> CheckedTable:
        columns = zip(table.names, table.columns, guesses, strict=True)
        found = tuple(CheckedColumn.of(*each, table.written) for each in columns)
        return cls(found, table.rows)

    @property
    def used(self) -> Iterator[CheckedColumn]:
        """The columns that are not left out."""
        return (column for column in self.columns if column.cells is not None)

    @once
    def parsed(self) -> Table:
        """The columns that are not left out, as their roles have them."""
        used = [(column.name, column.cells) for column in self.columns if column.cells is not None]
        return Table([name for name, _ in used], [cells for _, cells in used], self.rows)

    @once
    def sample(self) -> CheckedTable:
        """The same, or if there are many rows some of them, in their order, always the same."""
        if self.rows <= SAMPLED:
            return self
        drawn = np.random.default_rng(0).choice(self.rows, SAMPLED, replace=False)
        return self.take(np.sort(drawn))

    @once
    def some_columns(self) -> CheckedTable:
        """The same, or if there are many columns some of them, in their order, always the same."""
        if len(self.columns) <= MOST_COLUMNS:
            return self
        drawn = np.random.default_rng(0).choice(len(self.columns), MOST_COLUMNS, replace=False)
        return replace(self, columns=tuple(self.columns[k] for k in np.sort(drawn).tolist()))

    def take(self, rows: Integers) -> CheckedTable:
        """Return some of the rows, in this order."""
        return CheckedTable(tuple(column.take(rows) for column in self.columns), len(rows))

    def without(self, cells: Collection[Finding]) -> CheckedTable:
        """Return the same with no value where cells were found odd."""
        odd: dict[str | None, list[Any]] = {}
        for found in cells:
            odd.setdefault(found.column, []).extend(found.values)
        return replace(
            self, columns=tuple(column.without(odd.get(column.name, ())) for column in self.columns)
        )
