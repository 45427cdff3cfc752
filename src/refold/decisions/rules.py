"""Rules of the user's beside the model: what they may say, and for which cells and rows they hold.

They are given as a mapping of columns to what is said of them, the same in Python, TOML and JSON.
`rules_reading` makes `Rules` of that; here is what they mean.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from refold._typing import Booleans, Floats
from refold.base.errors import UserError
from refold.base.words import number, quoted, shortened, suggestion
from refold.columns.encoding.shapes import shape_of
from refold.columns.table import Column, DateColumn, NumberColumn, Table, TextColumn

Direction = Literal["high", "low"]
_NAMED = 6  # values that are told one by one


@dataclass(frozen=True)
class Specification:
    """What the cells of a column may be; None does not say."""

    low: float | str | None = None  # the smallest and the largest; a date as it is written
    high: float | str | None = None
    allowed: tuple[str, ...] | None = None
    formats: tuple[str, ...] | None = None  # shapes, such as AA-9999
    required: bool = False  # whether there must be a value

    def violated(self, column: Column) -> Booleans:
        """Say which cells are otherwise; one that is missing only if it is required."""
        if isinstance(column, TextColumn):
            odd = np.array([*map(self._odd_text, column.values), False], dtype=np.bool_)
            out = odd[column.codes]
        else:
            values = column.values if isinstance(column, NumberColumn) else column.seconds
            out = np.zeros(len(values), dtype=np.bool_)
            with np.errstate(invalid="ignore"):
                if self.low is not None:
                    out |= values < _as_number(self.low)
                if self.high is not None:
                    end = isinstance(column, DateColumn) and len(str(self.high)) <= _DAY_LENGTH
                    out |= (
                        values >= _as_number(self.high) + _DAY
                        if end
                        else (values > _as_number(self.high))
                    )
            if self.allowed is not None:
                out |= ~np.isin(values, [_as_number(each) for each in self.allowed])
                out &= ~column.is_null
        return np.asarray(out | column.is_null if self.required else out)

    def _odd_text(self, text: str) -> bool:
        if self.allowed is not None and text not in self.allowed:
            return True
        return self.formats is not None and shape_of(text) not in self.formats

    def words(self, value: float | str, shown: Callable[[float], str], unit: str) -> str:
        """Say what a cell violates: "is outside the limit you set, 0–5 bar"."""
        if not isinstance(value, str) and value != value:
            return "is required by the rule you set"
        if self.allowed is not None and str(value) not in self.allowed:
            some = ", ".join(quoted(each) for each in self.allowed[:_NAMED])
            more = ", …" if len(self.allowed) > _NAMED else ""
            return f"is not among the values you allow, {some}{more}"
        if self.formats is not None:
            return f"does not have the format you set, {' or '.join(self.formats[:_NAMED])}"
        return f"is outside the limit you set, {self.range_text(shown)}{unit}"

    def range_text(self, shown: Callable[[float], str] = number) -> str:
        """Return "0–5", "at least 0" or "at most 5"."""
        low, high = (
            None if end is None else end if isinstance(end, str) else shown(float(end))
            for end in (self.low, self.high)
        )
        if low is not None and high is not None:
            return f"{low}–{high}"
        return f"at least {low}" if high is None else f"at most {high}"


_DAY = 86_400.0
_DAY_LENGTH = len("2026-12-31")


def _as_number(value: float | str) -> float:
    """Return a limit as columns have it: seconds since 1970 of a date."""
    if not isinstance(value, str):
        return float(value)
    try:
        return float(value)
    except ValueError:
        return float(np.datetime64(value, "s").astype(np.int64))


@dataclass(frozen=True)
class Condition:
    """What the cells of a row must be for a rule to hold for it."""

    tests: tuple[tuple[str, Specification], ...] = ()  # by column; all must hold
    text: str = ""  # the same in words

    def holds(self, table: Table) -> Booleans:
        """Say for which rows it holds; a missing cell says nothing."""
        out = np.ones(table.rows, dtype=np.bool_)
        for name, test in self.tests:
            column = table[name]
            out &= ~column.is_null & ~test.violated(column)
        return out


@dataclass(frozen=True)
class Mute:
    """Rows that are not outliers, or in which a column does not count."""

    condition: Condition = Condition()
    until: str | None = None  # the last day, such as 2026-12-31; None is for ever

    def holds(self, table: Table, days: NDArray[np.datetime64]) -> Booleans:
        """Say for which rows it holds; `days` are theirs."""
        out = self.condition.holds(table)
        return out if self.until is None else np.asarray(out & (days <= np.datetime64(self.until)))

    @property
    def text(self) -> str:
        """Return "machine = M17 until 2026-12-31"."""
        until = "" if self.until is None else f"until {self.until}"
        return " ".join(filter(None, [self.condition.text, until]))


@dataclass(frozen=True)
class Tolerance:
    """How much of a difference does not count."""

    amount: float
    kind: Literal["absolute", "percent", "places"] = "absolute"

    def width(self, values: Floats, step: float) -> Floats:
        """Return the same for each value; `step` is a unit of the last place."""
        if self.kind == "percent":
            return np.asarray(np.abs(values) * (self.amount / 100.0))
        return np.full(len(values), self.amount * (step if self.kind == "places" else 1.0))


@dataclass(frozen=True)
class ColumnRule:
    """What is said of one column."""

    name: str
    direction: Direction | None = None  # only high, or low, values count
    tolerance: Tolerance | None = None
    blame: bool = True  # whether it is named as a reason
    # What its cells may be, and where.
    specifications: tuple[tuple[Condition, Specification], ...] = ()
    mutes: tuple[Mute, ...] = ()  # where it does not count

    @property
    def moves(self) -> bool:
        """Whether other values count instead of some."""
        return self.direction is not None or self.tolerance is not None


@dataclass(frozen=True)
class Rules:
    """What the user has said of columns and rows."""

    columns: tuple[ColumnRule, ...] = ()
    mutes: tuple[Mute, ...] = ()  # rows that are not outliers
    given: Mapping[str, Any] = field(default_factory=dict, compare=False)  # as they were given

    def __bool__(self) -> bool:
        return bool(self.columns or self.mutes)

    @property
    def unblamed(self) -> tuple[str, ...]:
        """The columns that are never named as a reason."""
        return tuple(rule.name for rule in self.columns if not rule.blame)

    @property
    def calibrates(self) -> bool:
        """Whether distances of rows differ from those without the rules."""
        return bool(self.mutes) or any(
            rule.moves or rule.specifications or rule.mutes for rule in self.columns
        )

    @property
    def conditions(self) -> list[tuple[str, Condition]]:
        """All conditions, and where each stands."""
        found = [("mute", mute.condition) for mute in self.mutes]
        for rule in self.columns:
            found += [(f"{rule.name}: mute", mute.condition) for mute in rule.mutes]
            found += [(f"{rule.name}: if", condition) for condition, _ in rule.specifications]
        return [(place, condition) for place, condition in found if condition.tests]

    def limits_of(self, name: str) -> tuple[tuple[float, ...], str]:
        """Return the limits that hold for a column in all rows, dates in seconds; and in words."""
        found = [
            limits
            for rule in self.columns
            for condition, limits in rule.specifications
            if rule.name == name
            and not condition.tests
            and (limits.low, limits.high) != (None, None)
        ]
        ends = (end for limits in found for end in (limits.low, limits.high) if end is not None)
        return tuple(map(_as_number, ends)), " and ".join(limits.range_text() for limits in found)

    def check(self, roles: Mapping[str, str], known: Collection[str], *, context: bool) -> None:
        """Refuse rules that do not fit the columns that were learned, by role, of all that came."""
        for place, condition in self.conditions:
            for name, test in condition.tests:
                _check_column(f"{place}: {name}", name, test, roles, known)
        for rule in self.columns:
            _check_column(rule.name, rule.name, Specification(), roles, known)
            for _, specification in rule.specifications:
                role = roles[rule.name]
                if specification.allowed is not None and role == "number":
                    raise UserError(
                        f"rules: {rule.name}: allowed is for texts and categories, and this is a "
                        "column of numbers. Give min and max, or the column the role category."
                    )
                _check_column(rule.name, rule.name, specification, roles, known)
            if rule.moves and roles[rule.name] != "number":
                what = "direction" if rule.direction else "tolerance"
                raise UserError(
                    f"rules: {rule.name}: {what} is for numbers, and this is a column of the role "
                    f"{roles[rule.name]}."
                )
            if context and rule.tolerance is not None and rule.tolerance.kind == "places":
                raise UserError(
                    f"rules: {rule.name}: a tolerance in units of the last place needs a model "
                    "without by, over, context and window. Give it as a number."
                )

    def row_days(self, table: Table, over: Collection[str]) -> NDArray[np.datetime64]:
        """Return the day of each row: by the column of its time, else today."""
        for name in over:
            column = table[name]
            if isinstance(column, DateColumn) and column.has_date:
                seconds = np.nan_to_num(column.seconds).astype(np.int64).astype("M8[s]")
                return np.asarray(seconds.astype("M8[D]"))
        return np.full(table.rows, np.datetime64(today()), dtype="M8[D]")

    def muted(self, table: Table, days: NDArray[np.datetime64]) -> Booleans:
        """Say which rows are not outliers whatever they hold."""
        out = np.zeros(table.rows, dtype=np.bool_)
        for mute in self.mutes:
            out |= mute.holds(table, days)
        return out

    def muted_by(self, row: Table, days: NDArray[np.datetime64]) -> str:
        """Return the conditions that mute a table of one row, in words."""
        return "; ".join(mute.text for mute in self.mutes if mute.holds(row, days)[0])

    def words(self, name: str, row: Table, shown: Callable[[float], str], unit: str) -> str:
        """Say which rule the cell of a column violates in a table of one row; empty if none."""
        rule = next((rule for rule in self.columns if rule.name == name), None)
        for condition, specification in () if rule is None else rule.specifications:
            if condition.holds(row)[0] and specification.violated(row[name])[0]:
                column = row[name]
                value: float | str = np.nan
                if isinstance(column, TextColumn):
                    value = column.text(0) or np.nan
                elif isinstance(column, NumberColumn):
                    value = float(column.values[0])
                elif not column.is_null[0]:
                    value = "date"
                where = f" where {condition.text}" if condition.tests else ""
                return f"{specification.words(value, shown, unit)}{where}"
        return ""


NO_RULES = Rules()


def today() -> date:
    """Return the day on which rows without a time of their own are judged."""
    return date.today()  # a day of the user's calendar


def _check_column(
    place: str,
    name: str,
    test: Specification,
    roles: Mapping[str, str],
    known: Collection[str],
) -> None:
    """Refuse a column that is not there, or cannot be tested so."""
    if name not in roles:
        if name in known:
            raise UserError(
                f"rules: {place}: the column {name!r} is not learned, so no rule can look at it. "
                "Give it a role, or leave the rule out."
            )
        near = shortened(suggestion(name, known))
        raise UserError(f"rules: {place}: there is no column {name!r}.{near}")
    role = roles[name]
    for key, end in (("min", test.low), ("max", test.high)):
        if end is None:
            continue
        if role not in ("number", "date"):
            raise UserError(
                f"rules: {place}: {key} is for numbers and dates, and this is a column of the role "
                f"{role}."
            )
        if (role == "date") != isinstance(end, str):
            raise UserError(
                f"rules: {place}: {key} is {end!r}, and this is a column of the role {role}."
            )
    if test.formats is not None and role in ("number", "date"):
        raise UserError(
            f"rules: {place}: format is for texts, and this is a column of the role {role}."
        )
    if role == "number" and test.allowed is not None:
        for each in test.allowed:
            try:
                float(each)
            except ValueError:
                raise UserError(
                    f"rules: {place}: {each!r} is not a number, and this is a column of numbers."
                ) from None


def rules_in_words(rules: Rules) -> list[tuple[str, list[str]]]:
    """Say what rules say: by column, those of all rows last."""
    found = [(rule.name, list(_column_words(rule))) for rule in rules.columns]
    if rules.mutes:
        found.append(("Rows", [f"never outliers: {mute.text}" for mute in rules.mutes]))
    return found


def _column_words(rule: ColumnRule) -> Iterator[str]:
    for condition, specification in rule.specifications:
        where = f", where {condition.text}" if condition.tests else ""
        yield f"{'; '.join(_limits(specification))}{where}"
    if rule.direction is not None:
        yield f"only {rule.direction} values count"
    if rule.tolerance is not None:
        yield f"differences up to {_amount(rule.tolerance)} do not count"
    if not rule.blame:
        yield "never named as a reason"
    for mute in rule.mutes:
        yield f"does not count: {mute.text}"


def _limits(specification: Specification) -> Iterator[str]:
    if specification.low is not None or specification.high is not None:
        yield specification.range_text()
    if specification.allowed is not None:
        yield f"only {', '.join(map(quoted, specification.allowed))}"
    if specification.formats is not None:
        yield f"of the format {' or '.join(specification.formats)}"
    if specification.required:
        yield "never missing"


def _amount(tolerance: Tolerance) -> str:
    unit = {"absolute": "", "percent": " %", "places": " units of the last place"}
    return f"{number(tolerance.amount)}{unit[tolerance.kind]}"
