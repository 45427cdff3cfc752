"""What the tests of files, Dask and Spark share."""

import numpy as np
import pytest

from tests.conftest import assert_same_histogram

NAMES = ["heat", "flow", "count", "level"]


@pytest.fixture
def in_parts(monkeypatch):
    """Small tables are learned as large ones are: some rows held out, counted block by block."""
    monkeypatch.setattr("refold.models.parts.learner.HELD_OUT", 500)
    monkeypatch.setattr("refold.scale.blocks._MOST", 333)


@pytest.fixture
def rows(rng):
    """5,000 rows: two kinds of floats, small integers, and holes."""
    X = np.column_stack(
        [
            rng.normal(size=5000),
            rng.lognormal(size=5000),
            rng.integers(0, 9, size=5000),
            rng.uniform(-1e6, 1e6, size=5000),
        ]
    )
    X[rng.random(X.shape) < 0.03] = np.nan
    return X


@pytest.fixture
def names():
    return list(NAMES)


@pytest.fixture
def assert_same_model():
    """Same bins and counts, bit for bit; same chain up to rounding; same labels."""

    def check(model, expected, X):
        ours, theirs = model.sketch_, expected.sketch_
        assert (ours.rows, ours.weight) == (theirs.rows, theirs.weight)
        for a, b in zip(ours.histograms, theirs.histograms, strict=True):
            assert_same_histogram(a, b)
        labels = [np.where(-m.score_samples(X) <= m.threshold_, 1, -1) for m in (model, expected)]
        np.testing.assert_array_equal(*labels)

    return check
