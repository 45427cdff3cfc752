"""The author's data: what it must hold, and what is said when it is not there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pooch
import pytest

from refold.paper.data import N_SPLITS, SHA256, DataError, load_dataset, load_task, load_tasks
from refold.paper.printed import table1


@pytest.mark.usefixtures("data")
def test_counts_of_table1():
    tasks = load_tasks()
    assert len(tasks) == len(table1()) * N_SPLITS
    for task in tasks:
        info = task.info
        assert len(task.y_train) + len(task.y_test) == info.n_total
        assert task.train_target.shape == (info.n_target_train, info.n_features)
        assert len(task.train_outliers) == len(task.y_train) - info.n_target_train
        assert set(task.y_test) == {1, -1}


@pytest.mark.usefixtures("data")
def test_rows_keep_their_order_in_the_file():
    iris, task = load_dataset("iris"), load_task("Iris2", split=3)
    np.testing.assert_array_equal(task.X_train, iris.splits[3].X_train)
    np.testing.assert_array_equal(task.y_train == 1, iris.splits[3].y_train == 2)
    assert task.X_train.flags.c_contiguous
    assert task.train_target.flags.c_contiguous


@pytest.mark.usefixtures("data")
def test_standardized_by_target_training_rows():
    task = load_task("Ion2").standardized()
    std = task.train_target.std(axis=0, ddof=1)
    np.testing.assert_allclose(task.train_target.mean(axis=0), 0.0, atol=1e-12)
    assert np.all(np.isclose(std, 1.0) | (std < 1.0))  # below 1 only where the floor holds


@pytest.mark.usefixtures("data")
def test_unknown_names():
    with pytest.raises(ValueError, match=r"no data set 'wine'.*'iris'"):
        load_dataset("wine")
    with pytest.raises(ValueError, match=r"no task 'Iris4'.*Iris1, Iris2"):
        load_task("Iris4")
    with pytest.raises(ValueError, match="split=5, but the paper has splits 0 to 4"):
        load_task("Iris1", split=5)


@pytest.mark.usefixtures("data")
def test_damaged_file(tmp_path, monkeypatch):
    folder = tmp_path / "ref-paper"
    folder.mkdir()
    (folder / "iris.mat").write_bytes(b"half of it")
    monkeypatch.setenv("REFOLD_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"iris\.mat is damaged.*delete it"):
        load_dataset("iris")


@pytest.fixture
def offline(tmp_path, monkeypatch):
    """No network and an empty cache."""

    def fail(*args, **kwargs):
        raise ConnectionError("no route to host")

    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache")
    monkeypatch.setattr("requests.get", fail)


@pytest.mark.usefixtures("offline")
def test_missing_file_and_no_network(tmp_path, monkeypatch):
    monkeypatch.setenv("REFOLD_DATA", str(tmp_path))
    with pytest.raises(
        DataError, match=r"(?s)Connect to the internet.*has no ref-paper/seeds\.mat"
    ):
        load_dataset("seeds")


@pytest.mark.usefixtures("offline")
def test_no_copy_and_no_network(monkeypatch):
    monkeypatch.delenv("REFOLD_DATA", raising=False)
    with pytest.raises(DataError, match=r"(?s)iris\.mat.*put a copy.*REFOLD_DATA is not set"):
        load_dataset("iris")


@pytest.mark.usefixtures("data", "offline")
def test_the_cache_is_used_without_network(tmp_path, monkeypatch):
    if "REFOLD_DATA" not in os.environ:
        pytest.skip("there is no local copy to put into a cache")
    source = Path(os.environ["REFOLD_DATA"]) / "ref-paper" / "iris.mat"
    (tmp_path / "cache" / "ref-paper").mkdir(parents=True)
    shutil.copy(source, tmp_path / "cache" / "ref-paper")
    monkeypatch.delenv("REFOLD_DATA")
    assert load_dataset("iris").class_names == ("Setosa", "Versicolor", "Virginica")


def test_a_data_set_that_is_not_what_table1_says(tmp_path, monkeypatch):
    from hashlib import sha256

    from scipy.io import savemat

    path = tmp_path / "ref-paper" / "iris.mat"
    path.parent.mkdir()
    labels = np.ones((5, 4), dtype=np.uint8)
    savemat(
        path,
        {
            "fulltraindata": np.zeros((5, 4, 4)),
            "fulltestdata": np.zeros((5, 4, 4)),
            "fulltrainlabels": labels,
            "fulltestlabels": labels,
        },
    )
    monkeypatch.setitem(SHA256, "iris.mat", sha256(path.read_bytes()).hexdigest())
    monkeypatch.setenv("REFOLD_DATA", str(tmp_path))
    with pytest.raises(DataError, match="but Table I prints"):
        load_dataset("iris")
