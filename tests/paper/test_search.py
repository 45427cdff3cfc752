"""Searches that share work find what scikit-learn's own search finds, point for point."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from refold.paper.data import load_task
from refold.paper.registry import COLUMNS
from refold.paper.search import PointGrid, ProjectedGrid, RejectionGrid

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
PROJECTED = ProjectedGrid(
    (1e-4, 0.1), [{"C": c, "n_components": d} for c in (0.05, 0.2) for d in (2, 10, 20)]
)
REJECTED = RejectionGrid(
    [{"gamma": g, "reg": r} for g in (0.01, 0.1) for r in (1.0, 1e4)], (0.05, 0.2)
)


@pytest.mark.parametrize(
    ("column", "grid"), [("SSVDD", PROJECTED), ("OCKELM", REJECTED), ("AAKELM", REJECTED)]
)
@pytest.mark.usefixtures("data")
def test_shared_search_is_a_grid_search(column, grid):
    task = load_task("Bank1", split=2).standardized()
    estimator = clone(COLUMNS[column].estimator)
    shared = grid(estimator, FOLDS).fit(task.X_train, task.y_train)
    train, test = next(iter(FOLDS.split(task.X_train, task.y_train)))
    target = task.X_train[train][task.y_train[train] == 1]
    points = [
        point for point, _ in shared.fold_scores(target, task.X_train[test], task.y_train[test])
    ]
    plain = PointGrid(points)(estimator, FOLDS).fit(task.X_train, task.y_train)
    names = {f"estimator__{name}": value for name, value in shared.best_params_.items()}
    assert names == plain.best_params_
    np.testing.assert_array_equal(shared.predict(task.X_test), plain.predict(task.X_test))
