"""Choosing hyperparameters with known outliers, never learning from them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from refold import REF
from refold.model_selection import TargetOnly, ThresholdSearchCV, gmean_score, gmean_scorer

FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)
NOT_READ = "its bad value is in an outlier, which fit never reads"
NO_Y = "fits without y, which is refused: labels say which rows are targets"


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(60, 3)), rng.normal(3.0, size=(20, 3))]
    y = np.repeat([1, -1], [60, 20])
    order = rng.permutation(len(y))
    return X[order], y[order]


class Recorder(OutlierMixin, BaseEstimator):
    """Remember what every fit was given."""

    seen: list[tuple[np.ndarray, np.ndarray | None]]

    def __init__(self, scale=1.0):
        self.scale = scale

    def fit(self, X, y=None, sample_weight=None):
        Recorder.seen.append((np.asarray(X), sample_weight))
        self.n_features_in_ = X.shape[1]
        return self

    def score_samples(self, X):
        return -np.abs(np.asarray(X)).mean(axis=1) * self.scale

    def predict(self, X):
        return np.where(self.score_samples(X) >= -1.0, 1, -1)


class Centre(OutlierMixin, BaseEstimator):
    """A detector for which a weight of 2 is exactly the row twice."""

    def fit(self, X, y=None, sample_weight=None):
        X = validate_data(self, X, dtype=float)
        weights = _check_sample_weight(sample_weight, X)
        self.centre_ = np.average(X, axis=0, weights=weights)
        return self

    def score_samples(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, dtype=float, reset=False)
        return -np.sqrt(((X - self.centre_) ** 2).sum(axis=1))

    def predict(self, X):
        return np.where(self.score_samples(X) >= -3.0, 1, -1)


@pytest.fixture
def seen():
    Recorder.seen = []
    return Recorder.seen


@pytest.mark.parametrize("search", [TargetOnly(REF()), ThresholdSearchCV(REF())])
def test_what_only_models_have_is_refused_in_words(search):
    for name in ("partial_fit", "p_values", "explain", "save", "merge", "calibrate", "accept"):
        assert not hasattr(search, name)
        with pytest.raises(AttributeError, match=f"has no {name}: ask its .*estimator_, which"):
            getattr(search, name)


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (
            TargetOnly(Centre()),
            {
                "check_outliers_fit_predict": NO_Y,
                "check_outliers_train": NO_Y,
                "check_dtype_object": NOT_READ,
                "check_estimators_nan_inf": NOT_READ,
            },
        ),
        (
            ThresholdSearchCV(Centre()),
            {
                "check_outliers_fit_predict": NO_Y,
                "check_outliers_train": NO_Y,
                "check_fit2d_1feature": "its one kind of rows leaves nothing to choose by",
            },
        ),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.slow
def test_scikit_learn_conventions(estimator, expected):
    check_estimator(estimator, expected_failed_checks=expected, on_skip=None)


class TestGmean:
    def test_value(self):
        y = [1, 1, 1, 1, 0, 0]
        assert gmean_score(y, [1, 1, 1, -1, 2, 1]) == pytest.approx(np.sqrt(0.75 * 0.5))
        assert gmean_score(["a", "b", "c"], ["a", "x", "x"], target="a") == 1.0

    def test_weights(self):
        y, predicted, weights = [1, 1, -1, -1], [1, -1, -1, 1], [3.0, 1.0, 2.0, 0.0]
        assert gmean_score(y, predicted, sample_weight=weights) == pytest.approx(np.sqrt(0.75))
        with pytest.raises(ValueError, match="no outlier"):
            gmean_score(y, predicted, sample_weight=[1.0, 1.0, 0.0, 0.0])

    def test_nothing_of_one_kind(self):
        with pytest.raises(ValueError, match="no outlier"):
            gmean_score([1, 1], [1, -1])
        with pytest.raises(ValueError, match=r"no target row \(label 'ok'\)"):
            gmean_score(["bad"], ["ok"], target="ok")

    def test_shapes(self):
        with pytest.raises(ValueError, match=r"\(2,\) and \(3,\)"):
            gmean_score([1, -1], [1, 1, 1])
        with pytest.raises(ValueError, match=r"\(2, 1\) and \(2, 1\)"):
            gmean_score([[1], [-1]], [[1], [1]])


class TestTargetOnly:
    def test_is_the_estimator_on_target_rows(self, rows):
        X, y = rows
        model, alone = TargetOnly(OneClassSVM(nu=0.2)).fit(X, y), OneClassSVM(nu=0.2).fit(X[y == 1])
        np.testing.assert_array_equal(model.predict(X), alone.predict(X))
        np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))
        np.testing.assert_array_equal(model.score_samples(X), alone.score_samples(X))

    def test_search_never_trains_on_an_outlier(self, rows, seen):
        X, y = rows
        grid = {"estimator__scale": [0.5, 1.0]}
        search = GridSearchCV(TargetOnly(Recorder()), grid, scoring=gmean_scorer, cv=FOLDS)
        search.fit(X, y)
        assert len(seen) == 2 * FOLDS.n_splits + 1
        outliers = {tuple(row) for row in X[y == -1]}
        assert not any(tuple(row) in outliers for given, _ in seen for row in given)
        np.testing.assert_array_equal(seen[-1][0], X[y == 1])
        assert search.best_score_ == max(search.cv_results_["mean_test_score"])

    def test_keeps_the_weights_of_target_rows(self, rows, seen):
        X, y = rows
        weights = np.arange(len(y), dtype=float)
        search = GridSearchCV(TargetOnly(Recorder()), {}, scoring=gmean_scorer, cv=FOLDS)
        search.fit(X, y, sample_weight=weights)
        np.testing.assert_array_equal(seen[-1][1], weights[y == 1])
        train = next(iter(FOLDS.split(X, y)))[0]
        np.testing.assert_array_equal(seen[0][1], weights[train][y[train] == 1])

    def test_estimator_without_weights(self, rows):
        X, y = rows
        model = TargetOnly(make_pipeline(StandardScaler(), OneClassSVM()))
        with pytest.raises(TypeError, match=r"Pipeline\.fit takes no sample_weight"):
            model.fit(X, y, sample_weight=np.ones(len(y)))

    @pytest.mark.parametrize(
        ("labels", "target", "rejected"),
        [
            ((1, -1), 1, -1),
            ((0, 1), 0, 1),
            (("ok", "broken"), "ok", "broken"),
            ((True, False), True, False),
            ((-1, 1), -1, 1),
        ],
    )
    def test_answers_in_the_labels_of_y(self, rows, labels, target, rejected):
        X, y = rows
        named = np.where(y == 1, labels[0], labels[1])
        model = TargetOnly(REF(), target=target).fit(X, named)
        assert model.outlier_ == rejected
        assert set(model.predict(X)) <= {target, rejected}
        assert gmean_score(named, model.predict(X), target=target) > 0.5

    @pytest.mark.parametrize(
        ("names", "rejected"), [((1, 2, 3), -1), (("ok", "hot", "wet"), "outlier"), ((-1, 2, 3), 1)]
    )
    def test_several_kinds_of_outliers(self, rows, names, rejected):
        X, y = rows
        kinds = np.where(y == 1, 0, 1 + np.arange(len(y)) % 2)
        named = np.array(names)[kinds]
        scorer = make_scorer(gmean_score, target=names[0])
        model = TargetOnly(REF(), target=names[0])
        search = GridSearchCV(model, {"estimator__threshold": [0.9, 1.0]}, scoring=scorer, cv=FOLDS)
        search.fit(X, named)
        assert search.best_estimator_.outlier_ == rejected
        assert search.best_score_ > 0.5

    def test_dataframes(self, rows):
        X, y = rows
        frame = pd.DataFrame(X, columns=list("abc"), index=np.arange(len(y)) + 7)
        model = TargetOnly(REF()).fit(frame, pd.Series(y, index=frame.index))
        assert list(model.feature_names_in_) == list("abc")
        np.testing.assert_array_equal(model.predict(frame), TargetOnly(REF()).fit(X, y).predict(X))

    def test_no_target_row(self, rows):
        with pytest.raises(ValueError, match=r"target label 'ok'; its labels are \[-1, 1\]"):
            TargetOnly(REF(), target="ok").fit(*rows)

    def test_no_labels(self, rows):
        with pytest.raises(ValueError, match="requires y to be passed"):
            TargetOnly(REF()).fit(rows[0])

    def test_parameters_reach_through(self):
        model = clone(TargetOnly(REF(), target="ok").set_params(estimator__n_iter=7))
        assert model.get_params()["estimator__n_iter"] == 7
        assert model.target == "ok"

    def test_only_has_what_the_estimator_has(self, rows, seen):
        model = TargetOnly(Recorder()).fit(*rows)
        assert hasattr(model, "score_samples")
        assert not hasattr(model, "decision_function")


class TestThresholdSearch:
    THRESHOLDS = (0.5, 0.8, 1.0, 1.4)

    @pytest.mark.parametrize("weighted", [False, True])
    def test_is_a_grid_search_over_thresholds(self, rows, weighted):
        if weighted and tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9):
            pytest.skip("an older GridSearchCV does not weight its scores")
        X, y = rows
        w = None if not weighted else np.random.default_rng(1).uniform(0.5, 2.0, len(y))
        search = ThresholdSearchCV(REF(), self.THRESHOLDS, cv=FOLDS).fit(X, y, w)
        grid = {"estimator__threshold": self.THRESHOLDS}
        slow = GridSearchCV(TargetOnly(REF()), grid, scoring=gmean_scorer, cv=FOLDS)
        slow.fit(X, y, sample_weight=w)
        np.testing.assert_array_equal(
            search.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"]
        )
        assert search.best_params_["threshold"] == slow.best_params_["estimator__threshold"]
        np.testing.assert_array_equal(search.predict(X), slow.predict(X))
        assert search.best_estimator_.threshold_ == search.best_threshold_

    def test_one_fit_per_fold(self, rows, seen):
        ThresholdSearchCV(Recorder(), np.linspace(0.1, 3.0, 100), cv=FOLDS).fit(*rows)
        assert len(seen) == FOLDS.n_splits + 1

    def test_first_of_equals(self, rows, seen):
        search = ThresholdSearchCV(Recorder(), (100.0, 200.0), cv=FOLDS).fit(*rows)
        assert search.best_threshold_ == 100.0

    def test_weights_own_metric_and_labels(self, rows, seen):
        X, y = rows
        named = np.where(y == 1, "ok", "broken")
        weights = np.arange(len(y), dtype=float)
        search = ThresholdSearchCV(
            Recorder(), (0.5, 100.0), cv=FOLDS, target="ok", metric=lambda a, b: np.mean(b == 1)
        ).fit(X, named, weights)
        assert search.best_threshold_ == 100.0
        assert set(search.predict(X)) == {"ok"}
        np.testing.assert_array_equal(seen[-1][1], weights[y == 1])
        np.testing.assert_array_equal(search.decision_function(X), search.score_samples(X) + 100.0)

    @pytest.mark.parametrize("thresholds", [[], ["a"], [[1.0]], [np.nan]])
    def test_bad_thresholds(self, rows, thresholds):
        with pytest.raises(ValueError, match="one or more numbers"):
            ThresholdSearchCV(REF(), thresholds).fit(*rows)

    def test_pickles(self, rows):
        X, y = rows
        search = ThresholdSearchCV(REF()).fit(X, y)
        np.testing.assert_array_equal(
            pickle.loads(pickle.dumps(search)).predict(X), search.predict(X)
        )
