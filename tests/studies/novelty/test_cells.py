"""What is measured, and what becomes of methods that fail."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from pebble import ProcessExpired
from sklearn.metrics import precision_recall_curve

from refold.studies.measured import MeasuredCell
from refold.studies.novelty.cells import NoveltyJob, NoveltyStudy, run_cell
from refold.studies.novelty.measures import (
    MEASURES,
    decision_measures,
    incidents_caught,
    ranking_measures,
)
from refold.studies.novelty.methods import METHODS
from refold.studies.novelty.published import oddbench
from refold.studies.novelty.suite import ADBENCH
from refold.studies.run import CellStore
from tests.studies.novelty.conftest import write_task
from tests.studies.novelty.made import labelled

JOB = NoveltyJob("wine", "LOF", 0)
DONE = MeasuredCell("done", dict.fromkeys(MEASURES, 0.5), "careful")


class Spy:
    """A method that keeps what it was given."""

    def __init__(self, scores=lambda X: X[:, 0]):
        self.scores = scores
        self.seen = []

    def fit(self, X):
        self.seen.append(X)
        return self

    def decision_function(self, X):
        self.seen.append(X)
        return -self.scores(X)

    def predict(self, X):
        return np.where(self.scores(X) > 2.0, -1, 1)


def method(make, **settings):
    return replace(METHODS["LOF"], make=make, **settings)


@pytest.fixture
def dataset(rng):
    return labelled("made", rng.normal(5.0, 3.0, (200, 2)), rng.normal(20.0, 3.0, (30, 2)))


def test_measures_by_their_definitions(rng):
    is_anomaly = rng.random(300) < 0.2
    scores = np.round(rng.normal(size=300) + is_anomaly, 1)  # with equal ones
    rejected = scores > 0.8
    found = ranking_measures(is_anomaly, scores) | decision_measures(is_anomaly, rejected)
    pairs = scores[is_anomaly][:, None] - scores[~is_anomaly][None, :]
    assert found["auroc"] == pytest.approx(np.mean(pairs > 0) + np.mean(pairs == 0) / 2)
    precision, recall, _ = precision_recall_curve(is_anomaly, scores)
    assert found["auprc"] == pytest.approx(np.sum(-np.diff(recall) * precision[:-1]))
    assert found["false_alarms"] == pytest.approx(np.mean(scores[~is_anomaly] > 0.8))
    caught = np.mean(scores[is_anomaly] > 0.8)
    assert found["gmean"] == pytest.approx(np.sqrt(caught * (1 - found["false_alarms"])))


def test_incidents_with_an_alarm_in_the_budget():
    incident = np.full(400, -1)
    incident[100:110], incident[200:203], incident[300] = 0, 1, 2
    scores = np.arange(400.0) % 50
    scores[[105, 106, 50]] = 90.0, 91.0, 92.0  # four of 400 rows may raise an alarm
    scores[[201, 300]] = 80.0, 79.0
    assert incidents_caught(incident, scores) == pytest.approx(2 / 3)
    scores[300] = 80.0  # as high as 201: beyond the budget, so neither counts
    assert incidents_caught(incident, scores) == pytest.approx(1 / 3)


@pytest.mark.parametrize("standardizes", [False, True])
def test_rows_are_standardized_once_by_the_training_rows(dataset, standardizes):
    spy, rows = Spy(), ADBENCH.divide(dataset, seed=0)
    assert run_cell(
        method(lambda seed: spy, standardizes=standardizes), ADBENCH, dataset, 0
    ).measures
    mean, std = (0.0, 1.0) if standardizes else (rows.train.mean(axis=0), rows.train.std(axis=0))
    for seen, expected in zip(spy.seen[:2], (rows.train, rows.test), strict=True):
        np.testing.assert_allclose(seen, (expected - mean) / std, rtol=1e-12, atol=1e-12)


def test_the_seed_reaches_the_method(dataset):
    seeds = []
    run_cell(method(lambda seed: seeds.append(seed) or Spy()), ADBENCH, dataset, 3)
    assert set(seeds) == {3}


def test_done(dataset):
    cell = run_cell(method(lambda seed: Spy()), ADBENCH, dataset, 0)
    assert cell.outcome == "done"
    assert tuple(cell.measures) == MEASURES
    assert cell.note == ""


def test_an_error_is_recorded(dataset):
    def make(seed):
        raise np.linalg.LinAlgError("not\n   positive definite")

    cell = run_cell(method(make), ADBENCH, dataset, 0)
    assert (cell.outcome, cell.measures) == ("failed", {})
    assert cell.note == "LinAlgError: not positive definite"


def test_a_set_that_cannot_be_used_fails_every_method(tmp_path, monkeypatch, rng):
    monkeypatch.setenv("REFOLD_DATA", str(tmp_path))
    write_task(tmp_path / "ovrbench", "gaps", rng, train=np.full((60, 3), np.nan))
    study = NoveltyStudy(oddbench("ovrbench", "OvRBench"), 9.0)
    for name in ("REF", "LOF"):
        cell = study.compute(NoveltyJob("gaps", name, 0))
        assert (cell.outcome, cell.measures) == ("failed", {})
        assert "gaps.npz should have finite rows" in cell.note


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_no_numbers_are_a_failure(dataset, bad):
    cell = run_cell(method(lambda seed: Spy(lambda X: np.full(len(X), bad))), ADBENCH, dataset, 0)
    assert cell.outcome == "failed"
    assert "130 scores are not finite" in cell.note


def test_warnings_are_noted_once_each(dataset):
    def scores(X):
        for text in ("one", "two", "one"):
            warnings.warn(text, stacklevel=1)
        return X[:, 0]

    cell = run_cell(method(lambda seed: Spy(scores)), ADBENCH, dataset, 0)
    assert (cell.outcome, cell.note) == ("done", "one; two")


def store(folder, time_limit=9.0):
    return CellStore(folder, NoveltyStudy(ADBENCH, time_limit))


@pytest.mark.parametrize(
    "cell", [DONE, MeasuredCell.failed(ValueError("no")), MeasuredCell.too_long(9.0)]
)
def test_every_outcome_is_kept(tmp_path, cell):
    store(tmp_path).write(JOB, cell)
    assert store(tmp_path).read(JOB) == cell


def test_more_time_is_another_chance(tmp_path):
    store(tmp_path).write(JOB, MeasuredCell.too_long(9.0))
    assert store(tmp_path, 8.0).read(JOB) is not None
    assert store(tmp_path, 10.0).read(JOB) is None


@pytest.mark.parametrize("cell", [MeasuredCell("done", {}), replace(DONE, outcome="failed")])
def test_a_cell_that_contradicts_itself_is_not_read(tmp_path, cell):
    store(tmp_path).write(JOB, cell)
    assert store(tmp_path).read(JOB) is None


@pytest.mark.parametrize(
    "change", [replace(METHODS["LOF"], standardizes=True), METHODS["OneClassSVM"]]
)
def test_a_cell_of_other_settings_is_not_read(tmp_path, monkeypatch, change):
    store(tmp_path).write(JOB, DONE)
    monkeypatch.setitem(METHODS, "LOF", change)
    assert store(tmp_path).read(JOB) is None


def test_a_cell_of_other_data_is_not_read(tmp_path, monkeypatch):
    store(tmp_path).write(JOB, DONE)
    monkeypatch.setitem(ADBENCH.source.sha256, ADBENCH.files["wine"], "0")
    assert store(tmp_path).read(JOB) is None


def test_what_is_stopped_or_crashes_is_shown_as_such():
    study = NoveltyStudy(ADBENCH, 9.0)
    assert study.stopped(TimeoutError()) == MeasuredCell.too_long(9.0)
    crashed = study.stopped(ProcessExpired("Abnormal termination", code=-9))
    assert crashed.outcome == "failed"
    assert "Abnormal termination" in crashed.note
