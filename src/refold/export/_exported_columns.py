"""What each column of a mixed table adds to a distance, as tables that any language can look up.

Every view of a text that was counted is known when a model is written: only a text that is new
needs its shape and its characters looked at, and not even that where a new text is rejected anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.base.advice import Advice
from refold.base.errors import UserError
from refold.columns.date_form import DateForm
from refold.columns.encoding.counts import TableCounts
from refold.columns.encoding.dates import DateCounts
from refold.columns.encoding.dependence import NONE, OTHER
from refold.columns.encoding.plan import ColumnPlan
from refold.columns.encoding.surprise import Surprise
from refold.columns.encoding.texts import TextCounts
from refold.columns.missing import number_codes
from refold.columns.number_form import NumberForm
from refold.columns.table import TextColumn
from refold.columns.zones import LOCAL
from refold.models.detector import Detector

# What can be left out, and the views that are meant.
LEFT_OUT = {"shape": ("shape", "collapsed shape"), "character": ("character",)}


@dataclass(frozen=True, eq=False)
class ExportedText:
    """A column of texts. Tables have an entry for each value, then of a new text, then of none."""

    name: str  # what it is called
    values: list[str]  # the texts that were counted
    # (K + 2,): how surprising each is in all views; a new one by being new alone.
    magnitudes: Floats
    novel: Booleans  # which were never there though the column seemed closed
    codes: Integers  # what dependence takes them for
    counts: TextCounts  # for the views of a new text
    views: tuple[str, ...]  # in which a new text is looked at besides: of "shape" and "character"
    decisive: bool  # whether labels depend on these; not where a new text is rejected anyway
    missing: frozenset[str]  # words that stand for a missing value, in small letters
    truth: bool  # whether its values are True and False, which may be written otherwise
    whole: bool  # whether a whole number may be written as 3.0 too


@dataclass(frozen=True, eq=False)
class ExportedNumber:
    """A column of numbers. Tables have an entry for what is readable, missing, unreadable."""

    name: str  # what it is called
    form: NumberForm  # how it is read where it is text
    magnitudes: Floats  # (3,): how surprising each state is
    novel: Booleans  # which were never there
    edges: tuple[float, ...]  # where dependence divides it
    missing: frozenset[str]  # words and numbers that stand for a missing value
    # From where to where a number is not novel; infinite unless zero is an end.
    floor: float = -np.inf
    ceiling: float = np.inf


@dataclass(frozen=True, eq=False)
class ExportedDate:
    """A column of dates or times. Tables of states are as those of numbers."""

    name: str  # what it is called
    # How it was written when it was learned; None if it had a type of its own.
    form: DateForm | None
    magnitudes: Floats  # (3,): how surprising each state is
    novel: Booleans  # which were never there
    # hours, weekdays: (24,): how surprising each is; 0 where the column does not tell.
    hours: Floats
    weekdays: Floats
    ranged: bool  # whether what is later than all is far out; what is earlier always is
    counts: DateCounts  # from when to when, and written how
    missing: frozenset[str]  # words that stand for a missing value

    @property
    def zone(self) -> str:
        """The zone whose clock is meant, empty where it is that on the wall."""
        zone = "" if self.form is None else self.form.clock
        return "" if zone == LOCAL else zone


ExportedColumn = ExportedText | ExportedNumber | ExportedDate


@dataclass(frozen=True, eq=False)
class Beside:
    """A column beside its partner."""

    partner: int  # the number of the other column
    surprise: Floats  # (48, 48): by the code of the other column, and the own
    novel: Floats  # the same: 1 for what contradicts the other column, else 0


@dataclass(frozen=True, eq=False)
class Columns:
    """All columns of a table."""

    all: list[ExportedColumn]  # in the order of the model
    numbers: Integers  # which of them are numbers
    beside: dict[int, Beside]  # those that are looked at beside another
    certain: float  # what a novel cell adds to the distance

    @property
    def names(self) -> list[str]:
        """What they are called."""
        return [column.name for column in self.all]


def columns_of(model: Detector, without: Collection[str] = ()) -> Columns:
    """Return the columns of a fitted model, without some views of new texts."""
    unknown = [view for view in without if view not in LEFT_OUT]
    if isinstance(without, str) or unknown:
        known = ", ".join(map(repr, LEFT_OUT))
        raise ValueError(f"without={without!r} is not a collection of views among {known}.")
    counts, scorer = model.encoder_.counts, model.scorer()
    rejected = scorer.certain > model.threshold_
    columns = [
        _column(counts, k, plan, rejected, without) for k, plan in enumerate(counts.plan.used)
    ]
    if scorer.zero_ends is not None:
        for k, *ends in zip(counts.plan.numbers.tolist(), *scorer.zero_ends, strict=True):
            columns[k] = replace(columns[k], floor=float(ends[0]), ceiling=float(ends[1]))
    beside = {
        k: Beside(counts.partner(k), slices.surprise, counts.contradictions(k).astype(np.float64))
        for k, slices in counts.contingency_tables.items()
    }
    return Columns(columns, counts.plan.numbers, beside, scorer.certain)


def _column(
    counts: TableCounts, k: int, plan: ColumnPlan, rejected: bool, without: Collection[str]
) -> ExportedColumn:
    kept, states, novel = counts.others.get(k), counts.states(k), counts.novel_states(k)
    readable = Surprise.of_counts(states).of_rows(states)
    if isinstance(kept, TextCounts):
        return _text(plan, kept, counts.closed(k), novel, rejected, without)
    if isinstance(kept, DateCounts):
        assert plan.form is None or isinstance(plan.form, DateForm)
        hours, weekdays = _surprises(kept.hours), _surprises(kept.weekdays)
        return ExportedDate(
            plan.name,
            plan.form,
            readable,
            novel,
            hours if kept.has_clock else 0.0 * hours,
            weekdays if kept.has_date else 0.0 * weekdays,
            plan.ranged,
            kept,
            missing_texts(plan),
        )
    form = plan.form if isinstance(plan.form, NumberForm) else NumberForm()
    return ExportedNumber(plan.name, form, readable, novel, plan.edges, missing_texts(plan))


def missing_texts(plan: ColumnPlan) -> frozenset[str]:
    """Return the words that stand for a missing value in cells of a type for texts."""
    return frozenset({"", *plan.missing}).difference(plan.kept)


def _text(
    plan: ColumnPlan,
    counts: TextCounts,
    closed: bool,
    novel_states: Booleans,
    rejected: bool,
    without: Collection[str],
) -> ExportedText:
    values = list(counts.values.counts)
    known = counts.views(TextColumn(values, np.empty(0, dtype=np.int64))).max(axis=1)
    value = counts.surprises[0]
    place = {text: code for code, text in enumerate(plan.frequent)}
    novel = np.zeros(len(values) + 2, dtype=np.bool_)
    novel[-2:] = closed, novel_states[1]
    return ExportedText(
        plan.name,
        values,
        np.concatenate([known[:-1], value.of_rows(np.array([0])), known[-1:]]),
        novel,
        np.array([*(place.get(text, OTHER) for text in values), OTHER, NONE]),
        counts,
        tuple(view for view in LEFT_OUT if view not in without),
        not (closed and rejected),
        missing_texts(plan),
        plan.truth,
        plan.whole,
    )


def _surprises(counts: Integers) -> Floats:
    return Surprise.of_counts(counts).of_rows(counts)


def check_views(columns: Sequence[ExportedColumn], language: str) -> None:
    """Refuse, by name, columns whose new texts would need what a language cannot say."""
    for column in columns:
        if isinstance(column, ExportedText) and column.views and column.decisive:
            raise UserError(
                f"Column {column.name!r}: the {' and the '.join(column.views)} of a text that was "
                f"never seen cannot be said in {language}.",
                advice=Advice(
                    "To judge such a text by being new alone", "without", value="shape,character"
                ),
            )


def check_missing(columns: Sequence[ExportedColumn], language: str) -> None:
    """Refuse, by name, numbers that stand for a missing value."""
    for column in columns:
        if isinstance(column, ExportedNumber) and (codes := number_codes(column.missing)):
            raise ValueError(
                f"Column {column.name!r}: {min(codes):g} stands for a missing value, which cannot "
                f"be said in {language}. Write null in its place and fit again."
            )


def check_plain_numbers(
    columns: Sequence[ExportedColumn], language: str, reads_marks: Callable[[NumberForm], bool]
) -> None:
    """Refuse, by name, numbers with units, or with marks that a language cannot read."""
    for column in columns:
        if not isinstance(column, ExportedNumber):
            continue
        form = column.form
        if form != NumberForm(form.decimal, form.thousands) or not reads_marks(form):
            said = {name: mark for name, mark in column.form.as_dict().items() if mark}
            raise ValueError(
                f"Column {column.name!r}: its numbers are written as {said}, which cannot be said "
                f"in {language}. Make it a column of a numeric type and fit again."
            )
