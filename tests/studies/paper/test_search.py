"""Searches that share work find what scikit-learn's own search finds, point for point."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from refold.studies.paper.columns import COLUMNS
from refold.studies.paper.data import load_task
from refold.studies.paper.search import PointGrid, ProjectedGrid, RejectionGrid

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
PROJECTED = ProjectedGrid(
    (1e-4, 0.1), tuple({"C": c, "n_components": d} for c in (0.05, 0.2) for d in (2, 10, 20))
)
REJECTED = RejectionGrid(
    tuple({"gamma": g, "reg": r} for g in (0.01, 0.1) for r in (1.0, 1e4)), (0.05, 0.2)
)


@pytest.mark.parametrize(
    ("column", "grid"), [("SSVDD", PROJECTED), ("OCKELM", REJECTED), ("AAKELM", REJECTED)]
)
@pytest.mark.usefixtures("paper_data")
def test_shared_search_is_a_grid_search(column, grid):
    task = load_task("Bank1", split=2).standardized()
    estimator = clone(COLUMNS[column].estimator)
    shared = grid(estimator, FOLDS).fit(task.X_train, task.y_train)
    train, test = next(iter(FOLDS.split(task.X_train, task.y_train)))
    target = task.X_train[train][task.y_train[train] == 1]
    fold = task.X_train[test], task.y_train[test]
    points = tuple(point for point, _ in grid.scores(clone(estimator), target, *fold))
    plain = PointGrid(points)(estimator, FOLDS).fit(task.X_train, task.y_train)
    names = {f"estimator__{name}": value for name, value in shared.best_params_.items()}
    assert names == plain.best_params_
    np.testing.assert_array_equal(shared.predict(task.X_test), plain.predict(task.X_test))
