"""Every method learns, scores and decides as its library does."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.neighbors import LocalOutlierFactor

from refold.studies.novelty.cells import run_cell
from refold.studies.novelty.methods import METHODS, PYOD
from refold.studies.novelty.suite import ADBENCH
from refold.studies.paper.columns import METHODS as PAPER_METHODS
from tests.studies.novelty.made import labelled


@pytest.fixture(scope="module")
def easy():
    """Two correlated features and a third; anomalies are far away in every one."""
    rng = np.random.default_rng(0)
    normals = rng.normal(size=(160, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0], [0, 0, 1]])
    return labelled(
        "easy", normals, rng.choice([-9.0, 9.0], size=(30, 3)) + rng.normal(size=(30, 3))
    )


# A line cannot have anomalies on either side of it; to a kernel of fixed width all that is far away
# is equally far; ten bins of each of a hundred random sums are coarse.
LIMITED = {"Linear OCSVM": 0.4, "SSVDD": 0.5, "LODA": 0.85}


@pytest.mark.parametrize("name", METHODS)
def test_tells_what_is_far_away(name, easy):
    cell = run_cell(METHODS[name], ADBENCH, easy, seed=0)
    assert cell.outcome == "done", cell.note
    assert cell.measures["auroc"] > LIMITED.get(name, 0.95)
    assert 0.0 <= cell.measures["false_alarms"] < 0.75
    assert cell.measures["fit_seconds"] >= 0.0


@pytest.mark.parametrize("name", METHODS)
def test_the_same_in_every_run(name, easy):
    first, second = (run_cell(METHODS[name], ADBENCH, easy, seed=4).measures for _ in range(2))
    for measure in ("auroc", "auprc", "gmean", "false_alarms"):
        assert first[measure] == second[measure]


@pytest.mark.parametrize(
    "name", [name for name, method in METHODS.items() if method.conventions is PYOD]
)
def test_pyod_decisions_are_those_of_predict(name, easy):
    method = METHODS[name]
    rows = np.concatenate([easy.normals[:40], easy.anomalies])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = method.make(0)
        model.fit(easy.normals[40:])
        rejected = method.conventions.reject(model, rows, method.conventions.score(model, rows))
        np.testing.assert_array_equal(rejected, model.predict(rows) == 1)


def test_all_that_should_take_part():
    own = {
        "CreasedREF",
        "REF",
        "REF-all",
        "kNN-1",
        "kNN-5",
        "LOF",
        "IsolationForest",
        "OneClassSVM",
    }
    own |= {"GaussianMixture", "EllipticEnvelope", "ECOD", "COPOD", "HBOS", "INNE", "LODA", "PCA"}
    assert own | set(PAPER_METHODS) <= set(METHODS)
    assert len(PAPER_METHODS) == 11  # REF and ten others


def test_a_mixture_rejects_a_tenth_of_its_training_rows(easy):
    model = METHODS["GaussianMixture"].make(0).fit(easy.normals)
    assert np.mean(model.predict(easy.normals) == -1) == pytest.approx(0.1, abs=1 / 160)


def test_dte_is_the_mean_squared_distance_to_five_rows(easy):
    model = METHODS["DTE-NP"].make(0).fit(easy.normals[40:])
    squares = np.sum((easy.anomalies[:, None] - easy.normals[None, 40:]) ** 2, axis=2)
    expected = np.sort(squares, axis=1)[:, :5].mean(axis=1)
    np.testing.assert_allclose(model.offset_ - model.decision_function(easy.anomalies), expected)
    assert np.mean(model.predict(easy.normals[40:]) == 1) > 0.85


def test_feature_bagging_is_the_mean_of_factors_of_at_least_half_the_columns(easy):
    model = METHODS["FeatureBagging"].make(3).fit(easy.normals)
    sizes = {len(columns) for columns in model.columns_}
    assert len(model.columns_) == 10
    assert sizes <= {1, 2, 3}
    assert len(sizes) > 1
    one_by_one = [
        LocalOutlierFactor(novelty=True)
        .fit(easy.normals[:, at])
        .score_samples(easy.anomalies[:, at])
        for at in model.columns_
    ]
    expected = np.mean(one_by_one, axis=0) + 1.5
    np.testing.assert_allclose(model.decision_function(easy.anomalies), expected)


@pytest.mark.parametrize(
    ("name", "draws"), [("CreasedREF", True), ("REF", False), ("kNN-5", False), ("LODA", True)]
)
def test_which_methods_draw(name, draws):
    assert METHODS[name].draws is draws
