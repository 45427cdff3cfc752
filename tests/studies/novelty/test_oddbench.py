"""Tasks that say which rows to learn from."""

from __future__ import annotations

import numpy as np
import pytest

from refold.studies.download import DataError
from refold.studies.novelty.suite import divide, oddbench
from tests.studies.novelty.conftest import write_task


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("REFOLD_DATA", str(tmp_path))
    return tmp_path / "oddbench"


def test_training_rows_are_those_of_the_task(folder, rng):
    train = np.arange(4000.0)[:, None] * np.ones(3)
    write_task(folder, "b", rng, train=train)
    write_task(folder, "A", rng)
    suite = oddbench()
    assert list(suite.files) == ["A", "b"]
    task = suite.load("b")
    rows, again, other = (divide(task, seed) for seed in (0, 0, 1))
    assert rows.train.shape == (2500, 3)
    assert len(np.unique(rows.train[:, 0])) == 2500
    np.testing.assert_array_equal(rows.train, again.train)
    assert (rows.train != other.train).any()
    assert (len(rows.test), rows.is_anomaly.sum()) == (40, 10)
    assert rows.test[rows.is_anomaly].min() > rows.test[~rows.is_anomaly].mean()
    small = divide(suite.load("A"), 0)
    assert sorted(map(tuple, small.train)) == sorted(map(tuple, suite.load("A").train))


def test_other_content_is_another_hash(folder, rng):
    write_task(folder, "a", rng)
    before = oddbench().source.sha256
    write_task(folder, "a", rng)
    assert oddbench().source.sha256 != before


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"train": np.full((5, 3), np.nan)}, "finite rows"),
        ({"test_labels": np.full(40, 2)}, "labelled 0 or 1"),
    ],
)
def test_a_task_that_is_not_what_it_should_be(folder, rng, changed, message):
    write_task(folder, "a", rng, **changed)
    with pytest.raises(DataError, match=message):
        oddbench().load("a")


def test_a_file_of_another_layout(folder):
    folder.mkdir()
    np.savez(folder / "a.npz", train=np.ones((5, 2)), y=np.ones(5))
    with pytest.raises(DataError, match=r"a\.npz has no test and no test_labels"):
        oddbench().load("a")


def test_no_folder_is_said_with_what_to_do(folder):
    with pytest.raises(DataError, match=r"oddbench has none\. Put the tasks of OddBench, \.npz"):
        oddbench()
