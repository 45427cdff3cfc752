"""REFDetector keeps PyOD's contract and adds to it what REF can do."""

import importlib
import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pyod.models.lscp import LSCP
from pyod.models.ts_od import TimeSeriesOD
from pyod.utils.data import generate_data
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from refold import REF
from refold.integrations.pyod import REFDetector
from tests.algorithm_1 import algorithm_1

# The rows and the floor of PyOD's own tests.
X, X_NEW, Y, Y_NEW = generate_data(n_train=200, n_test=100, contamination=0.1, random_state=42)
FLOOR = 0.8


@pytest.fixture(scope="module")
def detector():
    return REFDetector(contamination=0.1).fit(X)


class AboveTwo:
    """Stands for a PyThresh thresholder: labels scores, and reports a figure in its own unit."""

    def fit(self, scores):
        self.labels_, self.thresh_ = self.predict(scores), 0.5

    def predict(self, scores):
        return (scores > 2.0).astype(int)


def path_score(train, new):
    """The mean L1/D over all levels, from the paper's algorithm alone."""
    levels = [np.abs(algorithm_1(train, new, np.abs, j)).mean(axis=1) for j in range(1, 102)]
    return np.mean(levels, axis=0)


def test_scores_are_the_path_score_of_the_paper_s_algorithm(detector):
    np.testing.assert_allclose(detector.decision_function(X_NEW), path_score(X, X_NEW), rtol=1e-7)
    np.testing.assert_allclose(detector.decision_scores_, path_score(X, X), rtol=1e-7)


def test_outliers_rank_above_inliers(detector):
    assert roc_auc_score(Y_NEW, detector.decision_function(X_NEW)) >= FLOOR
    assert roc_auc_score(Y, detector.decision_scores_) >= FLOOR


@pytest.mark.parametrize("contamination", [0.01, 0.1, 0.25, 0.5])
def test_contamination_is_the_share_of_training_rows_that_are_outliers(contamination):
    detector = REFDetector(contamination=contamination).fit(X)
    assert detector.labels_.sum() == contamination * len(X)
    np.testing.assert_array_equal(detector.labels_, detector.decision_scores_ > detector.threshold_)
    np.testing.assert_array_equal(detector.predict(X), detector.labels_)


@pytest.mark.parametrize("contamination", [0.0, -0.1, 0.6, float("nan"), True])
def test_an_impossible_contamination_is_refused(contamination):
    with pytest.raises(ValueError, match="contamination must be in"):
        REFDetector(contamination=contamination)
    with pytest.raises(ValueError, match="contamination must be in"):
        REFDetector().set_params(contamination=contamination).fit(X)


@pytest.mark.parametrize("contamination", ["auto", None, np.float32(0.1)])
def test_a_contamination_that_is_no_number_is_refused(contamination):
    with pytest.raises(TypeError, match="neither a Python number"):
        REFDetector(contamination=contamination).fit(X)


@pytest.mark.parametrize("method", ["linear", "unify"])
def test_probabilities_follow_the_scores(detector, method):
    probabilities, confidence = detector.predict_proba(X_NEW, method=method, return_confidence=True)
    assert probabilities.shape == (len(X_NEW), 2)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    by_score = np.argsort(detector.decision_function(X_NEW))
    assert (np.diff(probabilities[by_score, 1]) >= 0).all()
    np.testing.assert_array_equal(confidence, detector.predict_confidence(X_NEW))


def test_an_unknown_kind_of_probability_is_refused(detector):
    with pytest.raises(ValueError, match="something"):
        detector.predict_proba(X_NEW, method="something")


def test_labels_come_with_confidence(detector):
    labels, confidence = detector.predict(X_NEW, return_confidence=True)
    assert set(labels) == {0, 1}
    assert labels.shape == confidence.shape == Y_NEW.shape
    assert ((confidence >= 0) & (confidence <= 1)).all()


def test_unsure_labels_are_rejected(detector):
    labels = detector.predict_with_rejection(X_NEW, T=32, c_r=0.1)
    sure = labels != -2
    assert 0 < sure.sum() < len(X_NEW)
    np.testing.assert_array_equal(labels[sure], detector.predict(X_NEW)[sure])
    again, (rate, upper_rate, upper_cost) = detector.predict_with_rejection(
        X_NEW, c_r=0.1, return_stats=True
    )
    np.testing.assert_array_equal(again, labels)
    assert 0 <= rate <= upper_rate <= 1
    assert upper_cost >= 0


@pytest.mark.filterwarnings("ignore::FutureWarning")  # PyOD has deprecated both for years
def test_fit_and_predict_in_one_go(capsys):
    detector = REFDetector()
    np.testing.assert_array_equal(detector.fit_predict(X), REFDetector().fit(X).labels_)
    assert detector.fit_predict_score(X, Y) == roc_auc_score(Y, detector.decision_scores_)
    assert detector.fit_predict_score(X, Y, scoring="prc_n_score") >= FLOOR
    with pytest.raises(NotImplementedError):
        detector.fit_predict_score(X, Y, scoring="something")
    assert "roc_auc_score" in capsys.readouterr().out


@pytest.mark.parametrize("normalized", [False, True])
def test_ranks_keep_the_order_of_the_scores(detector, normalized):
    ranks = detector._predict_rank(X_NEW, normalized=normalized)
    scores = detector.decision_function(X_NEW)
    np.testing.assert_allclose(rankdata(ranks), rankdata(scores), atol=2)
    assert ((ranks >= 0) & (ranks <= (1 if normalized else len(X)))).all()


def test_parameters_reach_the_model_and_survive_clone():
    params = {
        "n_iter": 7,
        "fold": "sqr",
        "distance": "l2",
        "levels": "last",
        "trim": 0.05,
        "engine": "sketch",
        "max_gain": 1e4,
        "n_bins": 1024,
        "n_jobs": 2,
    }
    detector = clone(REFDetector(contamination=0.2, **params).fit(X))
    assert detector.get_params() == {"contamination": 0.2, **params}
    assert not hasattr(detector, "model_")
    model = detector.fit(X).model_
    assert {name: getattr(model, name) for name in params} == params
    np.testing.assert_array_equal(
        detector.decision_function(X_NEW), -REF(**params).fit(X).score_samples(X_NEW)
    )


def test_every_parameter_of_ref_but_those_of_the_threshold_is_there_with_its_default():
    ours, theirs = REFDetector().get_params(), REF().get_params()
    assert ours.keys() - theirs.keys() == {"contamination"}
    assert theirs.keys() - ours.keys() == {"threshold", "alpha"}
    differing = {name for name in ours.keys() & theirs.keys() if ours[name] != theirs[name]}
    assert differing == {"levels"}


def test_its_model_decides_alike(detector):
    np.testing.assert_array_equal(detector.model_.predict(X_NEW) == -1, detector.predict(X_NEW))
    np.testing.assert_array_equal(detector.model_.predict(X) == -1, detector.labels_)


def test_a_thresholder_decides_in_place_of_the_rate():
    detector = REFDetector(contamination=AboveTwo()).fit(X)
    expected = (detector.decision_scores_ > 2.0).astype(int)
    assert 0 < expected.sum() < len(X)
    np.testing.assert_array_equal(detector.labels_, expected)
    np.testing.assert_array_equal(detector.model_.predict(X) == -1, expected)


def test_contributions_add_up_to_the_score(detector):
    shares = detector.contributions(X_NEW)
    assert shares.shape == X_NEW.shape
    np.testing.assert_allclose(shares.sum(axis=1), detector.decision_function(X_NEW), rtol=1e-12)


def test_a_row_s_score_does_not_depend_on_the_rows_beside_it(detector):
    together = detector.decision_function(X_NEW)
    alone = np.concatenate([detector.decision_function(row[None]) for row in X_NEW])
    np.testing.assert_array_equal(together, alone)


def test_missing_values_are_skipped():
    holes = X.copy()
    holes[::7, 0] = np.nan
    detector = REFDetector().fit(holes)
    assert np.isfinite(detector.decision_scores_).all()
    assert (detector.contributions(holes)[::7, 0] == 0).all()
    assert roc_auc_score(Y, detector.decision_scores_) >= FLOOR


def test_columns_of_dataframes_are_checked_by_name():
    frame = pd.DataFrame(X, columns=["heat", "flow"])
    detector = REFDetector().fit(frame)
    assert list(detector.feature_names_in_) == ["heat", "flow"]
    assert detector.n_features_in_ == 2
    assert detector.predict_proba(frame).shape == (200, 2)
    with pytest.raises(ValueError, match="Out of place"):
        detector.decision_function(frame[["flow", "heat"]])
    detector.fit(X)
    assert not hasattr(detector, "feature_names_in_")


def test_infinity_is_refused_and_the_detector_stays_as_it_was(detector):
    before = detector.decision_function(X_NEW)
    scores, threshold = detector.decision_scores_, detector.threshold_
    bad = X_NEW.copy()
    bad[3, 1] = np.inf
    with pytest.raises(ValueError, match=r"infinity: row 3, column 'x1'"):
        detector.fit(bad)
    with pytest.raises(ValueError, match=r"infinity: row 3, column 'x1'"):
        detector.predict(bad)
    np.testing.assert_array_equal(detector.decision_function(X_NEW), before)
    assert detector.decision_scores_ is scores
    assert detector.threshold_ == threshold


def test_asking_before_fitting_is_an_error():
    for method in ("decision_function", "contributions", "predict", "predict_proba"):
        with pytest.raises(ValueError, match="not fitted"):
            getattr(REFDetector(), method)(X)


def test_labels_given_to_fit_are_reported_as_pyod_does():
    with pytest.warns(UserWarning, match="y should not be presented"):
        REFDetector().fit(X, Y)


def test_it_works_within_pyod_s_ensembles():
    ensemble = LSCP([REFDetector(), REFDetector(distance="l2")], n_bins=2, random_state=0).fit(X)
    assert roc_auc_score(Y_NEW, ensemble.decision_function(X_NEW)) >= FLOOR


def test_it_finds_the_odd_stretch_of_a_time_series(rng):
    series = rng.normal(size=400)
    series[200:210] += 8.0
    detector = TimeSeriesOD(REFDetector(), window_size=10).fit(series)
    assert 190 <= np.argmax(detector.decision_scores_) <= 220


def test_it_works_within_scikit_learn_s_pipelines_and_searches():
    pipeline = make_pipeline(StandardScaler(), REFDetector()).fit(X)
    assert roc_auc_score(Y_NEW, pipeline.decision_function(X_NEW)) >= FLOOR

    folds = StratifiedKFold(2)  # else the outliers, which come last, would all be in one fold

    def auc(estimator, X, y):
        return roc_auc_score(y, estimator.decision_function(X))

    search = GridSearchCV(REFDetector(), {"levels": ["last", "all"]}, scoring=auc, cv=folds)
    with pytest.warns(UserWarning, match="y should not be presented"):
        search.fit(X, Y)
    assert search.best_score_ >= FLOOR


def test_a_pickled_detector_is_the_same_detector(detector):
    again = pickle.loads(pickle.dumps(detector))
    np.testing.assert_array_equal(again.decision_function(X_NEW), detector.decision_function(X_NEW))
    np.testing.assert_array_equal(again.predict(X_NEW), detector.predict(X_NEW))


def test_without_pyod_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyod.models.base", None)
    monkeypatch.delitem(sys.modules, "refold.integrations.pyod")
    with pytest.raises(ImportError, match=r"pyod is needed .* pip install 'refold\[pyod\]'"):
        importlib.import_module("refold.integrations.pyod")


@pytest.mark.parametrize("kind", [lambda t: t, pl.from_pandas, lambda t: t.to_dict("records")])
def test_a_table_of_other_columns_is_refused_in_words(kind, rng):
    table = pd.DataFrame(
        {
            "torque": rng.normal(size=40),
            "tested": rng.choice([True, False], 40),
            "machine": rng.choice(["A", "B"], 40),
            "at": pd.Timestamp("2025-01-01"),
        }
    )
    detector = REFDetector()
    with pytest.raises(ValueError, match=r"'machine', 'at' hold something else\. refold\.Detector"):
        detector.fit(kind(table))
    assert not hasattr(detector, "model_")
    assert detector.fit(table[["torque", "tested"]]).labels_.sum() == 4
    with pytest.raises(ValueError, match="infinity"):
        detector.fit(table[["torque"]].assign(torque=np.inf))
