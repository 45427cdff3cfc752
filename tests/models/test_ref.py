"""The estimator as its users meet it."""

import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from refold import REF
from tests.conftest import FOLDS


@pytest.fixture
def table(rng):
    return rng.normal(size=(300, 4))


def test_defaults_are_the_papers():
    assert REF().get_params() == {
        "n_iter": 101,
        "fold": "abs",
        "distance": "l1",
        "threshold": 1.0,
        "alpha": None,
        "levels": "auto",
        "trim": 0.0,
        "engine": "auto",
        "max_gain": "auto",
        "n_bins": 8192,
        "n_jobs": None,
    }


@pytest.mark.parametrize("engine", ["exact", "reference", "sketch"])
def test_without_a_rate_auto_is_the_papers(engine, table):
    auto = REF(engine=engine).fit(table)
    assert (auto.levels_, auto.max_gain_) == ("last", 1e6)
    said = REF(engine=engine, levels="last", max_gain=1e6).fit(table)
    np.testing.assert_array_equal(auto.score_samples(table), said.score_samples(table))


@pytest.mark.parametrize("engine", ["exact", "reference", "sketch"])
def test_with_a_rate_auto_is_all_levels_and_a_gain_of_the_number_of_rows(engine, rng):
    X, counts = rng.integers(0, 4, size=(60, 3)).astype(float), rng.integers(1, 4, size=60)
    auto = REF(engine=engine, alpha=0.1, n_iter=30).fit(X, sample_weight=counts)
    assert (auto.levels_, auto.max_gain_) == ("all", counts.sum())
    assert auto.chain_.gain.max() <= counts.sum()
    said = REF(engine=engine, levels="all", max_gain=float(counts.sum()), n_iter=30)
    said.fit(X, sample_weight=counts)
    np.testing.assert_array_equal(auto.score_samples(X), said.score_samples(X))
    kept = REF(engine=engine, alpha=0.1, n_iter=30, levels="last", max_gain=50.0).fit(X)
    assert (kept.levels_, kept.max_gain_) == ("last", 50.0)


def test_what_auto_became_stays_until_the_next_fit(table):
    model = REF().fit(table)
    distances = model.score_samples(table)
    model.calibrate(table, alpha=0.2).set_params(alpha=0.2)
    assert (model.levels_, model.max_gain_) == ("last", 1e6)
    np.testing.assert_array_equal(model.score_samples(table), distances)
    assert model.fit(table).levels_ == "all"


def test_the_gain_of_auto_is_at_most_a_million(table):
    weights = np.full(len(table), 1e5)
    assert REF(alpha=0.9).fit(table, sample_weight=weights).max_gain_ == 1e6


def test_no_parameter_is_called_like_a_method():
    assert not [name for name in REF().get_params() if callable(getattr(REF, name, None))]


def test_scores_labels_and_offset_fit_together(table):
    model = REF(threshold=0.7).fit(table)
    distance = -model.score_samples(table)
    np.testing.assert_array_equal(model.decision_function(table), 0.7 - distance)
    np.testing.assert_array_equal(model.predict(table), np.where(distance <= 0.7, 1, -1))
    assert model.offset_ == -model.threshold_ == -0.7


def test_a_row_on_the_threshold_is_a_target(table):
    distance = -REF().fit(table).score_samples(table)
    model = REF(threshold=distance[17]).fit(table)
    assert model.predict(table)[17] == 1
    assert REF(threshold=np.nextafter(distance[17], 0)).fit(table).predict(table)[17] == -1


def test_transform_is_what_the_distance_is_made_of(table):
    for distance, norm in (("l1", 1), ("l2", 2)):
        model = REF(distance=distance).fit(table)
        expected = np.linalg.norm(model.transform(table), ord=norm, axis=1) / 4
        np.testing.assert_allclose(-model.score_samples(table), expected, rtol=1e-12)


def test_contributions_follow_their_definition(table):
    y = REF().fit(table).transform(table)
    norm = np.linalg.norm(y, axis=1, keepdims=True)
    np.testing.assert_allclose(REF().fit(table).contributions(table), np.abs(y) / 4)
    np.testing.assert_allclose(
        REF(distance="l2").fit(table).contributions(table), y**2 / (norm * 4)
    )


@pytest.mark.parametrize("engine", ["exact", "reference"])
@pytest.mark.parametrize("levels", ["last", "all"])
def test_a_callable_distance_sees_only_what_is_observed(engine, levels, table):
    holes = table.copy()
    holes[::3, 1] = np.nan
    holes[::4, 2:] = np.nan
    mean = REF(engine=engine, levels=levels).fit(table)
    own = REF(engine=engine, levels=levels, distance=lambda y: np.abs(y).mean(axis=1)).fit(table)
    np.testing.assert_allclose(own.score_samples(holes), mean.score_samples(holes), rtol=1e-9)


def test_gain_is_the_product_of_slopes_over_scales_largest_over_the_rows(rng):
    X = rng.normal(size=(200, 1))
    y = (X - X.mean()) / X.std(ddof=1)
    gain = np.ones_like(y)
    for _ in range(4):
        folded, slope = y**2, 2 * np.abs(y)
        sigma = folded.std(ddof=1)
        gain, y = gain * slope / sigma, (folded - folded.mean()) / sigma
    for engine in ("exact", "reference"):
        chain = REF(fold="sqr", n_iter=5, engine=engine).fit(X).chain_
        np.testing.assert_allclose(chain.gain, gain.max(), rtol=1e-9)
    chain = REF().fit(X).chain_
    np.testing.assert_allclose(chain.gain, 1 / chain.scales[1:].prod(axis=0), rtol=1e-9)


@pytest.mark.parametrize("engine", ["exact", "reference"])
@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 1, 0, 2], [1, 2, 0, 3]])
def test_a_gain_that_is_the_limit_itself_is_within_it(engine, order):
    # Under sqr these four values have gains 10, 100, … at every other level, up to rounding.
    X = np.array([[0.25], [0.7], [0.25], [0.1]])[order]
    chain = REF(fold="sqr", engine=engine).fit(X).chain_
    assert chain.levels[0] == 13
    assert chain.gain[0] == pytest.approx(1e6)
    assert chain.gain[0] <= 1e6


@pytest.mark.parametrize("engine", ["exact", "reference"])
@pytest.mark.parametrize("fold", FOLDS)
def test_a_feature_stops_before_its_gain_passes_the_limit(engine, fold, rng):
    X = rng.choice([0.0, 1.0, 2.0, 5.0, 7.0], size=(300, 3))
    free = REF(fold=fold, engine=engine, max_gain=1e15).fit(X).chain_
    for limit in (1.0, 10.0, 1e4):
        chain = REF(fold=fold, engine=engine, max_gain=limit).fit(X).chain_
        assert (chain.gain <= limit).all()
        for d in range(3):
            used = chain.levels[d]
            np.testing.assert_array_equal(chain.scales[:used, d], free.scales[:used, d])
            assert (chain.scales[used:, d] == 1).all()
            assert (chain.shifts[used:, d] == 0).all()
            if used < chain.n_iter:
                one_more = REF(fold=fold, engine=engine, max_gain=1e15, n_iter=int(used) + 1)
                assert one_more.fit(X).chain_.gain[d] > limit


def test_a_stopped_feature_keeps_its_value_in_trace_and_path(rng):
    X = rng.integers(2, size=(100, 1)).astype(float)
    X[0] = 7.0
    model = REF(max_gain=3.0, levels="all").fit(X)
    used = model.chain_.levels[0]
    assert 1 <= used < 101
    trace = model.trace(X)
    assert (trace[:, used - 1 :] == trace[:, used - 1 : used]).all()
    np.testing.assert_allclose(-model.score_samples(X), trace.mean(axis=1), rtol=1e-12)


@pytest.mark.parametrize("engine", ["exact", "reference"])
def test_scoring_changes_nothing_in_the_model(engine, table):
    model = REF(engine=engine).fit(table)
    before = joblib.hash(model), sorted(vars(model))
    for method in ("predict", "score_samples", "contributions", "transform", "trace"):
        getattr(model, method)(table)
    assert (joblib.hash(model), sorted(vars(model))) == before


def test_a_model_survives_pickling_and_cloning(table):
    model = REF(levels="all").fit(table)
    model.predict(table)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.score_samples(table), model.score_samples(table))
    assert clone(model).get_params() == model.get_params()


def test_works_inside_a_pipeline(table):
    pipeline = make_pipeline(StandardScaler(), REF()).fit(table)
    agree = pipeline.predict(table) == REF().fit(table).predict(table)
    assert agree.mean() > 0.99


def test_one_normal_number_in_a_hundred_is_outside_after_a_hundred_folds(rng):
    # The paper: 101 standardizations bring around 99.5 % of normal data within one deviation.
    X = rng.normal(size=(20_000, 1))
    accepted = (REF().fit(X).predict(rng.normal(size=(20_000, 1))) == 1).mean()
    assert 0.990 < accepted < 0.999


def test_extreme_values_keep_growing_in_distance(table):
    model = REF().fit(table)
    far = -model.score_samples(np.full((4, 4), [[10.0], [100.0], [1e6], [1e100]]))
    assert (np.diff(far) > 0).all()
