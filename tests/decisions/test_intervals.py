"""Intervals of shares, against SciPy's exact test."""

import pytest
from scipy.stats import binomtest

from refold.decisions.intervals import interval_of_rate


@pytest.mark.parametrize(
    ("count", "rows"), [(0, 1), (1, 1), (0, 40), (1, 40), (17, 40), (39, 40), (40, 40), (5, 10_000)]
)
def test_an_interval_is_that_of_the_exact_binomial_test(count, rows):
    expected = binomtest(count, rows).proportion_ci(0.95, method="exact")
    assert interval_of_rate(count, rows) == pytest.approx(tuple(expected), abs=1e-9)
