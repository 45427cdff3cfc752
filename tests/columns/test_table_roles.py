"""Columns beside each other: words for missing values, and marks that are left open."""

import numpy as np

from refold.columns.conversion import texts_of
from refold.columns.missing import SourceFormat
from refold.columns.number_form import NumberForm
from refold.columns.table import Table, TextColumn
from refold.columns.table_roles import guess_roles


def roles_of(table, **roles):
    return guess_roles(table, roles)


def test_a_word_that_most_rows_have_is_a_value_unless_the_others_are_numbers():
    people = SourceFormat(by_people=True)

    def guessed(words, **roles):
        column = texts_of(words)
        return roles_of(Table(["x"], [column], len(words), written=people), **roles)[0]

    some = guessed(["none"] * 5 + ["a", "b", "a", "b", "a"])
    assert (some.missing, some.kept) == (("none",), ())
    most = guessed(["none"] * 6 + ["a", "b", "a", "b", "a"])
    assert (most.missing, most.kept) == ((), ("none",))
    assert guessed(["none"] * 6 + ["1", "2.5", "3", "4", "5"]).missing == ("none",)
    in_memory = Table(["x"], [texts_of(["none", "a", "b"])], 3)
    assert roles_of(in_memory)[0].kept == ("none",)


def test_columns_that_leave_their_mark_open_have_that_of_the_others():
    shows = texts_of(["1,5", "2,25"] * 10)
    open_ = texts_of(["1,234", "2,345"] * 10)
    both = Table(["a", "b"], [shows, open_], 20)
    assert [each.form for each in roles_of(both)] == [NumberForm(","), NumberForm(",")]
    alone = Table(["b"], [open_], 20)
    assert roles_of(alone)[0].form == NumberForm(thousands=",")
    likely = Table(["b"], [open_], 20, written=SourceFormat(likely=","))
    assert roles_of(likely)[0].form == NumberForm(",")
    numbers = Table.of_numbers(["x"], [np.arange(30.0)])
    assert [each.role for each in guess_roles(numbers, {})] == ["number"]
    assert isinstance(roles_of(both, b="category")[1].form, type(None))
    assert isinstance(both["a"], TextColumn)
