"""Where tables are found, and how they are divided."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from refold.studies.download import DataError
from refold.studies.tables.injection import KINDS
from refold.studies.tables.suite import TableTask, divide_clean, divide_natural, tables
from tests.studies.tables.made import orders, write_tables


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("REFOLD_DATA", str(tmp_path))
    return tmp_path / "tables"


def numbered(n):
    """Orders whose price is the row's number."""
    return orders(n).assign(price=[f"{i}.00" for i in range(1, n + 1)])


def places(rows):
    return (rows["price"].astype(float) - 1).astype(int).tolist()


@pytest.mark.parametrize(("n", "n_train", "n_test"), [(400, 200, 100), (6000, 2000, 1000)])
def test_clean_rows_are_learned_from_normal_or_wrong(n, n_train, n_test):
    task = divide_clean(numbered(n), np.random.default_rng(0))
    kinds = np.array(task.kinds)
    assert (len(task.train), np.sum(kinds == "normal")) == (n_train, n_test)
    learned, normal = set(places(task.train)), set(places(task.test[kinds == "normal"]))
    assert (len(learned), len(normal)) == (n_train, n_test)
    assert not learned & normal
    by_other_columns = [kind not in ("normal", "missing", "x1000", "spike") for kind in task.kinds]
    unchanged = by_other_columns & (np.array(task.columns, dtype=object) != "price")
    assert not set(places(task.test[unchanged])) & (learned | normal)


def test_two_hundred_errors_of_each_kind_that_the_table_allows():
    task = divide_clean(orders(6000), np.random.default_rng(0))
    kinds = np.array(task.kinds)
    assert {kind: int(np.sum(kinds == kind)) for kind in KINDS} == dict.fromkeys(KINDS, 200)
    assert [column is None for column in task.columns] == [kind == "normal" for kind in kinds]


def test_half_of_the_normal_rows_are_learned_from():
    rows = numbered(1000).assign(row_is=["normal"] * 900 + ["anomaly"] * 100)
    task = divide_natural(rows, np.random.default_rng(0))
    kinds = np.array(task.kinds)
    assert "row_is" not in task.train
    assert "row_is" not in task.test
    assert len(task.train) == 450
    assert sorted(places(task.train) + places(task.test)) == list(range(1000))
    assert max(places(task.train)) < 900
    np.testing.assert_array_equal(np.array(places(task.test)) >= 900, kinds == "anomaly")


@pytest.mark.parametrize("labels", [["normal", "odd"], ["normal"] * 2, ["normal", "anomaly"]])
def test_labels_that_are_not_what_they_should_be(labels):
    rows = orders(2).assign(row_is=labels)
    with pytest.raises(DataError, match="column row_is should say normal or anomaly"):
        divide_natural(rows, np.random.default_rng(0))


def test_types_are_those_that_pandas_guesses(folder):
    write_tables(folder)
    task = tables().task("clean-orders", 0)
    train, test = task.read("typed")
    assert [str(train[name].dtype) for name in ("price", "pieces")] == ["float64", "int64"]
    assert pd.api.types.is_string_dtype(train["placed"].dtype)
    assert test["pieces"].isna().sum() == task.test["pieces"].isna().sum() > 0
    assert train["price"].tolist() == task.train["price"].astype(float).tolist()
    texts, _ = task.read("texts")
    assert texts.map(lambda cell: isinstance(cell, str)).all(axis=None)


def test_name_and_seed_decide_what_goes_where(folder):
    write_tables(folder)
    files = tables()
    first, again, other = (files.task("clean-orders", seed) for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(first.test, again.test)
    assert not first.train.equals(other.train)


def test_tables_are_found_by_their_names(folder):
    write_tables(folder)
    (folder / "penguins.csv").write_text("a\n1\n")
    (folder / "other.csv.gz").write_bytes(b"")
    assert list(tables().sha256) == ["clean-orders", "natural-orders"]
    before = tables().sha256
    write_tables(folder, n=300)
    assert tables().sha256.keys() == before.keys()
    assert tables().sha256 != before


def test_no_tables_are_said_with_what_to_do(folder, monkeypatch):
    with pytest.raises(DataError, match=r"tables has none\. Put clean tables, clean-NAME\.csv\.gz"):
        tables()
    monkeypatch.delenv("REFOLD_DATA")
    with pytest.raises(DataError, match="REFOLD_DATA is not set"):
        tables()


def test_rows_to_judge_get_the_types_of_training():
    train = pd.DataFrame({"n": ["1", "2"], "flag": ["True", "False"], "code": ["A", "7"]})
    test = pd.DataFrame({"n": ["3", "n.d."], "flag": ["True", None], "code": ["7", "8"]})
    read = TableTask(train, test, ("normal",) * 2, (None,) * 2).read("typed")[1]
    np.testing.assert_array_equal(read["n"], [3.0, np.nan])
    np.testing.assert_array_equal(read["flag"], [1.0, np.nan])
    assert read["code"].tolist() == ["7", "8"]
