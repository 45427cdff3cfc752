"""Written tables are what was given, whole or not there."""

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from refold.tabular import InputError, open_table, writing

READERS = {"csv": pa.csv.read_csv, "parquet": pq.read_table, "ipc": pa.feather.read_table}


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
