"""REF keeps scikit-learn's contract, whatever its parameters."""

import re
import tomllib
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr
from sklearn.utils.estimator_checks import (
    estimator_checks_generator,
    parametrize_with_checks,
)

from refold import REF, CreasedREF, Detector
from refold.model_selection import TargetOnly, gmean_scorer


class Largest:
    """A user's distance; its name is the same in every worker that collects the tests."""

    def __call__(self, y):
        return np.abs(y).max(axis=1)

    def __repr__(self):
        return "largest"


largest = Largest()

# One for each way through the code: the three engines, a rate, and what users bring themselves.
DISTINCT = [
    REF(),
    REF(engine="reference"),
    REF(engine="sketch"),
    REF(alpha=0.4),
    REF(levels="all", distance=largest),
    REF(fold=np.abs),
]
VARIANTS = [
    REF(engine="exact"),
    REF(levels="all"),
    REF(levels="all", distance="l2"),
    REF(distance="l2"),
    REF(distance=largest),
    REF(n_iter=1),
    REF(alpha=0.4, engine="sketch"),
    *(REF(fold=fold) for fold in ("sqr", "cos-abs", "cos", "sin", "tanh")),
    *(REF(fold=fold, engine="reference") for fold in ("sqr", "cos-abs", "cos", "sin", "tanh")),
]
# Whose outcome depends on the numbers that come out; of the others a variant changes nothing.
BY_NUMBERS = (
    "check_estimators_dtypes",
    "check_estimators_pickle",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_methods_subset_invariance",
    "check_outliers_train",
    "check_sample_weight_equivalence_on_dense_data",
)
NOT_IN_PARTS = dict.fromkeys(
    ("check_n_features_in_after_fitting", "check_fit_score_takes_y"),
    "partial_fit refuses alpha",
)


def expected_failures(estimator):
    return NOT_IN_PARTS if estimator.alpha and estimator.engine == "sketch" else {}


def variants_and_checks():
    """Each variant with each check: those that depend on its numbers are quick, the rest slow."""
    for variant in VARIANTS:
        expected = expected_failures(variant)
        for estimator, check in estimator_checks_generator(variant, legacy=True):
            name = check.func.__name__
            marks = [] if name in BY_NUMBERS else [pytest.mark.slow]
            marks += [pytest.mark.xfail(reason=expected[name])] if name in expected else []
            yield pytest.param(estimator, check, marks=marks, id=f"{variant}-{name}")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(DISTINCT)
def test_estimator_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(("estimator", "check"), list(variants_and_checks()))
def test_variant_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.normal(size=(120, 3)) * [1, 10, 100], columns=["heat", "flow", "speed"])


def test_in_a_pipeline_it_judges_what_the_steps_before_it_give(frame):
    pipeline = make_pipeline(StandardScaler(), PCA(2), REF()).fit(frame)
    steps_by_hand = PCA(2).fit(StandardScaler().fit_transform(frame))
    X = steps_by_hand.transform(StandardScaler().fit_transform(frame))
    model = REF().fit(X)
    np.testing.assert_array_equal(pipeline.predict(frame), model.predict(X))
    np.testing.assert_array_equal(pipeline.score_samples(frame), model.score_samples(X))
    np.testing.assert_array_equal(pipeline.decision_function(frame), model.decision_function(X))


def test_as_a_step_it_hands_on_named_columns(frame):
    pipeline = make_pipeline(StandardScaler(), REF(), PCA(2)).set_output(transform="pandas")
    assert list(pipeline.fit_transform(frame).columns) == ["pca0", "pca1"]
    folded = pipeline[:-1]
    assert list(folded.get_feature_names_out()) == list(frame.columns)
    out = folded.transform(frame.set_axis(range(5, 125)))
    assert list(out.columns) == list(frame.columns)
    assert list(out.index) == list(range(5, 125))


def test_within_a_column_transformer_its_columns_keep_their_names(frame):
    columns = make_column_transformer(
        (REF(), ["speed", "heat"]), (SimpleImputer(), ["flow"])
    ).set_output(transform="pandas")
    out = columns.fit_transform(frame)
    assert list(out.columns) == ["ref__speed", "ref__heat", "simpleimputer__flow"]
    expected = REF().fit(frame[["speed", "heat"]]).transform(frame[["speed", "heat"]])
    np.testing.assert_array_equal(out.iloc[:, :2], expected)


def test_names_without_a_dataframe_are_scikit_learn_s(frame):
    model = REF().fit(frame.to_numpy())
    assert list(model.get_feature_names_out()) == ["x0", "x1", "x2"]
    assert list(model.get_feature_names_out(list("abc"))) == list("abc")
    with pytest.raises(ValueError, match="feature_names_in_"):
        REF().fit(frame).get_feature_names_out(list("abc"))


def test_a_search_over_a_pipeline_finds_the_levels_that_separate_best(rng):
    X = np.r_[rng.normal(size=(150, 3)), rng.normal(size=(50, 3)) + 3.0]
    y = np.repeat([1, -1], [150, 50])
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    grid = {"estimator__ref__n_iter": [1, 101], "estimator__ref__levels": ["last", "all"]}
    search = GridSearchCV(
        TargetOnly(make_pipeline(StandardScaler(), REF())), grid, scoring=gmean_scorer, cv=cv
    ).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    by_hand = []
    for params in search.cv_results_["params"]:
        plain = {name.removeprefix("estimator__ref__"): value for name, value in params.items()}
        scores = []
        for train, test in cv.split(X, y):
            normal = train[y[train] == 1]
            model = make_pipeline(StandardScaler(), REF(**plain)).fit(X[normal])
            accepted = model.predict(X[test]) == 1
            kept, found = accepted[y[test] == 1].mean(), 1 - accepted[y[test] == -1].mean()
            scores.append(np.sqrt(kept * found))
        by_hand.append(np.mean(scores))
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], by_hand)
    assert search.best_index_ == np.argmax(by_hand)


def test_a_search_gives_the_same_in_parallel(frame):
    y = np.where(np.abs(frame["heat"]) < 1.5, 1, -1)
    search = GridSearchCV(
        TargetOnly(REF()),
        {"estimator__n_iter": [1, 5]},
        scoring=gmean_scorer,
        cv=StratifiedKFold(2),
    )
    alone = search.fit(frame, y).cv_results_["mean_test_score"]
    with joblib.parallel_backend("threading"):
        search.set_params(n_jobs=2).fit(frame, y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], alone)


@pytest.mark.parametrize("engine", ["exact", "reference", "sketch"])
@pytest.mark.parametrize(
    "mmap_mode", [None, "r"]
)  # "r" is what workers get: nothing can be written
def test_joblib_keeps_a_pipeline_to_the_bit(frame, engine, mmap_mode, tmp_path):
    pipeline = make_pipeline(StandardScaler(), REF(engine=engine)).fit(frame)
    joblib.dump(pipeline, tmp_path / "model.joblib")
    again = joblib.load(tmp_path / "model.joblib", mmap_mode=mmap_mode)
    np.testing.assert_array_equal(again.score_samples(frame), pipeline.score_samples(frame))
    np.testing.assert_array_equal(again.transform(frame), pipeline.transform(frame))
    np.testing.assert_array_equal(again[-1].summary_.quantiles, pipeline[-1].summary_.quantiles)


def test_weights_reach_it_through_a_pipeline_s_routing(frame):
    weights = np.where(np.arange(120) < 60, 1.0, 0.0)
    with config_context(enable_metadata_routing=True):
        ref = REF().set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        routed = make_pipeline(scaler, ref).fit(frame, sample_weight=weights)
    half = make_pipeline(StandardScaler(), REF()).fit(frame.iloc[:60])
    np.testing.assert_allclose(routed.score_samples(frame), half.score_samples(frame), rtol=1e-6)
    whole = make_pipeline(StandardScaler(), REF()).fit(frame)
    assert not np.allclose(routed.score_samples(frame), whole.score_samples(frame), rtol=1e-3)


@pytest.mark.parametrize("kind", [REF, CreasedREF, Detector])
def test_a_drawing_of_a_pipeline_links_to_the_page_of_the_model(kind):
    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    shown = estimator_html_repr(make_pipeline(StandardScaler(), kind()))
    (address,) = set(re.findall(rf'{project["urls"]["Documentation"]}/([^"#]+)', shown))
    page = (root / "docs" / address).read_text(encoding="utf-8")
    assert kind.__name__ in page


def test_weights_that_were_not_asked_for_are_not_dropped_in_silence(frame):
    with (
        config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match="sample_weight"),
    ):
        make_pipeline(StandardScaler(), REF()).fit(frame, sample_weight=np.ones(120))


@pytest.mark.parametrize(("estimator", "method"), [(REF, "ref"), (CreasedREF, "creased")])
def test_who_gives_rules_to_a_model_of_numbers_is_told_who_takes_them(estimator, method):
    with pytest.raises(TypeError, match=rf"takes no rules.*Detector\(method='{method}', rules="):
        estimator(rules={"x0": {"max": 5}})
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_iters'"):
        estimator(n_iters=5)
