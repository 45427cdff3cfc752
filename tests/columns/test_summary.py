"""What a model remembers of its training rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from refold import REF
from refold.columns.summary import N_QUANTILES, SAMPLED_ROWS, Summary, decimals_of

SHARES = np.linspace(0.0, 1.0, N_QUANTILES)


@given(
    hnp.arrays(float, st.tuples(st.integers(2, 60), st.integers(1, 3)), elements=st.floats(-9, 9))
)
def test_quantiles_are_those_of_the_inverted_distribution_function(X):
    expected = np.quantile(X, SHARES, axis=0, method="inverted_cdf")
    np.testing.assert_array_equal(Summary.of(X, None).quantiles, expected)


def test_a_weight_counts_as_often_as_it_says(rng):
    X, weights = rng.normal(size=(200, 3)), rng.integers(0, 4, size=200)
    X[rng.random(X.shape) < 0.1] = np.nan
    a, b = Summary.of(X, weights.astype(float)), Summary.of(np.repeat(X, weights, axis=0), None)
    assert a.weight == b.weight
    for field in ("missing", "low", "high", "quantiles"):
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field))


@pytest.mark.parametrize("order", ["C", "F"])
def test_range_and_missing_values_are_those_of_all_rows_and_quantiles_of_a_sample(rng, order):
    X = np.asarray(rng.normal(size=(30_000, 3)), order=order)
    X[::7, 1] = np.nan
    X[12_345, 2] = 99.0
    summary = REF().fit(X).summary_
    np.testing.assert_array_equal(summary.low, np.nanmin(X, axis=0))
    np.testing.assert_array_equal(summary.high, np.nanmax(X, axis=0))
    np.testing.assert_array_equal(summary.missing, np.isnan(X).sum(axis=0))
    assert (summary.rows, summary.sampled) == (30_000, SAMPLED_ROWS)
    at_most = (X[:, None, :] <= summary.quantiles[None, ::8]).sum(axis=0)
    share = at_most / (~np.isnan(X)).sum(axis=0)
    assert np.abs(share - SHARES[::8, None]).max() < 0.02


@pytest.mark.parametrize("rows", [500, 50_000])
def test_a_sketch_gives_the_same_quantiles_within_its_resolution(rng, rows):
    X = rng.normal(size=(rows, 2))
    X[::5, 1] = np.nan
    summary = REF(engine="sketch").fit(X).summary_
    expected = np.nanquantile(X, SHARES, axis=0, method="inverted_cdf")
    assert (np.abs(summary.quantiles - expected) <= np.maximum(summary.resolution, 1e-12)).all()
    assert (summary.resolution < 2 * np.nanmax(np.abs(X)) / 4096).all()
    np.testing.assert_array_equal(summary.missing, np.isnan(X).sum(axis=0))


def test_the_summary_follows_what_is_learned_and_forgotten(rng):
    X = rng.normal(size=(300, 2))
    model = REF(engine="sketch").partial_fit(X[:200]).partial_fit(X[200:])
    np.testing.assert_allclose(model.summary_.quantiles, Summary.of(X, None).quantiles)
    assert model.forget(X[:200]).summary_.rows == 100


def test_a_column_whose_values_the_sample_misses_is_still_described():
    X = np.full((20_000, 2), np.nan)
    X[:, 0] = np.arange(20_000)
    X[3, 1], X[5, 1] = 1.0, 2.0
    summary = Summary.of(X, None)
    assert (summary.low[1], summary.high[1]) == (1.0, 2.0)
    assert np.isfinite(summary.quantiles).all()


def test_the_resolution_is_the_width_of_the_bins_even_for_few_rows(rng):
    X = rng.normal(size=(20_000, 1))
    model = REF(engine="sketch").fit(X).forget(X[1_000:])
    summary = model.summary_
    expected = np.nanquantile(X[:1_000], SHARES[1:-1], axis=0, method="inverted_cdf")
    off = np.abs(summary.quantiles[1:-1] - expected).max()
    assert 0.0 < off <= summary.resolution[0]
    few = REF(engine="sketch").fit([[0.1], [1000.3], [0.1], [0.1]]).summary_
    assert np.abs(few.quantiles[10, 0] - 0.1) <= few.resolution[0]


@pytest.mark.parametrize(
    ("values", "decimals"),
    [
        ([1.0, 20.0], 0),
        ([1.5, 20.0], 1),
        ([1.125, 20.0], 3),
        ([1.0625, 20.0], None),
        ([50.0625, 50.125], 4),  # they differ by little beside their size
        ([50.000001, 50.000003], 6),
        ([50.0000001, 50.0000003], None),
        ([5.0625, 5.0625], None),
        ([1.5] * 99 + [1.0625], 1),
        ([1.5] * 98 + [1.0625, 1.03125], None),
        ([np.nan, 1.5, np.inf], 1),
    ],
)
def test_how_many_decimals_a_column_has(values, decimals):
    assert decimals_of(np.array(values)) == decimals
