"""Exports as they come: titles, units, separators at the end, names that repeat."""

from __future__ import annotations

import pytest
import xlsxwriter

from refold.tabular import InputError, open_table, read_arrow
from refold.tabular._layout import distinct
from tests.tabular.numbers import read_numbers


@pytest.fixture
def read(tmp_path):
    """Write a text, read it, and return its columns, what was said and the table."""

    def reading(content, **how):
        file, said = tmp_path / "t", []
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        with open_table(file, say=lambda found: said.append(str(found)), **how) as table:
            return read_arrow(table).to_pydict(), [s.removeprefix(f"{file}: ") for s in said], table

    return reading


SAP = """\
Materialbeleg-Liste;;;;
Werk: 0100;;;;

Material;Menge;Preis;Datum;
4711;1.234,50;12,5;01.02.2024;
4712;2,25;1,75;02.02.2024;
4713;17,5;3,25;03.02.2024;
"""
LABVIEW = """\
LabVIEW Measurement
Writer_Version\t2
Operator\tsmith
***End_of_Header***

Time\tForce\tTravel\tComment
s\tkN\tmm\t
0,0\t1,25\t3,5\t
0,1\t1,5\t3,25\tok
0,2\t1,75\t3,75\t
"""
EXCEL = """\
Report "May",,
Operator:,Smith,
Date:,2024-05-01,
,,
part,torque,heat
,Nm,°C
A1,75.5,20
A2,74.9,21
"""


def test_an_export_of_sap(read):
    found, said, table = read(SAP)
    assert found == {
        "Material": ["4711", "4712", "4713"],
        "Menge": ["1.234,50", "2,25", "17,5"],
        "Preis": ["12,5", "1,75", "3,25"],
        "Datum": ["01.02.2024", "02.02.2024", "03.02.2024"],
    }
    assert said == [
        "line 4 names the columns; those before it were skipped.",
        "what is behind the last separator of a line was left out.",
    ]
    assert table.format == "CSV, semicolons, decimal commas"


def test_an_export_of_labview(read):
    found, said, table = read(LABVIEW)
    assert found["Force"] == ["1,25", "1,5", "1,75"]
    assert found["Comment"] == ["", "ok", ""]
    assert table.units == {"Time": "s", "Force": "kN", "Travel": "mm"}
    assert said == [
        "line 6 names the columns; those before it were skipped.",
        "the line below the names of the columns has their units.",
    ]


def test_an_export_of_excel(read):
    found, said, table = read(EXCEL)
    assert found == {"part": ["A1", "A2"], "torque": ["75.5", "74.9"], "heat": ["20", "21"]}
    assert table.units == {"torque": "Nm", "heat": "°C"}
    assert len(said) == 2


def test_lines_are_counted_from_the_beginning_of_the_file(read, tmp_path):
    (tmp_path / "t").write_text("Title\n\na,b\nm,s\n1,2\n3,4\n5,oops\n")
    with (
        open_table(tmp_path / "t") as table,
        pytest.raises(InputError, match="line 7, column 'b': 'oops' is not a number"),
    ):
        read_numbers(table)


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1,2\n3,4\n",
        "a,b\nx,y\nu,v\n",
        "a\nb\nc\n",
        "a,b\nn.d.,NA\n1,2\n3,4\n",
        "name,unit\ntorque,Nm\nheat,K\n",
        "a,b,\nx,y,z\nu,v,w\n",
        "a,,,d\nx,y,z,a\nu,v,w,b\n",
        "a,b\nbad,worse\n1,2\n3,4\n",
        ",a\n0,1\n1,2\n",
    ],
)
def test_nothing_is_skipped_where_it_is_not_clear(content, read):
    found, said, table = read(content, delimiter=",")
    assert len(next(iter(found.values()))) == content.count("\n") - 1
    assert (said, table.units) == ([], {})


def test_unclear_titles_are_an_error_until_they_are_counted(read):
    content = "some,title,of,this\na,b\n1,2\n3,4\n"
    with pytest.raises(InputError, match="the number of cells is 2, in the first line it is 4"):
        read(content)
    assert read(content, skip_rows=1)[0] == {"a": ["1", "3"], "b": ["2", "4"]}
    assert read("x;y\n1;2\n", skip_rows=0)[0] == {"x": ["1"], "y": ["2"]}


@pytest.mark.parametrize("end", ["", ";"])
def test_a_separator_at_the_end_of_lines_makes_no_column(read, end):
    found, said, _ = read(f"a;b{end}\n1;2;\n3;4;\n")
    assert found == {"a": ["1", "3"], "b": ["2", "4"]}
    assert said == ["what is behind the last separator of a line was left out."]
    assert read("a;b;\n1;2\n3;4\n")[0] == {"a": ["1", "3"], "b": ["2", "4"]}


def test_nothing_is_lost_behind_the_last_separator(read):
    with pytest.raises(InputError, match="line 302: there is 'late' behind the last column"):
        read("a;b;\n" + "1;2;\n" * 300 + "1;2;late\n")


def test_names_that_repeat_are_numbered(read):
    found, said, _ = read("a,a,b,a.2,a\n1,2,3,4,5\n")
    assert list(found) == ["a", "a.3", "b", "a.2", "a.4"]
    assert said == ["some columns have the same name; the later ones are called 'a.3', 'a.4'."]


def test_thousands_of_names_that_repeat():
    names, changed = distinct(["a", "b"] * 50_000)
    assert len(set(names)) == 100_000
    assert len(changed) == 99_998


def test_the_number_of_columns_does_not_depend_on_line_breaks_in_cells(read):
    found, _, _ = read('"one\ntwo, three",4,5\n6,7,8\n', header=False, delimiter=",")
    assert found == {"x0": ["one\ntwo, three", "6"], "x1": ["4", "7"], "x2": ["5", "8"]}


def test_a_column_without_a_name_is_read(read, tmp_path):
    found, _, _ = read(",a\n0,1.5\n1,2.5\n")
    assert found == {"unnamed 1": ["0", "1"], "a": ["1.5", "2.5"]}
    with open_table(tmp_path / "t") as table:
        assert read_numbers(table).names == ["unnamed 1", "a"]


def test_marks_quotes_and_windows_letters(read):
    assert read('\ufeff"a","b"\n"1","ä"\n')[0] == {"a": ["1"], "b": ["ä"]}
    found, said, _ = read("größe;b\n1;é\n".encode("cp1252"))
    assert found == {"größe": ["1"], "b": ["é"]}
    assert "cp1252" in said[0]


def test_an_empty_column_is_read(read):
    assert read("a,b,c\n1,,2\n3,,4\n")[0]["b"] == ["", ""]


TWO_LINES = [
    ["", "", "Torque", "", "Speed", ""],
    ["id", "machine", "min", "max", "min", "max"],
    ["1", "A", "1.5", "2.5", "300", "310"],
    ["2", "B", "1.4", "2.6", "301", "309"],
    ["3", "A", "1.3", "2.4", "299", "311"],
]
JOINED = ["id", "machine", "Torque min", "Torque max", "Speed min", "Speed max"]


@pytest.mark.parametrize("titles", [[], [["Report of May"]], [["Report"], [], ["made by us"]]])
@pytest.mark.parametrize("upper", [TWO_LINES[0], ["", "", "Torque", "Torque", "Speed", "Speed"]])
@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_two_lines_of_names_are_joined(tmp_path, form, upper, titles):
    rows = [*titles, upper, *TWO_LINES[1:]]
    path = tmp_path / f"t.{form}"
    if form == "csv":
        path.write_text("\n".join(";".join(row) for row in rows))
    else:
        with xlsxwriter.Workbook(path, {"strings_to_numbers": True}) as book:
            sheet = book.add_worksheet()
            for k, row in enumerate(rows):
                sheet.write_row(k, 0, row)
    said = []
    with open_table(path, say=said.append) as table:
        assert table.names == JOINED
        assert sum(block.rows for block in table.blocks()) == 3
    assert any(found.kind == "joined-names" for found in said)


@pytest.mark.parametrize(
    "rows",
    [
        [["a", "b"], ["x", "y"], ["1", "2"], ["3", "4"]],  # the first line has all names
        [["a", ""], ["1", "2"], ["3", "4"], ["5", "6"]],  # the second has numbers
        [["a", "", "c"], ["x", "y", "z"], ["u", "v", "w"], ["u", "v", "w"]],  # all is text
        [["a", "", "c"], ["x", "y", "-"], ["1", "2", "3"], ["1", "2", "3"]],  # a missing value
    ],
)
def test_lines_are_not_joined_in_doubt(tmp_path, rows):
    (tmp_path / "t.csv").write_text("\n".join(map(";".join, rows)))
    with open_table(tmp_path / "t.csv") as table:
        assert sum(block.rows for block in table.blocks()) == len(rows) - 1


def test_one_group_of_columns_is_enough(tmp_path):
    rows = [["Report"], [], ["", "Torque", ""], ["id", "min", "max"], *[["1", "2.5", "3.5"]] * 4]
    (tmp_path / "t.csv").write_text("\n".join(map(";".join, rows)))
    with open_table(tmp_path / "t.csv") as table:
        assert table.names == ["id", "Torque min", "Torque max"]
    (tmp_path / "t.csv").write_text("\n".join(map(";".join, [["Report", "", ""], *rows[3:]])))
    with open_table(tmp_path / "t.csv") as table:
        assert table.names == ["id", "min", "max"]


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_names_that_are_years_can_be_confirmed(tmp_path, form):
    path = tmp_path / f"t.{form}"
    if form == "csv":
        path.write_text("2021,2022\n1,2\n3,4\n")
    else:
        with xlsxwriter.Workbook(path) as book:
            sheet = book.add_worksheet()
            for k, row in enumerate([(2021, 2022), (1, 2), (3, 4)]):
                sheet.write_row(k, 0, row)
    with pytest.raises(InputError, match="the names of the columns are all numbers") as caught:
        open_table(path)
    assert caught.value.advice.kind == "header"
    for header, names in ((True, ["2021", "2022"]), (False, ["x0", "x1"])):
        with open_table(path, header=header) as table:
            assert table.names == names
