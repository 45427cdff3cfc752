"""Leaving parts out in one go gives, to the bit, what learning without each of them gives."""

import numpy as np
import pytest

from refold.algorithm.engines import exact
from refold.algorithm.folds import FOLDS
from refold.base.errors import TableError


def one_by_one(X, parts, kind, *, path, **recipe):
    out = np.empty(len(X))
    for number in range(parts):
        part = np.arange(number, len(X), parts)
        chain = exact.learn(np.delete(X, part, axis=0), None, **recipe)
        out[part] = exact.distances(chain, X[part], kind, path=path)
    return out


@pytest.mark.parametrize(("kind", "path"), [("l1", True), ("l1", False), ("l2", False)])
@pytest.mark.parametrize("fold", FOLDS)
def test_distances_are_those_to_chains_of_the_other_rows(fold, kind, path, rng):
    X = rng.standard_t(4, size=(67, 5)) * [1.0, 1e-200, 1e200, 1.0, 3.0]
    X[:, 3] = rng.integers(0, 3, size=67)
    recipe = {"n_iter": 20, "fold": fold, "max_gain": 1e6}
    for parts in (2, 5, 67):
        ours = exact.leave_one_out(X, parts, kind, path=path, **recipe)
        np.testing.assert_array_equal(ours, one_by_one(X, parts, kind, path=path, **recipe))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("rows", [150, 9000])
def test_gaps_types_layouts_and_threads_change_nothing(dtype, order, rows, rng):
    X = rng.normal(size=(rows, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 0] = 1.0
    X = np.asarray(X, dtype=dtype, order=order)
    recipe = {"n_iter": 30, "fold": "abs", "max_gain": 1e6}
    expected = one_by_one(X, 11, "l1", path=True, **recipe)
    for n_jobs in (1, 2, 3):
        ours = exact.leave_one_out(X, 11, "l1", path=True, n_jobs=n_jobs, **recipe)
        np.testing.assert_array_equal(ours, expected)


def test_a_row_without_any_value_has_no_distance(rng):
    X = rng.normal(size=(30, 2))
    X[4] = np.nan
    found = exact.leave_one_out(X, 30, "l1", path=True, n_iter=5, fold="abs", max_gain=1e6)
    np.testing.assert_array_equal(np.isnan(found), np.arange(30) == 4)


def test_the_column_that_only_a_part_has_is_named(rng):
    X = rng.normal(size=(30, 3))
    X[:, 2] = np.nan
    X[[5, 15, 25], 2] = 1.0, 2.0, 3.0
    recipe = {"n_iter": 5, "fold": "abs", "max_gain": 1e6}
    with pytest.raises(TableError) as error:
        exact.leave_one_out(X, 10, "l1", path=True, **recipe)
    assert error.value.column == 2


@pytest.mark.parametrize(
    "wrong", [{"parts": 1}, {"parts": 31}, {"distance": "l2"}, {"n_iter": 0}, {"n_threads": 0}]
)
def test_arguments_out_of_range_are_refused(wrong, rng):
    from refold.algorithm import kernels

    right = {"parts": 3, "n_iter": 5, "max_gain": 1e6, "distance": "l1", "n_threads": 1}
    with pytest.raises(ValueError, match=r"must|no sum"):
        kernels.leave_one_out(rng.normal(size=(30, 3)), fold="abs", path=True, **(right | wrong))
