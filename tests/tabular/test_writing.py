"""Written tables are what was given, whole or not there."""

import datetime as dt

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from refold.tabular import InputError, open_table, read_arrow, writing


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
