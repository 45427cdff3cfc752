"""Columns that say nothing, that number the rows, or that are written in different ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from refold.base.advice import Advice, set_role
from refold.base.findings import Finding
from refold.base.words import percent, plural, quoted
from refold.checks._table.cell_checks import LISTED
from refold.checks._table.checked_table import CheckedColumn, CheckedTable
from refold.columns import role_findings as words
from refold.columns.form_guess import TextSample, read_as_dates, read_as_numbers
from refold.columns.name_hints import says_code
from refold.columns.table import NumberColumn, TextColumn, as_texts
from refold.columns.table_findings import find_odd_columns

_MOSTLY = 0.8  # the share of cells that are numbers where the others are not meant to be texts
_SOME, _NEARLY_ALL = 0.02, 0.95  # the shares of cells with one form of dates, and with two
_VARIOUS = 10  # different numbers; fewer may be names
_SHORT = 3  # letters; of shorter words large and small ones may be different things
_MOST_VALUES = 20_000  # of texts, to look for other spellings


def notice_formats(table: CheckedTable) -> Iterator[Finding]:
    """Find texts among numbers, dates in two forms, and words in several spellings."""
    for column in table.used:
        if column.texts is None or not column.texts.counts.any():
            continue
        ways = (_among_numbers, _two_dates, _spellings)
        found = next((f for way in ways if (f := way(column, column.texts)) is not None), None)
        if found is not None:
            yield found


def _among_numbers(column: CheckedColumn, texts: TextColumn) -> Finding | None:
    if says_code(column.name):  # '98115-4820' among postcodes
        return None
    sample = TextSample.of(texts)
    reading = read_as_numbers(sample)
    values = reading.form.read(sample.texts)
    numbers = ~np.isnan(values)
    share = sample.share(values)
    if not _MOSTLY <= share < 1.0 or len(np.unique(values[numbers])) < _VARIOUS:
        return None
    if any(text[0] == "0" and text.isdigit() and len(text) > 1 for text in sample.texts):
        return None  # codes
    read = np.append(np.isnan(reading.form.read(texts.values)), False)
    rows = np.flatnonzero(read[texts.codes])
    odd = [text for text, number in zip(sample.texts, numbers, strict=True) if not number]
    return Finding(
        kind="mixed-format",
        message=f"{column.name} holds numbers, but for {plural(len(rows), 'row')} "
        f"({percent(1.0 - share)}) with texts such as {quoted(odd[0])}: it is not learned as a "
        "number.",
        column=column.name,
        rows=tuple(rows[:LISTED].tolist()),
        values=tuple(odd[:5]),
        advice=set_role("Correct the cells, or set the role", column.name, "number"),
    )


def _two_dates(column: CheckedColumn, texts: TextColumn) -> Finding | None:
    sample = TextSample.of(texts)
    first = read_as_dates(sample)
    if first is None or not _SOME <= first.share < 1.0:
        return None
    unread = np.isnan(first.form.read(sample.texts))
    places = np.flatnonzero(unread).tolist()
    rest = TextSample([sample.texts[k] for k in places], sample.weights[unread])
    second = read_as_dates(rest)
    other = 0.0 if second is None else second.share * (1.0 - first.share)
    if second is None or other < _SOME or first.share + other < _NEARLY_ALL:
        return None
    examples = (
        next(t for t, odd in zip(sample.texts, unread, strict=True) if not odd),
        next(t for t in rest.texts if not np.isnan(second.form.read([t]))[0]),
    )
    return Finding(
        kind="mixed-format",
        message=f"{column.name} has dates in two forms: {quoted(examples[0])} in "
        f"{percent(first.share, 2)} of the rows and {quoted(examples[1])} in "
        f"{percent(other, 2)}.",
        column=column.name,
        values=examples,
        advice=Advice("Write them in one form; as they are, they are learned as text."),
    )


def _spellings(column: CheckedColumn, texts: TextColumn) -> Finding | None:
    if len(texts.values) > _MOST_VALUES or column.role != "category":
        return None
    spelled: dict[str, list[int]] = {}
    for code, text in enumerate(texts.values):
        if len(text.strip()) >= _SHORT and texts.counts[code]:
            spelled.setdefault(" ".join(text.casefold().split()), []).append(code)
    several = [codes for codes in spelled.values() if len(codes) > 1]
    if not several:
        return None
    by_rows = [sorted(codes, key=lambda code: -int(texts.counts[code])) for codes in several]
    rarer = [code for codes in by_rows for code in codes[1:]]
    often = max(by_rows, key=lambda codes: int(texts.counts[codes[1]]))
    more = f", and {len(several) - 1:,} more words" if len(several) > 1 else ""
    return Finding(
        kind="mixed-format",
        message=f"{column.name} has one word in several spellings: "
        f"{' and '.join(quoted(texts.values[code]) for code in often[:3])}{more}.",
        column=column.name,
        rows=tuple(np.flatnonzero(np.isin(texts.codes, rarer))[:LISTED].tolist()),
        values=tuple(texts.values[code] for code in often[:5]),
        advice=Advice("If they mean the same, use one spelling."),
    )


# What is said of a column by its first rows is true of them; this is said by all rows.
_OF_ALL_ROWS = frozenset({"constant", "sentinel"})
_HARDLY_ANY = 0.001  # the share of rows that a nearly constant column has other values in
_LEAST_ROWS = 100  # fewer than these are nearly constant by chance


def notice_roles(table: CheckedTable) -> Iterator[Finding]:
    """Say what columns were taken for where somebody should know, and which say nothing."""
    for column in table.columns:
        for found in column.noticed:
            if found.kind == "running-number" and isinstance(column.observed, NumberColumn):
                values = column.observed.values  # the first rows have said so, all say how far
                ends = (float(np.nanmin(values)), float(np.nanmax(values)))
                rows = len(values)
                yield words.running_number(column.name, *ends, otherwise="number", rows=rows)
            elif found.kind not in _OF_ALL_ROWS:
                yield found
        if column.cells is not None:
            yield from _constant(column)
    numbers = [(c.name, c.numbers) for c in table.columns if c.numbers is not None]
    for name, values in numbers:
        yield from find_odd_columns(values[:, None], None, [name])


def _constant(column: CheckedColumn) -> Iterator[Finding]:
    """Find that all rows, or nearly all, have one value."""
    there = ~column.missing
    there[column.unreadable] = False
    rows = np.flatnonzero(there)
    if len(rows) < 2:
        return
    bits = column.bits[rows]
    middle = len(bits) // 2
    same = bits == np.partition(bits, middle)[middle]  # what more than half have is the median
    others = rows[~same]
    if len(others) > (_HARDLY_ANY * len(rows) if len(rows) >= _LEAST_ROWS else 0):
        return
    first = int(rows[same.argmax()])
    value = as_texts(column.observed.take(np.array([first]))).values[0]
    if column.numbers is not None:
        value = f"{column.numbers[first]:.10g}"
    found = words.constant(column.name, value)
    if len(others):
        but = f"all but {len(others):,} of {len(rows):,} rows"
        found = replace(
            found,
            message=f"{column.name} is {words.shown(value)} in {but}.",
            rows=tuple(others[:LISTED].tolist()),
        )
    yield found
