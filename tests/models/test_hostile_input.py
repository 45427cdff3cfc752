"""Bad input gets an error that says what to do; a model learned before stays as it was."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from refold import REF, Detector
from refold.base.errors import TableError
from tests.conftest import FOLDS

ENGINES = ("exact", "reference")


@pytest.fixture
def table(rng):
    return rng.normal(size=(40, 3))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.empty((0, 3)), r"0 sample\(s\)"),
        (np.empty((3, 0)), r"0 feature\(s\)"),
        (np.ones((1, 3)), r"n_samples=1.*at least 2 rows"),
        (np.ones(4), "Expected 2D array, got 1D"),
        (np.ones((2, 2, 2)), "dim 3"),
        ([[1.0, "high"], [2.0, "low"]], r"row 0, column 'x1' holds 'high', not a number"),
        ([[1.0, 2.0], [3.0, np.inf]], r"infinity: row 1, column 'x1'"),
        ([[1.0, -np.inf], [3.0, np.inf]], r"infinity: row 0, column 'x1'"),
        ([[1.0, np.nan], [3.0, np.nan]], r"Nothing is observed in column 'x1'"),
        (np.array([[1j], [2j]]), "Complex data not supported"),
        (np.array([["2020-01-01"], ["2021-01-01"]], dtype="M8[D]"), "(?i)datetime"),
    ],
)
def test_unusable_training_tables_are_refused(engine, X, message):
    with pytest.raises((ValueError, TypeError), match=message):
        REF(engine=engine).fit(X)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("method", ["predict", "score_samples", "contributions", "trace"])
def test_a_row_with_nothing_observed_is_refused_by_its_number(engine, method, table):
    model = REF(engine=engine).fit(table)
    table[23] = np.nan
    with pytest.raises(ValueError, match="Nothing is observed in row 23"):
        getattr(model, method)(table)


@pytest.mark.parametrize("distance", ["l1", "l2", lambda y: np.abs(y).max(axis=1)])
@pytest.mark.parametrize("levels", ["last", "all"])
@pytest.mark.parametrize("engine", ENGINES)
def test_no_distance_hides_an_empty_or_infinite_row(distance, levels, engine, table):
    model = REF(distance=distance, levels=levels, engine=engine).fit(table)
    with pytest.raises(ValueError, match="Nothing is observed in row 1"):
        model.score_samples([[0.0, 0.0, 0.0], [np.nan] * 3])
    with pytest.raises(ValueError, match="infinity: row 1, column 'x2'"):
        model.score_samples([[0.0, 0.0, 0.0], [0.0, np.nan, -np.inf]])


def test_the_first_infinite_value_is_named_whatever_the_number_of_threads(rng):
    X = rng.normal(size=(5000, 12))
    X[[4000, 100, 4999], [3, 11, 0]] = np.inf
    for n_jobs in (1, 2, 7):
        with pytest.raises(ValueError, match="infinity: row 100, column 'x11'"):
            REF(n_jobs=n_jobs).fit(X)
        model = REF(n_jobs=n_jobs).fit(np.nan_to_num(X, posinf=0.0))
        with pytest.raises(ValueError, match="infinity: row 100, column 'x11'"):
            model.predict(X)


@pytest.mark.parametrize("engine", ENGINES)
def test_failed_fit_leaves_the_model_as_it_was(engine, table):
    model = REF(engine=engine).fit(table)
    chain, labels = model.chain_, model.predict(table)
    bad = np.column_stack([table, table])
    bad[3, 4] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.fit(bad)
    assert model.chain_ is chain
    assert model.n_features_in_ == 3
    np.testing.assert_array_equal(model.predict(table), labels)


def test_wrong_width_and_missing_fit_are_said(table):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        REF().predict(table)
    with pytest.raises(ValueError, match="2 features, but REF is expecting 3"):
        REF().fit(table).predict(table[:, :2])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.5, 0.25, 0.25], "sums to 1.*rescale"),
        ([1.0, -1.0, 2.0], "negative in row 1: -1"),
        ([1.0, np.nan, 2.0], "NaN"),
        ([1.0, np.inf, 2.0], "infinity"),
        ([0.0, 0.0, 0.0], "zero in every row"),
        ([1.0, 1.0], "one weight for each of the 3 rows"),
    ],
)
def test_unusable_weights_are_refused(engine, weights, message):
    with pytest.raises(ValueError, match=message):
        REF(engine=engine).fit([[1.0], [2.0], [3.0]], sample_weight=weights)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_column_whose_observed_rows_weigh_too_little_is_named(engine):
    X = [[1.0, 5.0], [2.0, 5.0], [np.nan, 6.0], [np.nan, 7.0]]
    with pytest.raises(ValueError, match=r"observed in column 'x0' sum to 1 or less.*rescale"):
        REF(engine=engine).fit(X, sample_weight=[0.5, 0.5, 3.0, 3.0])


@pytest.mark.parametrize("engine", ENGINES)
def test_one_row_that_stands_for_several_is_enough(engine):
    model = REF(engine=engine).fit([[2.0, -3.0]], sample_weight=[5.0])
    np.testing.assert_array_equal(model.predict([[2.0, -3.0], [2.1, -3.0]]), [1, -1])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("value", "scale"), [(5.0, 5e-3), (-2e-8, 2e-11), (0.0, 1e-3), (1e-299, 1e-300), (1e300, 1e297)]
)
def test_a_constant_column_measures_in_thousandths_of_its_value(engine, value, scale):
    model = REF(engine=engine).fit(np.full((10, 1), value))
    assert model.chain_.levels[0] == 1
    np.testing.assert_allclose(model.chain_.scales[0], scale, rtol=1e-12)
    distances = -model.score_samples([[value], [value + 2.5 * scale], [value - 7.0 * scale]])
    np.testing.assert_allclose(distances, [0.0, 2.5, 7.0], rtol=1e-6)
    np.testing.assert_array_equal(distances[0], 0.0)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("scale", [1.7e308, 1e300, 1e-300, 1e-310, 5e-324])
def test_no_magnitude_of_values_gives_nan_or_infinity(engine, fold, scale):
    train = np.array([[-1.0], [0.5], [1.0], [0.3], [np.nan]]) * scale
    for levels in ("last", "all"):
        for distance in ("l1", "l2"):
            model = REF(engine=engine, fold=fold, levels=levels, distance=distance).fit(train)
            new = [[0.0], [scale], [-1.79e308], [1.79e308], [1e-300], [5e-324]]
            for method in ("score_samples", "contributions", "transform", "trace"):
                assert np.isfinite(getattr(model, method)(new)).all(), method


@pytest.mark.parametrize("engine", ENGINES)
def test_values_as_large_as_numbers_get_still_have_the_distances_of_small_ones(engine):
    train = np.array([[-1.0], [0.5], [1.0], [0.3], [0.8]])
    small, large = REF(engine=engine).fit(train), REF(engine=engine).fit(train * 2.0**1023)
    np.testing.assert_array_equal(
        small.score_samples(train), large.score_samples(train * 2.0**1023)
    )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n_distinct", [2, 3, 5])
def test_few_distinct_values_give_small_finite_distances(engine, n_distinct, rng):
    X = rng.integers(n_distinct, size=(200, 4)).astype(float)
    model = REF(engine=engine).fit(X)
    assert (model.chain_.gain <= 1e6).all()
    assert (-model.score_samples(X) < 10).all()


def test_saturated_rows_are_outliers_for_every_fold_that_does_not_wrap_around():
    train = np.linspace(-1, 1, 50)[:, None]
    for fold in ("abs", "sqr", "cos-abs"):
        assert REF(fold=fold).fit(train).predict([[1e308], [-1e308]]).tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_gain": None}, "engine='reference' alone"),
        ({"max_gain": None, "engine": "exact"}, "engine='reference' alone"),
        ({"max_gain": 0.5}, "max_gain"),
        ({"max_gain": np.inf}, "max_gain"),
        ({"engine": "exact", "fold": np.abs}, "named folds only"),
        ({"fold": "absolute"}, "fold"),
        ({"fold": np.sum}, "shape it was given"),
        ({"fold": np.log}, "returned NaN or infinity"),
        ({"distance": "l3"}, "distance"),
        ({"n_iter": 0}, "n_iter"),
        ({"n_iter": 2.5}, "n_iter"),
        ({"threshold": -1.0}, "threshold"),
        ({"threshold": np.nan}, "threshold"),
        ({"levels": "first"}, "levels"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_unusable_parameters_are_named(parameters, message, table):
    with pytest.raises(ValueError, match=message):
        REF(**parameters).fit(table)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("levels", ["last", "all"])
def test_an_unusable_distance_is_refused_when_it_shows(engine, levels, table):
    too_few = REF(distance=np.sum, engine=engine, levels=levels).fit(table)
    with pytest.raises(ValueError, match=r"one number per row, shape \(40,\)"):
        too_few.predict(table)
    nan = REF(distance=lambda y: y[:, 0] * np.nan, engine=engine, levels=levels).fit(table)
    with pytest.raises(ValueError, match="returned NaN"):
        nan.predict(table)


def test_contributions_of_a_callable_distance_are_refused(table):
    model = REF(distance=lambda y: np.abs(y).max(axis=1)).fit(table)
    with pytest.raises(ValueError, match="Use distance='l1' or 'l2'"):
        model.contributions(table)


@pytest.mark.parametrize("digits", [310, 400, 5000])
def test_a_whole_number_that_no_double_holds_is_refused_by_its_place(digits):
    number = -(10**digits)
    rng = np.random.default_rng(0)
    rows = [{"k": float(k), "c": c} for k, c in zip(rng.normal(size=60), "abc" * 20, strict=True)]
    table, array = Detector().fit(rows), REF().fit(rng.normal(size=(60, 1)))
    for new in (
        [rows[0], {"k": number, "c": "a"}],
        pd.DataFrame({"k": [0.5, number], "c": ["a", "a"]}, dtype=object),
    ):  # a cell that is not what its column holds
        assert table.predict(new).tolist() == [1, -1]
    asked = [
        lambda: array.predict([[0.5], [number]]),
        lambda: array.score_samples(np.array([[0.5], [number]], dtype=object)),
    ]
    for ask in asked:
        with pytest.raises(TableError, match=r"infinity: row 1"):
            ask()
    assert table.predict([{"k": 0.5, "c": number}]).tolist() == [-1]  # a text like none before
