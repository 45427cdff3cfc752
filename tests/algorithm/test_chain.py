"""A chain is the same numbers in all of its forms."""

import numpy as np
import pytest

from refold.algorithm.engines import exact, reference
from tests.algorithm_1 import PLAIN_FOLDS


@pytest.fixture
def X(rng):
    X = rng.normal(size=(80, 4)) * [1.0, 1e-5, 1e8, 3.0] + [0.0, 1.0, -1e8, 50.0]
    X[:, 3] = rng.integers(0, 3, 80)
    return X


def levels_of(chain, X):
    """What the class says of the chain: standardize, and then fold and standardize again."""
    y = (X - chain.shifts[0]) / chain.scales[0]
    levels = [y]
    for j in range(1, chain.n_iter):
        folded = (PLAIN_FOLDS[chain.fold](y) - chain.shifts[j]) / chain.scales[j]
        y = np.where(j < chain.levels, folded, y)
        levels.append(y)
    return levels


@pytest.mark.parametrize("fold", PLAIN_FOLDS)
def test_its_steps_give_the_levels_without_overflow(fold, X):
    chain = exact.learn(X, None, n_iter=8, fold=fold, max_gain=8.0)
    assert (chain.n_iter, chain.n_features) == (8, 4)
    assert chain.levels.max() > 1
    offset, unit, shift, factor = chain.steps
    np.testing.assert_array_equal(np.frexp(unit)[0], 0.5)  # powers of two: nothing is rounded
    assert (np.abs(np.log2(unit * chain.scales[0])) <= 1.0).all()
    v = X * unit - offset
    y = v * factor[:, 0]
    for j, level in enumerate(levels_of(chain, X)):
        if j > 0 and fold == "abs":
            v = np.where(j < chain.levels, np.abs(v) - shift[:, j], v)
            y = np.where(j < chain.levels, v * factor[:, j], y)
        elif j > 0:
            folded = (PLAIN_FOLDS[fold](y) - shift[:, j]) * factor[:, j]
            y = np.where(j < chain.levels, folded, y)
        np.testing.assert_allclose(y, level, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(reference.transform(chain, X), y, rtol=1e-5, atol=1e-6)


def test_the_abs_chain_without_inner_scales_has_the_same_levels(X):
    chain = exact.learn(X, None, n_iter=6, fold="abs", max_gain=1e3)
    m, s = chain.unscaled()
    assert m.shape == s.shape == (6, 4)
    inside = X - m[0]
    for j, level in enumerate(levels_of(chain, X)):
        if j > 0:
            inside = np.where(j < chain.levels, np.abs(inside) - m[j], inside)
        np.testing.assert_allclose(inside / s[j], level, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("only", [np.array([2]), np.array([3, 0]), np.arange(4) != 1])
def test_of_some_features_there_is_the_same_chain(only, X):
    chain = exact.learn(X, None, n_iter=6, fold="sqr", max_gain=1e3)
    some, alone = (
        chain.of_features(only),
        exact.learn(X[:, only], None, n_iter=6, fold="sqr", max_gain=1e3),
    )
    for name in ("shifts", "scales", "levels", "gain"):
        np.testing.assert_array_equal(getattr(some, name), getattr(alone, name))
    np.testing.assert_array_equal(
        exact.transform(some, X[:, only]), exact.transform(chain, X)[:, only]
    )
