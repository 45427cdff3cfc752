"""How values and moments are shown in what is said of a column."""

import pytest

from refold.columns.date_form import DateForm
from refold.columns.role_findings import moment, running_number, shown


def test_values_are_shown_shortly_and_moments_as_iso_writes_them():
    assert shown(1234.5) == "1234.5"
    assert shown("x" * 40) == "x" * 40
    assert shown("x" * 41) == "x" * 39 + "…"
    for date, clock, said in ((True, True, "1969-12-31 23:59:59"), (True, False, "1969-12-31")):
        assert moment(-0.5, DateForm("iso", date, clock)) == said
    assert moment(3661.9, DateForm("%H:%M:%S", False, True)) == "01:01:01"


@pytest.mark.parametrize(
    ("last", "numbers"), [(10.0, True), (9.0, False), (101.0, True), (102.0, False)]
)
def test_numbers_of_rows_are_as_many_as_these_or_up_to_ten_times_as_many(last, numbers):
    said = str(running_number("no", 1.0, last, otherwise="number", rows=10))
    assert ("numbers the rows" in said, "goes on from row to row" in said) == (numbers, not numbers)
