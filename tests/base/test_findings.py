"""Findings in words: rows are called once, by one name."""

import pickle

import numpy as np

from refold.base.findings import Finding, RowText, told


def test_rows_that_follow_each_other_are_not_counted_up_twice():
    said = RowText.of("a has 'x' in row ", 4, " of the table.")
    found = Finding("unreadable", "a", rows=(4, 5, 6), message=said)
    assert found.one_based().message == "a has 'x' in row 5 of the table."


def test_rows_are_called_by_name_and_other_numbers_stay():
    said = RowText.of("a 7 in row ", 1_234, " is far. 1,234 in row 1,234 too")
    found = Finding("absurd-cell", "in row 7 x", (1_234,), message=said)
    assert found.message == "a 7 in row 1,234 is far. 1,234 in row 1,234 too"
    assert found.with_row_labels(lambda row: f"P{row}").message == (
        "a 7 in row P1234 is far. 1,234 in row 1,234 too"
    )


def test_a_row_that_has_moved_is_named_by_its_new_place_however_it_is_called_later():
    found = Finding("x", "a", (1,), message=RowText.of("a is odd in row ", 1, "."))
    moved = found.renumbered(np.array([10, 20, 30]))
    assert (moved.rows, moved.message) == ((20,), "a is odd in row 20.")
    assert moved.one_based().one_based().message == "a is odd in row 21."
    assert pickle.loads(pickle.dumps(moved)).one_based().message == "a is odd in row 21."


def test_a_column_under_another_name_still_names_its_rows():
    found = Finding("x", "x0", (4,), message=RowText.of("x0 is odd in row ", 4, "."))
    assert found.about("heat").one_based().message == "heat is odd in row 5."
    assert Finding("x", "x0", message="x0 is odd.").about("heat").message == "heat is odd."


def test_more_findings_about_several_columns_name_these():
    blocks = [
        Finding("missing-block", None, (), (f"a{k}", f"b{k}"), f"a{k}, b{k} are missing together.")
        for k in range(4)
    ]
    assert [*told(blocks)][-1] == "The same holds once more, in a3, b3."
