"""What each column of a table is taken for; decided once, by the first rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import is_

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.base.advice import Advice
from refold.base.errors import TableError, UserError
from refold.base.findings import Finding
from refold.base.once import once
from refold.base.words import quoted
from refold.columns.date_form import COUNTED, DateForm
from refold.columns.encoding.dependence import BINS, FREQUENT, NONE, OFTEN, OTHER, partners
from refold.columns.form_guess import TextSample, read_as_numbers
from refold.columns.missing import IN_MEMORY, SourceFormat
from refold.columns.number_form import NumberForm
from refold.columns.parsing import (
    are_truths,
    form_of_values,
    have_whole_numbers,
    with_truths,
    with_whole_numbers,
)
from refold.columns.role_findings import running_time
from refold.columns.roles import Guess, Role
from refold.columns.table import (
    EXACT,
    Column,
    DateColumn,
    NumberColumn,
    Table,
    TextColumn,
    as_texts,
    check_finite,
)
from refold.columns.table_roles import guess_roles
from refold.columns.zones import LOCAL, UTC, are_in_utc

# A category with more frequent values than this is told by how surprising they are alone.
MOST_INDICATORS = 12
# So many cells in another form, most of a column, are no errors of single cells.
_OTHERWISE = 3
_TEXTS = ("category", "text", "identifier")
# What to do with numbers where something else was learned.
_MEANT = {
    "durations": "durations were learned. Write it with its unit, as 90 s or 0:01:30.",
    "dates": "dates were learned. Write it as one, as 2025-03-31.",
    "texts": "above 9,007,199,254,740,992 its last digits are lost. Write it as text.",
}


@dataclass(frozen=True)
class ColumnPlan:
    """What one column is taken for."""

    name: str  # what it is called
    role: Role  # "number", "date", "ignore", or a kind of text: "category", "text", "identifier"
    # How its texts are read, if they are numbers or dates or, of a category or another text, came
    # as these; None of other texts, and of a number or date with a type of its own.
    form: NumberForm | DateForm | None = None
    ranged: bool = True  # of a date: whether one later than all is far out
    frequent: tuple[str, ...] = ()  # of a text: the values that dependence tells apart
    edges: tuple[float, ...] = ()  # of a number: where dependence divides it
    # The column that it is looked at beside: its number among those that are not ignored.
    partner: int | None = None
    # missing, kept: Words, or numbers, that stand for missing values, and words such as NA that are
    # values.
    missing: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    truth: bool = False  # of a category: whether it has no other values than True and False
    whole: bool = False  # of a text: whether 3.0 is 3, as frames and sheets write a whole number

    @classmethod
    def of(cls, name: str, found: Guess, column: Column) -> ColumnPlan:
        """Take a guess about a column."""
        running = any(finding.kind == "running-time" for finding in found.noticed)
        form = found.form or (form_of_values(column) if found.role in _TEXTS else None)
        parsed = found.parse(column, IN_MEMORY) if found.role in _TEXTS else column
        return cls(
            name,
            found.role,
            form,
            ranged=not running,
            missing=found.missing,
            kept=found.kept,
            truth=found.role == "category" and are_truths(parsed),
            whole=found.role in _TEXTS and form is None and have_whole_numbers(parsed),
        )

    def parse(self, column: Column, written: SourceFormat) -> Column:
        """Return a column of a table as its role has it."""
        found = Guess(self.role, self.form, missing=self.missing, kept=self.kept)
        parsed = found.parse(column, written)
        parsed = with_whole_numbers(parsed) if self.whole else parsed
        return with_truths(parsed) if self.truth else parsed

    def coded(self, cells: Column) -> ColumnPlan:
        """Return the same, with the codes that dependence will use."""
        if isinstance(cells, TextColumn):
            counted = zip(cells.counts.tolist(), cells.values, strict=True)
            often = [each for each in counted if each[0] >= OFTEN]
            frequent = sorted(often, key=lambda each: (-each[0], each[1]))[:FREQUENT]
            return replace(self, frequent=tuple(value for _, value in frequent))
        if isinstance(cells, NumberColumn):
            values = cells.values[~np.isnan(cells.values)]
            if len(values) == 0:
                return self
            edges = np.unique(np.quantile(values, np.arange(1, BINS) / BINS))
            return replace(self, edges=tuple(edges.tolist()))
        return self

    @property
    def indicators(self) -> tuple[str, ...]:
        """Of a category with few frequent values: those that have a feature of their own."""
        if self.role != "category" or not 2 <= len(self.frequent) <= MOST_INDICATORS:
            return ()
        return self.frequent[:1] if len(self.frequent) == 2 else self.frequent

    def codes(self, cells: Column) -> Integers:
        """Return the code of each row."""
        if isinstance(cells, TextColumn):
            known = [self._code_of.get(value, OTHER) for value in cells.values]
            return np.array([*known, NONE])[cells.codes]
        if isinstance(cells, DateColumn):
            codes = cells.hour if cells.has_clock else cells.weekday
        else:
            codes = np.searchsorted(self.edges, cells.values, side="right")
        return np.where(cells.is_null, NONE, codes)

    @cached_property
    def _code_of(self) -> dict[str, int]:
        return {value: code for code, value in enumerate(self.frequent)}


@dataclass(frozen=True, eq=False)
class Plan:
    """What the columns of a table are taken for."""

    columns: tuple[ColumnPlan, ...]  # all columns, in their order
    noticed: tuple[Finding, ...] = ()  # what stood out while they were looked at

    @classmethod
    def of(
        cls,
        table: Table,
        roles: Mapping[str, str],
        n_init: int | None = None,
        *,
        dependence: bool = True,
    ) -> tuple[Plan, Table]:
        """Return what columns are, by the first rows of a table, and the table, parsed.

        `roles` are those that the user has said. Without `dependence` no column is looked at beside
        another: nothing is encoded by this plan.
        """
        first = table if n_init is None else table.head(n_init)
        for k, column in enumerate(first.columns):
            if isinstance(column.raw, NumberColumn):
                check_finite(column.raw.values, k, table.names)
        guesses = guess_roles(first, roles)
        columns = [
            ColumnPlan.of(name, found, column)
            for (name, column), found in zip(first.items(), guesses, strict=True)
        ]
        noticed = tuple(finding for found in guesses for finding in found.noticed)
        empty = {finding.column for finding in noticed if finding.kind == "empty"}
        if all(column.role == "ignore" or column.name in empty for column in columns):
            said = " ".join(str(finding) for finding in noticed)
            raise UserError(f"There is no column to learn. {said}".strip())
        plan = cls(tuple(columns), noticed)
        used = [k for k, column in enumerate(columns) if column.role != "ignore"]
        parsed = {k: columns[k].parse(table.columns[k], table.written) for k in used}
        table = table.with_columns(parsed)
        plan = replace(plan, noticed=tuple(_over_all(found, table) for found in plan.noticed))
        if dependence and not plan.plain:
            first = plan.parse(table)
            plan = plan._with_partners(first if n_init is None else first.head(n_init))
        return plan, table

    def ignoring(self, found: Sequence[Finding]) -> Plan:
        """Return the same without the columns of these findings."""
        names = {each.column for each in found}
        columns = (ColumnPlan(c.name, "ignore") if c.name in names else c for c in self.columns)
        noticed = (each for each in self.noticed if each.column not in names)
        return Plan(tuple(columns), (*noticed, *found))

    @once
    def used(self) -> tuple[ColumnPlan, ...]:
        """The columns that are not ignored."""
        return tuple(column for column in self.columns if column.role != "ignore")

    @once
    def names(self) -> list[str]:
        """What they are called."""
        return [column.name for column in self.used]

    @once
    def plain(self) -> bool:
        """Whether all of them are numbers: these are then taken as they are."""
        return all(column.role == "number" for column in self.used)

    @once
    def as_texts(self) -> list[str]:
        """The columns whose texts are read by their form alone, whatever they look like."""
        plain = (None, NumberForm())
        return [c.name for c in self.used if c.role != "number" or c.form not in plain]

    @once
    def numbers(self) -> Integers:
        """Which of them are numbers."""
        roles = [column.role for column in self.used]
        return np.array([k for k, role in enumerate(roles) if role == "number"], dtype=np.int64)

    def differing(self, other: Plan) -> list[str]:
        """Return the columns that the other takes for something else, or does not have."""
        theirs = {column.name: column for column in other.columns}
        ours = {column.name: column for column in self.columns}
        return [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]

    @once
    def leading(self) -> Integers:
        """The columns of the features that come before the magnitudes: numbers, then indicators."""
        shown = [k for k, column in enumerate(self.used) for _ in column.indicators]
        return np.array([*self.numbers.tolist(), *shown], dtype=np.int64)

    def indicators(self, codes: list[Integers], rows: int) -> Floats:
        """Return for each frequent value of a category with few whether a row has it."""
        shown = [
            codes[k] == code
            for k, column in enumerate(self.used)
            for code in range(len(column.indicators))
        ]
        return np.array(shown, dtype=np.float64).reshape(len(shown), rows).T

    def parse(self, table: Table) -> Table:
        """Return the columns that are not ignored, as their roles have them."""
        table = table.select(self.names)
        columns = [
            plan.parse(column, table.written)
            for plan, column in zip(self.used, table.columns, strict=True)
        ]
        same = all(map(is_, columns, table.columns))
        return table if same else replace(table, columns=columns)

    def check_forms(self, table: Table) -> None:
        """Refuse a table, parsed, most of whose numbers are written in another form than learned.

        A few such cells are what they are: unreadable.
        """
        for k, (plan, column) in enumerate(zip(self.used, table.columns, strict=True)):
            if not isinstance(column, NumberColumn):
                continue
            form = plan.form if isinstance(plan.form, NumberForm) else NumberForm()
            odd, other = _in_other_form(column)
            if not len(odd) and not table.written.decimal_mark:
                odd, other = _thousands_as_fractions(plan, column), ",.".strip(form.decimal)
            if not len(odd):
                continue
            raise TableError(
                f"{{where}}: {quoted(as_texts(column).text(int(odd[0])) or '')} is not written as "
                f"the numbers that were learned, which have {form}.",
                row=int(odd[0]),
                column=k,
                names=self.names,
                advice=Advice("If this file is right", "decimal", value=other),
            )

    def check_types(self, table: Table) -> None:
        """Refuse a table with numbers where they cannot mean what was learned.

        A number is no date, and has no unit of time; one beyond 2**53 has lost its last digits. A
        few such cells are what they are: unreadable, or another value. A moment in UTC is not
        compared with clocks of which only the offset is known.
        """
        for k, name in enumerate(table.names):
            column = table.columns[k]
            if name in self.on_the_wall and (in_utc := _in_utc(column)).sum() >= _OTHERWISE:
                row = int(in_utc.argmax())
                raise TableError(
                    f"{{where}}: {as_texts(column).text(row)} is in UTC; times with an offset, of "
                    "a zone that is not known, were learned. Write it with the offset there, as "
                    "2025-03-31T10:00+02:00.",
                    row=row,
                    column=k,
                    names=table.names,
                )
            if not isinstance(column, NumberColumn) or column.form is not None:
                continue
            meant = self.not_meant.get(name)
            odd = np.flatnonzero(~column.is_null)
            if meant == "texts":
                odd = np.flatnonzero(np.abs(column.values) > EXACT)
            if meant is not None and len(odd) >= _OTHERWISE:
                raise TableError(
                    f"{{where}}: {as_texts(column).text(int(odd[0]))} is a number; {_MEANT[meant]}",
                    row=int(odd[0]),
                    column=k,
                    names=table.names,
                )

    @once
    def on_the_wall(self) -> list[str]:
        """The columns of dates of which only the offset from UTC was known."""
        forms = {c.name: c.form for c in self.used if isinstance(c.form, DateForm)}
        return [name for name, form in forms.items() if form.zone == LOCAL]

    @once
    def not_meant(self) -> dict[str, str]:
        """What columns hold that numbers, of any size or beyond 2**53, do not say."""
        meant = {}
        for column in self.used:
            if isinstance(column.form, NumberForm) and column.form.kind == "duration":
                meant[column.name] = "durations"
            elif column.role == "date" and not _counted(column.form):
                meant[column.name] = "dates"
            elif column.role in _TEXTS and column.form is None:
                meant[column.name] = "texts"
        return meant

    def with_numbers(self, table: Table, numbers: Floats) -> Table:
        """Return rows, parsed, with other numbers, those of `numbers`."""
        places = enumerate(self.numbers.tolist())
        others: dict[int, Column] = {k: NumberColumn(numbers[:, place]) for place, k in places}
        return self.parse(table).with_columns(others)

    def codes(self, columns: Sequence[Column]) -> list[Integers]:
        """Return the codes of all columns; none of those that nobody asks for."""
        nobody = np.empty(0, dtype=np.int64)
        return [
            plan.codes(each) if coded else nobody
            for plan, each, coded in zip(self.used, columns, self._coded, strict=True)
        ]

    @once
    def _coded(self) -> list[bool]:
        """Which columns have a partner, are one, or have indicators."""
        asked = {column.partner for column in self.used}
        return [
            column.partner is not None or k in asked or bool(column.indicators)
            for k, column in enumerate(self.used)
        ]

    def _with_partners(self, table: Table) -> Plan:
        cells = table.columns
        coded = [plan.coded(each) for plan, each in zip(self.used, cells, strict=True)]
        best = partners([plan.codes(each) for plan, each in zip(coded, cells, strict=True)])
        done = {p.name: replace(p, partner=other) for p, other in zip(coded, best, strict=True)}
        return Plan(tuple(done.get(column.name, column) for column in self.columns), self.noticed)


def _counted(form: NumberForm | DateForm | None) -> bool:
    return isinstance(form, DateForm) and form.format in COUNTED


def _in_utc(column: Column) -> Booleans:
    """Say which cells are moments that are given in UTC."""
    if isinstance(column, DateColumn):
        return ~column.is_null & (column.clock == UTC)
    if not isinstance(column, TextColumn):
        return np.zeros(len(column), dtype=np.bool_)
    return np.array([*are_in_utc(column.values), False])[column.codes]


def _in_other_form(column: NumberColumn) -> tuple[Integers, str]:
    """Return the unreadable cells if most are, and the decimal mark with which they are numbers."""
    odd = np.flatnonzero(column.unreadable)
    cells = column.source.is_null if column.source is not None else column.is_null
    if len(odd) < _OTHERWISE or 2 * len(odd) <= np.count_nonzero(~cells):
        return odd[:0], ""
    other = read_as_numbers(TextSample.of(as_texts(column).take(odd)))
    return odd if other.share >= 1.0 - 1.0 / _OTHERWISE else odd[:0], other.form.decimal


def _thousands_as_fractions(plan: ColumnPlan, column: NumberColumn) -> Integers:
    """Return cells such as 17.911 of a column that had numbers such as 17911 in training.

    They have three decimals each, all lie below what was usual, and 1,000 times as much is usual.
    """
    values = np.abs(column.values)
    at = np.flatnonzero(values % 1.0 > 0.0)
    if column.form is None or not plan.edges or len(at) < _OTHERWISE:
        return at[:0]
    large = 1000.0 * values[at]
    whole = np.abs(large - np.round(large)) < 1e-6
    fine = np.count_nonzero(np.round(large) % 10.0)
    usual = plan.edges[0] <= np.median(large) <= plan.edges[-1]
    below = values[at].min() > 1.0 and values[at].max() < plan.edges[0]
    return at if whole.all() and 2 * fine > len(at) and usual and below else at[:0]


def _over_all(found: Finding, table: Table) -> Finding:
    """Return what was noticed of the first rows with the first and last moment of all rows."""
    if found.kind != "running-time" or found.column is None:
        return found
    column = table[found.column]
    assert isinstance(column, DateColumn)
    seconds = column.seconds[~column.is_null]
    return running_time(found.column, float(seconds[0]), float(seconds[-1]))
