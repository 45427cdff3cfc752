"""Cells of a table in SQL: as text, as numbers, as dates, and what they look like."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from sqlglot import exp

from refold.columns.date_form import LONGEST
from refold.columns.encoding.shapes import LOOKED_AT, shape_of
from refold.columns.number_form import NumberForm
from refold.columns.parsing import TRUTHS
from refold.export._sql_names import text_literal
from refold.export._sql_stages import Expression, call, case_when, integer, real

_SPACES = "".join(letter for letter in map(chr, range(0x3001)) if letter.isspace())
_NUMBER = "^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?$"
_ZONE = (
    "(?: ?(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?|[A-Z]{3,4}"
    "|[[]?[A-Z][A-Za-z]{1,20}/[A-Za-z_/+-]{1,30}[]]?)){0,2}"
)
_DATE = "([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
_CLOCK = f"([0-9]{{1,2}}):([0-9]{{2}})(?::([0-9]{{2}})(?:[.,]([0-9]{{1,9}}))?)?{_ZONE}"
_MOMENT = {True: f"^{_DATE}(?:[T ]{_CLOCK})?$", False: f"^()()(){_CLOCK}$"}
# How far a time is ahead of UTC: UTC itself, or sign, hours and minutes.
_AHEAD = "^.*[0-9]:[0-9]{2}(?:[.,][0-9]{1,9})? ?(?:(Z|UTC|GMT)|([+-])([0-9]{2}):?([0-9]{2})?).*$"
FIELDS = ("year", "month", "day", "hour", "minute", "second", "fraction")


class Reader:
    """How DuckDB reads cells. What other databases do otherwise, their classes say."""

    dialect, language = "duckdb", "DuckDB"
    # Whether shapes and characters can be told, by regular expressions.
    regular = True

    def literal(self, text: str) -> Expression:
        """Write a text."""
        return text_literal(text, self.dialect)

    def holds(self, text: str) -> bool:
        """Whether a cell can have this text at all."""
        return not any("\ud800" <= letter <= "\udfff" for letter in text)

    def one_of(self, value: Expression, some: Sequence[Expression]) -> Expression:
        """Say whether a value is one of some constants; DuckDB would make a join of every IN."""
        if len(some) == 1:
            return value.copy().eq(some[0])
        return call("LIST_CONTAINS", exp.Array(expressions=list(some)), value.copy())

    def is_text(self, column: Expression) -> Expression:
        """Say whether a column of the table is of a type for texts."""
        return call("TYPEOF", column.copy()).eq(exp.Literal.string("VARCHAR"))

    def text(self, column: Expression) -> Expression:
        """Return a column of the table as text; whole numbers are written without a fraction."""
        text = exp.cast(column.copy(), "text")
        whole = self.replaced(text, "[.]0$", "", every=False)
        return case_when([(self.is_text(column), text)], whole)

    def truth(self, text: Expression) -> Expression:
        """Return the text of a column of truth values as Python names them."""
        word = exp.Lower(this=self.trimmed(text))
        cases = [(word.eq(self.literal(a)), self.literal(b)) for a, b in TRUTHS.items()]
        return case_when(cases, text.copy())

    def whole(self, text: Expression) -> Expression:
        """Return a text, 3 where it is 3.0."""
        return self.replaced(text, "^(-?[0-9]{1,16})[.]0$", "\\1", every=False)

    def number(self, column: Expression) -> Expression:
        """Return a column of numbers, NULL where it is of a type for texts."""
        value = exp.TryCast(this=column.copy(), to=exp.DataType.build("double"))
        return case_when([(self.is_text(column), exp.null())], value)

    def reads_marks(self, form: NumberForm) -> bool:
        """Whether texts with such marks can be read."""
        return True

    def unmarked(self, text: Expression, form: NumberForm) -> Expression:
        """Return a text with a number as Python writes it, NULL where it is of another form."""
        if form.plain:
            return text
        whole = f"({form.grouped}|[0-9]+)" if form.thousands else "[0-9]+"
        mark = "[,]" if form.decimal == "," else "[.]"
        pattern = f"^[+-]?({whole}({mark}[0-9]*)?|{mark}[0-9]+)([eE][+-]?[0-9]{{1,3}})?$"
        bare = self.trimmed(text)
        if form.thousands:
            bare = self.replaced(bare, form.mark, "")
        if form.decimal == ",":
            bare = call("REPLACE", bare, self.literal(","), self.literal("."))
        return case_when([(self.matches(self.trimmed(text), pattern), bare)])

    def number_of(self, text: Expression) -> Expression:
        """Read a text that is written as Python writes numbers; NULL where it is none."""
        trimmed = self.trimmed(text)
        value = exp.TryCast(this=trimmed, to=exp.DataType.build("double"))
        return case_when([(self._short(text, self.matches(trimmed, _NUMBER)), value)])

    def trimmed(self, text: Expression) -> Expression:
        """Return a text without the spaces around it, of which Unicode has many."""
        return call("TRIM", text.copy(), self.literal(_SPACES))

    def known(self, text: Expression, missing_texts: Iterable[str]) -> Expression:
        """Return a text, NULL where it is a word for a missing value."""
        words = [self.literal(word) for word in sorted(missing_texts) if self.holds(word)]
        missing = self.one_of(exp.Lower(this=self.trimmed(text)), words)
        return case_when([(missing, exp.null())], text.copy())

    def moment(self, text: Expression, *, has_date: bool) -> Expression:
        """Return a text without spaces, NULL where it is no date as ISO 8601 has it."""
        trimmed = self.trimmed(text)
        return case_when([(self._short(text, self.matches(trimmed, _MOMENT[has_date])), trimmed)])

    def fields(self, moment: Expression, *, has_date: bool) -> dict[str, Expression]:
        """Return the parts of such a text, as numbers."""
        parts = {}
        for place, field in enumerate(FIELDS, 1):
            found = self.replaced(moment, _MOMENT[has_date], f"\\{place}", every=False)
            if field == "fraction":
                found = exp.DPipe(this=exp.Literal.string("0."), expression=found)
                parts[field] = exp.cast(found, "double")
            else:
                none, zero = exp.Literal.string(""), exp.Literal.string("0")
                digits = case_when([(found.eq(none), zero)], found.copy())
                parts[field] = exp.cast(digits, "int")
        return {name: case_when([(_there(moment), part)]) for name, part in parts.items()}

    def ahead(self, moment: Expression) -> Expression:
        """Return by how many seconds such a text is ahead of UTC, NULL if it does not say so."""
        utc, sign, hours, minutes = (
            self.replaced(moment, _AHEAD, f"\\{place}", every=False) for place in range(1, 5)
        )
        cases = [(exp.not_(utc.eq(exp.Literal.string(""))), integer(0))]
        ahead = case_when(cases, _signed(sign, hours, minutes))
        return case_when([(self.matches(moment, _AHEAD), ahead)])

    def in_zone(self, instant: Expression, zone: str) -> Expression:
        """Return what the clock in a zone shows at an instant, both in seconds."""
        there = exp.AtTimeZone(
            this=call("TO_TIMESTAMP", exp.cast(instant, "double")), zone=self.literal(zone)
        )
        seconds = exp.Extract(this=exp.var("EPOCH"), expression=there)
        return exp.cast(exp.Floor(this=seconds), "bigint")

    def form(self, text: Expression, moment: Expression) -> Expression:
        """Return the shape of a text in a column of dates; `moment` is what was read of it."""
        return self.shape(text)

    def shape(self, text: Expression) -> Expression:
        """Return a text with its letters as A or a, its digits as 9, a space for all spaces."""
        shape = self.beginning(text)
        for letter, members in _classes().items():
            shape = self.replaced(shape, f"[{_ranges(members)}]", letter)
        return shape

    def collapsed(self, shape: Expression) -> Expression:
        """Return a shape with runs as one letter and a plus."""
        for letter in _classes():
            shape = self.replaced(shape, f"{letter}{{2,}}", f"{letter}+")
        return shape

    def beginning(self, text: Expression) -> Expression:
        """Return what is looked at of a text."""
        return call("SUBSTR", text.copy(), integer(1), integer(LOOKED_AT))

    def has_one_of(self, text: Expression, letters: Iterable[str]) -> Expression:
        """Say whether a text has one of some characters."""
        return self.matches(text, f"[{_members(letters)}]")

    def has_other_than(self, text: Expression, letters: Iterable[str]) -> Expression:
        """Say whether a text has any other character."""
        return self.matches(text, f"[^{_members(letters)}]")

    def matches(self, text: Expression, pattern: str) -> Expression:
        """Say whether a text has a part like this."""
        return exp.RegexpLike(this=text.copy(), expression=self.literal(pattern))

    def replaced(
        self, text: Expression, pattern: str, by: str, *, every: bool = True
    ) -> Expression:
        """Return a text with parts like this replaced."""
        options = [exp.Literal.string("g")] if every else []
        pattern, by = self.literal(pattern), self.literal(by)
        return call("REGEXP_REPLACE", text.copy(), pattern, by, *options)

    def _short(self, text: Expression, test: Expression) -> Expression:
        return exp.and_(exp.Length(this=text.copy()) <= integer(LONGEST), test)


class PostgresReader(Reader):
    """PostgreSQL: no cast may fail, and no text has the character 0."""

    dialect, language = "postgres", "PostgreSQL"

    def holds(self, text: str) -> bool:
        return "\0" not in text and super().holds(text)

    def one_of(self, value: Expression, some: Sequence[Expression]) -> Expression:
        return exp.In(this=value.copy(), expressions=list(some))

    def is_text(self, column: Expression) -> Expression:
        kinds = ("text", "character varying", "character", "citext")
        kind = exp.cast(call("PG_TYPEOF", column.copy()), "text")
        return exp.In(this=kind, expressions=[exp.Literal.string(each) for each in kinds])

    def text(self, column: Expression) -> Expression:
        return exp.cast(column.copy(), "text")

    def number(self, column: Expression) -> Expression:
        return case_when([(self.is_text(column), exp.null())], exp.cast(column.copy(), "double"))

    def number_of(self, text: Expression) -> Expression:
        """Read it as a decimal first: as a float it might overflow or vanish, which is an error."""
        trimmed = self.trimmed(text)
        decimal = exp.cast(trimmed, "decimal")
        size = exp.Abs(this=decimal)
        readable = self._short(text, self.matches(trimmed, _NUMBER))
        finite = case_when(
            [
                (size > real(1.79e308), exp.null()),
                (size < real(1e-300), real(0.0)),
            ],
            exp.cast(decimal.copy(), "double"),
        )
        return case_when([(readable, finite)])

    def trimmed(self, text: Expression) -> Expression:
        return call("BTRIM", text.copy(), self.literal(_SPACES))


class SQLiteReader(Reader):
    """SQLite: cells have types of their own, dates are texts, and nothing is regular.

    Numbers that are text must be written as in JSON, dates with two digits each.
    """

    dialect, language, regular = "sqlite", "SQLite", False

    def one_of(self, value: Expression, some: Sequence[Expression]) -> Expression:
        return exp.In(this=value.copy(), expressions=list(some))

    def is_text(self, column: Expression) -> Expression:
        return self._is(column, "text", "blob")

    def text(self, column: Expression) -> Expression:
        """Return it as text; the empty one behind it takes the column's own order away."""
        whole = exp.cast(column.copy(), "bigint")
        is_whole = exp.and_(
            self._is(column, "real"),
            whole.eq(column.copy()),
            exp.Abs(this=column.copy()) < real(1e15),
        )
        text = exp.cast(case_when([(is_whole, whole.copy())], column.copy()), "text")
        return exp.DPipe(this=text, expression=exp.Literal.string(""))

    def number(self, column: Expression) -> Expression:
        value = exp.cast(column.copy(), "double")
        return case_when([(self._is(column, "integer", "real"), value)])

    def number_of(self, text: Expression) -> Expression:
        trimmed = self.trimmed(text)
        kind = case_when([(call("JSON_VALID", trimmed), call("JSON_TYPE", trimmed.copy()))])
        kinds = [exp.Literal.string(each) for each in ("integer", "real")]
        readable = self._short(text, exp.In(this=kind, expressions=kinds))
        return case_when([(readable, exp.cast(trimmed.copy(), "double"))])

    def whole(self, text: Expression) -> Expression:
        before = call("SUBSTR", text.copy(), integer(1), exp.Length(this=text.copy()) - 2)
        minus = exp.Glob(this=text.copy(), expression=exp.Literal.string("-*"))
        begin = case_when([(minus, integer(2))], integer(1))
        digits = call("SUBSTR", before.copy(), begin)
        tests = [
            exp.Glob(this=text.copy(), expression=exp.Literal.string("*[0-9].0")),
            exp.not_(exp.Glob(this=digits, expression=exp.Literal.string("*[^0-9]*"))),
            exp.Length(this=digits.copy()) <= integer(16),
        ]
        return case_when([(exp.and_(*tests), before)], text.copy())

    def reads_marks(self, form: NumberForm) -> bool:
        return not form.thousands

    def unmarked(self, text: Expression, form: NumberForm) -> Expression:
        if form.plain:
            return text
        pointless = call("INSTR", text.copy(), self.literal(".")).eq(0)
        return case_when([(pointless, call("REPLACE", text, self.literal(","), self.literal(".")))])

    def moment(self, text: Expression, *, has_date: bool) -> Expression:
        trimmed = self.trimmed(text)
        tests = [
            exp.Glob(this=trimmed.copy(), expression=exp.Literal.string(pattern))
            for pattern in _globs(has_date)
        ]
        return case_when([(self._short(text, exp.Paren(this=exp.or_(*tests))), trimmed)])

    def fields(self, moment: Expression, *, has_date: bool) -> dict[str, Expression]:
        places = dict(zip(FIELDS[:-1], (1, 6, 9, 12, 15, 18), strict=True))
        shift = 0 if has_date else 11
        parts = {}
        for field, place in places.items():
            begin = place - shift
            width = 4 if field == "year" else 2
            digits = self._cut(moment, max(begin, 1), width if begin > 0 else 0)
            part: Expression = exp.cast(digits, "int")
            if field == "second":
                colon = self._cut(moment, begin - 1, 1).eq(exp.Literal.string(":"))
                part = case_when([(colon, part)], integer(0))
            parts[field] = part
        marks = [exp.Literal.string(mark) for mark in (".", ",")]
        broken = exp.In(this=self._cut(moment, 20 - shift, 1), expressions=marks)
        rest = exp.DPipe(this=exp.Literal.string("0."), expression=self._cut(moment, 21 - shift, 9))
        parts["fraction"] = case_when([(broken, exp.cast(rest, "double"))], real(0.0))
        return {name: case_when([(_there(moment), part)]) for name, part in parts.items()}

    def ahead(self, moment: Expression) -> Expression:
        cases = [(exp.Glob(this=moment.copy(), expression=exp.Literal.string("*Z")), integer(0))]
        two, none = "[0-9][0-9]", exp.Literal.string("")
        for behind, minutes in ((f"{two}:{two}", -2), (f"{two}{two}", -2), (two, 0)):
            pattern = exp.Literal.string(f"*[0-9]:{two}*[+-]{behind}")
            size = behind.count(two) * 2 + behind.count(":")
            parts = self._cut(moment, -size - 1, 1), self._cut(moment, -size, 2)
            least = self._cut(moment, minutes, 2) if minutes else none
            ahead = _signed(*parts, least)
            cases.append((exp.Glob(this=moment.copy(), expression=pattern), ahead))
        return case_when(cases)

    def form(self, text: Expression, moment: Expression) -> Expression:
        """Return the shape of what was read, which has digits and the letters T and Z only."""
        shape = text.copy()
        for letters, by in (("012345678", "9"), ("TZ", "A")):
            for letter in letters:
                shape = call("REPLACE", shape, exp.Literal.string(letter), exp.Literal.string(by))
        return case_when([(_there(moment), shape)])

    def _is(self, column: Expression, *kinds: str) -> Expression:
        names = [exp.Literal.string(kind) for kind in kinds]
        return exp.In(this=call("TYPEOF", column.copy()), expressions=names)

    def _cut(self, text: Expression, begin: int, width: int) -> Expression:
        numbers = (integer(begin), integer(width))
        return call("SUBSTR", text.copy(), *numbers)


READERS = {reader.dialect: reader for reader in (Reader(), PostgresReader(), SQLiteReader())}


def _signed(sign: Expression, hours: Expression, minutes: Expression) -> Expression:
    """Return a time of so many hours and minutes in seconds, negative behind a minus."""
    none, zero = exp.Literal.string(""), exp.Literal.string("0")
    parts = [
        exp.cast(case_when([(part.eq(none), zero)], part.copy()), "int")
        for part in (hours, minutes)
    ]
    seconds = exp.paren(parts[0] * 3600 + parts[1] * 60)
    return case_when([(sign.eq(exp.Literal.string("-")), exp.Neg(this=seconds))], seconds.copy())


def _there(value: Expression) -> Expression:
    return exp.not_(value.copy().is_(exp.null()))


def _globs(has_date: bool) -> list[str]:
    """Return how SQLite tells dates and times, by its only kind of pattern."""
    two = "[0-9][0-9]"
    date = f"{two}{two}-{two}-{two}"
    minutes = f"{two}:{two}"
    clocks = [minutes, f"{minutes}:{two}"]
    clocks += [f"{minutes}:{two}[.,]" + "[0-9]" * digits for digits in range(1, 10)]
    zones = ["", "Z", f"[+-]{two}", f"[+-]{two}:{two}", f"[+-]{two}{two}"]
    times = [clock + zone for clock in clocks for zone in zones]
    return [date, *(f"{date}[T ]{time}" for time in times)] if has_date else times


@lru_cache(maxsize=1)
def _classes() -> dict[str, str]:
    """Return the characters that shapes take for 9, A, a and a space.

    All are listed: what a letter is differs from one database, version and locale to the next.
    """
    letters = "".join(map(chr, [*range(1, 0xD800), *range(0xE000, 0x110000)]))
    parts = [letters[k : k + LOOKED_AT] for k in range(0, len(letters), LOOKED_AT)]
    found: dict[str, list[str]] = {"9": [], "A": [], "a": [], " ": []}
    for letter, shape in zip(letters, "".join(map(shape_of, parts)), strict=True):
        if shape in found:
            found[shape].append(letter)
    return {shape: "".join(members) for shape, members in found.items()}


def _ranges(letters: str) -> str:
    """Return ascending characters as ranges."""
    out, first, last = [], letters[0], letters[0]
    for letter in [*letters[1:], ""]:
        if letter and ord(letter) == ord(last) + 1:
            last = letter
            continue
        out.append(first if first == last else f"{first}-{last}")
        first = last = letter
    return "".join(out)


def _members(letters: Iterable[str]) -> str:
    """Return characters as members of brackets; those that mean something there are escaped."""
    return "".join(f"\\{c}" if c in "]^-[\\&~" else c for c in sorted(letters))
