"""How values and moments are shown in what is said of a column."""

from refold.columns.date_form import DateForm
from refold.columns.role_findings import moment, shown


def test_values_are_shown_shortly_and_moments_as_iso_writes_them():
    assert shown(1234.5) == "1234.5"
    assert shown("x" * 40) == "x" * 40
    assert shown("x" * 41) == "x" * 39 + "…"
    for date, clock, said in ((True, True, "1969-12-31 23:59:59"), (True, False, "1969-12-31")):
        assert moment(-0.5, DateForm("iso", date, clock)) == said
    assert moment(3661.9, DateForm("%H:%M:%S", False, True)) == "01:01:01"
