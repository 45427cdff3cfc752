"""REF as the paper's cells use it, against Algorithm 1 written down again in plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from refold import REF
from refold.paper.data import load_task
from tests.algorithm_1 import PLAIN_FOLDS, algorithm_1


@pytest.mark.parametrize("n_iter", [101, 11])
@pytest.mark.parametrize("distance", ["l1", "l2"])
@pytest.mark.parametrize("fold", PLAIN_FOLDS)
@pytest.mark.usefixtures("data")
def test_ref_is_algorithm1(fold, distance, n_iter):
    for name in ("Iris2", "Seed3", "Son1"):
        task = load_task(name).standardized()
        model = REF(
            fold=fold, distance=distance, n_iter=n_iter, engine="reference", max_gain=None
        ).fit(task.train_target)
        with np.errstate(over="ignore"):
            folded = algorithm_1(task.train_target, task.X_test, PLAIN_FOLDS[fold], n_iter)
            order = {"l1": 1, "l2": 2}[distance]
            expected = np.linalg.norm(folded, ord=order, axis=1) / folded.shape[1]
        # Where the plain program goes to infinity, REF stays at a large number.
        ours = np.minimum(-model.score_samples(task.X_test), 1e100)
        np.testing.assert_allclose(ours, np.minimum(expected, 1e100), rtol=1e-6)
        labels = np.where(expected <= 1.0, 1, -1)
        np.testing.assert_array_equal(model.predict(task.X_test), labels)
