"""What is measured, against the same done by hand and on tables whose answer is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler

from refold import Detector
from refold.studies.own.cells import METHODS, OwnJob, OwnStudy, run_cell
from refold.studies.own.table import OwnTable, divide_rows, n_anomalies, sizes, usual_rate
from refold.studies.run import CellStore
from tests.studies.own.made import texts, twins


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    rows = X.astype(str)
    return OwnTable("wine.csv", rows[y == 1].reset_index(drop=True), rows[y != 1])


def run(name, task, alpha=0.05, seed=0):
    method = METHODS[name]
    cell = run_cell(method, task, seed, alpha, method.reading)
    assert cell.outcome == "done", cell.note
    return cell.measures


def test_the_figures_of_a_peer_are_those_of_the_same_done_by_hand(wine):
    task = divide_rows(wine, 0)
    found = run("LOF", task)
    scale = StandardScaler().fit(task.train.astype(float))
    model = LocalOutlierFactor(novelty=True).fit(scale.transform(task.train.astype(float)))
    scores = -model.decision_function(scale.transform(task.test.astype(float)))
    is_anomaly = np.array(task.kinds) == "anomaly"
    assert found["auroc"] == pytest.approx(roc_auc_score(is_anomaly, scores))
    assert found["auprc"] == pytest.approx(average_precision_score(is_anomaly, scores))


def test_the_figures_of_the_detector_are_those_of_the_same_done_by_hand(wine):
    task = divide_rows(wine, 2)
    found = run("Detector", task, alpha=0.1, seed=2)
    model = Detector(alpha=0.1, random_state=2).fit(task.train)
    rejected, is_anomaly = model.predict(task.test) == -1, np.array(task.kinds) == "anomaly"
    scores = -model.score_samples(task.test)
    assert found["auroc"] == pytest.approx(roc_auc_score(is_anomaly, scores))
    assert found["caught anomaly"] == rejected[is_anomaly].mean()
    assert found["false_alarms"] == rejected[~is_anomaly].mean()


def test_broken_dependence_is_seen_by_what_looks_at_columns_together():
    task = divide_rows(twins(), 0)
    together, alone = run("CreasedREF", task), run("REF", task)
    assert together["caught swapped 1"] > 0.5
    assert alone["caught swapped 1"] < 0.2
    assert run("Detector", task)["caught swapped 1"] > 0.5


def test_in_a_single_column_all_see_a_large_fault():
    values = np.random.default_rng(0).normal(size=400).round(3)
    task = divide_rows(OwnTable("t", texts(a=values)), 0)
    for name in ("Detector", "Detector-ref", "CreasedREF", "REF", "LOF", "OneClassSVM"):
        assert run(name, task)["caught beyond 3"] == 1.0


def test_what_is_no_number_among_numbers_does_not_stop_a_peer():
    rows = texts(a=range(300), b=np.random.default_rng(0).integers(0, 9, 300))
    task = divide_rows(OwnTable("t", rows), 0)
    test = task.test.copy()
    test.iloc[0, 0] = "n.d."
    assert run("IsolationForest", replace(task, test=test))


def test_truth_values_and_gaps_are_read_as_training_has_them():
    rng = np.random.default_rng(0)
    rows = texts(flag=rng.choice(["True", "False"], 300), a=rng.normal(size=300).round(2))
    task = divide_rows(OwnTable("t", rows), 0)
    _, test = task.read("typed")
    read = pd.to_numeric(test["flag"]).to_numpy(dtype=float)
    expected = task.test["flag"].map({"True": 1.0, "False": 0.0}).to_numpy(dtype=float)
    known = np.isin(task.test["flag"], ["True", "False"])
    np.testing.assert_array_equal(read[known], expected[known])


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_all_methods_take_a_table_of_categories_and_gaps_alone(name):
    rng = np.random.default_rng(0)
    rows = texts(a=rng.choice(list("xyz"), 60), b=rng.choice(["red", "blue"], 60))
    rows.loc[rng.random(60) < 0.1, "b"] = None
    if not METHODS[name].is_installed:
        pytest.skip("not installed")
    assert 0.0 <= run(name, divide_rows(OwnTable("t", rows), 0), alpha=0.2)["false_alarms"] <= 1.0


def test_scores_do_not_hang_on_the_rows_beside_them():
    """ECOD's do; here it sees few rows to judge at a time, whatever else is to be judged."""
    pytest.importorskip("pyod")
    rng = np.random.default_rng(0)
    train = pd.DataFrame({"a": rng.normal(size=500), "b": rng.normal(size=500)})
    model = METHODS["ECOD"].learn(train, 0, 0.05)
    rows = pd.DataFrame({"a": [0.1] * 20 + [50.0] * 2000, "b": [0.2] * 20 + [50.0] * 2000})
    np.testing.assert_array_equal(model.score(rows[:20]), model.score(rows)[:20])


def test_limits_of_large_and_of_few_rows(wine):
    large = OwnTable("t", texts(a=range(20_000)), texts(a=range(6_000)))
    assert (sizes(large), n_anomalies(large), usual_rate(large)) == ((5_000, 2_000), 2_000, 0.01)
    few = OwnTable("t", texts(a=range(50)), texts(a=range(7)))
    assert (sizes(few), n_anomalies(few)) == ((33, 17), 7)
    assert usual_rate(few) == 5 / 34


def test_cells_are_kept_for_the_same_rows_and_rate_alone(wine, tmp_path):
    job = OwnJob("LOF", 0)
    cell = run_cell(METHODS["LOF"], divide_rows(wine, 0), 0, 0.05, "typed")

    def store(table, alpha):
        return CellStore(tmp_path, OwnStudy(table, alpha, 9.0))

    store(wine, 0.05).write(job, cell)
    assert store(wine, 0.05).read(job) == cell
    assert store(wine, 0.1).read(job) is None
    assert store(replace(wine, anomalies=wine.anomalies[1:]), 0.05).read(job) is None
