"""alpha= takes its threshold from rows that a model has not seen."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from refold import REF, merge
from refold.algorithm.engines.sketch import Sketch
from refold.decisions.crossfit import cross_fitted
from refold.model_selection import ThresholdSearchCV

ENGINES = ("exact", "reference", "sketch")
LEVELS = 15  # enough to tell; the reference engine takes its time


def sorted_scores(model):
    calibration = model.calibration_
    return np.repeat(calibration.scores, np.rint(calibration.weights).astype(int))


def held_out(parameters, X, parts):
    """Distances of the rows of each part to a model that was fitted without it, ascending."""
    parameters = {"levels": "all", "max_gain": float(len(X)), **parameters}
    return np.sort(
        np.concatenate(
            [
                -REF(**parameters).fit(np.delete(X, part, axis=0)).score_samples(X[part])
                for part in parts
            ]
        )
    )


def every_fiftieth(rows):
    return [np.arange(k, rows, 50) for k in range(50)]


@pytest.mark.parametrize(
    "parameters",
    [
        *({"engine": engine} for engine in ENGINES),
        {"levels": "last"},
        {"fold": "sqr", "distance": "l2"},
        {"fold": np.abs, "max_gain": None, "engine": "reference"},
        {"distance": lambda y: np.abs(y).max(axis=1)},
    ],
    ids="-".join,
)
def test_up_to_1000_rows_each_is_left_out_in_turn(rng, parameters):
    X = rng.standard_t(4, size=(60, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    parameters = {"n_iter": LEVELS, **parameters}
    model = REF(alpha=0.1, **parameters).fit(X)
    assert model.calibration_.source == "leave-one-out"
    expected = held_out(parameters, X, [[i] for i in range(60)])
    np.testing.assert_allclose(sorted_scores(model), expected, rtol=1e-6)
    assert model.threshold_ == model.calibration_.threshold(0.1)
    assert model.alpha_ == 0.1


def test_rows_beside_are_learned_by_all_models_and_left_out_of_none(rng):
    X, beside = rng.normal(size=(40, 2)), rng.normal(3.0, 1.0, size=(5, 2))
    model = REF(n_iter=LEVELS, levels="all", max_gain=100.0).fit(np.r_[X, beside])
    recipe = {"n_iter": LEVELS, "fold": "abs", "max_gain": 100.0, "n_jobs": 1}
    found = cross_fitted(
        X,
        None,
        chain=model.chain_,
        engine="exact",
        sketch=None,
        recipe=recipe,
        distance="l1",
        path=True,
        beside=beside,
    )
    both, parameters = np.r_[X, beside], {"n_iter": LEVELS, "max_gain": 100.0}
    expected = held_out(parameters, both, [[i] for i in range(40)])
    np.testing.assert_allclose(found.scores, expected, rtol=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_above_1000_rows_every_fiftieth_is_left_out_together(rng, engine):
    X = rng.exponential(size=(1003, 2))
    parameters = {"engine": engine, "n_iter": LEVELS}
    model = REF(alpha=0.1, **parameters).fit(X)
    assert model.calibration_.source == "cross-fitted"
    expected = held_out(parameters, X, every_fiftieth(1003))
    np.testing.assert_allclose(sorted_scores(model), expected, rtol=1e-6)


@pytest.mark.parametrize(("columns", "parts"), [(2, 130), (3, 50)])
def test_two_or_three_rows_of_many_columns_are_left_out_together(columns, parts, rng, monkeypatch):
    monkeypatch.setattr("refold.decisions.crossfit._MANY_VALUES", 130 * 130 * 2)
    monkeypatch.setattr("refold.decisions.crossfit._FOLDS_OF_MANY", 50)
    X = rng.normal(size=(130, columns))
    model = REF(alpha=0.1, n_iter=LEVELS).fit(X)
    assert model.calibration_.source == ("leave-one-out" if parts == 130 else "cross-fitted")
    expected = held_out({"n_iter": LEVELS}, X, [np.arange(k, 130, parts) for k in range(parts)])
    np.testing.assert_allclose(sorted_scores(model), expected, rtol=1e-6)


@pytest.mark.parametrize("rows", [300, 1500])
def test_parts_are_subtracted_from_a_sketch_that_has_more_rows_than_bins(rng, rows):
    X = rng.normal(size=(rows, 2))
    for column in (0, 1):  # the range, and so the bins, stay those of all rows
        X[[30 + column, 50 + column], column], X[[70 + column, 80 + column], column] = 6.0, -6.0
    parameters = {"engine": "sketch", "n_bins": 64}
    parts = [[i] for i in range(rows)] if rows <= 1000 else every_fiftieth(rows)
    model = REF(alpha=0.1, **parameters).fit(X)
    np.testing.assert_allclose(sorted_scores(model), held_out(parameters, X, parts), rtol=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rows", [40, 700])
def test_a_weight_is_a_number_of_rows(rng, engine, rows):
    X, counts = rng.normal(size=(rows, 2)), rng.integers(0, 5, size=rows)
    model = REF(alpha=0.1, engine=engine, n_iter=LEVELS)
    weighted = clone(model).fit(X, sample_weight=counts)
    repeated = clone(model).fit(np.repeat(X, counts, axis=0))
    assert weighted.calibration_.source == repeated.calibration_.source
    assert weighted.calibration_.total == counts.sum()
    np.testing.assert_allclose(sorted_scores(weighted), sorted_scores(repeated), rtol=1e-6)
    assert weighted.threshold_ == pytest.approx(repeated.threshold_, rel=1e-6)


@pytest.mark.parametrize("engine", ["exact", "sketch"])
@pytest.mark.parametrize("rows", [200, 3000])
def test_any_weights_are_counted_as_they_are(rng, engine, rows):
    X, weights = rng.normal(size=(rows, 2)), rng.exponential(size=rows)
    weights[::7], weights[3] = 0.0, 70.0
    X[0, 0] = 1e9  # weight zero: as if it were not there
    model = REF(alpha=0.1, engine=engine, n_bins=100).fit(X, sample_weight=weights)
    assert model.calibration_.total == pytest.approx(weights.sum())
    assert model.calibration_.scores.max() < 1e6
    huge = REF(alpha=0.1, engine=engine).fit(X, sample_weight=weights * 1e200)
    assert np.isfinite(huge.threshold_)


def test_rows_that_come_often_are_rejected_together_only_within_the_rate(rng):
    def draw(rows):
        X = rng.normal(size=(rows, 3))
        X[rng.random(rows) < 0.15] = 2.5
        return X

    rates = [
        np.mean(REF(alpha=0.1, n_jobs=1).fit(draw(100)).predict(draw(1000)) == -1)
        for _ in range(30)
    ]
    assert np.mean(rates) <= 0.1


def test_threads_change_no_bit(rng):
    X = rng.normal(size=(900, 4))
    one, many = (REF(alpha=0.05, n_jobs=n_jobs).fit(X) for n_jobs in (1, 4))
    np.testing.assert_array_equal(one.calibration_.scores, many.calibration_.scores)
    assert one.threshold_ == many.threshold_


def test_foreign_arrays_give_the_same_threshold(rng):
    xp = pytest.importorskip("array_api_strict")
    X, weights = rng.normal(size=(30, 3)), rng.integers(1, 3, size=30)
    X[4, 1] = np.nan
    X[9] = np.nan
    ours = REF(alpha=0.1, n_iter=5, engine="reference").fit(X, sample_weight=weights)
    theirs = REF(alpha=0.1, n_iter=5).fit(xp.asarray(X), sample_weight=xp.asarray(weights))
    assert theirs.threshold_ == pytest.approx(ours.threshold_, rel=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_row_without_any_value_does_not_count(rng, engine):
    X = rng.normal(size=(50, 2))
    X[[3, 30]] = np.nan
    model = REF(alpha=0.1, engine=engine, n_iter=LEVELS).fit(X)
    assert model.calibration_.total == 48


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rows", [30, 1200])
def test_a_column_with_a_single_value_does_not_stop_calibration(rng, engine, rows):
    frame = pd.DataFrame(rng.normal(size=(rows, 2)), columns=["heat", "flow"])
    frame.loc[frame.index != 7, "flow"] = np.nan
    model = REF(alpha=0.2, engine=engine, n_iter=LEVELS).fit(frame)
    assert any("flow" in str(finding) for finding in model.noticed_)
    assert (model.predict(frame) == -1).mean() == pytest.approx(0.2, abs=0.1)


def test_alpha_and_another_threshold_contradict_each_other(rng):
    X = rng.normal(size=(50, 2))
    with pytest.raises(ValueError, match=r"alpha=0.1 and threshold=0.9 contradict"):
        REF(alpha=0.1, threshold=0.9).fit(X)
    REF(alpha=0.1, threshold=1).fit(X)


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, np.nan, "0.1", True])
def test_refuses_what_is_no_rate(rng, alpha):
    with pytest.raises(ValueError, match="'alpha' parameter of REF must be"):
        REF(alpha=alpha).fit(rng.normal(size=(50, 2)))


def test_rows_that_cannot_support_alpha_are_refused_before_any_work(rng):
    def never(y):
        raise AssertionError

    X = rng.normal(size=(50, 2))
    for options in ({}, {"sample_weight": np.full(50, 0.9)}):
        with pytest.raises(ValueError, match=r"alpha 0.01 needs at least 99 rows"):
            REF(alpha=0.01, distance=never).fit(X, **options)
    REF(alpha=0.01).fit(X, sample_weight=np.full(50, 2))


def test_a_fit_that_fails_leaves_the_model_as_it_was(rng):
    X = rng.normal(size=(50, 2))
    model = REF(alpha=0.1).fit(X)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="needs at least 9 rows"):
        model.fit(X[:5])
    assert vars(model) == before


def test_a_fit_without_alpha_leaves_nothing_of_an_earlier_rate(rng):
    X = rng.normal(size=(50, 2))
    model = REF(alpha=0.1).fit(X).set_params(alpha=None).fit(X)
    assert (model.threshold_, model.alpha_) == (1.0, None)
    with pytest.raises(ValueError, match="nothing to calibrate with"):
        model.p_values(X)
    calibrated = REF().fit(X).calibrate(X, alpha=0.2)
    assert clone(calibrated).fit(X).threshold_ == calibrated.fit(X).threshold_ == 1.0
    assert not hasattr(calibrated, "calibration_")


def test_what_learns_from_parts_advises_to_calibrate(rng):
    X = rng.normal(size=(50, 2))
    model = REF(alpha=0.1, engine="sketch").fit(X)
    for attempt in (
        lambda: model.partial_fit(X),
        lambda: clone(model).partial_fit(X),
        lambda: model.forget(X[:5]),
        lambda: merge(model, model),
    ):
        with pytest.raises(ValueError, match=r"alpha=0.1 needs all rows.*calibrate\(X_cal"):
            attempt()
    assert model.alpha_ == 0.1


@pytest.mark.parametrize("change", ["partial_fit", "forget"])
def test_a_model_that_changes_gives_up_its_calibration_and_says_so(rng, change):
    X = rng.normal(size=(100, 2))
    model = REF(engine="sketch").fit(X).calibrate(rng.normal(size=(50, 2)), alpha=0.1)
    with pytest.warns(UserWarning, match="Call calibrate again"):
        getattr(model, change)(X[:50])
    assert (model.threshold_, model.alpha_) == (1.0, None)
    assert not hasattr(model, "calibration_")
    with warnings.catch_warnings(action="error"):
        model.partial_fit(X)  # nothing is left to be given up


def test_a_chunk_that_fails_leaves_the_calibration(rng):
    X = rng.normal(size=(100, 2))
    model = REF(engine="sketch").fit(X).calibrate(X, alpha=0.1)
    before = dict(vars(model))
    with warnings.catch_warnings(action="error"), pytest.raises(ValueError, match="infinity"):
        model.partial_fit(np.full((3, 2), np.inf))
    assert vars(model) == before


def test_a_merged_model_is_not_calibrated(rng):
    X = rng.normal(size=(100, 2))
    model = REF(engine="sketch").fit(X).calibrate(X, alpha=0.1)
    merged = merge(model, model)
    assert (merged.threshold_, merged.alpha_) == (1.0, None)
    assert model.alpha_ == 0.1


def test_a_search_for_a_threshold_sets_the_rate_aside(rng):
    X = np.r_[rng.normal(size=(60, 2)), rng.normal(4.0, size=(20, 2))]
    y = np.repeat([1, -1], [60, 20])
    with_rate, without = (
        ThresholdSearchCV(REF(alpha=a), [1.0, 0.5]).fit(X, y) for a in (0.1, None)
    )
    assert with_rate.best_threshold_ == without.best_threshold_
    assert with_rate.best_estimator_.threshold_ == with_rate.best_threshold_


def test_parts_of_a_sketch_take_no_more_memory_than_a_few_sketches(rng, monkeypatch):
    seen = []
    of = Sketch.of.__func__
    monkeypatch.setattr(
        Sketch, "of", classmethod(lambda c, X, *a, **k: seen.append(len(X)) or of(c, X, *a, **k))
    )
    REF(alpha=0.1, engine="sketch", n_bins=100, n_jobs=1).fit(rng.normal(size=(5000, 2)))
    assert seen == [5000] + [100] * 50  # one more read, a part at a time


@pytest.mark.parametrize("engine", ENGINES)
def test_a_row_without_any_value_is_left_out_of_its_part_alone(engine, rng):
    X = rng.normal(size=(1100, 2))  # in fifty parts
    X[7] = np.nan
    model = REF(alpha=0.1, n_iter=3, engine=engine, n_bins=64).fit(X)
    assert model.calibration_.total == 1099
    parts = [part[part != 7] for part in every_fiftieth(1100)]
    expected = held_out({"n_iter": 3, "engine": engine, "n_bins": 64}, X, parts)
    np.testing.assert_allclose(sorted_scores(model), expected, rtol=1e-6)
