from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from refold.peers import NonlinearProjection, ReferenceMapping


def rows(n: int, d: int = 3, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def rbf(X: np.ndarray, Y: np.ndarray, gamma: float) -> np.ndarray:
    return np.exp(-gamma * cdist(X, Y, "sqeuclidean"))


def centring(n: int) -> np.ndarray:
    return np.eye(n) - 1.0 / n


@pytest.mark.parametrize("gamma", [0.01, 0.3, 5.0])
def test_npt_inner_products_are_the_centred_kernel(gamma: float) -> None:
    X = rows(80)
    Z = NonlinearProjection(gamma=gamma).fit_transform(X)
    H = centring(80)
    # What is left out has eigenvalues below 1e-6.
    np.testing.assert_allclose(Z @ Z.T, H @ rbf(X, X, gamma) @ H, atol=1e-6)


@pytest.mark.parametrize("gamma", [0.01, 0.3])
def test_npt_is_its_formula_up_to_signs(gamma: float) -> None:
    X, new = rows(60), rows(25, seed=1)
    K, H = rbf(X, X, gamma), centring(60)
    values, U = np.linalg.eigh(H @ K @ H)
    keep = values >= 1e-6
    left = (U[:, keep] / np.sqrt(values[keep])).T
    expected = (left @ H @ (rbf(X, new, gamma) - K.mean(axis=1, keepdims=True))).T[:, ::-1]
    model = NonlinearProjection(gamma=gamma).fit(X)
    actual = model.transform(new)
    np.testing.assert_allclose(model.eigenvalues_, values[keep][::-1], rtol=1e-8, atol=1e-13)
    signs = np.sign((actual * expected).sum(axis=0))
    np.testing.assert_allclose(actual * signs, expected, atol=1e-7)


def test_npt_maps_training_rows_as_in_training() -> None:
    X = rows(200)
    model = NonlinearProjection(gamma=0.1)
    Z = model.fit_transform(X)
    assert np.array_equal(model.transform(X), Z)
    np.testing.assert_allclose((Z**2).sum(axis=0), model.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-8)


def test_npt_gives_equal_rows_equal_features_and_no_direction_of_their_difference() -> None:
    X = np.repeat(rows(30), 2, axis=0)
    Z = NonlinearProjection(gamma=0.5).fit_transform(X)
    assert np.array_equal(Z[::2], Z[1::2])
    assert Z.shape[1] <= 29


@pytest.mark.parametrize("mapping", [NonlinearProjection, ReferenceMapping])
def test_where_no_eigenvalue_survives_there_is_one_column_of_zeros(mapping: type) -> None:
    model = mapping(gamma=1e-12).fit(rows(50))
    assert model.eigenvalues_.shape == (0,)
    assert np.array_equal(model.transform(rows(20, seed=1)), np.zeros((20, 1)))
    assert list(model.get_feature_names_out()) == [f"{mapping.__name__.lower()}0"]


def test_grm_features_of_its_reference_rows_have_the_centred_kernel_as_inner_products() -> None:
    model = ReferenceMapping(gamma=0.1, random_state=0).fit(rows(70))
    R, H = model.references_, centring(70)
    Z = model.transform(R)
    np.testing.assert_allclose(Z @ Z.T, H @ rbf(R, R, 0.1) @ H, atol=1e-6)


def test_grm_is_its_formula_up_to_signs() -> None:
    X, new = rows(50), rows(20, seed=1)
    model = ReferenceMapping(gamma=0.1, random_state=3).fit(X)
    R, H = model.references_, centring(50)
    K = rbf(R, R, 0.1)
    U, S, _ = np.linalg.svd(H @ K @ H)
    keep = S >= 1e-6
    left = (U[:, keep] / np.sqrt(S[keep])).T
    expected = (left @ H @ (rbf(R, new, 0.1) - K.mean(axis=1, keepdims=True))).T
    actual = model.transform(new)
    signs = np.sign((actual * expected).sum(axis=0))
    np.testing.assert_allclose(actual * signs, expected, atol=1e-7)


def test_grm_draws_as_many_reference_rows_as_asked_and_anew_by_seed() -> None:
    X = rows(40)
    assert ReferenceMapping().fit(X).references_.shape == (40, 3)
    assert ReferenceMapping(n_references=7).fit(X).references_.shape == (7, 3)
    one, same, other = (ReferenceMapping(random_state=s).fit(X).references_ for s in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
