"""Thresholds of groups, against their definition."""

import numpy as np
import pytest

from refold.decisions.group_scales import group_scales


def by_definition(distances, groups, n_groups, alpha):
    """Try every distance as the threshold of every group, from the smallest on."""
    threshold = np.quantile(distances, 1.0 - alpha)
    share, known, out = np.mean(distances > threshold), 2.0 / alpha, np.ones(n_groups)
    for group in range(n_groups):
        own = distances[groups == group]
        for tried in [threshold, *np.sort(distances[distances > threshold])]:
            above = np.sum(own > tried) + known * np.mean(distances > tried)
            if above <= share * (len(own) + known):
                out[group] = tried / threshold
                break
    return out


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("digits", [1, 9])
def test_a_groups_threshold_is_exceeded_as_often_as_that_of_all(alpha, digits):
    rng = np.random.default_rng(0)
    groups = rng.integers(-1, 12, 900)
    distances = np.round(rng.gamma(2.0, size=900) * np.where(groups % 4 == 0, 3.0, 1.0), digits)
    found = group_scales(distances, groups, 13, alpha)
    np.testing.assert_allclose(found, by_definition(distances, groups, 13, alpha), rtol=1e-12)
    assert (found[[0, 4, 8]] > 1.0).all()
    assert found[12] == 1.0  # it has no rows
    order = rng.permutation(900)
    np.testing.assert_array_equal(found, group_scales(distances[order], groups[order], 13, alpha))


def test_of_a_large_group_its_own_rows_decide():
    rng = np.random.default_rng(1)
    groups = np.repeat([0, 1], [50_000, 5_000])
    distances = rng.exponential(size=55_000) * np.where(groups == 1, 5.0, 1.0)
    scales = group_scales(distances, groups, 2, 0.05)
    threshold = np.quantile(distances, 0.95)
    assert scales[0] == 1.0
    assert np.mean(distances[groups == 1] > scales[1] * threshold) == pytest.approx(0.05, abs=0.005)


def test_one_row_far_out_hardly_moves_the_threshold_of_a_small_group():
    distances = np.linspace(0.0, 1.0, 1000)
    distances[-1] = 1e9
    groups = np.arange(1000) // 10
    assert group_scales(distances, groups, 100, 0.05).max() < 1.06


def test_groups_alike_have_one_threshold():
    distances = np.tile(np.linspace(0.0, 1.0, 200), 5)
    scales = group_scales(distances, np.repeat(np.arange(5), 200), 5, 0.05)
    np.testing.assert_array_equal(scales, np.ones(5))
    np.testing.assert_array_equal(group_scales(np.zeros(50), np.zeros(50, int), 1, 0.05), [1.0])
