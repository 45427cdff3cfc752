from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy import stats

from refold.monitoring.statistics import holm, same_distribution, same_share, share_not_larger


@pytest.mark.parametrize(
    ("n", "m"), [(1, 1), (1, 2), (1, 3), (2, 3), (3, 3), (4, 4), (3, 9), (6, 6)]
)
def test_the_chance_of_a_distance_is_never_understated_for_few_rows(n, m):
    # All ways to mix two samples are equally likely: this is the distribution itself.
    mixed = np.zeros((comb(n + m, n), n + m), dtype=bool)
    for row, places in enumerate(combinations(range(n + m), n)):
        mixed[row, list(places)] = True
    distances = np.abs(mixed.cumsum(axis=1) / n - (~mixed).cumsum(axis=1) / m).max(axis=1)
    for distance in np.unique(distances):
        exact = np.mean(distances >= distance - 1e-12)
        assert same_distribution(distance, n, m) >= exact * (1 - 1e-9)


def test_the_chance_of_a_distance_is_close_to_the_limit_distribution_for_many_rows():
    n, m, distance = 5000, 8000, np.array([0.03, 0.04, 0.05])
    limit = stats.kstwobign.sf(distance * np.sqrt(n * m / (n + m)))
    ratio = same_distribution(distance, n, m) / limit
    assert (ratio > 1.0).all()
    assert (ratio < 1.4).all()


def test_fishers_test_is_bounded_from_above_and_tight(rng):
    for _ in range(300):
        n, m = map(int, rng.integers(1, 300, 2))
        x, y = int(rng.binomial(n, rng.random() ** 3)), int(rng.binomial(m, rng.random() ** 3))
        tail = sum(comb(n, i) * comb(m, x + y - i) for i in range(x, min(n, x + y) + 1))
        exact = float(Fraction(tail, comb(n + m, x + y)))
        bound = share_not_larger(x, n, y, m)
        assert bound >= exact * (1 - 1e-9)
        if exact < 0.01:
            assert bound <= 1.2 * exact


def test_both_directions_of_a_share_are_seen():
    assert same_share(30, 100, 5, 100) < 1e-4
    assert same_share(5, 100, 30, 100) == pytest.approx(float(same_share(30, 100, 5, 100)))
    assert same_share(0, 100, 0, 100) == 1.0
    assert same_share(100, 100, 100, 100) == 1.0
    assert same_share(0, 1, 10, 100) == 1.0


def test_a_billion_rows_are_as_easy_as_a_hundred():
    normal = 2 * stats.norm.sf(6_000 / np.sqrt(2_006_000))
    assert 1.0 < same_share(10**6, 10**9, 10**6 + 6_000, 10**9) / normal < 1.1
    assert same_distribution(1e-3, 10**9, 10**9) < 1e-100


def test_holm_multiplies_and_keeps_the_order():
    adjusted = holm(np.array([0.01, 0.04, 0.03, 0.005, 0.9]))
    np.testing.assert_allclose(adjusted, [0.04, 0.09, 0.09, 0.025, 0.9])


def test_holm_is_never_above_one_nor_below_a_smaller_p_value():
    by_hand = [0.03, 0.06, 0.06, 0.02]  # 3 × 0.01, at least 2 × 0.03, 2 × 0.03, 4 × 0.005
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx(by_hand)
    assert holm(np.array([0.9, 0.8])).tolist() == [1.0, 1.0]
    assert holm(np.empty(0)).tolist() == []
