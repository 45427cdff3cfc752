"""Columns as their roles have them: numbers, dates and truth values, and words for missing ones."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from refold.columns.date_form import DateForm
from refold.columns.missing import masked_numbers, masked_texts
from refold.columns.number_form import NumberForm
from refold.columns.table import Column, DateColumn, NumberColumn, TextColumn, as_texts

_WHOLE = re.compile(r"(-?[0-9]{1,16})(\.0)?", re.ASCII)
TRUTHS = {"true": "True", "false": "False", "1": "True", "0": "False"}
_TRUTH_NAMES = frozenset(TRUTHS.values())


def parse(column: Column, role: str, form: NumberForm | DateForm | None) -> Column:
    """Return a column as its role has it; `form` says how texts are read.

    With a form, categories and other texts came as numbers or dates: they are written as these are.
    A column that was parsed so is returned as it is.
    """
    if role == "number":
        return _numbers(column, form if isinstance(form, NumberForm) else NumberForm())
    if role == "date":
        assert form is None or isinstance(form, DateForm)
        return _dates(column, form)
    if isinstance(column, TextColumn):
        return column if form is None else _respelled(column, form)
    if isinstance(form, DateForm) and isinstance(column.raw, DateColumn):
        column = replace(column.raw.in_zone(form.clock), has_clock=form.has_clock)
    return replace(as_texts(column), source=column.raw)


def form_of_values(column: Column) -> NumberForm | DateForm | None:
    """Return the form of texts that stand for the numbers or dates of a column; None of texts."""
    raw = column.raw
    if isinstance(raw, NumberColumn):
        return raw.form or NumberForm()
    if isinstance(raw, DateColumn):
        return DateForm("iso", raw.has_date, raw.has_clock, raw.clock)
    return None


def _respelled(column: TextColumn, form: NumberForm | DateForm) -> TextColumn:
    """Write texts as the numbers or dates that they are: 3.0 as 3."""
    read = form.read(column.values)
    typed: Column = NumberColumn(read)
    if isinstance(form, DateForm):
        typed = DateColumn(read, form.has_date, form.has_clock)
    written = as_texts(typed)
    new = [written.text(k) or old for k, old in enumerate(column.values)]
    return column if new == list(column.values) else column.renamed(new)


def clear(column: Column, words: frozenset[str]) -> Column:
    """Return a column with missing values where one of some words, or numbers, stands.

    What was cleared so is returned as it is.
    """
    raw = column.raw
    if isinstance(raw, TextColumn) and (new := words.difference(raw.cleared, {""})):
        masked, cleared = masked_texts(raw.values, new), (*raw.cleared, *sorted(new))
        if not masked.any():
            return column if raw is not column else replace(raw, cleared=cleared)
        pairs = zip(raw.values, masked.tolist(), strict=True)
        return replace(raw.renamed([None if odd else v for v, odd in pairs]), cleared=cleared)
    if isinstance(raw, NumberColumn) and (masked := masked_numbers(raw.values, words)).any():
        return replace(raw, values=np.where(masked, np.nan, raw.values))
    return column


def _numbers(column: Column, form: NumberForm) -> NumberColumn:
    if isinstance(column, NumberColumn) and column.form in (None, form):
        return column
    texts = as_texts(column)
    read = form.read(texts.values)
    values = np.append(np.where(np.isfinite(read), read, np.nan), np.nan)[texts.codes]
    return NumberColumn(values, column.raw, form)


def _dates(column: Column, form: DateForm | None) -> DateColumn:
    if isinstance(column, DateColumn) and column.form == form:
        return column
    raw = column.raw
    if isinstance(raw, DateColumn):
        raw = raw if form is None else raw.in_zone(form.clock)
        if form is None or form.has_clock == raw.has_clock:
            return raw
        return replace(raw, has_clock=form.has_clock, source=raw, form=form)
    texts = as_texts(raw)
    form = form or DateForm("iso", has_date=True, has_clock=True)
    seconds = np.append(form.read(texts.values), np.nan)[texts.codes]
    return DateColumn(seconds, form.has_date, form.has_clock, raw, form)


def have_whole_numbers(column: Column) -> bool:
    """Whether some texts are whole numbers, all written 3 or all 3.0: how is up to who wrote them.

    Where both are written they are two values.
    """
    if not isinstance(column, TextColumn):
        return False
    found = [match for match in map(_WHOLE.fullmatch, column.values) if match]
    return len({match[2] for match in found}) == 1


def says_whole_number(text: str) -> bool:
    """Whether a text is a whole number, written as one."""
    return (found := _WHOLE.fullmatch(text)) is not None and found[2] is None


def with_whole_numbers(column: Column) -> Column:
    """Return a column of texts with whole numbers written as 3, never as 3.0."""
    assert isinstance(column, TextColumn)
    new = [_WHOLE.sub(r"\1", value) if value.endswith(".0") else value for value in column.values]
    return column if new == list(column.values) else column.renamed(new)


def are_truths(column: Column) -> bool:
    """Whether a column has no other texts than true and false."""
    if not isinstance(column, TextColumn) or not len(column.values):
        return False
    return all(value.strip().lower() in ("true", "false") for value in column.values)


def with_truths(column: Column) -> Column:
    """Return a column of truth values as True and False, however they are written: true, 1, 0."""
    assert isinstance(column, TextColumn)
    if _TRUTH_NAMES.issuperset(column.values):
        return column
    return column.renamed([TRUTHS.get(value.strip().lower(), value) for value in column.values])
