from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR

from refold.peers import SVDD, NonlinearProjection, ReferenceMapping, SubspaceSVDD

TIGHT = {"tol": 1e-6, "max_iter": 10**7}


def rows(n: int, d: int = 3, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def kernel(X: np.ndarray, Y: np.ndarray, name: str, gamma: float = 0.3) -> np.ndarray:
    return X @ Y.T if name == "linear" else np.exp(-gamma * cdist(X, Y, "sqeuclidean"))


def weights_by_svr(K: np.ndarray, C: float) -> np.ndarray:
    """Solve the dual of SVDD as a support vector regression with one row added to sum(a) = 1."""
    n = K.shape[0]
    E = 2.0 * np.abs(K).max() + 1.0
    padded = np.zeros((n + 1, n + 1))
    padded[:n, :n] = K
    y = np.append(np.diag(K) / 2.0 + E, -3.0 * E)
    weight = np.append(np.full(n, C), 1.0)
    model = SVR(kernel="precomputed", C=1.0, epsilon=E, tol=1e-9)
    model.fit(padded, y, sample_weight=weight)
    a = np.zeros(n + 1)
    a[model.support_] = model.dual_coef_[0]
    return a[:n]


def objective(K: np.ndarray, a: np.ndarray) -> float:
    return float(0.5 * a @ K @ a - 0.5 * np.diag(K) @ a)


@pytest.mark.parametrize("name", ["linear", "rbf"])
@pytest.mark.parametrize(
    ("n", "C"),
    [(15, 0.3), (20, 0.05), (60, 0.1), (60, 0.07), (60, 1.0), (60, 3.0), (200, 0.013), (200, 0.05)],
)
def test_svdd_solution_is_that_of_the_svr_oracle(name: str, n: int, C: float) -> None:
    X = rows(n)
    K = kernel(X, X, name)
    model = SVDD(kernel=name, gamma=0.3, C=C, **TIGHT).fit(X)
    oracle = weights_by_svr(K, C)
    assert objective(K, model.weights_) == pytest.approx(objective(K, oracle), abs=1e-6)
    # The centre is unique, though single precision moves the weights a little.
    difference = model.weights_ - oracle
    assert difference @ K @ difference < 1e-6


@pytest.mark.parametrize("name", ["linear", "rbf"])
@pytest.mark.parametrize("C", [0.03, 0.1, 0.123, 1.0])
def test_svdd_meets_the_optimality_conditions(name: str, C: float) -> None:
    X = rows(150, seed=2)
    model = SVDD(kernel=name, gamma=0.3, C=C, **TIGHT).fit(X)
    a, decision = model.weights_, model.decision_function(X)
    assert a.sum() == pytest.approx(1.0, abs=1e-12)
    assert a.min() >= 0.0
    assert a.max() <= C
    assert (decision[a == 0.0] > -1e-4).all()
    assert (decision[a == C] < 1e-4).all()
    assert np.abs(decision[(a > 0.0) & (a < C)]).max(initial=0.0) < 1e-4


@pytest.mark.parametrize("name", ["linear", "rbf"])
def test_svdd_score_is_the_distance_to_the_weighted_mean(name: str) -> None:
    X, new = rows(80), rows(20, seed=1)
    model = SVDD(kernel=name, gamma=0.3).fit(X)
    a = model.weights_
    own = np.diag(kernel(new, new, name))
    cross = kernel(new, X, name) @ a
    expected = own - 2.0 * cross + a @ kernel(X, X, name) @ a
    np.testing.assert_allclose(-model.score_samples(new), expected, atol=1e-12)
    if name == "linear":
        np.testing.assert_allclose(model.center_, a @ X, atol=1e-12)


def test_svdd_with_a_box_too_small_has_radius_zero_and_accepts_nothing() -> None:
    X = rows(10)
    for C in (0.01, 0.1):
        model = SVDD(C=C).fit(X)
        assert np.array_equal(model.weights_, np.full(10, 0.1))
        assert model.square_radius_ == 0.0
        assert (model.predict([*X, model.center_]) == -1).all()


def test_svdd_with_a_box_beyond_one_is_the_smallest_enclosing_sphere() -> None:
    X = rows(100)
    loose, hard = SVDD(C=50.0, **TIGHT).fit(X), SVDD(C=1.0, **TIGHT).fit(X)
    assert np.array_equal(loose.weights_, hard.weights_)
    assert (hard.decision_function(X) > -1e-5).all()
    known = SVDD(C=1.0, **TIGHT).fit([[-1.0, 0.0], [1.0, 0.0], [0.0, 0.5], [0.2, -0.3]])
    np.testing.assert_allclose(known.center_, [0.0, 0.0], atol=1e-5)
    assert known.square_radius_ == pytest.approx(1.0, abs=1e-5)


def test_svdd_without_a_free_row_takes_the_middle_of_the_possible_radii() -> None:
    # Four rows far out share all the weight; the circle may have any radius from 1 to 10.
    X = np.array([[10.0, 0], [-10.0, 0], [0, 10.0], [0, -10.0], [1.0, 0], [0, 0.5]])
    model = SVDD(C=0.25).fit(X)
    np.testing.assert_array_equal(model.weights_, [0.25, 0.25, 0.25, 0.25, 0.0, 0.0])
    assert model.square_radius_ == pytest.approx((1.0 + 100.0) / 2.0)


def test_svdd_does_not_depend_on_where_the_origin_is() -> None:
    X, new = rows(100), rows(50, seed=1)
    here = SVDD().fit(X)
    there = SVDD().fit(X + 1e6)
    np.testing.assert_allclose(
        there.decision_function(new + 1e6), here.decision_function(new), atol=1e-6
    )


def test_svdd_counts_only_rows_strictly_inside_so_equal_rows_accept_nothing() -> None:
    for kernel_name in ("linear", "rbf"):
        X = np.tile([[0.1, 0.7, 1e5]], (37, 1))
        model = SVDD(kernel=kernel_name, C=0.1).fit(X)
        assert model.square_radius_ == 0.0
        assert np.array_equal(model.decision_function(X[:3]), np.zeros(3))
        assert (model.predict(X) == -1).all()


def test_svdd_that_runs_out_of_steps_says_so() -> None:
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=2 steps"):
        SVDD(max_iter=2).fit(rows(300))


def test_svdd_of_values_beyond_single_precision_is_refused() -> None:
    with pytest.raises(ValueError, match="Standardize the features"):
        SVDD().fit(rows(30) * 1e25)


def test_svdd_ends_on_badly_scaled_rows() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVDD(max_iter=20_000).fit(rows(200) * [1e8, 1.0, 1e-8])
    assert np.isfinite(model.square_radius_)


def test_svdd_holds_at_5000_rows() -> None:
    X = rows(5000, d=5)
    model = SVDD(C=0.01).fit(X)
    assert model.weights_.sum() == pytest.approx(1.0)
    assert 0.95 < (model.predict(X) == 1).mean() < 1.0


def test_kernel_svdd_is_linear_svdd_on_the_projected_rows() -> None:
    X = rows(120)
    direct = SVDD(kernel="rbf", gamma=0.3, C=0.07, **TIGHT).fit(X)
    projected = make_pipeline(NonlinearProjection(gamma=0.3), SVDD(C=0.07, **TIGHT)).fit(X)
    np.testing.assert_allclose(
        projected.decision_function(X), direct.decision_function(X), atol=1e-4
    )


def test_rows_far_beyond_the_kernel_are_seen_by_kernel_svdd_but_not_after_npt() -> None:
    X, far = rows(200, d=2), np.array([[50.0, 50.0]])
    assert SVDD(kernel="rbf", gamma=0.1).fit(X).predict(far) == -1
    assert make_pipeline(NonlinearProjection(gamma=0.1), SVDD()).fit(X).predict(far) == 1


def test_subspace_svdd_without_updates_is_svdd_on_principal_components() -> None:
    X = rows(100, d=5) * [3.0, 0.1, 2.0, 0.2, 1.0]
    model = SubspaceSVDD(n_components=2, n_updates=0).fit(X)
    top = np.linalg.svd(X - X.mean(axis=0))[2][:2]
    plain = SVDD().fit(X @ top.T)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X @ top.T))


def test_subspace_svdd_follows_its_formula() -> None:
    X, new, eta = rows(100, d=5) * [3.0, 0.1, 2.0, 0.2, 1.0], rows(30, d=5, seed=1), 0.02
    Q = np.linalg.svd(X - X.mean(axis=0))[2][:3]
    for _ in range(4):
        a = SVDD().fit(X @ Q.T).weights_
        S = X.T @ (np.diag(a) - np.outer(a, a)) @ X
        Q = np.linalg.qr((Q - 2.0 * eta * Q @ S).T)[0].T
    model = SubspaceSVDD(eta=eta).fit(X)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(model.components_.T @ model.components_, Q.T @ Q, atol=1e-6)
    np.testing.assert_allclose(
        model.decision_function(new), SVDD().fit(X @ Q.T).decision_function(new @ Q.T), atol=1e-5
    )


def test_subspace_svdd_of_rows_wider_than_many_has_the_same_directions() -> None:
    X = rows(8, d=40)
    model = SubspaceSVDD(n_components=3, n_updates=0).fit(X)
    top = np.linalg.svd(X - X.mean(axis=0))[2][:3]
    np.testing.assert_allclose(model.components_.T @ model.components_, top.T @ top, atol=1e-10)


@pytest.mark.parametrize("sphere", [SVDD(), SubspaceSVDD()], ids=repr)
@pytest.mark.parametrize("mapping", [NonlinearProjection, ReferenceMapping])
def test_where_no_eigenvalue_survives_all_rows_are_outliers(sphere: Any, mapping: Any) -> None:
    X = rows(50)
    model = make_pipeline(mapping(gamma=1e-12), sphere).fit(X)
    assert (model.predict(X) == -1).all()
    assert (model.predict(rows(50, seed=1)) == -1).all()
