"""The methods, each on a small table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import OneHotEncoder

from refold.studies.tables.cells import run_cell
from refold.studies.tables.methods import METHODS, OneHot
from refold.studies.tables.suite import divide_clean
from tests.studies.tables.made import orders


@pytest.fixture(scope="module")
def task():
    return divide_clean(orders(800), np.random.default_rng(0))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_learns_a_mixed_table_and_finds_wrong_units(task, name):
    """To a histogram all values beyond its bins are equally rare."""
    method = METHODS[name]
    if not method.is_installed:
        pytest.skip(f"{method.module} is not installed")
    cell = run_cell(method, task, 0)
    assert cell.outcome == "done", cell.note
    assert cell.measures["auroc x1000"] > (0.6 if name == "one-hot-HBOS" else 0.7)
    if any(measure.startswith("named") for measure in cell.measures):
        assert cell.measures["named x1000"] > 0.9


def test_one_hot_is_that_of_scikit_learn_beside_numbers_and_others(task):
    train, test = task.read("typed")
    encode = OneHot(train)
    columns = [name for name in train if name not in ("placed", "article", "price", "pieces")]
    theirs = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(train[columns])
    there = test[columns].notna().all(axis=1).to_numpy()
    expected = theirs.transform(test[columns][there])
    found = encode(test)
    assert encode.owners == ["price", "pieces", *["country"] * (expected.shape[1] + 1)]
    np.testing.assert_array_equal(found[:, :2], test[["price", "pieces"]].to_numpy(float))
    np.testing.assert_array_equal(found[there][:, 2:-1], expected)
    np.testing.assert_array_equal(found[there][:, -1], 1.0 - expected.sum(axis=1))
    assert np.isnan(found[~there][:, 2:]).all()
    assert (~there).any()


def test_one_hot_leaves_out_what_has_too_many_values_or_none():
    many = [f"v{i}" for i in range(101)]
    rows = pd.DataFrame({"a": many, "b": ["v1", *many[1:]], "c": None, "d": np.nan, "e": 1.0})
    assert OneHot(rows).owners == ["e", *["b"] * 101]
    assert OneHot(rows)(rows).sum(axis=1).tolist() == [2.0] * 101


def test_a_method_whose_module_is_absent_is_not_installed(monkeypatch):
    method = METHODS["isotree"]
    monkeypatch.setattr("refold.studies.tables.methods.find_spec", lambda name: None)
    assert not method.is_installed
    assert METHODS["one-hot-REF"].is_installed


def test_one_hot_gives_a_row_without_a_value_the_mean():
    train = pd.DataFrame({"a": [1.0, 3.0, np.nan], "b": ["x", "y", None]})
    assert OneHot(train)(train).tolist()[2] == [2.0, 0.5, 0.5, 0.0]


def test_one_hot_of_many_columns_stays_small():
    values = [f"v{k}" for k in range(90)]
    wide = pd.DataFrame({f"c{k}": values if k else ["x", "y"] * 45 for k in range(200)})
    assert OneHot(wide).owners == ["c0"] * 3
