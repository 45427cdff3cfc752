"""REF as the paper's cells use it, against Algorithm 1 written down again in plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from refold import REF
from refold.paper.data import load_task

FOLDS = {
    "abs": np.abs,
    "sqr": np.square,
    "cos-abs": lambda x: np.where(np.abs(x) <= 1.0, np.cos(x), np.abs(x)),
    "cos": np.cos,
    "sin": np.sin,
    "tanh": np.tanh,
}


def algorithm1(X, Y, fold, distance, n_iter):
    """Train on X and return the distances of Y to the origin, line by line as printed."""
    for i in range(n_iter):
        if i > 0:
            X, Y = fold(X), fold(Y)
        mu, sigma = X.mean(axis=0), X.std(axis=0, ddof=1)
        sigma[sigma < 1e-3] = 1e-3
        X, Y = (X - mu) / sigma, (Y - mu) / sigma
    order = {"l1": 1, "l2": 2}[distance]
    return np.linalg.norm(Y, ord=order, axis=1) / Y.shape[1]


@pytest.mark.parametrize("n_iter", [101, 11])
@pytest.mark.parametrize("distance", ["l1", "l2"])
@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.usefixtures("data")
def test_ref_is_algorithm1(fold, distance, n_iter):
    for name in ("Iris2", "Seed3", "Son1"):
        task = load_task(name).standardized()
        model = REF(
            fold=fold, distance=distance, n_iter=n_iter, engine="reference", max_gain=None
        ).fit(task.train_target)
        with np.errstate(over="ignore"):
            expected = algorithm1(task.train_target, task.X_test, FOLDS[fold], distance, n_iter)
        # Where the plain program goes to infinity, REF stays at a large number.
        ours = np.minimum(-model.score_samples(task.X_test), 1e100)
        np.testing.assert_allclose(ours, np.minimum(expected, 1e100), rtol=1e-6)
        labels = np.where(expected <= 1.0, 1, -1)
        np.testing.assert_array_equal(model.predict(task.X_test), labels)
