"""What is odd about a cell, in words: a sentence that begins behind the column's name and value."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import nan
from types import MappingProxyType

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.base.words import DIGITS, number, printable, quoted
from refold.columns.context.context import ContextModel
from refold.columns.encoding import dates, texts
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.dates import HOURS, DateCounts
from refold.columns.encoding.dependence import NONE, OTHER
from refold.columns.encoding.shapes import LOOKED_AT, example_of, shape_of
from refold.columns.encoding.surprise import USUAL
from refold.columns.encoding.texts import TextCounts
from refold.columns.encoding.value_counts import ValueCounts
from refold.columns.table import CellState, DateColumn, NumberColumn, Table, TextColumn, as_texts

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_COMMON, _RARE = 0.05, 0.05
_NO_LEVELS: Mapping[int, Floats] = MappingProxyType({})
# A date so much of the whole span before or after all others is that first of all.
_RANGE, _BEYOND = dates.VIEWS.index("range"), 0.05


def text_words(counts: TextCounts, view: str, text: str) -> str:
    """Say what is odd about a text in one of the views of its column."""
    have = counts.values.counts.get(text, 0)
    if view == "value":
        return _value(counts.values, text)
    if view == "character":
        rarest = min(text[:LOOKED_AT], key=lambda each: counts.characters.get(each, 0), default="")
        alike = counts.characters.get(rarest, 0)
        said = _character(rarest, alike, counts.values.rows)
    else:
        collapsed = view == "collapsed shape"
        shapes = counts.collapsed if collapsed else counts.shapes
        shape = shape_of(text, collapsed=collapsed)
        alike = shapes.counts.get(shape, 0)
        said = form_words(shapes, shape, counts.usual_forms[collapsed])
    # Where most rows that look so have this very value, that is what is rare.
    return _value(counts.values, text) if 0 < alike <= 2 * have else said


def usual_text(counts: TextCounts, text: str) -> str:
    """Say how usual a text is by which nobody is surprised."""
    have, rows = counts.values.counts.get(text, 0), counts.values.rows
    if have == 0:
        return f"is new, as many are ({values_in(counts.values)})"
    usual = "usual by itself" if have >= _COMMON * rows else "no rarer than many"
    return f"is {usual} ({have:,} of {rows:,} rows)"


def form_words(shapes: ValueCounts, shape: str, usual: str) -> str:
    """Say how rare the form of a text is, and show the usual one by an example."""
    have = shapes.counts.get(shape, 0)
    if have == 0:
        return f"has another form than {quoted(usual)}"
    rare = f"has a rare form ({have:,} of {shapes.rows:,} rows)"
    return rare if shapes.most_usual == shape else f"{rare}, unlike {quoted(usual)}"


def values_in(values: ValueCounts) -> str:
    """Return "16 values in 2,000 rows"."""
    about = "about " if values.level else ""
    different = f"{about}{values.distinct:,} value{'' if values.distinct == 1 else 's'}"
    return f"{different} in {values.rows:,} rows"


def _value(values: ValueCounts, text: str) -> str:
    have = values.counts.get(text, 0)
    if have:
        return f"is rare ({have:,} of {values.rows:,} rows)"
    if not values.counts:
        return f"is the first value: this column was empty in all {values.rows:,} training rows"
    if values.level:  # it may have been let go of
        return f"is rare (at most {values.error:,} of {values.rows:,} rows)"
    return f"was never seen ({values_in(values)})"


def _character(character: str, have: int, rows: int) -> str:
    if have == 0:
        return f"has {_named(character)}, which no other row has"
    return f"has {_named(character)} ({have:,} of {rows:,} rows)"


def _named(character: str) -> str:
    """Return a character in quotes; by its number if nothing would be seen."""
    if character == " ":
        return "a space"
    if character.isprintable() and character:
        return quoted(character)
    return f"the character U+{ord(character):04X}" if character else "no character"


def date_words(counts: DateCounts, view: str, dates: DateColumn, row: int) -> str:
    """Say what is odd about a date in one of the views of its column."""
    if view == "hour":
        clock = f" at {_clock(dates.seconds[row])}" if counts.has_date else ""
        return _hour(counts.hours, int(dates.hour[row]), clock)
    if view == "weekday":
        day = int(dates.weekday[row])
        return f"is a {WEEKDAYS[day]} ({share_of_rows(int(counts.weekdays[day]), counts.weekdays)})"
    if view == "form":
        assert dates.shapes is not None
        shape = dates.shapes.values[int(dates.shapes.codes[row])]
        return form_words(counts.shapes, shape, example_of(counts.shapes.most_usual))
    side = "before" if dates.seconds[row] < counts.low else "after"
    low, high = (_day(seconds) for seconds in (counts.low, counts.high))
    return f"is {side} all ({low} to {high})"


def cannot_be_read(counts: DateCounts, dates: DateColumn, row: int) -> str:
    """Say that a text is no date, or not one as they were written."""
    kind = "date" if counts.has_date else "time"
    shape = "" if dates.shapes is None else dates.shapes.values[int(dates.shapes.codes[row])]
    if "9" in shape and counts.shapes.rows:
        other = form_words(counts.shapes, shape, example_of(counts.shapes.most_usual))
        return f"cannot be read as a {kind}: it {other}"
    times = int(counts.states[CellState.UNREADABLE])
    return f"is not a {kind}; {never_or(times, int(counts.states.sum()))}"


def never_or(times: int, rows: int) -> str:
    """Say how often something else stood in a column."""
    if times == 0:
        return "it always was one in training"
    return f"so it was in {times:,} of {rows:,} rows"


def share_of_rows(have: int, counts: Integers) -> str:
    """Return "2 of 2,000 rows", "none of 2,000 rows"."""
    return f"{f'{have:,}' if have else 'none'} of {int(counts.sum()):,} rows"


def oclock(hour: int, hours: int = 1) -> str:
    """Return "between 3 and 4 o'clock"."""
    return f"between {hour % HOURS} and {(hour + hours - 1) % HOURS + 1} o'clock"


def _hour(hours: Integers, hour: int, clock: str) -> str:
    if hours[hour]:
        return f"is{clock or ' rare'} ({share_of_rows(int(hours[hour]), hours)} {oclock(hour)})"
    first = hour
    while not hours[(first - 1) % HOURS] and hour - first < HOURS:
        first -= 1
    length = 1
    while not hours[(first + length) % HOURS] and length < HOURS:
        length += 1
    return f"is{clock or ' alone'}; no row {oclock(first, length)}"


def _clock(seconds: float) -> str:
    return str(np.datetime64(int(np.floor(seconds)), "s"))[11:16]


def _day(seconds: float) -> str:
    return str(np.datetime64(int(np.floor(seconds)), "s"))[:10]


def beside_words(
    counts: TableCounts,
    column: int,
    own: int,
    beside: int,
    scored: Collection[str] = (),
    levels: Mapping[int, Floats] = _NO_LEVELS,
) -> str:
    """Say how rare a cell is beside its partner's, both given by their codes.

    The numbers of `scored` columns are standard deviations from what their context lets expect;
    `levels` are the values of discrete columns.
    """
    partner = counts.partner(column)
    slice_ = counts.contingency_tables[column].counts[beside]
    name = printable(counts.plan.names[partner])
    have = int(slice_[own])
    rare = "is rare" if have <= _RARE * slice_.sum() else "is less usual"
    often = "never occurs" if have == 0 and own < OTHER else rare
    said = f"{often} where {name} is {code_words(counts, partner, beside, scored, levels)}"
    rows = share_of_rows(have, slice_)
    if own < len(counts.plan.used[column].frequent):
        return f"{said} ({rows})"
    if own == OTHER:
        return f"{said} ({rows} {'have' if have > 1 else 'has'} one as rare)"
    is_ = "are" if have > 1 else "is"
    return f"{said} ({rows} {is_} {code_words(counts, column, own, scored, levels)})"


def code_words(
    counts: TableCounts,
    column: int,
    code: int,
    scored: Collection[str] = (),
    levels: Mapping[int, Floats] = _NO_LEVELS,
) -> str:
    """Say what a code of a column stands for, behind "is"."""
    plan, others = counts.plan.used[column], counts.others.get(column)
    if code == NONE:
        return "missing"
    if isinstance(others, DateCounts):
        return oclock(code) if others.has_clock else f"a {WEEKDAYS[code]}"
    if plan.role == "number":
        if plan.name in scored:
            return f"{_between(plan.edges, code)} standard deviations off"
        return _between(plan.edges, code, levels.get(column))
    return "a rare value" if code == OTHER else quoted(plan.frequent[code])


def _between(edges: tuple[float, ...], code: int, levels: Floats | None = None) -> str:
    """Say which numbers have a code: the only one of the levels, or those between two edges."""
    if levels is not None:
        alike = levels[np.searchsorted(edges, levels, side="right") == code]
        if len(alike) == 1:
            return number(alike[0])
    if not edges:
        return "any number"
    if code == 0:
        return f"below {number(edges[0])}"
    if code == len(edges):
        return f"{number(edges[-1])} or more"
    low, high = edges[code - 1 : code + 1]
    with np.errstate(over="ignore"):  # so many digits that the two are told apart
        digits = max(DIGITS, int(np.log10(max(abs(low), abs(high)) / (high - low))) + 2)
    return f"from {number(low, digits)} to below {number(high, digits)}"


@dataclass(frozen=True)
class CellDescription:
    """What is said of a cell."""

    # In which respect it is odd: one of the views of its column, "unseen" (a value that training
    # has not), "missing", "unreadable" or "beside"; empty if it is usual.
    view: str
    words: str  # the sentence behind the column's name and the value; may be empty
    surprise: float  # how surprising the cell is by itself, in the respect in which it is most
    beside: int | None = None  # the column that it is odd beside


class CellDescriber:
    """Says what is odd about the cells of rows, given how surprising and how novel they are."""

    def __init__(
        self,
        counts: TableCounts,
        table: Table,
        magnitudes: Floats,
        novel: Booleans,
        context: ContextModel | None = None,
        levels: Mapping[int, Floats] = _NO_LEVELS,
    ) -> None:
        self._counts, self._magnitudes, self._novel = counts, magnitudes, novel
        self._levels = levels
        self._context, self._inputs = context, table.inputs
        self._cells = counts.plan.parse(table).columns
        self._written: dict[int, TextColumn] = {}
        self._views: dict[int, Floats] = {}

    def value(self, row: int, column: int) -> float | str:
        """Return a cell: a number as such, else the text that was written; NaN if missing."""
        cells = self._cells[column]
        if isinstance(cells, NumberColumn) and not cells.unreadable[row]:
            return float(cells.values[row])
        if column not in self._written:
            self._written[column] = as_texts(cells)
        text = self._written[column].text(row)
        return nan if text is None else text

    def describe(self, row: int, column: int) -> CellDescription:
        """Return what is odd about a cell."""
        state = int(self._cells[column].state[row])
        if state == CellState.MISSING:
            words = self._for_group(row, column, 0) or self._missing(column)
            return CellDescription("missing", words, self._surprise(row, column))
        if state == CellState.UNREADABLE:
            return CellDescription(
                "unreadable", self._unreadable(row, column), self._surprise(row, column)
            )
        view, alone = self._leading(row, column)
        beside = self._surprise(row, column) - alone
        unseen = self._unseen(row, column)
        if self._novel[row, column] and self.contradicts(row, column):
            return self._beside(row, column, alone)
        if self._novel[row, column]:
            return CellDescription(
                "unseen", self._odd(row, column, "value" if unseen else view), alone
            )
        if view == "range":
            return CellDescription(view, self._odd(row, column, view), alone)
        if beside > max(alone, USUAL) and not (unseen and alone >= USUAL):
            return self._beside(row, column, alone)
        if alone < USUAL:
            return CellDescription("", self._not_odd(row, column), alone)
        named = "unseen" if unseen and view == "value" else view
        return CellDescription(named, self._odd(row, column, view), alone)

    def _surprise(self, row: int, column: int) -> float:
        return float(self._magnitudes[row, column]) if self._magnitudes.shape[1] else 0.0

    def _leading(self, row: int, column: int) -> tuple[str, float]:
        """Return the view in which a cell is most surprising, and how much."""
        cells = self._cells[column]
        if isinstance(cells, NumberColumn):
            return "value", self._surprise(row, column) - self._dependence(row, column)
        if column not in self._views:
            self._views[column] = self._counts.views(column, cells)
        views = self._views[column][row]
        names = dates.VIEWS if isinstance(cells, DateColumn) else texts.VIEWS
        if isinstance(cells, DateColumn) and views[_RANGE] > _BEYOND:
            return dates.VIEWS[_RANGE], float(views.max())
        added = cells.in_group if isinstance(cells, TextColumn) else None
        if added is not None and added[row, 0] == np.inf:  # its form says less than the value
            return "value", float(views.max())
        return names[int(views.argmax())], float(views.max())

    def _unseen(self, row: int, column: int) -> bool:
        """Whether a text was never seen: that is odder than where it is."""
        cells, counts = self._cells[column], self._counts.others.get(column)
        if not isinstance(cells, TextColumn) or not isinstance(counts, TextCounts):
            return False
        return counts.values.counts.get(cells.values[int(cells.codes[row])], 0) == 0

    def _dependence(self, row: int, column: int) -> float:
        if column not in self._counts.contingency_tables:
            return 0.0
        return float(self._counts.contingency_tables[column].surprise[self._pair(row, column)])

    def contradicts(self, row: int, column: int) -> bool:
        """Whether a cell never occurs beside its partner's."""
        if column not in self._counts.contingency_tables:
            return False
        return bool(self._counts.contradictions(column)[self._pair(row, column)])

    def _pair(self, row: int, column: int) -> tuple[int, int]:
        partner = self._counts.partner(column)
        return int(self._codes[partner][row]), int(self._codes[column][row])

    @cached_property
    def _codes(self) -> list[Integers]:
        return self._counts.plan.codes(self._cells)

    def _beside(self, row: int, column: int, alone: float) -> CellDescription:
        other, own = self._pair(row, column)
        scored = () if self._context is None else self._context.columns
        said = beside_words(self._counts, column, own, other, scored, self._levels)
        return CellDescription("beside", said, alone, self._counts.partner(column))

    def _odd(self, row: int, column: int, view: str) -> str:
        cells, counts = self._cells[column], self._counts.others.get(column)
        if isinstance(cells, TextColumn) and isinstance(counts, TextCounts):
            if said := self._for_group(row, column, texts.VIEWS.index(view)):
                return said
            return text_words(counts, view, cells.values[int(cells.codes[row])])
        if isinstance(cells, DateColumn) and isinstance(counts, DateCounts):
            return date_words(counts, view, cells, row)
        return ""  # of a number its range says more

    def _for_group(self, row: int, column: int, view: int) -> str:
        """Say what is odd about a text in its group, if that is why it surprises."""
        cells = self._cells[column]
        if self._context is None or self._inputs is None or not isinstance(cells, TextColumn):
            return ""
        if cells.in_group is None or view >= cells.in_group.shape[1]:
            return ""
        if cells.in_group[row, view] < USUAL:
            return ""
        name = self._counts.plan.names[column]
        return self._context.text_words(self._inputs, row, name, view)

    def _not_odd(self, row: int, column: int) -> str:
        cells, counts = self._cells[column], self._counts.others.get(column)
        if isinstance(cells, TextColumn) and isinstance(counts, TextCounts):
            return usual_text(counts, cells.values[int(cells.codes[row])])
        return "is usual by itself" if isinstance(cells, DateColumn) else ""

    def _missing(self, column: int) -> str:
        times = int(self._counts.states(column)[CellState.MISSING])
        if times == 0:
            return "it never was in training"
        return f"so {'was' if times == 1 else 'were'} {times:,} of {self._counts.rows:,} rows"

    def _unreadable(self, row: int, column: int) -> str:
        cells, counts = self._cells[column], self._counts.others.get(column)
        if isinstance(cells, DateColumn) and isinstance(counts, DateCounts):
            return cannot_be_read(counts, cells, row)
        times = int(self._counts.states(column)[CellState.UNREADABLE])
        return f"is not a number; {never_or(times, self._counts.rows)}"
