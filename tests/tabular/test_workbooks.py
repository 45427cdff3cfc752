"""Workbooks: typed cells, the right sheet, titles and units, and nothing that blows up."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import random
import struct
import zipfile
import zlib

import pyarrow as pa
import pytest
import xlsxwriter

from refold.tabular import InputError, _workbook_size, open_table, read_arrow
from refold.tabular.features import Column
from tests.tabular.numbers import read_numbers


def book(path, **sheets):
    """Write sheets of rows of cells; moments are written as Excel does."""
    with xlsxwriter.Workbook(path, {"default_date_format": "yyyy-mm-dd hh:mm"}) as workbook:
        for name, rows in sheets.items():
            sheet = workbook.add_worksheet(name)
            for k, row in enumerate(rows):
                for j, cell in enumerate(row):
                    if cell is not None:
                        sheet.write(k, j, cell)
    return path


def read(path, **how):
    said = []
    with open_table(path, say=lambda found: said.append(str(found)), **how) as table:
        return read_arrow(table), said, table


@pytest.fixture
def parts(tmp_path):
    day = dt.datetime(2024, 5, 1)
    rows = [
        ["part", "torque", "code", "when", "ok", "hole", "mixed"],
        ["007", 75.5, 12, day, True, 1.5, 12],
        ["008", 75, 13, day + dt.timedelta(hours=3), False, "NA", "n.a.!"],
        ["009", None, 14, day, True, None, day],
    ]
    return book(tmp_path / "parts", One=rows)


def test_cells_have_their_types(parts):
    found, said, table = read(parts)
    assert said == []
    assert table.format == "workbook, sheet 'One'"
    assert found.schema == pa.schema(
        [
            ("part", pa.string()),
            ("torque", pa.float64()),
            ("code", pa.int64()),
            ("when", pa.timestamp("us")),
            ("ok", pa.bool_()),
            ("hole", pa.float64()),
            ("mixed", pa.string()),
        ]
    )
    assert found["part"].to_pylist() == ["007", "008", "009"]
    assert found["torque"].to_pylist() == [75.5, 75.0, None]
    assert found["when"][1].as_py() == dt.datetime(2024, 5, 1, 3)
    assert found["hole"].to_pylist() == [1.5, None, None]
    assert found["mixed"].to_pylist() == ["12", "n.a.!", "2024-05-01"]


def test_a_bad_cell_is_found_by_the_row_that_excel_shows(tmp_path):
    rows = [["a", "b"], [None, None], [1, 1], [2, "x"], [3, 3], [4, 4]]
    with (
        open_table(book(tmp_path / "t", Data=rows)) as table,
        pytest.raises(InputError, match=r"row 4 of sheet 'Data', column 'b': 'x' is not a number"),
    ):
        read_numbers(table)


def test_the_largest_sheet_is_read_and_the_others_named(tmp_path):
    path = book(tmp_path / "t", Cover=[], A=[["x"], [1]], B=[["y"], [2]], Note=[["see A"]])
    found, said, _ = read(path)
    assert found.column_names == ["x"]
    assert "sheet 'A', the largest, was read. There is also 'B', 'Note'" in said[0]
    info = [["made by", "us"], ["on", "Monday"]]
    found, said, _ = read(book(tmp_path / "u", Info=info, Data=[["x", "y"], *[[1, 2]] * 9]))
    assert found.column_names == ["x", "y"]
    assert "sheet 'Data', the largest, was read. There is also 'Info'" in said[0]
    for sheet in ("B", "3"):
        found, said, table = read(path, sheet=sheet)
        assert table.sheet == "B"
        assert table.sheets[:3] == ("Cover", "A", "B")
        assert (found.to_pydict(), said) == ({"y": [2]}, [])
    with pytest.raises(InputError, match=r"there is no sheet 'C'. It has 'Cover', 'A', 'B'"):
        read(path, sheet="C")


def test_titles_and_units_are_skipped_and_said(tmp_path):
    rows = [
        ["Final inspection, plant 3"],
        ["Operator", "Smith"],
        [],
        [None, "part", "torque", "heat"],
        [None, None, "[Nm]", "°C"],
        *([None, f"P{k}", k + 0.5, 20 + k] for k in range(9)),
    ]
    found, said, table = read(book(tmp_path / "t", S=rows))
    assert found.column_names == ["part", "torque", "heat"]
    assert found["torque"].to_pylist() == [k + 0.5 for k in range(9)]
    assert table.units == {"torque": "Nm", "heat": "°C"}
    assert len(said) == 2
    assert next(table.blocks()).where(0) == "row 6 of sheet 'S'"


def test_rows_can_be_skipped_by_number(tmp_path):
    path = book(tmp_path / "t", S=[["a", "b"], [1, 2], ["c", "d"], [3, 4]])
    assert read(path, skip_rows=2)[0].to_pydict() == {"c": [3], "d": [4]}
    assert read(path, header=False, skip_rows=3)[0].to_pydict() == {"x0": [3], "x1": [4]}


def test_columns_without_a_name_or_with_the_same(tmp_path):
    found, said, table = read(book(tmp_path / "t", S=[["a", None, "a"], [1, 2, 3]]))
    assert found.to_pydict() == {"a": [1], "unnamed 2": [2], "a.2": [3]}
    assert table.unnamed == ["unnamed 2"]
    assert "'a.2'" in said[0]


def test_packed_or_from_a_pipe(parts, monkeypatch, tmp_path):
    expected = read(parts)[0]
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(parts.read_bytes()))
    assert read(packed)[0].equals(expected)

    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    monkeypatch.setattr("sys.stdin", type("", (), {"buffer": Pipe(parts.read_bytes())}))
    assert read("-")[0].equals(expected)


def sheet_of(cells):
    """Return a workbook whose sheet has such XML."""
    content = io.BytesIO()
    book(content, S=[["a"], [1]])
    sink = io.BytesIO()
    with zipfile.ZipFile(content) as old, zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            text = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                head, _, _ = text.partition(b"<sheetData>")
                text = head + b"<sheetData>" + cells + b"</sheetData></worksheet>"
            new.writestr(name, text)
    return sink.getvalue()


def renamed(content, old, new):
    """Return a workbook with one of its members, and what leads there, under another name."""
    sink = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(sink, "w") as after:
        for name in before.namelist():
            text = before.read(name).replace(old.encode(), new.encode())
            after.writestr(name.replace(old, new), text)
    return sink.getvalue()


def declared_smaller(content, member, size):
    """Return a workbook whose directory says that a member is smaller than it is."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        crc = zlib.crc32(archive.read(member)[:size])
        true = archive.getinfo(member)
    known = struct.pack("<LLL", true.CRC, true.compress_size, true.file_size)
    assert content.count(known) == 2
    return content.replace(known, struct.pack("<LLL", crc, true.compress_size, size))


def record(kind, content=b""):
    """Return a record of an .xlsb."""
    number = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    return number + bytes([len(content)]) + content


def wide_text(text):
    return struct.pack("<I", len(text)) + text.encode("utf-16le")


def binary_book(*cells):
    """Return an .xlsb whose one sheet has numbers at such rows and columns."""
    sheet = struct.pack("<II", 0, 1) + wide_text("rId1") + wide_text("S")
    book = [record(0x83), record(0x99, bytes(12)), record(0x8F), record(0x9C, sheet)]
    book += [record(0x90), record(0x84)]
    rows = [
        record(0, struct.pack("<II", row, 0) + bytes(17))
        + record(5, struct.pack("<IId", column, 0, value))
        for row, column, value in cells
    ]
    parts = [record(0x81), record(0x94, bytes(16)), record(0x91), *rows, record(0x92)]
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"
    link = f'<Relationship Id="rId1" Type="{kind}" Target="worksheets/s"/>'
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types></Types>")
        archive.writestr("xl/workbook.bin", b"".join(book))
        archive.writestr("xl/_rels/workbook.bin.rels", f"<Relationships>{link}</Relationships>")
        archive.writestr("xl/worksheets/s", b"".join(parts))
    return sink.getvalue()


def open_document(rows):
    """Return an .ods whose one sheet has such rows."""
    parts = ["office", "table", "text"]
    spaces = " ".join(f'xmlns:{x}="urn:oasis:names:tc:opendocument:xmlns:{x}:1.0"' for x in parts)
    sheet = f'<table:table table:name="S">{rows}</table:table>'
    body = f"<office:body><office:spreadsheet>{sheet}</office:spreadsheet></office:body>"
    content = f"<office:document-content {spaces}>{body}</office:document-content>"
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", '<m:manifest xmlns:m="m"/>')
        archive.writestr("content.xml", content)
    return sink.getvalue()


def open_row(*cells, repeated=1):
    """Return a row of an .ods: texts, and how often each is there."""
    filled = ' office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    inside = "".join(
        f'<table:table-cell table:number-columns-repeated="{times}"'
        + (filled.format(text) if text else "/>")
        for text, times in cells
    )
    return f'<table:table-row table:number-rows-repeated="{repeated}">{inside}</table:table-row>'


FIRST = b'<row r="1"><c r="A1"><v>1</v></c></row>'
FAR = FIRST + b'<row r="2"><c r="XFD1048576"><v>1</v></c></row>'
WIDE = b'<row r="1"><c r="XFD1"><v>1</v></c></row>'
BOMBS = {
    "a far cell": sheet_of(FAR),
    "a far row": sheet_of(WIDE + b'<row r="1048576"><c><v>1</v></c></row>'),
    "spaces": sheet_of(FAR.replace(b"r=", b"r = ")),
    "a sign in an attribute": sheet_of(FAR.replace(b"<c r", b'<c s=">" r')),
    "cells without a place": sheet_of(
        b"<row>" + b"<c/>" * 16_000 + b'</row><row r="1048576"><c r="A1048576"><v>1</v></c></row>'
    ),
    "under another name": renamed(sheet_of(FAR), "worksheets/sheet1.xml", "other/numbers"),
    "declared smaller": declared_smaller(sheet_of(FAR), "xl/worksheets/sheet1.xml", 64),
    "cells repeated": open_document(open_row(("x", 65), repeated=1_048_576)),
    "binary": binary_book((0, 0, 1.0), (1_048_575, 16_383, 1.0)),
}


@pytest.mark.parametrize(
    "row",
    [
        open_row(('<text:s text:c="2000000000"/>', 1)),
        open_row(('<text:s text:c="+2000000000"/>', 1)),
        open_row(("a", 0), ('<text:s text:c="10000000000000000000"/>', 1)),
        open_row(("a" * 100_000, 1), repeated=30_000),
        open_row(("x", 20), repeated=1_000_000),
        open_row(("x", 10**13)),
    ],
    ids=["spaces", "plus", "many digits", "text", "cells", "a row"],
)
def test_a_few_bytes_of_a_sheet_do_not_stand_for_gigabytes(tmp_path, row):
    (tmp_path / "t").write_bytes(open_document(open_row(("a", 1)) + row))
    with pytest.raises(InputError, match="cells that stand for many would take more than 256 MB"):
        read(tmp_path / "t")


def test_cells_that_stand_for_many_are_read_in_sheets_of_ordinary_size(tmp_path):
    rows = open_row(("a", 1), ("b", 1)) + open_row(("x", 2), repeated=100_000)
    (tmp_path / "t").write_bytes(open_document(rows))
    assert read(tmp_path / "t")[0].num_rows == 100_000


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_few_cells_that_span_a_world_are_refused(tmp_path, bomb):
    (tmp_path / "t").write_bytes(BOMBS[bomb])
    with pytest.raises(
        InputError, match=r"spans more than 67,108,864 cells|Bad CRC-32|stand for many"
    ):
        read(tmp_path / "t")


def shared_binary(texts, cells):
    """Return an .xlsb whose first column has the texts of such numbers."""
    content = binary_book(*((k, 0, float(number)) for k, number in enumerate(cells)))
    sink = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(sink, "w") as after:
        for name in before.namelist():
            member = before.read(name)
            if name == "xl/worksheets/s":
                for number in set(cells):
                    value = record(5, struct.pack("<IId", 0, 0, number))
                    member = member.replace(value, record(7, struct.pack("<III", 0, 0, number)))
            after.writestr(name, member)
        items = b"".join(record(19, b"\0" + wide_text(text)) for text in texts)
        head = record(0x9F, struct.pack("<II", len(cells), len(texts)))
        after.writestr("xl/sharedStrings.bin", head + items + record(0xA0))
    return sink.getvalue()


def shared_xml(texts, cells):
    """Return an .xlsx whose first column has the texts of such numbers."""
    sink = io.BytesIO()
    with xlsxwriter.Workbook(sink) as book:
        sheet = book.add_worksheet()
        for row, number in enumerate(cells):
            sheet.write_string(row, 0, texts[number])
    return sink.getvalue()


@pytest.mark.parametrize("book", [shared_xml, shared_binary])
def test_long_texts_that_many_cells_share_are_refused_before_they_are_copied(
    book, tmp_path, monkeypatch
):
    texts, cells = ["name", "x" * 50, "y"], [0, *([1] * 90), 2, 2]
    (tmp_path / "t").write_bytes(book(texts, cells))
    assert read(tmp_path / "t")[0].to_pydict() == {"name": [texts[k] for k in cells[1:]]}
    monkeypatch.setattr(_workbook_size, "_MOST_REPEATED", 0)
    for limit, refused in ((90 * 50 + 6, False), (90 * 50 + 5, True)):
        monkeypatch.setattr(_workbook_size, "_MUCH_REPEATED", limit)
        if refused:
            with pytest.raises(InputError, match="texts that cells share would take more than"):
                read(tmp_path / "t")
        else:
            read(tmp_path / "t")


def test_a_panic_of_the_reader_is_an_error_of_the_file(tmp_path, monkeypatch):
    class PanicException(BaseException):
        pass

    def panics(content):
        raise PanicException("no memory")

    (tmp_path / "t").write_bytes(shared_xml(["a", "b"], [0, 1]))
    monkeypatch.setattr("python_calamine.load_workbook", panics)
    with pytest.raises(InputError, match=r"cannot be read as a workbook \(no memory\)"):
        read(tmp_path / "t")


def test_a_binary_workbook_is_read(tmp_path):
    (tmp_path / "t").write_bytes(binary_book((0, 0, 1.0), (0, 1, 2.0), (5, 0, 3.0)))
    table = read(tmp_path / "t", header=False)[0]
    assert table.to_pydict() == {"x0": [1.0, 3.0], "x1": [2.0, None]}


def test_an_open_document_that_repeats_what_is_empty_is_read(tmp_path):
    rows = [open_row(("a", 1), ("b", 1), ("", 16_000)), open_row(("x", 2)), open_row(("y", 2))]
    rows.append(open_row(("", 16_000), repeated=1_048_000))
    (tmp_path / "t").write_bytes(open_document("".join(rows)))
    assert read(tmp_path / "t")[0].to_pydict() == {"a": ["x", "y"], "b": ["x", "y"]}


def test_a_few_cells_that_span_too_much_for_what_they_hold_are_refused(tmp_path):
    far = b'<row r="1"><c r="A1"><v>1</v></c></row><row r="2"><c r="AZ1000000"><v>1</v></c></row>'
    (tmp_path / "t").write_bytes(sheet_of(far))
    with pytest.raises(InputError, match="52,000,000 cells, of which 2 have a value"):
        read(tmp_path / "t")


def test_a_bomb_is_not_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "t", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "")
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as member:
            for _ in range(4100):
                member.write(bytes(2**20))
    with pytest.raises(InputError, match="unpacks to more than 4 GB"):
        read(tmp_path / "t")


def test_much_of_a_few_bytes_is_a_bomb_too(tmp_path, monkeypatch):
    monkeypatch.setattr(_workbook_size, "_MUCH_UNPACKED", 2**20)
    with zipfile.ZipFile(tmp_path / "t", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "")
        archive.writestr("xl/sharedStrings.xml", bytes(2**20 + 1))
    with pytest.raises(InputError, match="unpacks to more than 200 times as many"):
        read(tmp_path / "t")


def test_damaged_workbooks_are_refused(parts, tmp_path):
    """Bytes changed at random: a table or an error of ours."""
    content, rng = parts.read_bytes(), random.Random(0)
    refused = 0
    for _ in range(150):
        damaged = bytearray(content)
        for _ in range(rng.choice([1, 5, 30])):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        if rng.random() < 0.3:
            del damaged[rng.randrange(len(damaged)) :]
        damaged[:4] = b"PK\x03\x04"
        (tmp_path / "t").write_bytes(damaged)
        try:
            read(tmp_path / "t")
        except InputError:
            refused += 1
    assert refused > 50


def test_old_workbooks_that_are_none(tmp_path):
    (tmp_path / "t").write_bytes(b"\xd0\xcf\x11\xe0" + bytes(600))
    with pytest.raises(InputError, match="cannot be read as a workbook"):
        read(tmp_path / "t")


def test_numbers_come_as_numbers(parts):
    with open_table(parts) as table:
        (block,) = table.blocks(["code"])
    assert Column("code").numbers(block).tolist() == [12, 13, 14]
