"""Orders, quantiles and edges are those that NumPy finds by sorting."""

import numpy as np
import pytest

from refold.algorithm import kernels

TIES = np.array([0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 1.7e308, -1.7e308, np.inf, -np.inf, 0.0])


def columns(rng):
    """Columns of all kinds, some without a value."""
    yield rng.normal(size=3000)
    yield np.exp(50.0 * rng.normal(size=700))
    yield rng.integers(-3, 3, size=2000) * 1.0
    yield rng.integers(0, 257, size=5000) * 1.0
    yield 1e6 + rng.normal(size=300) * 1e-9
    yield rng.choice(TIES, size=500)
    yield np.array([2.0])
    yield np.empty(0)


def test_equal_values_stay_in_their_order(rng):
    for x in columns(rng):
        np.testing.assert_array_equal(kernels.order(x), np.argsort(x, kind="stable"))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_quantiles_are_those_of_the_rows_asked_for(dtype, order, n_threads, rng):
    X = np.asarray(rng.normal(size=(900, 7)) * 100.0, dtype=dtype, order=order)
    if dtype is not np.int32:
        X[rng.random(X.shape) < 0.3] = np.nan
        X[::2, 3] = np.nan
    rows = np.arange(0, 900, 2)
    found = kernels.quantiles(X, rows, 33, n_threads)
    for column, of_column in zip(X[rows].T, found.T, strict=True):
        seen = column[~np.isnan(column)].astype(np.float64)
        shares = np.arange(33) / 32
        expected = (
            np.quantile(seen, shares, method="inverted_cdf") if len(seen) else np.full(33, np.nan)
        )
        np.testing.assert_array_equal(of_column, expected)


def counted(values, weights, rows):
    distinct, first, group = np.unique(values, return_index=True, return_inverse=True)
    return distinct, np.bincount(group, weights, len(distinct)), rows[first]


@pytest.mark.parametrize("most", [5, 256])
def test_an_edge_has_all_values_if_they_are_few_and_else_the_outermost(most, rng):
    for x in columns(rng):
        weights, rows = rng.integers(0, 4, size=len(x)) / 3.0, rng.permutation(len(x))
        x = np.where(rng.random(len(x)) < 0.1, np.nan, x)
        used = ~np.isnan(x) & (weights > 0.0)
        every = counted(x[used], weights[used], rows[used])
        found = kernels.edge(x, weights, rows, depth=5, most=most)
        few = len(every[0]) <= most
        expected = [every] if few else [[f[:5] for f in every], [f[-5:] for f in every]]
        for ours, theirs in zip(found, expected, strict=True):
            for field, other in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(field, other)
