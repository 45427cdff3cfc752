"""A table is read as it is written; what cannot be compared is refused in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from refold.studies.own.table import OwnTable, Reservoir, read_own
from refold.tabular import InputError, open_table
from tests.studies.own.made import texts


def read(path, **asked):
    with open_table(path) as table:
        return read_own(table, **asked)


@pytest.fixture
def labelled(tmp_path):
    lines = ["grams,note,state", *(f"{k}.50,x,ok" for k in range(30))]
    lines += [f"{k}.50,,{state}" for k, state in enumerate(["bad"] * 6 + ["n/a", ""])]
    path = tmp_path / "parts.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_cells_are_kept_as_they_are_written(labelled):
    found = read(labelled, label="state", normal="ok")
    assert found.normals["grams"].tolist()[:2] == ["0.50", "1.50"]
    assert list(found.normals.columns) == ["grams", "note"]
    assert found.anomalies["note"].isna().all()
    assert not found.is_typed


def test_rows_without_a_label_are_left_out_and_counted(labelled):
    found = read(labelled, label="state", normal="ok")
    assert (len(found.normals), len(found.anomalies), found.left_out) == (30, 6, 2)
    assert found.rows_read == 38


def test_rows_without_a_value_are_left_out(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("a,b\n" + "1,2\n" * 30 + ",\n" * 3)
    found = read(path)
    assert (len(found.normals), found.left_out) == (30, 3)


def test_labels_that_are_numbers_may_be_written_otherwise(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("a,y\n" + "1,0.0\n" * 25 + "2,1.0\n" * 5)
    assert len(read(path, label="y", normal="0").normals) == 25


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"label": "state", "normal": "good"}, r"0 rows with 'good'.*Found there: 'ok', 'bad'"),
        ({"label": "nothing", "normal": "ok"}, r"no column 'nothing'"),
        ({"ignore": ["grams", "note", "state"]}, r"no column is left"),
    ],
)
def test_what_is_not_there_is_refused(labelled, asked, said):
    with pytest.raises(InputError, match=said):
        read(labelled, **asked)


def test_too_few_rows_are_refused(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("a\n" + "1\n" * 19)
    with pytest.raises(InputError, match=r"19 rows are too few .* it takes 20"):
        read(path)


def test_too_few_anomalies_are_refused_with_what_to_do(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("a,y\n" + "1,ok\n" * 40 + "2,bad\n")
    with pytest.raises(InputError, match=r"1 rows have something else than 'ok'.*Without --label"):
        read(path, label="y", normal="ok")


def test_decimal_commas_are_read_as_numbers(tmp_path):
    path = tmp_path / "comma.csv"
    path.write_text("a;b\n" + "".join(f"{k},5;x\n" for k in range(30)))
    assert read(path).normals["a"].tolist()[3] == "3.5"


def test_typed_files_are_known_as_such(tmp_path):
    path = tmp_path / "typed.parquet"
    pd.DataFrame({"a": np.arange(30) % 7, "b": ["x"] * 30}).to_parquet(path)
    found = read(path)
    assert found.is_typed
    assert found.normals["a"].tolist()[:2] == ["0", "1"]


def test_a_sample_of_many_rows_is_fair_bounded_and_in_order():
    kept = np.zeros(1000)
    for seed in range(20):
        sample = Reservoir(100)
        sample._rng = np.random.default_rng(seed)
        for begin in range(0, 1000, 50):
            sample.add(pa.table({"a": [str(k) for k in range(begin, begin + 50)]}))
        rows = sample.frame()["a"].astype(int).to_numpy()
        assert len(rows) == 100
        assert (np.diff(rows) > 0).all()
        kept[rows] += 1
    # Of twenty draws of a tenth each block of a hundred has 200; five deviations are 67.
    assert np.abs(kept.reshape(10, 100).sum(axis=1) - 200).max() < 67


def test_columns_that_run_with_the_rows_are_known():
    table = OwnTable(
        "t",
        texts(
            id=range(100),
            back=range(100, 0, -1),
            month=np.repeat(range(1, 11), 10),
            day=np.repeat([f"2026-01-{d:02d}" for d in range(1, 11)], 10),
            value=np.random.default_rng(0).normal(size=100),
            name=[f"n{k:03}" for k in range(100)],
        ),
    )
    assert table.running == ["id", "back", "day"]


def test_other_rows_have_another_hash():
    one, two = (OwnTable("t", texts(a=values)) for values in ([1, 2], [1, 3]))
    assert one.sha256 == OwnTable("u", texts(a=[1, 2])).sha256 != two.sha256
