"""Written tables are what was given, whole or not there."""

import csv
import datetime as dt
import zipfile

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from refold.tabular import InputError, open_table, read_arrow
from refold.tabular.writing import WriteOptions, writing


def read_xlsx(path):
    with open_table(path) as table:
        return read_arrow(table)


READERS = {
    "xlsx": read_xlsx,
    "csv": pa.csv.read_csv,
    "parquet": pq.read_table,
    "ipc": pa.feather.read_table,
}


@pytest.mark.parametrize("fmt", READERS)
def test_batches_are_written_in_their_order(fmt, tmp_path):
    batch = pa.record_batch({"x": [1.5, None], "word": pa.array(["a", "b, c"]).dictionary_encode()})
    with writing(fmt, tmp_path / "out", batch.schema) as write:
        write(batch)
        write(batch)
        assert not (tmp_path / "out").exists()
    found = READERS[fmt](tmp_path / "out")
    assert found["x"].to_pylist() == [1.5, None, 1.5, None]
    assert found["word"].to_pylist() == ["a", "b, c"] * 2
    with open_table(tmp_path / "out") as table:
        assert table.names == ["x", "word"]


@pytest.mark.parametrize("fmt", READERS)
def test_an_error_leaves_what_was_there(fmt, tmp_path):
    (tmp_path / "out").write_text("old")
    batch = pa.record_batch({"x": [1.5]})
    with (
        pytest.raises((TypeError, AttributeError)),
        writing(fmt, tmp_path / "out", batch.schema) as write,
    ):
        list(map(write, [batch, None]))
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("out", "old")]


def test_csv_refuses_cells_within_cells(tmp_path):
    schema = pa.schema([("x", pa.list_(pa.int8()))])
    with (
        pytest.raises(InputError, match=r"'x' holds list<.*, which CSV cannot hold"),
        writing("csv", tmp_path / "out", schema),
    ):
        pass
    assert not list(tmp_path.iterdir())


def test_what_excel_would_change_stays(tmp_path):
    whole, day = 2**60 + 1, dt.datetime(2024, 5, 1, 13, 30)
    texts = ["=1+1", "http://x", "007", "{=A1}", ""]
    batch = pa.record_batch(
        {"s": texts, "n": [whole, 1, 2, 3, None], "t": [day] * 5, "b": [True, False] * 2 + [None]}
    )
    with writing("xlsx", tmp_path / "out", batch.schema) as write:
        write(batch)
    found = read_xlsx(tmp_path / "out").to_pydict()
    assert found["s"] == [*texts[:4], None]
    assert found["n"] == [str(whole), "1", "2", "3", None]
    assert found["t"] == [day] * 5
    assert found["b"] == [True, False, True, False, None]


def test_what_excel_cannot_hold_is_refused_and_nothing_is_left(tmp_path):
    rows = pa.record_batch({"x": pa.nulls(2**20, pa.float64())})
    text = pa.record_batch({"x": ["y" * 32_768]})
    for batch, problem in ((rows, "more than 1,048,575 rows"), (text, "'x' has a text of 32,768")):
        with (
            pytest.raises(InputError, match=problem),
            writing("xlsx", tmp_path / "out", batch.schema) as write,
        ):
            write(batch)
    wide = pa.schema([(str(k), pa.int8()) for k in range(16_385)])
    with (
        pytest.raises(InputError, match="16,385 columns; a sheet of Excel holds 16,384"),
        writing("xlsx", tmp_path / "out", wide),
    ):
        pass
    assert not list(tmp_path.iterdir())


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "＝1", "-", "=5"]
HARMLESS = ["-5", "+3.5", "-1.234,5", "1e-5", "-5 %", "a=b", "", "x-y", "'=1", None]


def written_csv(path, batch, **options):
    with writing("csv", path, batch.schema, WriteOptions(**options)) as write:
        write(batch)
    with path.open(newline="", encoding=options.get("encoding", "utf-8")) as file:
        return list(csv.reader(file, delimiter=options.get("delimiter", ",")))


def test_cells_that_we_add_are_no_formulas_and_others_stay(tmp_path):
    texts = [*FORMULAS, *HARMLESS]
    words = pa.array(texts).dictionary_encode()
    batch = pa.record_batch({"=user": texts, "reason_1": texts, "=ours": words})
    rows = written_csv(tmp_path / "out", batch, added=["reason_1", "=ours"])
    plain, safe = (
        [t or "" for t in texts],
        [f"'{t}" for t in FORMULAS] + [t or "" for t in HARMLESS],
    )
    assert rows[0] == ["=user", "reason_1", "'=ours"]
    assert [list(column) for column in zip(*rows[1:], strict=True)] == [plain, safe, safe]
    rows = written_csv(tmp_path / "out", batch, neutralize_formulas=True)
    assert rows[0] == ["'=user", "reason_1", "'=ours"]
    assert [list(column) for column in zip(*rows[1:], strict=True)] == [safe] * 3


@pytest.mark.parametrize(
    "kind",
    [
        *(pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()),
        pa.dictionary(pa.int8(), pa.large_string()),
    ],
    ids=str,
)
def test_formulas_are_neutralized_in_every_type_of_text(kind, tmp_path):
    cells = pa.array([*FORMULAS, *HARMLESS], kind)
    batch = pa.record_batch({"x": cells, "y": cells})
    rows = written_csv(tmp_path / "out", batch, neutralize_formulas=True)
    safe = [f"'{t}" for t in FORMULAS] + [t or "" for t in HARMLESS]
    assert [row[1] for row in rows[1:]] == safe
    assert [row[1] for row in written_csv(tmp_path / "out", batch)[1:]] == [
        t or "" for t in [*FORMULAS, *HARMLESS]
    ]


@pytest.mark.parametrize(
    "before", [" ", "\u00a0", "\u3000", "\u200b", "\ufeff", "\u202e", "\x0b", " \t"]
)
@pytest.mark.parametrize("formula", ["=1+1", "@SUM(1)", "\uff1d1", "+1+1"])
def test_what_is_not_seen_before_a_formula_does_not_hide_it(before, formula, tmp_path):
    batch = pa.record_batch({"x": [before + formula, f"{before}5", f"{before}a=1", " -5"]})
    rows = written_csv(tmp_path / "out", batch, neutralize_formulas=True)
    kept = [f"{before}5", f"{before}a=1", " -5"]
    assert [cell for (cell,) in rows[1:]] == [f"'{before}{formula}", *kept]


def test_cells_that_excel_may_take_for_formulas_have_its_quote_prefix(tmp_path):
    batch = pa.record_batch({"user": ["=1+1"], "reason_1": ["=1+1"]})
    for options, quoted in (({"added": ["reason_1"]}, "B"), ({"neutralize_formulas": True}, "AB")):
        with writing("xlsx", tmp_path / "out", batch.schema, WriteOptions(**options)) as write:
            write(batch)
        with zipfile.ZipFile(tmp_path / "out") as book:
            sheet = book.read("xl/worksheets/sheet1.xml").decode()
            styles = book.read("xl/styles.xml").decode()
        assert "<f>" not in sheet
        assert 'quotePrefix="1"' in styles
        for column in "AB":
            assert (f'<c r="{column}2" s="1"' in sheet) == (column in quoted)
        assert read_xlsx(tmp_path / "out").to_pydict() == {"user": ["=1+1"], "reason_1": ["=1+1"]}


def test_a_workbook_has_a_fixed_header_and_a_filter(tmp_path):
    batch = pa.record_batch({"x": [1.0, 2.0], "y": ["a", "b"]})
    with writing("xlsx", tmp_path / "out", batch.schema) as write:
        write(batch)
    with zipfile.ZipFile(tmp_path / "out") as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
    assert '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>' in sheet
    assert '<autoFilter ref="A1:B3"/>' in sheet


@pytest.mark.parametrize("fmt", READERS)
def test_rows_are_sorted_on_request_with_nulls_last(fmt, tmp_path):
    rows = {
        "label": [1, -1, None, -1, 1],
        "distance": [0.5, 3.0, None, 9.0, 0.7],
        "n": [0, 1, 2, 3, 4],
    }
    batch = pa.record_batch(rows)
    order = (("label", "ascending"), ("distance", "descending"))
    with writing(fmt, tmp_path / "out", batch.schema, WriteOptions(order=order)) as write:
        write(batch[:2])
        write(batch[2:])
    assert READERS[fmt](tmp_path / "out")["n"].to_pylist() == [3, 1, 4, 0, 2]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_csv_is_written_as_the_table_it_was_made_of(encoding, tmp_path):
    source = "größe;müll\n1,5;ä\n2,25;é\n"
    (tmp_path / "in").write_text(source, encoding=encoding)
    with open_table(tmp_path / "in") as table:
        (block,) = table.blocks()
        options = WriteOptions.like(table)
    assert options == WriteOptions(";", ",", encoding)
    batch = pa.record_batch({**block.columns, "distance": [0.5, None]})
    with writing("csv", tmp_path / "out", batch.schema, options) as write:
        write(batch)
        write(batch)
    lines = (tmp_path / "out").read_text(encoding=encoding).replace('"', "").splitlines()
    row = ["1,5;ä;0,5", "2,25;é;"]
    assert lines == ["größe;müll;distance", *row, *row]
    with open_table(tmp_path / "out") as table:
        assert (table.dialect.delimiter, table.dialect.decimal) == (";", ",")
