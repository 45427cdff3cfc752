"""Nothing takes more than its share of work as tables get wider, longer or stranger."""

from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from refold import REF, scale
from refold.base.errors import UserError
from refold.columns.conversion import to_table
from refold.scale.spark import _collected
from refold.tabular import InputError, TrainingSelection, open_table, read_arrow, read_training
from refold.tabular.features import Features
from refold.tabular.files import Files
from tests.growth import assert_linear

pytestmark = pytest.mark.growth


@pytest.fixture
def wide(tmp_path):
    """Write a table of two rows and so many columns."""

    def write(columns, form):
        path = tmp_path / f"{columns}.{form}"
        names = [f"x{k}" for k in range(columns)]
        if form == "parquet":
            rows = np.arange(2.0)
            pq.write_table(pa.table([rows] * columns, names=names), path)
        else:
            cells = ",".join(map(str, range(columns)))
            path.write_text(f"{','.join(names)}\n{cells}\n{cells}\n")
        return path

    return write


def train(path):
    with open_table(path) as table:
        names = table.names
        read_training(
            table, TrainingSelection(columns=names[::-1], target_column=names[3], target="3")
        )


def judge(path):
    with open_table(path) as table:
        features = Features(table.names[::-1], table)
        for block in table.blocks(features.columns, numbers=features.columns):
            features.matrix(block)


def look(path):
    table = Files([path, path])
    table.require_numbers(table.names)
    table.common_kinds(table.names)


def learn(path):
    scale.learn(path, REF(engine="sketch"))


@pytest.mark.parametrize("work", [train, judge, look, learn])
def test_columns_of_text_files(wide, work):
    assert_linear(work, lambda n: wide(n, "csv"), 500)


@pytest.mark.parametrize("work", [judge, look])
def test_columns_of_parquet_files(wide, work):
    assert_linear(work, lambda n: wide(n, "parquet"), 250)


@pytest.mark.parametrize(
    "row",
    [
        lambda k: {f"k{k}": 1},
        lambda k: {f"k{k % 7}": 1, "x": 2},
        lambda k: {"x": {f"k{k}": {"y": 1}}},
        lambda k: {f"k{k}": [1]},
        lambda k: {"x": [1] * 9},
    ],
)
def test_rows_and_keys_of_json(tmp_path, row):
    def read(n):
        rows = [row(k) for k in range(n)]
        (tmp_path / "t.json").write_text(json.dumps(rows))
        with suppress(InputError), open_table(tmp_path / "t.json"):
            pass
        with suppress(UserError):
            to_table(rows)

    assert_linear(read, lambda n: n, 2_000)


def test_names_that_appear_twice(tmp_path):
    def read(names):
        (tmp_path / "t.csv").write_text(",".join(names) + "\n")
        said = []
        with open_table(tmp_path / "t.csv", say=lambda found: said.append(str(found))) as table:
            assert len(table.names) == len(names)
        assert " and " in said[0]

    assert_linear(read, lambda n: [f"x{k % (n // 2)}" for k in range(n)], 2_000)


def test_small_batches():
    def count(batches):
        assert len(list(_collected(iter(batches), 2**18))) == 1

    batch = pa.record_batch({"x": [1.0]})
    assert_linear(count, lambda n: [batch] * n, 2_000)


@pytest.mark.parametrize("cell", ['"{}"', '"{}\n"', "{}", '"{}""', '{}"', ' "{}"'])
def test_characters_of_a_cell(tmp_path, cell):
    def read(size):
        (tmp_path / "t.csv").write_text("a,b\n1," + cell.format("x" * size) + "\n")
        with suppress(InputError), open_table(tmp_path / "t.csv", delimiter=",") as table:
            list(table.blocks())

    assert_linear(read, lambda size: size, 100_000)


def test_quotes_that_lead_nowhere(tmp_path):
    def read(text):
        (tmp_path / "t.csv").write_text("a,b\n" + text)
        with pytest.raises(InputError), open_table(tmp_path / "t.csv", delimiter=",") as table:
            list(table.blocks())

    for piece in ('"', ',"', ',""x', '"",', '"\n'):
        assert_linear(read, lambda n, piece=piece: '"' + piece * n, 30_000)


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_a_name_without_end_is_refused(tmp_path, kind):
    """A name of 20 million characters kept `refold check` at its lines for more than a minute."""
    file, name = tmp_path / f"t.{kind}", "k" * 10_001
    if kind == "csv":
        file.write_text(f"{name},b\n1,2\n")
    elif kind == "json":
        file.write_text(f'[{{"{name}": 1, "b": 2}}]')
    else:
        pq.write_table(pa.table({name: [1], "b": [2]}), file)
    with pytest.raises(InputError, match=r"the name of a column has 10,001 characters"):
        open_table(file)


def nulls(rows):
    return pa.record_batch([pa.nulls(rows), pa.nulls(rows)], names=["x", "y"])


def runs(rows):
    ends, texts = pa.array([rows], pa.int64()), pa.array(["a"])
    return pa.record_batch([pa.RunEndEncodedArray.from_arrays(ends, texts)], names=["x"])


@pytest.mark.parametrize("made", [nulls, runs])
@pytest.mark.parametrize("form", ["file", "stream"])
def test_rows_that_take_no_bytes_are_refused_before_they_are_held(tmp_path, form, made):
    """A file of 490 bytes had a thousand million rows, which took 8 GB."""
    batch, file = made(10**9), tmp_path / "t.arrow"
    with getattr(pa.ipc, f"new_{form}")(file, batch.schema) as out:
        out.write_batch(batch)
    with open_table(file) as table, pytest.raises(InputError, match=r"000 cells in \d+ bytes"):
        read_arrow(table)


def test_an_empty_column_beside_others_is_read(tmp_path):
    rows = 2**23
    table = pa.table({"x": np.zeros(rows, dtype=bool), "y": pa.nulls(rows), "z": pa.nulls(rows)})
    pq.write_table(table, tmp_path / "t.parquet")
    with open_table(tmp_path / "t.parquet") as source:
        assert len(read_arrow(source)) == rows
