"""Columns before and after parsing: the same types, and nothing is parsed twice or lost."""

import datetime as dt
from dataclasses import replace

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
    check_finite,
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


def written(column):
    return [column.text(row) for row in range(len(column))]


@pytest.mark.parametrize("rows", [[], [3], [5, 0, 0, 199], list(range(0, 200, 3))])
def test_rows_of_texts_have_their_texts_and_no_others(rows):
    cells = [None if k % 7 == 0 else f"v{k:03}" for k in range(200)]
    column = texts_of([cell or "" for cell in cells])
    taken = column.take(np.array(rows, dtype=int))
    assert written(taken) == [cells[row] for row in rows]
    assert sorted(taken.values) == sorted({cells[row] for row in rows} - {None})
    assert taken.counts.sum() == sum(cells[row] is not None for row in rows)
    assert taken.counts.tolist() == [written(taken).count(value) for value in taken.values]


def test_numbers_and_moments_are_written_as_a_file_would_have_them():
    values = [3.0, -0.5, 2.0**53, 2.0**53 + 2.0, 1e300, np.nan, 0.1]
    expected = ["3", "-0.5", str(2**53), "9007199254740994.0", "1e+300", None, "0.1"]
    assert written(as_texts(NumberColumn(np.array(values)))) == expected
    seconds = np.array([-86_400.0, 3661.0, np.nan])
    for date, clock, said in (
        (True, True, ["1969-12-31 00:00:00", "1970-01-01 01:01:01", None]),
        (True, False, ["1969-12-31", "1970-01-01", None]),
        (False, True, ["00:00:00", "01:01:01", None]),
    ):
        assert written(as_texts(DateColumn(seconds, date, clock))) == said


def test_hours_and_weekdays_are_those_of_python():
    moments = [dt.datetime(1900, 1, 1) + dt.timedelta(hours=997 * k) for k in range(900)]
    seconds = [(m - dt.datetime(1970, 1, 1)).total_seconds() for m in moments]
    column = DateColumn(np.array([*seconds, np.nan]), has_date=True, has_clock=True)
    assert column.hour.tolist() == [*(m.hour for m in moments), -1]
    assert column.weekday.tolist() == [*(m.weekday() for m in moments), -1]


def test_tables_are_cut_and_put_together():
    x, y = NumberColumn(np.arange(4.0)), texts_of(["a", "b", "", "a"])
    table = Table(["x", "y"], [x, y], 4)
    assert table.head(4) is table
    assert table.head(3).rows == 3
    assert table.head(3)["x"].values.tolist() == [0.0, 1.0, 2.0]
    assert table.select(["y"]).names == ["y"]
    assert table.select(["x", "y"]) is table
    both = Table.hstack([table.select(["y"]), table.select(["x"])])
    assert (both.names, both.rows) == (["y", "x"], 4)
    inside = replace(table.select(["y"]), inputs=table)
    assert Table.hstack([inside, table.select(["x"])]).inputs is table
    assert Table.hstack([table.select(["x"]), inside]).inputs is None
    assert table.with_columns({1: x})["y"] is x
    again = Table.concat([table.head(1), table.take(np.array([1, 2, 3]))])
    assert (again.rows, written(again["y"])) == (4, ["a", "b", None, "a"])
    assert Table.concat([table]) is table
    empty = Table([], [], 5)
    assert empty.take(np.array([1, 2])).rows == 2
    assert len(Table.of_numbers(["a"], [[1, 2, 3]])) == 3
    assert len(Table.of_numbers([], [])) == 0


def test_columns_of_different_types_or_forms_become_texts():
    numbers, words = NumberColumn(np.array([1.0, np.nan])), texts_of(["a", ""])
    mixed = concat([numbers, words])
    assert written(mixed) == ["1", None, "a", None]
    points, commas = (
        parse(texts_of([cell]), "number", form) for cell, form in (("1.5", POINT), ("2,5", COMMA))
    )
    assert written(concat([points, commas])) == ["1.5", "2,5"]
    assert concat([points, points]).values.tolist() == [1.5, 1.5]
    day, moment = (DateColumn(np.array([0.0]), True, clock) for clock in (False, True))
    assert concat([day, moment]).has_clock
    assert not concat([day, day]).has_clock
    plain, grouped = texts_of(["a"]), texts_of(["b"])
    shares = np.zeros((1, 3))
    grouped = TextColumn(grouped.values, grouped.codes, in_group=shares)
    assert concat([plain, grouped]).in_group is None
    assert concat([grouped, grouped]).in_group.shape == (2, 3)


def test_an_infinite_number_is_refused_by_its_place():
    check_finite(np.array([1.0, np.nan]), 0, ["x"])
    with pytest.raises(ValueError, match=r"infinit.*row 1.*x|row 1, column.*infinit|x.*row 1"):
        check_finite(np.array([1.0, np.inf]), 0, ["x"])


@pytest.mark.parametrize(("cells", "complete"), [("12", True), ("1x", False), ("xx", False)])
def test_a_column_is_complete_if_every_cell_is_readable(cells, complete):
    assert parse(texts_of(list(cells)), "number", POINT).complete == complete


def test_values_get_other_texts_and_some_none():
    column = texts_of(["a", "b", "", "c", "a"])
    assert written(column.renamed(["x", None, "x"])) == ["x", None, None, "x", "x"]
    assert column.renamed(["x", None, "x"]).values == ["x"]
