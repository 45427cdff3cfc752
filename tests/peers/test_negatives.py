"""GRKneg against its definition, computed with whole kernel matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

from refold.model_selection import gmean_score
from refold.peers import GRKneg

NO_Y = "the check fits outlier detectors without y"


@parametrize_with_checks(
    [GRKneg(random_state=0)],
    expected_failed_checks=lambda _: {
        "check_outliers_fit_predict": NO_Y,
        "check_outliers_train": NO_Y,
    },
    xfail_strict=True,
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def labelled(normal=60, outliers=12, d=3, seed=0):
    random = np.random.default_rng(seed)
    X = np.vstack([random.normal(size=(normal, d)), random.normal(size=(outliers, d)) * 2 + 2])
    return X, np.repeat([1, -1], [normal, outliers])


def kernel_of_references(model, X, Y, sigma):
    """Return K_RX' (K_RR centred)⁺ K_RY with the definition's centring."""
    R = model.references_
    squares = cdist(R, R, "sqeuclidean")
    gamma = 1.0 / (2.0 * sigma * squares.mean())
    m = len(R)
    H = np.eye(m) - np.ones((m, m)) / m
    K = np.exp(-gamma * squares)
    centred = [
        H @ (np.exp(-gamma * cdist(R, Z, "sqeuclidean")) - K.mean(axis=1)[:, None]) for Z in (X, Y)
    ]
    values, vectors = np.linalg.eigh(H @ K @ H)
    kept = values >= 1e-6
    inverse = vectors[:, kept] / values[kept] @ vectors[:, kept].T
    return centred[0].T @ inverse @ centred[1]


@pytest.mark.parametrize("sigma", [0.3, 1.0])
@pytest.mark.parametrize("nu", [0.01, 0.2])
def test_it_is_a_machine_with_the_kernel_of_the_definition(sigma, nu):
    X, y = labelled()
    model = GRKneg(sigma=sigma, nu=nu, random_state=0).fit(X, y)
    normal, new = X[y == 1], labelled(seed=1)[0]
    oracle = OneClassSVM(kernel="precomputed", nu=nu)
    oracle.fit(kernel_of_references(model, normal, normal, sigma))
    expected = oracle.decision_function(kernel_of_references(model, new, normal, sigma))
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-3 * np.ptp(expected))


def test_references_are_the_outliers_and_rows_drawn_like_them():
    X, y = labelled(normal=4000, outliers=12)
    model = GRKneg(random_state=0).fit(X[:4012], y)
    outliers, drawn = model.references_[:12], model.references_[12:]
    np.testing.assert_array_equal(outliers, X[y == -1])
    assert drawn.shape == (4000, 3)
    np.testing.assert_allclose(drawn.mean(axis=0), outliers.mean(axis=0), atol=0.1)
    np.testing.assert_allclose(drawn.std(axis=0), outliers.std(axis=0, ddof=1), rtol=0.05)


def test_ten_outliers_make_it_better_than_a_machine_that_has_none():
    data = load_breast_cancer()
    normal, bad = data.data[data.target == 1], data.data[data.target == 0]
    shift, scale = normal[:150].mean(axis=0), normal[:150].std(axis=0)
    normal, bad = (normal - shift) / scale, (bad - shift) / scale
    train, truth = np.vstack([normal[:150], bad[:10]]), np.repeat([1, -1], [207, 202])
    new = np.vstack([normal[150:], bad[10:]])
    with_outliers = GRKneg(nu=0.1, random_state=0).fit(train, np.repeat([1, -1], [150, 10]))
    without = OneClassSVM(kernel="rbf", nu=0.1).fit(normal[:150])
    assert (
        gmean_score(truth, with_outliers.predict(new))
        > gmean_score(truth, without.predict(new)) + 0.02
    )


@pytest.mark.parametrize(
    ("outliers", "words"),
    [(0, "0 outlier.*two or more"), (1, "1 outlier.*two or more")],
)
def test_too_few_outliers_are_refused_with_what_to_take_instead(outliers, words):
    X, y = labelled(outliers=outliers)
    with pytest.raises(ValueError, match=words):
        GRKneg().fit(X, y)


def test_equal_outliers_and_no_labels_are_refused():
    X, y = labelled()
    X[y == -1] = 1.0
    with pytest.raises(ValueError, match="All outliers are the same row"):
        GRKneg().fit(X, y)
    with pytest.raises(ValueError, match="requires y to be passed"):
        GRKneg().fit(X)


def test_a_row_has_the_same_score_alone_and_among_others():
    X, y = labelled()
    model = GRKneg(random_state=0).fit(X, y)
    alone = np.concatenate([model.score_samples(X[i : i + 1]) for i in range(20)])
    np.testing.assert_array_equal(alone, model.score_samples(X)[:20])
