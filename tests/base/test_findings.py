"""Findings in words: rows are called once, by one name."""

from refold.base.findings import Finding


def test_rows_that_follow_each_other_are_not_counted_up_twice():
    found = Finding("unreadable", "a", rows=(4, 5, 6), message="a has 'x' in row 4 of the table.")
    assert found.one_based().message == "a has 'x' in row 5 of the table."


def test_rows_are_called_by_name_and_other_numbers_stay():
    found = Finding("absurd-cell", "in row 7 x", (1_234,), message="a 7 in row 1,234 is far. 1,234")
    assert found.with_row_labels(lambda row: f"P{row}").message == "a 7 in row P1234 is far. 1,234"
