"""What a column is: numbers, dates, categories, text, identifiers, or nothing to learn from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, get_args

import numpy as np

from refold._typing import Floats
from refold.base.findings import Finding
from refold.columns import role_findings as findings
from refold.columns import sentinels
from refold.columns.date_form import DateForm
from refold.columns.form_guess import (
    FormReading,
    TextSample,
    decimal_mark,
    numbers_as_dates,
    read_as_dates,
    read_as_durations,
    read_as_numbers,
)
from refold.columns.identifiers import (
    are_named_as_codes,
    are_written_as_codes,
    count_up,
    look_like_identifiers,
)
from refold.columns.missing import SourceFormat
from refold.columns.name_hints import (
    name_words,
    says_code,
    says_duration,
    says_identifier,
    says_row,
    says_time,
)
from refold.columns.number_form import NumberForm
from refold.columns.parsing import clear, parse
from refold.columns.row_numbers import is_chronological, is_row_number, is_whole
from refold.columns.table import Column, DateColumn, NumberColumn, TextColumn
from refold.columns.zones import zone_of_texts

Role = Literal["number", "category", "text", "identifier", "date", "ignore"]
Form = NumberForm | DateForm

_ENOUGH = 0.99  # the share of the cells that have to be numbers, or dates, in one form
_FEW, _MOST_OF_FEW = 2.0, 0.1  # or all but two, in a table in which that is less than a tenth
_DIFFERENT = 0.99  # the share of different values of a column that names the rows
_LEAST_ROWS = 20  # fewer than these differ by chance
_CATEGORIES = 1000  # a column with more values is text
_ORDERED_ROWS = 50_000  # of texts, to see whether they go on from row to row
_DRAWN = 2000  # numbers, to see whether they are dates
_YEARS = (1500.0, 2200.0)


@dataclass(frozen=True)
class Guess:
    """What a column is taken for."""

    role: Role
    # How its texts are read, if it is one of numbers or dates; columns of such a type have the form
    # in which a CSV would have them.
    form: Form | None = None
    noticed: tuple[Finding, ...] = ()  # what somebody who knows the table should look at
    decimal: str = ""  # the decimal mark that its texts show, if they do
    # missing, kept: Words, or numbers, that stand for missing values, and words such as NA that are
    # values.
    missing: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether its numbers could be read in two ways."""
        return any(finding.kind == "ambiguous-number" for finding in self.noticed)

    def parse(self, column: Column, written: SourceFormat) -> Column:
        """Return a column of a table as its role has it, without what stands for missing values."""
        missing = _words_cleared(written, self.missing, self.kept)
        form = self.form.in_file(written) if isinstance(self.form, NumberForm) else self.form
        return parse(clear(column, missing), self.role, form)


@lru_cache(maxsize=1024)
def _words_cleared(
    written: SourceFormat, missing: tuple[str, ...], kept: tuple[str, ...]
) -> frozenset[str]:
    return (written.words | set(missing)) - set(kept)


def guess(name: str, column: Column, likely: str = "") -> Guess:
    """Guess what a column is, from its values and its name.

    `likely` is the decimal mark of other columns, for what the cells leave open.

    >>> prices = TextColumn(["€ 1.234,50", "€ 12,00"], np.array([0, 1, 1, -1]))
    >>> guess("price", prices)
    Guess(role='number', form=NumberForm(decimal=',', thousands='.', prefix='€', ...), ...)
    """
    if _is_empty(column):  # a value there will be the first
        return Guess("category", None, (findings.empty(name, len(column)),))
    if isinstance(column, DateColumn):
        return _dates(name, column.seconds[~np.isnan(column.seconds)], _form_of(column))
    if isinstance(column, NumberColumn):
        return _of_numbers(name, column, likely)
    return _texts(name, column, TextSample.of(column), likely)


def _of_numbers(name: str, column: NumberColumn, likely: str) -> Guess:
    """Guess what numbers are; those that were plain texts show a decimal mark, or take another."""
    values = column.values[np.isfinite(column.values)]
    if column.form is None or not column.form.plain:
        return _numbers(name, values, column.form or NumberForm())
    whole = is_whole(values)
    form = NumberForm(decimal=likely) if whole and likely else NumberForm()
    return replace(_numbers(name, values, form), decimal="" if whole else ".")


def as_role(name: str, column: Column, role: str, likely: str = "") -> Guess:
    """Take a column for what the user says it is; ValueError if no cell fits.

    ``"date:%d/%m/%Y"`` says the form of dates too, and ``"number:,"`` the decimal mark.

    >>> as_role("shift", TextColumn(["1", "2"], np.array([0, 1, 1])), "category")
    Guess(role='category', form=None, noticed=(), ...)
    """
    kind, _, how = role.partition(":")
    if kind == "number" and _is_empty(column):
        return Guess("number", NumberForm(decimal=how or "."))
    if role == "date" and _is_empty(column):
        return Guess("date", DateForm("iso", has_date=True, has_clock=True))
    if kind == "number":
        return _as_numbers(name, column, how, likely)
    if kind == "date":
        return _as_dates(name, column, how)
    for known in get_args(Role):
        if role == known:
            return Guess(known)
    raise ValueError(f"{name} cannot be {role!r}: roles are {', '.join(get_args(Role))}")


def _texts(name: str, column: TextColumn, sample: TextSample, likely: str) -> Guess:
    reading = _reading(name, sample, likely)
    if reading is None:
        return _words(name, column, sample)
    form = reading.form
    if isinstance(form, NumberForm):
        found = _numbers(name, _in_order(column, form), form)
    else:
        form = _in_its_zone(form, column)
        found = _dates(name, _in_order(column, form), form)
    unclear = _ambiguous(name, sample, reading) if found.form == form else ()
    return Guess(
        found.role, found.form, (*unclear, *found.noticed), _shown_decimal(sample, reading)
    )


def _shown_decimal(
    sample: TextSample, reading: FormReading[NumberForm] | FormReading[DateForm]
) -> str:
    form = reading.form
    if not isinstance(form, NumberForm) or form.kind == "duration" or reading.rival is not None:
        return ""
    return decimal_mark(sample.texts, form)


def _reading(
    name: str, sample: TextSample, likely: str
) -> FormReading[NumberForm] | FormReading[DateForm] | None:
    """Return the form in which enough of the cells can be read as numbers or dates."""
    rows = float(sample.weights.sum())
    numbers = read_as_numbers(sample, likely=likely)
    fit = _enough(numbers.share, rows) and not are_written_as_codes(name, sample.texts)
    if fit and not numbers.form.suffix:
        return numbers
    durations = read_as_durations(sample)
    if fit and durations.share < numbers.share:  # minutes are a unit too
        return numbers
    dates = read_as_dates(sample)
    longer = dates is None or durations.share > dates.share or says_duration(name)
    if longer and _enough(durations.share, rows):
        return durations
    return dates if dates and _enough(dates.share, rows) else None


def _enough(share: float, rows: float) -> bool:
    most = max((1.0 - _ENOUGH) * rows, min(_FEW, _MOST_OF_FEW * rows))
    return (1.0 - share) * rows <= most * (1.0 + 1e-9)  # two of 100 are 2.0000000000000018


def _in_order(column: TextColumn, form: Form) -> Floats:
    """Return the values of rows, one after the other.

    Where there are many different ones, of numbers the first rows, which go on by even steps if
    they count, and of dates rows from everywhere: a table may be sorted by something else first.
    """
    codes = column.codes[column.codes >= 0]
    if len(column.values) > _ORDERED_ROWS:
        drawn = np.random.default_rng(0).choice(len(codes), _ORDERED_ROWS, replace=False)
        some = codes[:_ORDERED_ROWS] if isinstance(form, NumberForm) else codes[np.sort(drawn)]
        values = form.read([column.values[code] for code in some.tolist()])
        if not np.isnan(values).all():
            return np.asarray(values[~np.isnan(values)])
    values = form.read(column.values)[codes]
    return np.asarray(values[~np.isnan(values)])


def _ambiguous(
    name: str, sample: TextSample, reading: FormReading[NumberForm] | FormReading[DateForm]
) -> tuple[Finding, ...]:
    taken, rival = reading.form, reading.rival
    if rival is None:
        return ()
    values = zip(sample.texts, taken.read(sample.texts), rival.read(sample.texts), strict=True)
    example = next(text for text, a, b in values if a != b and a == a and b == b)
    if isinstance(taken, NumberForm) and isinstance(rival, NumberForm):
        return (findings.ambiguous_number(name, example, taken, rival),)
    if isinstance(taken, DateForm) and isinstance(rival, DateForm):
        return (findings.ambiguous_date(name, example, taken, rival),)
    return ()


def _numbers(name: str, values: Floats, form: NumberForm) -> Guess:
    """Decide what numbers are, given in the order of the rows."""
    bare = form == NumberForm(form.decimal)  # of plain digits, whatever their decimal mark is
    dated = numbers_as_dates(_drawn(values)) if bare else None
    if dated and dated.share >= _ENOUGH and (dated.form.format == "%Y%m%d" or says_time(name)):
        seconds = dated.form.of_numbers(values)
        return _dates(name, seconds[~np.isnan(seconds)], dated.form)
    if is_row_number(values, named=says_row(name)):
        ends = (float(values.min()), float(values.max()))
        said = findings.running_number(name, *ends, otherwise="number", rows=len(values))
        return Guess("ignore", None, (said,))
    if bare and are_named_as_codes(name, values):
        return _codes(name, values)
    found = list(_notice_numbers(name, values))
    if bare and is_numeric_time(name, values):
        found.append(findings.numeric_time(name, float(values.min()), float(values.max())))
    return Guess("number", form, tuple(found))


def is_numeric_time(name: str, values: Floats) -> bool:
    """Whether numbers, in the order of the rows, are moments: later rows have larger ones.

    Whole numbers called year are, and numbers that only grow under the name of a time.

    >>> import numpy as np
    >>> grows = np.repeat(np.arange(42186.0, 42216.0), 3)
    >>> is_numeric_time("arrival_date_num", grows), is_numeric_time("price", grows)
    (True, False)
    """
    if len(values) < _LEAST_ROWS or values.min() == values.max():
        return False
    if name_words(name) in (["year"], ["yr"], ["jahr"]):
        low, high = _YEARS
        return is_whole(values) and low <= values.min() and values.max() <= high
    return says_time(name) and not says_duration(name) and is_chronological(values)


def _codes(name: str, values: Floats) -> Guess:
    different, example = len(np.unique(values)), f"{values[0]:.0f}"
    alone = different >= max(_LEAST_ROWS, _DIFFERENT * len(values))
    if alone and says_identifier(name):
        return Guess("identifier", None, (findings.identifier(name, example),))
    role: Role = "category" if _repeats(different, len(values)) else "text"
    return Guess(role, None, (findings.code(name, example),))


def _notice_numbers(name: str, values: Floats) -> Iterator[Finding]:
    low, high = float(values.min()), float(values.max())
    if low == high:
        yield from _constant(name, f"{low:.10g}", len(values))
    elif sentinels.may_be_sentinel(low) or sentinels.may_be_sentinel(high):
        for value, rows in sentinels.number_sentinels(*np.unique(values, return_counts=True)):
            yield findings.sentinel(name, value, rows)


def _dates(name: str, seconds: Floats, form: DateForm) -> Guess:
    """Describe moments, given in the order of the rows."""
    return Guess("date", form, tuple(_notice_dates(name, seconds, form)))


def _notice_dates(name: str, seconds: Floats, form: DateForm) -> Iterator[Finding]:
    if len(seconds) and seconds.min() == seconds.max():
        yield from _constant(name, findings.moment(float(seconds[0]), form), len(seconds))
    elif form.has_date and is_chronological(seconds):
        yield findings.running_time(name, float(seconds[0]), float(seconds[-1]))
    elif form.has_date:
        for day, rows in sentinels.date_sentinels(*np.unique(seconds, return_counts=True)):
            yield findings.sentinel(name, day, rows)


def _words(name: str, column: TextColumn, sample: TextSample) -> Guess:
    """Decide between categories, identifiers and other text."""
    different, rows = int(np.count_nonzero(column.counts)), int(column.counts.sum())
    example = sample.texts[0]
    if different == 1:
        return Guess("category", None, tuple(_constant(name, example, rows)))
    if different >= max(_LEAST_ROWS, _DIFFERENT * rows):
        if count_up(column):
            ends = (column.values[code] for code in column.codes[column.codes >= 0][[0, -1]])
            said = findings.running_number(name, *ends, otherwise="text")
            return Guess("ignore", None, (said,))
        named = says_identifier(name) or not says_code(name)
        if named and look_like_identifiers(sample.texts):
            return Guess("identifier", None, (findings.identifier(name, example),))
    return Guess("category" if _repeats(different, rows) else "text")


def _repeats(different: int, rows: int) -> bool:
    return different <= _CATEGORIES and 2 * different <= rows


def _constant(name: str, value: str, rows: int) -> Iterator[Finding]:
    if rows > 1:
        yield findings.constant(name, value)


def _is_empty(column: Column) -> bool:
    """Whether no row has a value."""
    if isinstance(column, TextColumn):
        return not bool(column.counts.any())
    values = column.values if isinstance(column, NumberColumn) else column.seconds
    return not bool(np.isfinite(values).any())


def _form_of(column: DateColumn) -> DateForm:
    form = "iso" if column.has_date else "%H:%M:%S"
    return DateForm(form, column.has_date, column.has_clock, column.clock)


def _in_its_zone(form: DateForm, column: TextColumn) -> DateForm:
    """Return the form with the zone that the texts say; a time of day is that of the wall."""
    if not (form.has_date and form.has_clock):
        return form
    return replace(form, zone=zone_of_texts(column.values))


def _drawn(values: Floats) -> Floats:
    """Return some of the values, always the same."""
    if len(values) <= _DRAWN:
        return values
    return values[np.random.default_rng(0).integers(0, len(values), _DRAWN)]


def _as_numbers(name: str, column: Column, decimal: str, likely: str) -> Guess:
    if isinstance(column, DateColumn):
        raise ValueError(f"{name} cannot be a number: it has a type for dates or times")
    if isinstance(column, NumberColumn):
        values = column.values[np.isfinite(column.values)]
        form = column.form or NumberForm()
        if form.plain and (decimal or likely) and is_whole(values):
            form = NumberForm(decimal or likely)
        return Guess("number", form, tuple(_notice_numbers(name, values)))
    sample = TextSample.of(column)
    readings = (read_as_numbers(sample, decimal, likely), read_as_durations(sample))
    reading = max(readings, key=lambda each: each.share)
    if reading.share == 0.0:
        raise _unfit(name, "number", sample.texts[0])
    unclear = _ambiguous(name, sample, reading)
    values = _in_order(column, reading.form)
    noticed = (*unclear, *_notice_numbers(name, values))
    return Guess("number", reading.form, noticed, _shown_decimal(sample, reading))


def _as_dates(name: str, column: Column, form: str) -> Guess:
    if isinstance(column, DateColumn):
        return guess(name, column)
    if isinstance(column, NumberColumn):
        values = column.values[np.isfinite(column.values)]
        counted = numbers_as_dates(values)
        if counted.share == 0.0:
            raise _unfit(name, "date", f"{values[0]:.10g}")
        seconds = counted.form.of_numbers(values)
        return _dates(name, seconds[~np.isnan(seconds)], counted.form)
    sample = TextSample.of(column)
    reading = read_as_dates(sample, form)
    if reading is None or reading.share == 0.0:
        raise _unfit(name, "date", sample.texts[0])
    unclear = _ambiguous(name, sample, reading)
    read = _in_its_zone(reading.form, column)
    noticed = (*unclear, *_notice_dates(name, _in_order(column, read), read))
    return Guess("date", read, noticed)


def _unfit(name: str, role: str, example: str) -> ValueError:
    shown = findings.shown(example)
    return ValueError(f"{name} cannot be a {role}: no cell reads as one, such as {shown!r}")
