"""Suites that are run as their papers do."""

from __future__ import annotations

import numpy as np
import pytest

from refold.studies.download import DataError
from refold.studies.novelty.measures import PUBLISHED
from refold.studies.novelty.methods import METHODS
from refold.studies.novelty.published import (
    COMPARED,
    MAX_ROWS,
    adbench_dte,
    oddbench,
    printed_figures,
)
from tests.studies.novelty.conftest import write_task


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("REFOLD_DATA", str(tmp_path))
    return tmp_path / "oddbench"


def test_a_task_is_used_as_it_is(folder, rng):
    write_task(folder, "b", rng)
    write_task(folder, "A", rng)
    suite = oddbench()
    assert list(suite.files) == ["A", "b"]
    assert suite.measures == PUBLISHED
    rows = suite.divide(suite.load("b"), seed=3)
    with np.load(folder / "b.npz") as file:
        np.testing.assert_array_equal(rows.train, file["train"])
        np.testing.assert_array_equal(rows.test, file["test"])
        np.testing.assert_array_equal(rows.is_anomaly, file["test_labels"])
    assert not suite.draws_rows("b")


def test_of_a_large_task_rows_are_drawn_and_shares_kept(folder, rng):
    train = np.arange(90_000.0)[:, None]
    test = -1.0 - np.arange(60_000.0)[:, None]
    labels = np.arange(60_000) < 3_000
    write_task(folder, "large", rng, train=train, test=test, test_labels=labels)
    suite = oddbench()
    assert suite.draws_rows("large")
    task = suite.load("large")
    rows, again, other = (suite.divide(task, seed) for seed in (0, 0, 1))
    assert len(rows.train) + len(rows.test) == MAX_ROWS
    assert (len(rows.train), rows.is_anomaly.sum()) == (60_000, 2_000)
    drawn = np.concatenate([rows.train, rows.test]).ravel()
    assert len(np.unique(drawn)) == MAX_ROWS
    np.testing.assert_array_equal(rows.is_anomaly, rows.test.ravel() >= -3_000)
    np.testing.assert_array_equal(rows.train, again.train)
    assert (rows.train != other.train).any()
    assert abs(rows.train.mean() / 45_000 - 1) < 0.02


def test_tasks_are_reported_by_use_size_width_and_origin(folder, rng):
    write_task(folder, "ALLPatientData", rng, origin=np.array("Science"))
    write_task(folder, "new", rng, train=rng.normal(size=(1_000, 30)), test=np.ones((40, 30)))
    groupings = oddbench().groupings(["ALLPatientData", "new"])
    first, second = ["ALLPatientData"], ["new"]
    assert groupings == {
        "Use here": {"development tasks": first, "other tasks": second},
        "Training rows": {"up to 999": first, "1,000 to 4,999": second},
        "Columns": {"up to 5": first, "from 21": second},
        "Origin": {"Science": first, "not said": second},
    }


def test_files_may_be_in_the_named_folder_itself(folder, rng, monkeypatch):
    write_task(folder, "a", rng)
    monkeypatch.setenv("REFOLD_DATA", str(folder))
    assert list(oddbench().files) == ["a"]


def test_what_was_printed_is_not_what_is_run_here():
    printed = printed_figures("OddBench")
    assert [figure.method for figure in printed[:2]] == ["TaskBridge", "DTE-NP"]
    assert all(figure.tasks == 790 and figure.source for figure in printed)
    assert all(40 < figure.auroc < 90 and 20 < figure.auprc < 60 for figure in printed)
    assert printed_figures("ADBench") == []
    assert set(COMPARED) <= set(METHODS)


def adbench_file(folder, n, n_anomalies, name="7_made.npz"):
    """Write a set of numbered rows; anomalies are negative and spread over the file."""
    (folder.parent / "adbench").mkdir(exist_ok=True)
    rows = np.arange(1.0, n + 1)
    y = np.zeros(n)
    y[np.linspace(0, n - 1, n_anomalies).astype(int)] = 1
    np.savez(folder.parent / "adbench" / name, X=np.where(y == 1, -rows, rows)[:, None], y=y)


class TestDte:
    def test_rows_are_divided_in_file_order(self, folder):
        adbench_file(folder, 2_001, 100)
        suite = adbench_dte()
        assert list(suite.files) == ["made"]
        rows, other = (suite.divide(suite.load("made"), seed) for seed in (0, 1))
        assert len(rows.train) == 950  # half of 1,901, rounded to even
        assert rows.train.max() < rows.test[~rows.is_anomaly].min()
        assert rows.is_anomaly.sum() == 100
        np.testing.assert_array_equal(rows.train, other.train)
        assert not suite.draws_rows("made")

    def test_of_a_small_set_rows_are_drawn_more_than_once(self, folder):
        adbench_file(folder, 100, 10)
        suite = adbench_dte()
        assert suite.draws_rows("made")
        rows, other = (suite.divide(suite.load("made"), seed) for seed in (0, 1))
        assert len(rows.train) + len(rows.test) == 1_000
        normals = rows.test[~rows.is_anomaly]
        assert np.isin(normals, rows.train).mean() > 0.9  # the flaw that the paper has
        assert (rows.train[:200] != other.train[:200]).any()

    def test_of_a_large_set_rows_are_drawn_once(self, folder):
        adbench_file(folder, 60_000, 6_000)
        suite = adbench_dte()
        rows = suite.divide(suite.load("made"), 0)
        used = np.concatenate([rows.train, rows.test]).ravel()
        assert len(used) == len(np.unique(used)) == 50_000
        np.testing.assert_array_equal(rows.test.ravel() < 0, rows.is_anomaly)

    def test_names_lose_their_numbers_only(self, folder):
        for name in ("12_fault.npz", "CIFAR10_0.npz"):
            adbench_file(folder, 30, 3, name)
        assert list(adbench_dte().files) == ["CIFAR10_0", "fault"]


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
