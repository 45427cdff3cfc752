"""Lines of totals are left out and said; rows that only look like them stay."""

from __future__ import annotations

import datetime as dt

import pytest
import xlsxwriter

from refold.tabular import _lines, open_table, read_arrow

GERMAN = [
    "Filiale;Datum;Umsatz;Quote",
    *(f"F{k};0{k}.05.2024;1.{k}00,50;0,{k}" for k in range(1, 6)),
]
TOTAL = {
    "a word and a sum": "Summe;;6.502,50;",
    "a word, and nothing where others have something": "Gesamt:;;;0,3",
    "in capitals": "TOTAL;;6.502,50;1,5",
    "shorter than others": "Summe;;6.502,50",
    "sums without a word": ";;6.502,50;1,5",
}


def rows_of(file, content):
    file.write_text("\n".join(content) + "\n")
    said = []
    with open_table(file, say=said.append) as table:
        return read_arrow(table), [found.kind for found in said]


@pytest.mark.parametrize("total", TOTAL)
def test_a_line_of_totals_is_no_row(tmp_path, total):
    expected, said = rows_of(tmp_path / "t.csv", GERMAN)
    assert "totals" not in said
    found, said = rows_of(tmp_path / "t.csv", [*GERMAN, TOTAL[total]])
    assert found.equals(expected)
    assert "totals" in said
    found, _ = rows_of(tmp_path / "t.csv", [*GERMAN, TOTAL[total], "", ""])
    assert found.equals(expected)


@pytest.mark.parametrize(
    "last",
    [
        "Total;06.05.2024;1.700,00;0,9",  # a company: no sum, nothing empty
        "F6;;1.700,00;0,9",  # a date is missing
        ";;1.700,00;0,9",  # no sums
        "F6;06.05.2024;6.502,50;1,5",  # sums, but a row as all others
    ],
)
def test_a_row_that_is_no_total_stays(tmp_path, last):
    found, said = rows_of(tmp_path / "t.csv", [*GERMAN, last])
    assert found.num_rows == 6
    assert "totals" not in said


def test_totals_of_groups_are_rows(tmp_path):
    groups = [f"{k};{name};{value}" for k in range(3) for name, value in (("a", 1), ("total", 2))]
    found, _ = rows_of(tmp_path / "t.csv", ["k;what;n", *groups, ";total;9"])
    assert found.num_rows == 7


def test_a_total_is_only_looked_for_where_it_is_not_forbidden(tmp_path):
    (tmp_path / "t.csv").write_text("\n".join([*GERMAN, TOTAL["a word and a sum"]]))
    with open_table(tmp_path / "t.csv", totals=False) as table:
        assert read_arrow(table).num_rows == 6


def test_totals_of_a_long_file_are_found_in_its_last_part(tmp_path, monkeypatch):
    monkeypatch.setattr(_lines, "BLOCK", 2**12)
    lines = [f"F{k};01.05.2024;{k},5;0,1" for k in range(2_000)]
    expected, _ = rows_of(tmp_path / "t.csv", [GERMAN[0], *lines])
    found, said = rows_of(tmp_path / "t.csv", [GERMAN[0], *lines, "Summe;;1,0;"])
    assert found.equals(expected)
    assert "totals" in said


def test_totals_of_a_sheet_are_no_rows_and_change_no_type(tmp_path):
    rows = [(dt.datetime(2024, 5, k), f"F{k}", 1.5 * k, k) for k in range(1, 8)]
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["day", "shop", "sales", "n"])
        for k, row in enumerate(rows, 1):
            sheet.write_datetime(k, 0, row[0], day)
            sheet.write_row(k, 1, row[1:])
        sheet.write_row(9, 0, ["Summe", "", sum(r[2] for r in rows), sum(r[3] for r in rows)])
    said = []
    with open_table(tmp_path / "t.xlsx", say=said.append) as table:
        found = read_arrow(table)
    assert found.num_rows == 7
    assert [str(kind) for kind in found.schema.types] == [
        "timestamp[us]",
        "string",
        "double",
        "int64",
    ]
    assert "row 10 has totals" in said[0].message
