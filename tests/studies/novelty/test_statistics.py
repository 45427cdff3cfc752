"""Against Demšar's worked example and tables, SciPy, and counting everything."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

from refold.studies.novelty.comparison import (
    average_ranks,
    critical_difference,
    elo_ratings,
    friedman,
    groups,
    signed_rank,
)

# Table 6 of Demšar (2006): AUC of C4.5, C4.5+m, C4.5+cf, C4.5+m+cf on 14 data sets. The last
# but one has 0.975 twice in print, with ranks 2 and 3: they were not equal before rounding.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def test_ranks_of_the_example():
    np.testing.assert_allclose(average_ranks(DEMSAR), [3.143, 2.000, 2.893, 1.964], atol=5e-4)


def test_friedman_of_the_example():
    """F = 3.69 with 3 and 39 degrees of freedom."""
    assert friedman(DEMSAR) == pytest.approx(stats.f.sf(3.69, 3, 39), rel=0.01)


def test_friedman_of_one_order_everywhere():
    assert friedman(np.tile([0.9, 0.8, 0.7], (5, 1))) == 0.0


def test_friedman_against_scipy(rng):
    """Without ties SciPy's chi-square is the one that F is made of."""
    values = rng.normal(size=(20, 6)) + np.arange(6) / 4
    chi2 = stats.friedmanchisquare(*values.T).statistic
    expected = stats.f.sf(19 * chi2 / (20 * 5 - chi2), 5, 5 * 19)
    assert friedman(values) == pytest.approx(expected)


# Table 5(a) of Demšar (2006): critical values of Nemenyi's test.
@pytest.mark.parametrize(
    ("alpha", "values"),
    [
        (0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ],
)
def test_critical_values_of_the_table(alpha, values):
    for k, q in enumerate(values, start=2):
        found = critical_difference(k, 30, alpha) / np.sqrt(k * (k + 1) / (6 * 30))
        assert found == pytest.approx(q, abs=1e-3)


def test_critical_difference_grows_up_to_thirty_methods():
    found = [critical_difference(k, 21) for k in range(2, 31)]
    assert np.all(np.diff(found) > 0)
    assert np.isfinite(found).all()
    # Two methods: the normal distribution's two-sided 5 %.
    assert found[0] == pytest.approx(stats.norm.isf(0.025) * np.sqrt(1 / 21))


def test_groups_of_the_example():
    """At 5 % nothing can be told apart; at 10 %, Figure 1(a), C4.5 is worse than the best two."""
    ranks = np.sort(average_ranks(DEMSAR))
    assert groups(ranks, critical_difference(4, 14)) == [(0, 3)]
    assert groups(ranks, critical_difference(4, 14, 0.1)) == [(0, 2), (2, 3)]


@pytest.mark.parametrize(
    ("ranks", "difference", "expected"),
    [
        ([1.0, 2.0, 3.0], 0.5, []),
        ([1.0, 2.0, 3.0], 1.0, []),  # as large as the difference is significant
        ([1.0, 1.2, 1.4, 3.0, 3.1], 0.5, [(0, 2), (3, 4)]),
        ([1.0, 1.5, 2.0, 2.5], 0.8, [(0, 1), (1, 2), (2, 3)]),
    ],
)
def test_groups(ranks, difference, expected):
    assert groups(np.array(ranks), difference) == expected


class TestSignedRank:
    def test_the_example(self):
        """Demšar's Table 2: R+ = 93, R- = 12; 12 is below the critical value 21 at 5 %."""
        test = signed_rank(DEMSAR[:, 1], DEMSAR[:, 0])
        assert (test.wins, test.ties, test.losses, test.direction) == (10, 2, 2, 1)
        z = (12 - 14 * 15 / 4) / np.sqrt(14 * 15 * 29 / 24)
        assert test.p == pytest.approx(2 * stats.norm.sf(-z), rel=0.05)

    def test_against_counting_all_signs(self, rng):
        ours, theirs = rng.normal(0.4, 1.0, 9), np.zeros(9)
        ranks = stats.rankdata(np.abs(ours))
        found = np.sum(ranks[ours > 0])
        sums = np.array([np.dot(ranks, signs) for signs in product((0, 1), repeat=9)])
        tail = min(np.mean(sums >= found), np.mean(sums <= found))
        assert signed_rank(ours, theirs).p == pytest.approx(min(1.0, 2 * tail))

    def test_is_symmetric(self, rng):
        ours, theirs = rng.normal(size=(2, 12))
        one, other = signed_rank(ours, theirs), signed_rank(theirs, ours)
        assert one.p == other.p
        assert (one.wins, one.losses, one.direction) == (other.losses, other.wins, -other.direction)

    def test_all_equal(self):
        assert signed_rank(np.ones(5), np.ones(5)) == (0, 5, 0, 0, 1.0)

    def test_rounding_is_no_difference(self):
        assert signed_rank(np.array([0.1 + 0.2]), np.array([0.3])).ties == 1

    def test_one_set(self):
        assert signed_rank(np.array([0.9]), np.array([0.3])) == (1, 0, 0, 1, 1.0)


def test_elo_ratings_are_those_of_a_logistic_regression():
    """Bradley and Terry's model is one, with +1 for the one that wins and -1 for the other."""
    means = np.array([0.8, 0.3, 0.0, -0.5])
    values = np.round(np.random.default_rng(0).normal(means, size=(60, 4)), 1)

    def loss(strength):
        difference = strength[:, None] - strength[None, :]
        points = [(row[:, None] > row) + 0.5 * (row[:, None] == row) for row in values]
        return np.sum(np.sum(points, axis=0) * np.logaddexp(0.0, -difference))

    log_strength = minimize(loss, np.zeros(4), tol=1e-12).x
    expected = 1000 + 400 * (log_strength - log_strength.mean()) / np.log(10)
    np.testing.assert_allclose(elo_ratings(values), expected, atol=0.01)


def test_elo_of_two_is_the_odds():
    values = np.array([[1.0, 0.0]] * 3 + [[0.0, 1.0]])  # three games to one
    first, second = elo_ratings(values)
    assert first - second == pytest.approx(400 * np.log10(3.0))
    assert first + second == pytest.approx(2000.0)


def test_no_elo_where_one_always_wins():
    assert elo_ratings(np.array([[1.0, 0.5, 0.4], [1.0, 0.2, 0.3]])) is None
