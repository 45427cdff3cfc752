"""Whole tables as Arrow: what was written, null where a word says that nothing is there."""

from __future__ import annotations

import csv
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.columns.missing import MISSING_WORDS
from refold.tabular import InputError, _lines, open_table, read_arrow
from refold.tabular.block import block_to_arrow
from refold.tabular.files import Files

word = st.sampled_from(sorted(MISSING_WORDS)).flatmap(
    lambda word: st.sampled_from([word, word.upper(), f" {word} ", f"{word}\u00a0", f"\t{word}"])
)
cell = st.one_of(
    word,
    st.sampled_from(["1,50", "007", "ä", 'said "5"', "a\nb", "x ", "É\u2009"]),
    st.text("Na-? "),
)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("whole") / "t"


def read(file, **how):
    with open_table(file, **how) as table:
        return read_arrow(table)


@given(st.lists(st.tuples(st.just("k"), cell, cell), max_size=12), st.sampled_from([7, 40, 2**22]))
def test_cells_are_as_written_in_blocks_of_any_size(file, rows, block):
    sink = io.StringIO()
    csv.writer(sink, lineterminator="\n").writerows([("one", "two", "three"), *rows])
    file.write_text(sink.getvalue(), newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_lines, "BLOCK", block)
        found = read(file, delimiter=",").to_pylist()
    expected = [
        {name: cell.lstrip(" ") for name, cell in zip(("one", "two", "three"), row, strict=True)}
        for row in rows
    ]
    assert [{n: c.lstrip(" ") for n, c in row.items()} for row in found] == expected


def test_a_block_is_a_part_of_the_whole(file):
    file.write_text("a,b\n1, NA\nnull,x\n")
    with open_table(file) as table:
        (block,) = table.blocks()
    assert block_to_arrow(block).equals(read(file))
    assert read(file).to_pydict() == {"a": ["1", "null"], "b": [" NA", "x"]}
    cleared = block_to_arrow(block.without_missing())
    assert cleared.to_pydict() == {"a": ["1", None], "b": [None, "x"]}


def test_columns_keep_their_types_and_order(file):
    table = pa.table(
        {
            "when": pa.array([0, None], pa.timestamp("us")),
            "count": pa.array([1, 2], pa.int16()),
            "coded": pa.array(["NA", "x"]).dictionary_encode(),
        }
    )
    pq.write_table(table, file)
    found = read(file)
    assert found.schema.types == table.schema.types
    assert found["coded"].to_pylist() == ["NA", "x"]
    with open_table(file) as opened:
        assert read_arrow(opened, columns=["coded", "when"]).column_names == ["when", "coded"]


def test_rows_are_counted(file):
    file.write_text("a\n" + "1\n" * 70_000)
    counted = []
    with open_table(file) as table:
        assert read_arrow(table, count=counted.append).num_rows == 70_000
    assert sum(counted) == 70_000
    assert len(counted) > 1


def test_a_table_without_rows_has_columns(file):
    file.write_text("a,b\n")
    assert read(file).schema == pa.schema([("a", pa.string()), ("b", pa.string())])


def test_files_share_one_schema(tmp_path):
    pq.write_table(pa.table({"x": [1, 2], "y": [1.5, 2.0], "z": [None, None]}), tmp_path / "1")
    pq.write_table(pa.table({"z": ["c", "NA"], "y": [3, 4], "x": [0.5, None]}), tmp_path / "2")
    (tmp_path / "3").write_text("x,y,z\n01,5,d\n")
    found = read_arrow(Files(tmp_path))
    assert found.schema.types == [pa.string(), pa.string(), pa.string()]
    assert found["x"].to_pylist() == ["1", "2", "0.5", None, "01"]
    assert found["z"].to_pylist() == [None, None, "c", "NA", "d"]
    found = read_arrow(Files([tmp_path / "1", tmp_path / "2"]))
    assert found.schema.types == [pa.float64(), pa.float64(), pa.string()]


def test_dates_and_words_do_not_mix(tmp_path):
    pq.write_table(pa.table({"x": pa.array([0], pa.timestamp("s"))}), tmp_path / "1")
    (tmp_path / "2").write_text("x\nsoon\n")
    with pytest.raises(InputError, match=r"2: column 'x' holds string; in the rows before"):
        read_arrow(Files(tmp_path))


def test_an_error_ahead_of_time_waits_for_its_turn(file, monkeypatch):
    monkeypatch.setattr(_lines, "BLOCK", 64)
    file.write_bytes(b"a,b\n" + b"1,2\n" * 60 + b"\0,2\n")
    with open_table(file) as table:
        blocks = table.blocks()
        assert next(blocks).first == 1
        with pytest.raises(InputError, match="line 62: there is a NUL byte"):
            list(blocks)
