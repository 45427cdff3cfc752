from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from refold.peers import AutoassociativeKernelELM, OneClassELM, OneClassKernelELM


def rows(n: int, d: int = 3, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def threshold(errors: np.ndarray, fracrej: float) -> float:
    return float(np.sort(errors)[math.ceil(len(errors) * (1.0 - fracrej)) - 1])


@pytest.mark.parametrize("reg", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("fracrej", [0.05, 0.1, 0.5])
def test_kernel_elm_is_a_direct_solve(reg: float, fracrej: float) -> None:
    X, new = rows(60), rows(30, seed=1)
    K = np.exp(-0.1 * cdist(X, X, "sqeuclidean"))
    w = np.linalg.inv(K + np.eye(60) / reg) @ np.ones(60)
    model = OneClassKernelELM(gamma=0.1, reg=reg, fracrej=fracrej).fit(X)
    expected = np.abs(np.exp(-0.1 * cdist(new, X, "sqeuclidean")) @ w - 1.0)
    np.testing.assert_allclose(-model.score_samples(new), expected, atol=1e-9)
    assert model.threshold_ == pytest.approx(threshold(np.abs(K @ w - 1.0), fracrej), abs=1e-9)


@pytest.mark.parametrize("reg", [1e-4, 1.0, 1e4])
def test_autoassociative_elm_is_a_direct_solve(reg: float) -> None:
    X, new = rows(60), rows(30, seed=1)
    K = np.exp(-0.1 * cdist(X, X, "sqeuclidean"))
    W = np.linalg.inv(K + np.eye(60) / reg) @ X
    model = AutoassociativeKernelELM(gamma=0.1, reg=reg).fit(X)
    rebuilt = np.exp(-0.1 * cdist(new, X, "sqeuclidean")) @ W
    expected = ((rebuilt - new) ** 2).sum(axis=1)
    np.testing.assert_allclose(-model.score_samples(new), expected, rtol=1e-6, atol=1e-9)
    errors = ((K @ W - X) ** 2).sum(axis=1)
    assert model.threshold_ == pytest.approx(threshold(errors, 0.1), rel=1e-6)


@pytest.mark.parametrize("n_hidden", [1.5, 0.3, 7, 200])
@pytest.mark.parametrize("reg", [1e-4, 1.0])
def test_elm_is_a_direct_solve_for_many_and_for_few_neurons(n_hidden: float, reg: float) -> None:
    X, new = rows(60), rows(30, seed=1)
    model = OneClassELM(n_hidden=n_hidden, reg=reg, random_state=0).fit(X)
    W, b = model.hidden_weights_, model.hidden_bias_
    assert W.shape == (3, n_hidden if isinstance(n_hidden, int) else round(60 * n_hidden))
    assert -1.0 <= W.min() < -0.8
    assert 0.8 < W.max() <= 1.0
    assert b.min() >= 0.0
    assert b.max() <= 1.0
    H, H_new = (1.0 / (1.0 + np.exp(-(x @ W + b))) for x in (X, new))
    w = np.linalg.inv(H @ H.T + np.eye(60) / reg) @ np.ones(60)
    np.testing.assert_allclose(-model.score_samples(new), np.abs(H_new @ H.T @ w - 1.0), atol=1e-9)
    assert model.threshold_ == pytest.approx(threshold(np.abs(H @ H.T @ w - 1.0), 0.1), abs=1e-9)


@pytest.mark.parametrize("make", [OneClassKernelELM, AutoassociativeKernelELM, OneClassELM])
def test_the_training_row_at_the_threshold_is_accepted_also_when_judged_alone(make: type) -> None:
    X = rows(97)
    model = make(reg=1.0).fit(X)
    assert (model.predict(X) == 1).sum() == math.ceil(97 * 0.9)
    alone = np.array([model.predict(x[None])[0] for x in X])
    assert np.array_equal(alone, model.predict(X))


@pytest.mark.parametrize("make", [OneClassKernelELM, AutoassociativeKernelELM, OneClassELM])
def test_a_new_offset_is_that_of_learning_again(make: type) -> None:
    X = pd.DataFrame(np.random.default_rng(3).normal(size=(60, 3)), columns=list("abc"))
    seed = {"random_state": 0} if make is OneClassELM else {}
    model = make(fracrej=0.1, **seed).fit(X)
    again = make(fracrej=0.3, **seed).fit(X)
    assert model.offset_ < again.offset_
    model.set_params(fracrej=0.3).set_offset(X)
    assert model.offset_ == again.offset_
    np.testing.assert_array_equal(model.predict(X), again.predict(X))


def test_elm_draws_the_same_with_the_same_seed() -> None:
    X = rows(50)
    one, same, other = (OneClassELM(random_state=s).fit(X).score_samples(X) for s in (0, 0, 1))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_ridge_too_small_for_equal_rows_is_refused_in_words() -> None:
    X = np.repeat(rows(20), 2, axis=0)
    with pytest.raises(ValueError, match="Lower reg"):
        OneClassKernelELM(reg=1e20).fit(X)
