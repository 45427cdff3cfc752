"""Columns before and after parsing: the same types, and nothing is parsed twice or lost."""

import numpy as np
import pytest

from refold.columns import form_guess
from refold.columns.conversion import texts_of
from refold.columns.date_form import DateForm
from refold.columns.encoding.plan import Plan
from refold.columns.missing import masked_texts
from refold.columns.number_form import NumberForm
from refold.columns.parsing import parse
from refold.columns.roles import guess
from refold.columns.table import (
    CellState,
    DateColumn,
    NumberColumn,
    Table,
    TextColumn,
    as_texts,
    concat,
)

CELLS = ["12,5", "", "3", "n.d.", "12,5", "-1,25"]
NUMBERS = [12.5, np.nan, 3.0, np.nan, 12.5, -1.25]
STATES = [0, 1, 0, 2, 0, 0]
COMMA, POINT = NumberForm(decimal=","), NumberForm()
DAYS = DateForm("%d.%m.%Y", has_date=True, has_clock=False)


def test_cells_are_readable_missing_or_unreadable():
    column = parse(texts_of(CELLS), "number", COMMA)
    np.testing.assert_array_equal(column.values, NUMBERS)
    assert column.state.tolist() == STATES
    assert column.unreadable.tolist() == [state == CellState.UNREADABLE for state in STATES]
    assert [as_texts(column).text(row) for row in (0, 1, 3)] == ["12,5", None, "n.d."]


def test_a_column_that_was_parsed_is_not_parsed_again():
    column = parse(texts_of(CELLS), "number", COMMA)
    assert parse(column, "number", COMMA) is column
    assert parse(column, "number", POINT).values[2] == 3.0  # by another form it is read anew
    assert np.isnan(parse(column, "number", POINT).values[0])
    numbers = NumberColumn(np.array([1.0, np.nan]))
    assert parse(numbers, "number", COMMA) is numbers


@pytest.mark.parametrize(
    ("role", "form", "cells"),
    [
        ("number", COMMA, CELLS),
        ("date", DAYS, ["2.1.1970", "", "soon", "31.12.1999", "2.1.1970", "30.2.2000"]),
        ("category", None, ["A", "", "B", "B", "n/a", "A"]),
    ],
)
def test_rows_are_taken_and_joined_before_or_after_parsing(role, form, cells):
    raw = texts_of(cells)
    whole, rows = parse(raw, role, form), np.array([3, 0, 0, 5])

    def same(column, other):
        assert type(column) is type(other)
        assert column.state.tolist() == other.state.tolist()
        texts = [[as_texts(c).text(row) for row in range(len(c))] for c in (column, other)]
        assert texts[0] == texts[1]
        if not isinstance(column, TextColumn):
            name = "values" if isinstance(column, NumberColumn) else "seconds"
            np.testing.assert_array_equal(getattr(column, name), getattr(other, name))

    same(whole.take(rows), parse(raw.take(rows), role, form))
    both = concat([whole.take(np.arange(2)), whole.take(np.arange(2, 6))])
    same(both, whole)
    assert parse(both, role, form) is both
    same(parse(concat([whole, raw]), role, form), parse(concat([raw, raw]), role, form))


def test_numbers_that_are_dates_or_categories_keep_their_numbers():
    days = NumberColumn(np.array([19700102.0, np.nan, 7.0]))
    column = parse(days, "date", DateForm("%Y%m%d", has_date=True, has_clock=False))
    assert isinstance(column, DateColumn)
    assert column.state.tolist() == [0, 1, 2]
    assert as_texts(column).text(2) == "7"
    codes = parse(days, "category", None)
    assert (codes.raw, codes.text(0), codes.state.tolist()) == (days, "19700102", [0, 1, 0])


def test_a_plan_parses_a_table_once():
    table = Table(["size", "kind"], [texts_of(CELLS * 20), texts_of(list("AAABBB") * 20)], 120)
    plan, parsed = Plan.of(table, {"size": "number:,"})
    assert plan.parse(parsed) is parsed
    assert [column.role for column in plan.used] == ["number", "category"]


def test_letters_are_not_tried_as_dates(monkeypatch):
    def never(*_):
        raise AssertionError("a date form was tried")

    monkeypatch.setattr(form_guess, "_date_forms", never)
    assert guess("grade", texts_of(["A", "B", "C", "B 12"] * 30)).role == "category"
    with pytest.raises(AssertionError, match="was tried"):
        guess("day", texts_of([f"{day}.3.2026" for day in range(1, 29)]))


def test_a_word_for_a_missing_value_counts_whatever_space_is_around_it_and_numbers_as_numbers():
    texts = ["NA", f"{' ' * 100}n/A{' ' * 100}", "NAN.", "N A", "-999", "-999,000", "-9990", "İ"]
    assert masked_texts(texts, {"", "na", "n/a"}).tolist() == [True, True, *[False] * 6]
    numbers = [False] * 4 + [True, True, False, False]
    assert masked_texts(texts, {"-999"}).tolist() == numbers


@pytest.mark.parametrize("rows", [[3, 3, 90], [99, 7, 100], list(range(101)) * 2, []])
def test_taken_rows_have_their_texts_and_no_values_that_none_of_them_has(rows):
    column = texts_of([*(f"C-{k}" for k in range(100)), ""])
    taken = column.take(np.array(rows, dtype=np.int64))
    assert [taken.text(k) for k in range(len(rows))] == [column.text(row) for row in rows]
    assert taken.values == [v for k, v in enumerate(column.values) if k in rows]
