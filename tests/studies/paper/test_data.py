"""The author's data: what it must hold, and what is said when it does not."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from refold.studies.download import DataError
from refold.studies.paper.data import N_SPLITS, SHA256, SOURCE, load_task, load_tasks
from refold.studies.paper.printed import table1


@pytest.mark.usefixtures("paper_data")
def test_counts_of_table1():
    tasks = load_tasks()
    assert len(tasks) == len(table1()) * N_SPLITS
    for task in tasks:
        info = task.info
        assert len(task.y_train) + len(task.y_test) == info.n_total
        assert task.train_target.shape == (info.n_target_train, info.n_features)
        assert np.sum(task.y_train == 1) == info.n_target_train
        assert set(task.y_test) == {1, -1}


@pytest.mark.usefixtures("paper_data")
def test_rows_keep_their_order_in_the_file():
    iris, task = loadmat(SOURCE.path("iris.mat")), load_task("Iris2", split=3)
    for part in ("train", "test"):
        np.testing.assert_array_equal(getattr(task, f"X_{part}"), iris[f"full{part}data"][3].T)
        is_target = iris[f"full{part}labels"][3] == 2
        np.testing.assert_array_equal(getattr(task, f"y_{part}") == 1, is_target)
    assert task.X_train.flags.c_contiguous
    assert task.train_target.flags.c_contiguous


@pytest.mark.usefixtures("paper_data")
def test_standardized_by_target_training_rows():
    task = load_task("Ion2").standardized()
    std = task.train_target.std(axis=0, ddof=1)
    np.testing.assert_allclose(task.train_target.mean(axis=0), 0.0, atol=1e-12)
    assert np.all(np.isclose(std, 1.0) | (std < 1.0))  # below 1 only where the floor holds


def test_unknown_names():
    with pytest.raises(ValueError, match=r"no task 'Iris4'.*Iris1, Iris2"):
        load_task("Iris4")
    with pytest.raises(ValueError, match="split=5, but the paper has splits 0 to 4"):
        load_task("Iris1", split=5)


@pytest.mark.usefixtures("offline")
def test_every_file_is_asked_for_by_its_name(tmp_path, monkeypatch):
    monkeypatch.setenv("REFOLD_DATA", str(tmp_path))
    asked = set()
    for info in table1():
        with pytest.raises(DataError, match=r"has no ref-paper/\w+\.mat\.") as refused:
            load_task(info.task)
        asked.add(str(refused.value).split()[0])
    assert asked == set(SHA256)


def test_a_data_set_that_is_not_what_table1_says(tmp_path, monkeypatch):
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
        load_task("Iris1")
