"""Where a sketch begins to widen its bins, and what may be taken out of it."""

import dataclasses

import numpy as np
import pytest

from refold.algorithm.engines.sketch import GrowingSketch, Sketch
from refold.base.errors import TableError
from tests.conftest import assert_same_histogram


@pytest.mark.parametrize("rows", [16, 17])
@pytest.mark.parametrize("first", [1, 8, 15])
def test_as_many_rows_as_bins_keep_the_narrow_ones_however_they_come(rows, first, rng):
    X = rng.standard_cauchy(size=(rows, 3))
    X[:, 2] = np.arange(rows) ** 9.0
    whole = Sketch.of(X, n_bins=16)
    parts = Sketch.of(X[:first], n_bins=16).plus(Sketch.of(X[first:], n_bins=16))
    growing = GrowingSketch(3, 16)
    for part in (X[:first], X[first:]):
        growing.add(part.T)
    for a, b, c in zip(
        whole.histograms, parts.histograms, growing.sketch().histograms, strict=True
    ):
        assert_same_histogram(a, b)
        assert_same_histogram(a, c)
        if rows == 16:
            np.testing.assert_array_equal(a.centroids()[1], np.ones(16))
        else:
            assert a.bins[-1] - a.bins[0] < 17


def test_wider_bins_have_the_same_rows_at_the_same_places(rng):
    (one,) = Sketch.of(rng.normal(size=(500, 1))).histograms
    assert one.coarsened(one.exponent).bins is one.bins
    for by in (1, 3, 70):
        wide = one.coarsened(one.exponent + by)
        np.testing.assert_array_equal(
            wide.bins, np.unique(np.floor(one.bins / 2.0**by).astype(int))
        )
        assert wide.counts.sum() == 500.0
        assert (wide.low, wide.high, wide.rows, wide.missing) == (one.low, one.high, 500, 0.0)
        mean = [(values * counts).sum() for values, counts in (one.centroids(), wide.centroids())]
        assert mean[1] == pytest.approx(mean[0], abs=1e-6 * 2.0 ** max(wide.exponent, 0))


def test_what_was_not_counted_in_is_not_taken_out(rng):
    X = np.column_stack([np.arange(40.0), np.where(np.arange(40) < 10, np.nan, 5.0)])
    whole, part = Sketch.of(X), Sketch.of(X[:20])
    rest = whole.minus(part)
    assert (rest.rows, rest.weight) == (20, 20.0)
    assert [h.rows for h in rest.histograms] == [20, 20]
    assert [h.missing for h in rest.histograms] == [0.0, 0.0]
    assert [h.rows for h in whole.minus(whole).histograms] == [0, 0]
    wrong = [
        part.minus,  # more rows of a value than there are
        lambda _: whole.minus(Sketch.of(np.array([[3.5, 5.0]]))),  # a value that never came
        lambda _: whole.minus(Sketch.of(np.array([[99.0, 5.0]]))),
        lambda _: rest.minus(Sketch.of(np.array([[30.0, np.nan]]))),  # a gap that never was
    ]
    for column, take in zip((0, 0, 0, 1), wrong, strict=True):
        with pytest.raises(TableError) as error:
            take(whole)
        assert error.value.column == column
    several = dataclasses.replace(part.histograms[0], rows=41)
    with pytest.raises(TableError):
        whole.histograms[0].minus(several, 0)
