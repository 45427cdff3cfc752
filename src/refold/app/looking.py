"""What a table holds, before anything is learned from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from refold._typing import Booleans
from refold.app.drawing import ColumnPicture, column_picture
from refold.app.reading import as_control
from refold.app.tables import KeptTable
from refold.base.errors import UserError
from refold.base.findings import told
from refold.base.words import shortened
from refold.checks import Findings, check
from refold.columns.encoding.column_info import ColumnInfo
from refold.columns.encoding.encoder import TableEncoder
from refold.columns.table import Table
from refold.tabular import Training

ROLES = ("number", "category", "date", "text", "identifier", "ignore")
_EXAMPLES, _LOOKED_AT = 3, 200


@dataclass(frozen=True)
class Choice:
    """What somebody has said of a table."""

    # What columns are, where the guess was wrong.
    roles: Mapping[str, str] = field(default_factory=dict)
    # The column that says which rows are normal, and what it says of these; None is all rows.
    target: tuple[str, str] | None = None
    without: frozenset[int] = frozenset()  # rows that are left out, counted from 1
    # What learns: "auto", or "ref" for each column by itself.
    method: Literal["auto", "ref"] = "auto"

    def chosen(self, table: KeptTable) -> Booleans:
        """Say which rows are learned from."""
        chosen = ~np.isin(table.training.numbers, list(self.without))
        return chosen & table.having(*self.target) if self.target else chosen

    def training(self, table: KeptTable) -> Training:
        """Return the rows and columns to learn from."""
        chosen = self.chosen(table)
        if not chosen.any():
            raise UserError(f"{table.name}: no row is left to learn from.")
        return table.training.only(chosen)

    def learned(self, table: KeptTable) -> Table:
        """Return the rows and columns to learn; what says which rows are normal is none."""
        names = [name for name in table.columns if not self.target or name != self.target[0]]
        if not names:
            raise UserError("No column is left to learn.")
        for name in table.nested:
            if name in names and self.roles.get(name) != "ignore":
                table.learnable(name)
        columns, chosen = table.table.select(names), self.chosen(table)
        return columns if chosen.all() else columns.take(np.flatnonzero(chosen))

    def roles_of(self, learned: Table) -> dict[str, str]:
        """Return the roles of columns that are learned."""
        return {name: role for name, role in self.roles.items() if name in learned.names}


@dataclass(frozen=True)
class ColumnLook:
    """A column as people see it."""

    # name, role: What it is called, and what it is taken for; "" if it says which rows are normal.
    name: str
    role: str
    said: str  # what somebody has said that it is; empty if nobody has
    examples: tuple[str, ...]  # some of its values
    missing: float  # the share of the rows that have none
    distinct: int | None = None  # how many different values texts have
    picture: ColumnPicture | None = None  # what it holds
    noticed: tuple[str, ...] = ()  # what stands out
    roles: tuple[str, ...] = ROLES  # what else it may be taken for


@dataclass(frozen=True)
class TableLook:
    """A table as people see it."""

    rows: int  # how many rows are learned from
    columns: tuple[ColumnLook, ...]  # in their order
    noticed: tuple[str, ...]  # what stands out, and is not about one column
    choice: Choice  # what was said of the table
    parsed: Table  # the rows and columns to learn

    def learned(self, table: KeptTable, choice: Choice) -> Table:
        """Return the rows and columns to learn, parsed if this is what was looked at."""
        same = replace(choice, method=self.choice.method) == self.choice
        return self.parsed if same else choice.learned(table)


def looked_at(table: KeptTable, choice: Choice) -> TableLook:
    """Look at a table as a Detector would.

    Raises
    ------
    ValueError
        If columns cannot be what somebody has said they are.
    """
    training = choice.training(table)
    learned = choice.learned(table)
    roles = choice.roles_of(learned)
    encoder = TableEncoder(roles=roles)
    known = encoder.fit_table(learned)
    places = {learned.names.index(name): column for name, column in known.items()}
    parsed = learned.with_columns(places)
    noticed = in_file(check(parsed, roles=roles), training)
    used = set(encoder.counts.plan.names)
    infos = {column.name: column for column in encoder.columns_}
    columns = []
    for name in table.columns:
        examples = _examples(training.table[name])
        if name not in infos:
            columns.append(ColumnLook(name, "", "", examples, 0.0))
            continue
        column = infos[name]
        picture = column_picture(parsed[name], column.role) if name in used else None
        columns.append(_look(column, examples, picture, roles.get(name, ""), noticed, len(learned)))
    general = (found for found in noticed if found.column not in infos)
    said = tuple(told(general, as_control))
    return TableLook(len(learned), tuple(columns), said, choice, parsed)


def in_file(found: Findings, training: Training) -> Findings:
    """Return findings that call rows by their number in the file, from 1."""
    return found.map(lambda each: each.numbered(training.numbers))


def _look(
    column: ColumnInfo,
    examples: tuple[str, ...],
    picture: ColumnPicture | None,
    said: str,
    noticed: Findings,
    rows: int,
) -> ColumnLook:
    """Describe a column that is learned, or could be."""
    own = [found for found in noticed if found.column == column.name]
    advised = [found.advice.role for found in own if found.advice.column == column.name]
    return ColumnLook(
        name=column.name,
        role=column.role,
        said=said,
        examples=examples,
        missing=column.missing / rows,
        distinct=column.distinct if column.role != "ignore" else None,
        picture=picture,
        noticed=tuple(found.render(as_control) for found in own),
        roles=tuple(dict.fromkeys([*ROLES, *filter(None, [said, *advised])])),
    )


def _examples(column: Any) -> tuple[str, ...]:
    """Return some of the first values."""
    first = (cell for cell in column.slice(0, _LOOKED_AT).to_pylist() if cell is not None)
    return tuple(dict.fromkeys(shortened(str(cell)) for cell in first))[:_EXAMPLES]
