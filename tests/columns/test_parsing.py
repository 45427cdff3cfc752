"""Columns as their roles have them."""

import numpy as np

from refold.columns.conversion import texts_of
from refold.columns.date_form import DateForm
from refold.columns.number_form import NumberForm
from refold.columns.parsing import are_truths, clear, form_of_values, parse, with_truths
from refold.columns.table import DateColumn, NumberColumn


def cells(column):
    return [column.text(row) for row in range(len(column))]


def test_columns_are_cleared_of_words_once():
    raw = texts_of(["NA", "a", "b", "na ", ""])
    cleared = clear(raw, frozenset({"na", ""}))
    assert cells(cleared) == [None, "a", "b", None, None]
    assert cleared.cleared == ("na",)
    assert clear(cleared, frozenset({"na"})) is cleared
    assert cells(clear(cleared, frozenset({"b"}))) == [None, "a", None, None, None]
    same = clear(texts_of(["a"]), frozenset({"na"}))
    assert (cells(same), same.cleared) == (["a"], ("na",))
    numbers = clear(NumberColumn(np.array([-9.0, 1.0])), frozenset({"-9", "na"}))
    np.testing.assert_array_equal(numbers.values, [np.nan, 1.0])
    days = DateColumn(np.array([0.0]), True, False)
    assert clear(days, frozenset({"na"})) is days


def test_categories_that_came_as_numbers_or_dates_are_written_as_these():
    assert form_of_values(NumberColumn(np.ones(2))) == NumberForm()
    day = DateForm("iso", has_date=True, has_clock=False)
    assert form_of_values(DateColumn(np.zeros(1), True, False)) == day
    assert form_of_values(texts_of(["a"])) is None
    respelled = parse(texts_of(["3.0", "3", "x"]), "category", NumberForm())
    assert cells(respelled) == ["3", "3", "x"]
    assert cells(parse(texts_of(["1970-01-02", "x"]), "category", day)) == ["1970-01-02", "x"]
    raw = texts_of(["3", "x"])
    assert parse(raw, "category", NumberForm()) is raw
    clock = DateForm("iso", has_date=True, has_clock=True)
    moments = DateColumn(np.array([86_400.0]), True, False)
    assert cells(parse(moments, "category", clock)) == ["1970-01-02 00:00:00"]
    assert cells(parse(moments, "category", None)) == ["1970-01-02"]
    assert parse(moments, "date", None) is moments
    assert parse(moments, "date", clock).has_clock
    assert parse(moments, "date", day) is moments


def test_truth_values_are_true_and_false():
    assert are_truths(texts_of(["TRUE", " false"]))
    for other in (texts_of(["true", "1"]), texts_of([""]), NumberColumn(np.ones(2))):
        assert not are_truths(other)
    column = with_truths(texts_of(["true", "0", "1", "FALSE", "maybe"]))
    assert cells(column) == ["True", "False", "True", "False", "maybe"]
    already = texts_of(["True", "False"])
    assert with_truths(already) is already
