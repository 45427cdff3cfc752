"""Data sets and how they are divided."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
import pytest

from refold.studies.download import DataError
from refold.studies.novelty.suite import ADBENCH, SHA256, Division
from tests.studies.novelty.made import labelled


def dataset(n_normals, n_anomalies, name="made"):
    """Each row is a number of its own; anomalies are negative."""
    normals = np.arange(1.0, n_normals + 1)[:, None]
    return labelled(name, normals, -np.arange(1.0, n_anomalies + 1)[:, None])


class TestDivide:
    @pytest.mark.parametrize(
        ("n_normals", "n_anomalies", "sizes"),
        [
            (10, 3, (5, 5, 3)),
            (11, 1, (5, 6, 1)),
            (9_999, 2_000, (4_999, 5_000, 2_000)),
            (10_002, 2_001, (5_000, 5_000, 2_000)),
            (30_000, 9_000, (5_000, 5_000, 2_000)),
        ],
    )
    def test_halves_up_to_the_limits(self, n_normals, n_anomalies, sizes):
        rows = ADBENCH.divide(dataset(n_normals, n_anomalies), seed=0)
        assert (len(rows.train), (~rows.is_anomaly).sum(), rows.is_anomaly.sum()) == sizes

    def test_no_row_is_used_twice_and_labels_are_right(self):
        rows = ADBENCH.divide(dataset(30_000, 9_000), seed=3)
        used = np.concatenate([rows.train, rows.test]).ravel()
        assert len(np.unique(used)) == len(used)
        np.testing.assert_array_equal(rows.test.ravel() < 0, rows.is_anomaly)
        assert (rows.train > 0).all()

    def test_a_seed_always_gives_the_same_rows(self):
        first, second = (ADBENCH.divide(dataset(400, 40), seed=1) for _ in range(2))
        np.testing.assert_array_equal(first.train, second.train)
        np.testing.assert_array_equal(first.test, second.test)

    def test_other_seeds_and_other_sets_give_other_rows(self):
        drawn = [
            ADBENCH.divide(dataset(400, 40), seed=0),
            ADBENCH.divide(dataset(400, 40), seed=1),
            ADBENCH.divide(dataset(400, 40, name="other"), seed=0),
        ]
        assert len({tuple(rows.train.ravel()) for rows in drawn}) == 3

    def test_rows_come_from_the_whole_table(self):
        """Files are often sorted: the first rows alone would not stand for the rest."""
        rows = ADBENCH.divide(dataset(100_000, 10_000), seed=0)
        for part, middle in ((rows.train, 50_000), (rows.test[rows.is_anomaly], -5_000)):
            assert abs(part.mean() / middle - 1) < 0.05


class TestHard:
    def test_rows_outside_a_range_or_between_levels_are_left_out(self):
        train = np.column_stack([np.linspace(0.0, 1.0, 40), np.repeat([1.0, 2.0, 4.0, 8.0], 10)])
        kept = [[0.5, 2.0], [0.001, 8.0], [1.0, 1.0]]
        found = [[1.001, 2.0], [-0.001, 2.0], [0.5, 3.0], [0.5, 9.0]]
        test = np.array([*kept, *found])
        is_anomaly = np.array([False, True, True, False, True, True, True])
        hard = Division(train, test, is_anomaly).hard()
        np.testing.assert_array_equal(hard.test, kept)
        np.testing.assert_array_equal(hard.is_anomaly, [False, True, True])
        np.testing.assert_array_equal(hard.train, train)

    def test_a_value_between_those_of_a_continuous_column_is_no_finding(self, rng):
        train = rng.normal(size=(300, 1))
        test = rng.uniform(train.min(), train.max(), size=(50, 1))
        assert len(Division(train, test, np.zeros(50, dtype=bool)).hard().test) == 50

    def test_only_such_a_suite_leaves_rows_out_and_its_cells_are_others(self):
        rows = dataset(400, 40)
        hard = ADBENCH.hard_only()
        assert ADBENCH.division(rows, 0).is_anomaly.sum() == 40
        assert hard.division(rows, 0).is_anomaly.sum() == 0
        assert hard.title != ADBENCH.title


@pytest.mark.usefixtures("adbench")
def test_a_set_of_adbench():
    wine = ADBENCH.load("wine")
    assert wine.normals.shape == (119, 13)
    assert wine.anomalies.shape == (10, 13)


def test_names_have_no_numbers_and_no_doubles():
    assert len(ADBENCH.files) == len(SHA256) == 43
    assert {"ALOI", "magic.gamma", "satimage-2", "http"} <= set(ADBENCH.files)


def test_unknown_name():
    with pytest.raises(ValueError, match=r"no data set 'Wine'; there are .*wine"):
        ADBENCH.load("Wine")


@pytest.mark.usefixtures("offline")
def test_a_missing_set_is_named_with_those_that_are_here(tmp_path, monkeypatch):
    write(tmp_path, monkeypatch, "wine", X=np.ones((3, 2)), y=np.array([0, 0, 1]))
    with pytest.raises(DataError, match=r"(?s)25_musk\.npz could not.*go on .*--sets wine$"):
        ADBENCH.fetch(["musk", "wine", "WBC"])


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.ones((3, 2)), np.array([0, 2, 1])),
        (np.ones((3, 2)), np.array([0, 1])),
        (np.full((3, 2), np.nan), np.array([0, 0, 1])),
    ],
)
def test_a_file_that_is_not_what_it_should_be(tmp_path, monkeypatch, X, y):
    write(tmp_path, monkeypatch, "wine", X=X, y=y)
    with pytest.raises(DataError, match="finite rows, each labelled 0 or 1"):
        ADBENCH.load("wine")


def write(folder, monkeypatch, name, **arrays):
    """Put a file of our own where a set's copy is looked for."""
    path = folder / "adbench" / ADBENCH.files[name]
    path.parent.mkdir()
    np.savez(path, **arrays)
    monkeypatch.setitem(SHA256, ADBENCH.files[name], sha256(path.read_bytes()).hexdigest())
    monkeypatch.setenv("REFOLD_DATA", str(folder))
