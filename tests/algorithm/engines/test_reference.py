"""The reference engine is Algorithm 1, on any array library."""

import array_api_strict
import numpy as np
import pytest

from refold import REF
from tests.algorithm_1 import PLAIN_FOLDS, algorithm_1
from tests.conftest import FOLDS


@pytest.mark.parametrize("n_iter", [1, 2, 11, 101])
@pytest.mark.parametrize("fold", FOLDS)
def test_author_mode_is_algorithm_1_to_the_last_bit(fold, n_iter, rng):
    train, test = rng.normal(size=(80, 4)), rng.normal(size=(50, 4))
    train[:, 3] = rng.integers(3, size=80)
    model = REF(fold=fold, n_iter=n_iter, engine="reference", max_gain=None).fit(train)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = algorithm_1(train, test, PLAIN_FOLDS[fold], n_iter)
    tame = np.abs(expected) < 1e150  # what the paper leaves to overflow, refold saturates
    np.testing.assert_array_equal(model.transform(test)[tame], expected[tame])
    rows = tame.all(axis=1)
    if not rows.any():
        return
    np.testing.assert_array_equal(
        -model.set_params(distance="l2").score_samples(test[rows]),
        np.sqrt((expected[rows] ** 2).sum(axis=1)) / 4,
    )


@pytest.mark.parametrize("n_iter", [1, 3])
def test_author_mode_is_algorithm_1_for_columns_that_hardly_vary_or_are_far_from_zero(n_iter, rng):
    train, test = rng.normal(size=(5000, 5)), rng.normal(size=(50, 5))
    for X in (train, test):
        X[:, 4] *= 1e-310
        X[:, 0] = 5000.0
        X[:, 1] = 5000.0 + 1e-5 * X[:, 1]
        X[:, 2] += 1e13 + 0.3
    model = REF(n_iter=n_iter, engine="reference", max_gain=None).fit(train)
    expected = algorithm_1(train, test, np.abs, n_iter)
    np.testing.assert_array_equal(model.transform(test), expected)


@pytest.mark.parametrize("fold", ["abs", "sqr", "tanh"])
def test_a_callable_fold_is_the_named_one(fold, rng):
    train, test = rng.normal(size=(100, 3)), rng.normal(size=(100, 3))
    named = REF(fold=fold, engine="reference").fit(train)
    called = REF(fold=PLAIN_FOLDS[fold]).fit(train)
    assert called.engine_ == "reference"
    np.testing.assert_array_equal(called.chain_.levels, named.chain_.levels)
    np.testing.assert_allclose(called.chain_.gain, named.chain_.gain, rtol=1e-3)
    np.testing.assert_array_equal(called.predict(test), named.predict(test))


def libraries():
    yield array_api_strict
    try:
        import torch
    except ImportError:
        return
    yield torch


@pytest.fixture(params=libraries(), ids=lambda library: library.__name__)
def xp(request):
    return request.param


@pytest.mark.parametrize("levels", ["last", "all"])
@pytest.mark.parametrize("distance", ["l1", "l2"])
@pytest.mark.parametrize("fold", FOLDS)
def test_other_array_libraries_get_the_same_answer_in_their_own_arrays(
    xp, fold, distance, levels, rng
):
    train, test = rng.normal(size=(60, 3)), rng.normal(size=(20, 3)) * 2
    train[5:9, 1] = np.nan
    test[3, :2] = np.nan
    ours = REF(fold=fold, distance=distance, levels=levels, engine="reference").fit(train)
    theirs = REF(fold=fold, distance=distance, levels=levels).fit(xp.asarray(train))
    assert theirs.engine_ == "reference"
    for method in ("score_samples", "predict", "contributions", "trace", "transform"):
        answer = getattr(theirs, method)(xp.asarray(test))
        assert type(answer) is type(xp.asarray(test))
        expected = getattr(ours, method)(test)
        np.testing.assert_allclose(np.from_dlpack(answer), expected, rtol=1e-7, atol=1e-9)


def test_other_array_libraries_take_weights_and_callables(xp, rng):
    train = rng.normal(size=(60, 3))
    train[5:9, 1] = np.nan
    weights = rng.integers(1, 4, size=60).astype(float)
    ours = REF(engine="reference", distance=lambda y: np.abs(y).max(axis=1))
    theirs = REF(distance=lambda y: xp.asarray(np.abs(np.from_dlpack(y)).max(axis=1)))
    ours.fit(train, sample_weight=weights)
    theirs.fit(xp.asarray(train), sample_weight=xp.asarray(weights))
    answer = theirs.score_samples(xp.asarray(train))
    np.testing.assert_allclose(np.from_dlpack(answer), ours.score_samples(train), rtol=1e-9)


def test_other_array_libraries_get_the_same_errors(xp, rng):
    train = rng.normal(size=(10, 2))
    with pytest.raises(ValueError, match="Expected 2D array, got 1D"):
        REF().fit(xp.asarray(train[0]))
    with pytest.raises(ValueError, match="at least one row"):
        REF().fit(xp.asarray(train[:0]))
    with pytest.raises(ValueError, match="real numbers"):
        REF().fit(xp.asarray(train * 1j))
    with pytest.raises(ValueError, match="2 features"):
        REF().fit(xp.asarray(train)).predict(xp.asarray(train[:, :1]))
    train[4, 1] = np.inf
    with pytest.raises(ValueError, match="row 4, column 'x1'"):
        REF().fit(xp.asarray(train))


def test_the_compiled_engine_takes_their_arrays_as_numbers(rng):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    X = rng.normal(size=(30, 2))
    scores = REF(engine="exact").fit(torch.asarray(X)).score_samples(torch.asarray(X))
    np.testing.assert_array_equal(scores, REF().fit(X).score_samples(X))


def test_missing_values_do_not_grow_from_level_to_level(rng):
    # A gap was once carried along as a number; under sqr it overflowed and stopped the folding.
    train = rng.normal(size=(50, 2))
    train[10:20, 0] = np.nan
    train[:, 1] *= 1e-3
    gappy = REF(fold="sqr", engine="reference").fit(train)
    dense = REF(fold="sqr", engine="reference").fit(train[~np.isnan(train[:, 0]), :1])
    assert gappy.chain_.levels[0] == dense.chain_.levels[0]
    np.testing.assert_allclose(gappy.chain_.gain[0], dense.chain_.gain[0], rtol=1e-9)
