"""How surprising the cells of one column are, in SQL: steps, each a SELECT of the one before.

A step names what is left of the column after it. At the end these are `size`, how surprising a cell
is in all of its views; `code`, what dependence takes it for; `state`, whether it is readable (0),
missing (1), unreadable (2) or refused by Python (3); `novel`, 1 for what was never there; and of a
number `raw`, itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from sqlglot import exp

from refold._typing import Floats
from refold.columns.encoding.dependence import NONE
from refold.columns.encoding.surprise import Surprise
from refold.columns.encoding.value_counts import ValueCounts
from refold.columns.zones import UTC
from refold.export._exported_columns import (
    ExportedColumn,
    ExportedDate,
    ExportedNumber,
    ExportedText,
)
from refold.export._sql_cells import FIELDS, Reader
from refold.export._sql_groups import GroupTables, score_steps
from refold.export._sql_rules import SqlRules
from refold.export._sql_stages import (
    Expression,
    Vocabulary,
    case_when,
    divide,
    integer,
    is_finite,
    is_infinite,
    real,
)

Step = Mapping[str, Expression]

_DAY, _HOUR = 86_400, 3_600
_EPOCH = 719_468  # days from 1 March of the year 0 to 1 January 1970
_THURSDAY = 3  # 1 January 1970, counted from Monday
_UNSEEN = -1.0


class ColumnSteps:
    """Writes the steps of the column number `k`.

    With `groups` rows are judged by theirs; with `rules` each column has `out`, 1 outside of its
    limits.
    """

    def __init__(
        self,
        words: Vocabulary,
        reader: Reader,
        k: int,
        groups: GroupTables | None = None,
        rules: SqlRules | None = None,
    ) -> None:
        self.words, self.reader, self.k, self.groups = words, reader, k, groups
        self.rules = rules

    def of(self, column: ExportedColumn, cells: Expression) -> Iterator[Step]:
        """Write those of a column of the table."""
        if isinstance(column, ExportedText):
            return self._texts(column, cells)
        if isinstance(column, ExportedDate):
            return self._dates(column, cells)
        return self._numbers(column, cells)

    def __getitem__(self, name: str) -> Expression:
        return self.words.column(name, self.k)

    def _kept(self, *names: str) -> Step:
        return {name: self[name] for name in names}

    # ---- texts ------------------------------------------------------------------------------

    def _texts(self, column: ExportedText, cells: Expression) -> Iterator[Step]:
        """Look each text up, then look at those that are new."""
        reader = self.reader
        yield {"text": reader.text(cells)}
        text = self["text"]
        yield {"text": reader.truth(text) if column.truth else reader.known(text, column.missing)}
        if column.truth:
            yield {"text": reader.known(self["text"], column.missing)}
        if column.whole:
            yield {"text": reader.whole(self["text"])}
        yield self._looked_up(column)
        views = [real(float(column.magnitudes[-2]))]
        if reader.regular and column.views:
            yield from self._shapes()
            views += self._views_of_new(column)
        new = self["size"] < real(0.0)
        gone = self["text"].is_(exp.null())
        out = {}
        if self.rules is not None:
            out = {"out": self.rules.outside(self.k, self["text"], self.reader)}
        yield {
            **out,
            "size": case_when([(new, self.words.largest(views))], self["size"]),
            "code": self["code"],
            "state": case_when([(gone, integer(1))], integer(0)),
            "novel": case_when(
                [(gone.copy(), _flag(column.novel[-1])), (new.copy(), _flag(column.novel[-2]))],
                _flag(False),
            ),
        }

    def _looked_up(self, column: ExportedText) -> Step:
        held = [k for k, value in enumerate(column.values) if self.reader.holds(value)]
        values = [column.values[k] for k in held]
        sizes, codes = column.magnitudes, column.codes.astype(np.float64)
        code = self._found("text", values, codes[held], codes[-2], codes[-1])
        return {
            "text": self["text"],
            "size": self._found("text", values, sizes[held], _UNSEEN, sizes[-1]),
            "code": exp.cast(code, "int"),
        }

    def _shapes(self) -> Iterator[Step]:
        """Say what new texts look like."""
        new, kept = self["size"] < real(0.0), self._kept("text", "size", "code")
        yield {**kept, "shape": case_when([(new, self.reader.shape(self["text"]))])}
        yield {
            **self._kept("text", "size", "code", "shape"),
            "runs": self.reader.collapsed(self["shape"]),
        }

    def _views_of_new(self, column: ExportedText) -> list[Expression]:
        views, counts = [], column.counts
        if "shape" in column.views:
            views.append(self._tallied("shape", counts.shapes))
            views.append(self._tallied("runs", counts.collapsed))
        if "character" in column.views:
            views.append(self._rarest(column))
        return views

    def _tallied(self, name: str, tally: ValueCounts) -> Expression:
        """Say how surprising a shape is; where there is none, not at all."""
        surprise = Surprise.of(tally)
        shapes = [shape for shape in tally.counts if self.reader.holds(shape)]
        sizes = surprise.of_rows(tally.counts_of(shapes))
        return self._found(name, shapes, sizes, float(surprise.of_rows(np.array([0]))[0]), 0.0)

    def _rarest(self, column: ExportedText) -> Expression:
        """Say how surprising the rarest character of a text is, looking for the rarest first."""
        rarest = column.counts.rarest
        letters = [c for c in rarest.rows_with if self.reader.holds(c)]
        text = self.reader.beginning(self["text"])
        sizes = rarest.of_texts(letters)
        unknown = real(float(rarest.of_texts([""])[0]))
        cases = [(self.reader.has_other_than(text, letters), unknown)] if letters else []
        for size in np.unique(sizes[sizes > 0.0])[::-1]:
            some = [c for c, each in zip(letters, sizes, strict=True) if each == size]
            cases.append((self.reader.has_one_of(text, some), real(float(size))))
        return exp.cast(case_when(cases, real(0.0)), "double") if cases else unknown

    # ---- numbers ----------------------------------------------------------------------------

    def _numbers(self, column: ExportedNumber, cells: Expression) -> Iterator[Step]:
        """Read what has a type for numbers, and texts that are written as numbers."""
        reader, text, raw = self.reader, self["text"], self["raw"]
        constants = {} if self.groups is None else self.groups.constants(column.name)
        kept = self._kept(*constants)
        yield {
            "text": case_when([(reader.is_text(cells), reader.text(cells))]),
            "raw": reader.number(cells),
            **constants,
        }
        yield {"text": reader.known(text, column.missing), "raw": raw, **kept}
        written = exp.not_(text.is_(exp.null()))
        read = reader.number_of(reader.unmarked(text, column.form))
        yield {"text": text, "raw": case_when([(written, read)], raw), **kept}
        state = case_when(
            [
                (is_finite(raw), integer(0)),
                (written.copy(), integer(2)),
                (is_infinite(raw), integer(3)),
            ],
            integer(1),
        )
        yield {"raw": raw, "state": state, **kept}
        if self.rules is not None:
            out = self.rules.outside(self.k, raw)
            moved = case_when([(is_finite(raw), self.rules.moved(self.k, raw))], raw.copy())
            yield {"raw": moved, "state": self["state"], "out": out}
            kept = self._kept("out")
        if self.groups is not None:
            log = self.groups.log[column.name]
            yield from score_steps(self.__getitem__, self.words.greatest, log=log, kept=("state",))
        bins = [(raw < real(edge), integer(below)) for below, edge in enumerate(column.edges)]
        novel = self._by_state(column.novel.astype(np.float64))
        if (beyond := beyond_zero(column, raw)) is not None:
            novel = case_when([(self._unreadable(), novel)], beyond)
        yield {
            "raw": raw,
            "size": self._by_state(column.magnitudes),
            "state": self["state"],
            "novel": novel,
            "code": case_when([(self._unreadable(), integer(NONE)), *bins], integer(len(bins))),
            **({} if self.rules is None else kept),
        }

    # ---- dates ------------------------------------------------------------------------------

    def _dates(self, column: ExportedDate, cells: Expression) -> Iterator[Step]:
        """Read dates and times of any type as ISO 8601 writes them."""
        reader, text, moment = self.reader, self["text"], self["moment"]
        has_date = column.counts.has_date
        written = case_when([(reader.is_text(cells), integer(1))], integer(0))
        yield {"text": reader.text(cells), "written": written}
        yield {"text": reader.known(text, column.missing), "written": self["written"]}
        kept = self._kept("text", "written")
        yield {**kept, "moment": reader.moment(text, has_date=has_date)}
        yield {**kept, "moment": moment, **reader.fields(moment, has_date=has_date)}
        valid = self._valid(has_date)
        missing = text.is_(exp.null())
        yield {
            **kept,
            **self._kept("moment", "fraction"),
            "days": self._days() if has_date else integer(0),
            "clock": self["hour"] * _HOUR + self["minute"] * 60 + self["second"],
            "state": case_when([(missing, integer(1)), (valid, integer(0))], integer(2)),
        }
        if column.zone:
            yield from self._in_zone(column.zone)
        is_written = self["written"].eq(integer(1))
        yield {
            "state": self["state"],
            "form": case_when([(is_written, reader.form(text, moment))]),
            **self._told(),
        }
        yield self._judged(column)

    def _in_zone(self, zone: str) -> Iterator[Step]:
        """Move times that say how far they are from UTC to the clock in a zone."""
        kept = self._kept("text", "written", "moment", "fraction", "state")
        ahead = case_when([(self["state"].eq(integer(0)), self.reader.ahead(self["moment"]))])
        yield {**kept, **self._kept("days", "clock"), "ahead": ahead}
        days, clock, ahead = self["days"], self["clock"], self["ahead"]
        there = exp.cast(days, "bigint") * _DAY + clock - ahead
        there = there if zone == UTC else self.reader.in_zone(there, zone)
        known = exp.not_(ahead.is_(exp.null()))
        yield {**kept, **self._kept("days", "clock"), "there": case_when([(known, there)])}
        there = self["there"]
        day = exp.cast(exp.Floor(this=exp.cast(there, "double") / real(float(_DAY))), "bigint")
        unknown = there.is_(exp.null())
        yield {
            **kept,
            "days": case_when([(unknown, days.copy())], day),
            "clock": case_when([(unknown.copy(), clock.copy())], there - day * _DAY),
        }

    def _valid(self, has_date: bool) -> Expression:
        """Say whether there is such a time, on such a day."""
        tests = [
            self[name] <= integer(most)
            for name, most in (("hour", 23), ("minute", 59), ("second", 60))
        ]
        if has_date:
            year, month, day = (self[name] for name in FIELDS[:3])
            leap = exp.or_(
                exp.and_((year % 4).eq(0), exp.not_((year % 100).eq(0))), (year % 400).eq(0)
            )
            february = case_when([(leap, integer(29))], integer(28))
            short = self.reader.one_of(month, [integer(m) for m in (4, 6, 9, 11)])
            days = case_when([(month.eq(2), february), (short, integer(30))], integer(31))
            tests += [
                year >= integer(1),
                month >= integer(1),
                month.copy() <= integer(12),
            ]
            tests += [day >= integer(1), day.copy() <= days]
        return exp.and_(*tests)

    def _days(self) -> Expression:
        """Count days since 1970; years are taken to begin in March, so that leap days are last."""
        year, month, day = (self[name] for name in FIELDS[:3])
        early = case_when([(month <= integer(2), integer(1))], integer(0))
        year = exp.paren(year - early)
        since = exp.paren((month + 9) % 12)
        count = year * 365 + year // 4 - year // 100 + year // 400
        count = count + (since * 153 + 2) // 5 + day - (_EPOCH + 1)
        return exp.cast(count, "bigint")

    def _told(self) -> Step:
        days, clock = self["days"], self["clock"]
        weekday = ((days + clock // _DAY) % 7 + (_THURSDAY + 7)) % 7
        seconds = exp.cast(days, "double") * real(float(_DAY)) + clock + self["fraction"]
        return {
            "hours": exp.cast(clock // _HOUR % 24, "int"),
            "weekday": exp.cast(weekday, "int"),
            "seconds": seconds,
        }

    def _judged(self, column: ExportedDate) -> Step:
        counts, views = column.counts, [self._by_state(column.magnitudes)]
        for name, sizes in (("hours", column.hours), ("weekday", column.weekdays)):
            if sizes.any():
                views.append(self._if_readable(_by_code(self.reader, self[name], sizes)))
        if counts.shapes.rows:
            views.append(self._tallied("form", counts.shapes))
        if counts.has_range:
            beyond = [exp.paren(real(counts.low) - self["seconds"]), real(0.0)]
            if column.ranged:
                beyond.append(exp.paren(self["seconds"] - real(counts.high)))
            farther = self.words.largest(beyond)
            views.append(self._if_readable(divide(farther, real(counts.span))))
        code = self["hours"] if counts.has_clock else self["weekday"]
        return {
            "size": self.words.largest(views),
            "state": self["state"],
            "novel": self._by_state(column.novel.astype(np.float64)),
            "code": case_when([(self._unreadable(), integer(NONE))], code),
        }

    # ---- tables -----------------------------------------------------------------------------

    def _found(
        self, name: str, keys: Sequence[str], values: Floats, other: float, none: float
    ) -> Expression:
        """Look a text up; texts with the same value stand together."""
        groups: dict[float, list[Expression]] = {}
        for key, value in zip(keys, values.tolist(), strict=True):
            if value != other:
                groups.setdefault(value, []).append(self.reader.literal(key))
        text = self[name]
        cases = [(text.is_(exp.null()), real(none))]
        cases += [(self.reader.one_of(text, group), real(value)) for value, group in groups.items()]
        return exp.cast(case_when(cases, real(other)), "double")

    def _by_state(self, values: Floats) -> Expression:
        return _by_code(self.reader, self["state"], values)

    def _unreadable(self) -> Expression:
        return exp.not_(self["state"].eq(integer(0)))

    def _if_readable(self, value: Expression) -> Expression:
        return case_when([(self._unreadable(), real(0.0))], value)


def _by_code(reader: Reader, code: Expression, values: Floats) -> Expression:
    """Look up a number by a whole number; codes with the same value stand together."""
    groups: dict[float, list[Expression]] = {}
    for place, value in enumerate(values.tolist()):
        groups.setdefault(value, []).append(integer(place))
    usual = max(groups, key=lambda value: len(groups[value]))
    cases = [
        (reader.one_of(code, group), real(value))
        for value, group in groups.items()
        if value != usual
    ]
    found = case_when(cases, real(usual)) if cases else real(usual)
    return exp.cast(found, "double")


def write_beside(
    reader: Reader, beside: Expression, own: Expression, surprise: Floats
) -> Expression:
    """Write how surprising a code is beside that of the partner."""
    cases = []
    for code, sizes in enumerate(surprise):
        if sizes.any():
            cases.append((beside.eq(integer(code)), _by_code(reader, own, sizes)))
    return case_when(cases, real(0.0)) if cases else real(0.0)


def _flag(value: bool) -> Expression:
    return real(float(value))


def beyond_zero(column: ExportedNumber, raw: Expression) -> Expression | None:
    """Return 1 beyond zero in a column that never crosses it, else 0; None where it may."""
    if column.floor == 0.0:
        beyond = raw.copy() < real(0.0)
    elif column.ceiling == 0.0:
        beyond = raw.copy() > real(0.0)
    else:
        return None
    return case_when([(exp.and_(is_finite(raw.copy()), beyond), real(1.0))], real(0.0))
