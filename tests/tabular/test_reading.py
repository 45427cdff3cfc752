"""Reading tables: the same cells whatever the blocks, and places that a person finds."""

from __future__ import annotations

import codecs
import math
import os
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.tabular import InputError, _lines, csv_table, open_table, read_arrow
from refold.tabular import table_source as tables
from refold.tabular._cell_text import BadCellError, cell_number, column_numbers
from refold.tabular.csv_dialect import guess_dialect
from refold.tabular.features import Column, Features
from refold.tabular.files import is_text_file
from tests.tabular.numbers import read_numbers


def written(tmp, content):
    file = tmp / "t"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def cells_of(file, **how):
    """All cells of a table, column by column, and how many blocks they came in."""
    with open_table(file, **how) as table:
        blocks = list(table.blocks())
        names = table.names
    return {
        name: [c for b in blocks for c in b.columns[name].to_pylist()] for name in names
    }, blocks


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@given(
    st.lists(st.sampled_from(["1", '"2"', '"3\n4"', '"5\n\n6"', "\n", ""]), max_size=15), st.data()
)
def test_the_line_of_a_bad_cell_is_that_of_an_editor(folder, before, data):
    lines = ["number,text"]
    for cell in before:
        lines.append("" if cell == "\n" else f"7,{cell}")
    bad = "\n".join(lines).count("\n") + 2
    content = "\n".join([*lines, "oops,1", "8,9"]) + "\n"
    file = written(folder, content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_lines, "BLOCK", data.draw(st.integers(2, 60)))
        with open_table(file) as table:
            features = Features(["number"], table)
            with pytest.raises(InputError, match=f", line {bad}, column 'number': 'oops'"):
                list(map(features.matrix, table.blocks()))


@pytest.mark.parametrize("end", ["\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize(
    "lines",
    [["a;b", "mm;kg", "1,5;2"], ["a,b", *(f"{k},2" for k in range(6)), "Total,12"], ["a,b", "1,2"]],
    ids=["units", "totals", "one row"],
)
def test_units_and_totals_are_found_whatever_ends_lines(lines, encoding, end, tmp_path):
    cells = []
    for k, ends in enumerate(["\n", end]):
        file = tmp_path / f"{k}.csv"
        file.write_bytes("".join(line + ends for line in lines).encode(encoding))
        with open_table(file) as table:
            cells.append((table.units, table.format, read_arrow(table).to_pydict()))
    assert cells[0] == cells[1]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_line_ends_may_be_cut_anywhere(size, tmp_path, monkeypatch):
    monkeypatch.setattr(_lines, "BLOCK", size)
    (tmp_path / "t.csv").write_bytes(b'a,b\r\n1,"x\r\ny"\r2,\n\r3,z\r\n\r\n4,"\r"\r')
    with open_table(tmp_path / "t.csv") as table:
        found = read_arrow(table).to_pydict()
    assert found == {"a": ["1", "2", "3", "4"], "b": ["x\ny", "", "z", "\n"]}


@pytest.mark.parametrize("block", [3, 5, 2**22])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends_in_blocks_of_any_size(block, encoding, end, folder, monkeypatch):
    monkeypatch.setattr(_lines, "BLOCK", block)
    content = f"größe,wert{end}1,ä{end}2,'é'{end}".encode(encoding)
    said = []
    found, _ = cells_of(written(folder, content), say=lambda found: said.append(str(found)))
    assert found == {"größe": ["1", "2"], "wert": ["ä", "'é'"]}
    assert len(said) == (encoding == "cp1252")


def test_bytes_that_cp1252_does_not_have(folder):
    said = []
    found, _ = cells_of(
        written(folder, b"a,b\n1,\x81\n"), say=lambda found: said.append(str(found))
    )
    assert found["b"] == ["\x81"]
    assert said[0].endswith("latin-1.")


def test_utf_32_is_refused(folder):
    with pytest.raises(InputError, match="NUL byte"):
        cells_of(written(folder, codecs.BOM_UTF32_LE + "a,b\n1,2\n".encode("utf-32-le")))


def test_rows_are_numbered_through_all_blocks(folder, monkeypatch):
    monkeypatch.setattr(_lines, "BLOCK", 16)
    _, blocks = cells_of(written(folder, "a,b\n" + "".join(f"{k},x\n" for k in range(1, 50))))
    assert len(blocks) > 5
    for block in blocks:
        assert block.columns["a"][0].as_py() == str(block.first)
        assert block.where(0) == f"line {block.first + 1}"


@pytest.mark.parametrize(
    ("content", "delimiter", "decimal"),
    [
        ("a,b\n1.5,2\n", ",", "."),
        ("a;b\n1,5;2\n", ";", ","),
        ("a;b\n1.5;2\n", ";", "."),
        ("1,5;2,5\n3,5;4,5\n", ";", ","),
        ("a\tb\n1,5\t2,25\n", "\t", ","),
        ("a|b|c\n1|2|3\n", "|", "."),
        ("x\n1\n2\n", ",", "."),
        ('"a;b",c\n1,2\n', ",", "."),
        ("size, mm;n\n1,5;2\n", ";", ","),
        ("a,b\n1|2,3\n4|5,6\n", ",", "."),
        ("name,value\nx;y;z,1\nu;v,2\n", ",", "."),
        ("a;b\n1;2\n", ";", "."),
    ],
)
def test_the_separator_is_guessed(content, delimiter, decimal):
    found = guess_dialect(content.encode(), None, None)
    assert (found.delimiter, found.decimal) == (delimiter, decimal)


number = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.one_of(number, st.none(), st.integers()), max_size=20), st.sampled_from(".,"))
def test_numbers_are_read_to_the_last_bit(values, decimal):
    cells = ["NA" if v is None else f" {v!r}".replace(".", decimal) for v in values]
    expected = [math.nan if v is None else float(v) for v in values]
    np.testing.assert_array_equal(column_numbers(pa.array(cells, pa.string()), decimal), expected)
    np.testing.assert_array_equal([cell_number(cell, decimal) for cell in cells], expected)


@given(st.lists(st.text("0123456789+-.,eEinfaNx_ ", max_size=6), min_size=1, max_size=4))
def test_a_column_and_its_cells_agree_on_what_a_number_is(cells):
    for decimal in ".,":
        try:
            expected = [cell_number(cell, decimal) for cell in cells]
        except ValueError:
            with pytest.raises(BadCellError) as error:
                column_numbers(pa.array(cells, pa.string()), decimal)
            with pytest.raises(ValueError, match="number"):
                cell_number(cells[error.value.index], decimal)
        else:
            np.testing.assert_array_equal(
                column_numbers(pa.array(cells, pa.string()), decimal), expected
            )


@pytest.mark.parametrize(
    "cell", ["1 000", "1.234.567", "0x10", "1_000", "١", "5%", "1e", "--1", "infinite"]
)
def test_what_is_no_number(cell):
    with pytest.raises(ValueError, match="is not a number"):
        cell_number(cell, ".")


def test_with_decimal_commas_a_point_is_not_guessed_at(folder):
    with (
        open_table(written(folder, "a;b\n1,5;2,5\n2,5;1\n1.23;3\n")) as table,
        pytest.raises(InputError, match=r"line 4, column 'a': '1.23' is not a number.*decimal="),
    ):
        read_numbers(table)


def test_a_few_bad_cells_do_not_make_a_column_text(folder):
    lines = ["1"] * 10 + ["x"] * 9
    with (
        open_table(written(folder, "a\n" + "\n".join(lines) + "\n")) as table,
        pytest.raises(InputError, match="line 12, column 'a': 'x' is not a number"),
    ):
        read_numbers(table, ignore_text=True)
    with open_table(
        written(folder, "b,a\n" + "".join(f"1,{c}\n" for c in [*lines, "x", "x"]))
    ) as table:
        assert read_numbers(table, ignore_text=True).ignored == ["a"]


def test_types_of_parquet_columns(folder):
    table = pa.table(
        {
            "whole": pa.array([1, None, 2**60], pa.int64()),
            "truth": pa.array([True, False, None]),
            "half": pa.array([0.5, float("nan"), 2.0], pa.float32()),
            "money": pa.array(["1.25", "2.50", None]).cast(pa.decimal128(9, 2)),
            "said": pa.array(["1", "NA", "3.5"]),
            "coded": pa.array(["4", "5", "4"]).dictionary_encode(),
            "when": pa.array([0, 1, 2], pa.timestamp("ms")),
        }
    )
    pq.write_table(table, folder / "p")
    with (
        open_table(folder / "p") as opened,
        pytest.raises(InputError, match=r"column 'when' holds dates or times \(timestamp\[ms\]\)"),
    ):
        read_numbers(opened)
    with open_table(folder / "p") as opened:
        found = read_numbers(opened, ignore_text=True)
    nan = math.nan
    expected = [
        *([1, nan, 2.0**60], [1, 0, nan], [0.5, nan, 2], [1.25, 2.5, nan]),
        *([1, nan, 3.5], [4, 5, 4]),
    ]
    np.testing.assert_array_equal(found.X.T, expected)


def test_infinity_in_parquet_is_found_by_row(folder):
    values = np.zeros(100_000)
    values[70_000] = np.inf
    pq.write_table(pa.table({"a": values}), folder / "p")
    with (
        open_table(folder / "p") as table,
        pytest.raises(InputError, match="row 70001, column 'a': inf is not a finite number"),
    ):
        read_numbers(table)


def test_columns_that_a_model_needs_are_named(folder):
    with (
        open_table(written(folder, "x,y\n1,2\n")) as table,
        pytest.raises(InputError, match="there is no column 'y2', 'z', which"),
    ):
        Features(["x", "y2", "z"], table)


@pytest.mark.parametrize("cell", ['"{}\n"', '{}"', "{}"])
def test_a_long_cell_is_a_cell_however_it_is_written(folder, cell):
    long = "x" * 500_000
    found, _ = cells_of(written(folder, f"a,b\n{cell.format(long)},2\n"), delimiter=",")
    assert found["a"][0].strip('\n"') == long


@pytest.mark.parametrize("header", [True, False])
def test_a_quote_that_is_not_closed_is_found_by_its_line(folder, header, monkeypatch):
    monkeypatch.setattr(_lines, "BLOCK", 2**12)
    monkeypatch.setattr(csv_table, "LONGEST_LINE", 2**14)
    names = "a,b\n" if header else ""
    file = written(folder, names + '1,2\n3,"x\n' + "4,5\n" * 20_000)
    with (
        pytest.raises(InputError, match=rf"line {2 + header}: a quote that opens a cell is not"),
        open_table(file, delimiter=",", header=header) as table,
    ):
        list(table.blocks())


def test_a_name_that_is_no_text(folder):
    file = os.fsencode(folder) + b"/\xff.parquet"
    pq.write_table(pa.table({"a": [1.0]}), folder / "p")
    os.rename(folder / "p", file)
    with open_table(os.fsdecode(file)) as table:
        assert [block.rows for block in table.blocks()] == [1]


def test_blocks_have_as_many_rows_as_asked_for(folder):
    lines = "".join(f"{k},x\n" for k in range(1, 101))
    pq.write_table(pa.table({"a": [str(k) for k in range(1, 101)], "b": ["x"] * 100}), folder / "p")
    for file in (written(folder, "a,b\n" + lines), folder / "p"):
        with open_table(file) as table:
            blocks = list(table.blocks(["a"], rows=30))
        assert [(block.first, block.rows) for block in blocks] == [
            (1, 30),
            (31, 30),
            (61, 30),
            (91, 10),
        ]
        for block in blocks:
            assert list(block.columns) == ["a"]
            assert block.columns["a"][-1].as_py() == str(block.first + block.rows - 1)
            assert block.where(2) in (f"line {block.first + 3}", f"row {block.first + 2}")


def test_a_space_may_separate_cells(folder):
    found, _ = cells_of(written(folder, 'a b c\n1 2 3\n4  "x y"\n'), delimiter=" ")
    assert found == {"a": ["1", "4"], "b": ["2", ""], "c": ["3", "x y"]}


def test_a_table_says_how_its_text_is_written_and_others_have_none(folder):
    (folder / "t").write_text("a;b\n1,5;2,5\n")
    pq.write_table(pa.table({"a": [1]}), folder / "p")
    with open_table(folder / "t") as table, open_table(folder / "p") as other:
        assert (table.dialect.delimiter, table.dialect.decimal) == (";", ",")
        assert other.dialect is None
    assert is_text_file(folder / "t")
    assert not is_text_file(folder / "p")
    (folder / "d").write_bytes(b"%PDF-1.7 no table")
    assert not is_text_file(folder / "d")


def test_columns_that_are_not_there_are_not_read(folder):
    with (
        open_table(written(folder, "a,b\n1,2\n")) as table,
        pytest.raises(InputError, match=r"there is no column 'c'\. It has 'a', 'b'"),
    ):
        list(table.blocks(["a", "c"]))


@pytest.mark.parametrize("numbers", [(), ("a", "b", "c")])
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("a", "line 3, column 'a': '<0.05' is not a number"),
        ("b", "line 3, column 'b': 'x' is neither true nor false"),
        ("c", "line 4, column 'c': 'inf' is not a finite number"),
    ],
)
def test_unreadable_cells_are_refused_by_line(folder, numbers, name, problem):
    file = written(folder, "a,b,c\n1,true,1\n<0.05,x,2\nNA,false,inf\n2,,3\n")
    with open_table(file) as table:
        (block,) = table.blocks(numbers=numbers)
    with pytest.raises(InputError, match=re.escape(problem)):
        Column(name).numbers(block)


@pytest.mark.parametrize(
    "content",
    [
        "a,b,c,d,e\n1,2,3,4,5\n",
        ",,,,",
        '[{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}]',
        '[{"a": 1}, {"b": 2, "c": 3}, {"d": {"e": 4, "f": 5}}]',
    ],
)
def test_a_file_of_more_columns_than_are_read_is_refused(tmp_path, monkeypatch, content):
    monkeypatch.setattr(tables, "MOST_COLUMNS", 4)
    (tmp_path / "t").write_text(content)
    with (
        pytest.raises(InputError, match="t has 5 columns; at most 4 are read"),
        open_table(tmp_path / "t"),
    ):
        pass
