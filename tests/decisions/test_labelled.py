"""Thresholds that are tried, against all there are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator

from refold.decisions.labelled import _one_by_one, best_threshold, candidates, gmean_score
from refold.decisions.thresholds import Calibration, DecisionMixin


@st.composite
def labelled(draw):
    rows = st.tuples(st.integers(0, 9).map(float), st.sampled_from([1, -1]))
    distances, signs = zip(*draw(st.lists(rows, min_size=1, max_size=25)), strict=True)
    return np.array([*distances, draw(st.integers(0, 9))]), np.array([*signs, -1])


def one_by_one(distances, signs, halfway):
    """The oracle: every distance with a normal row that has an outlier, or nothing, beyond it."""
    found = []
    for here in sorted(set(distances)):
        beyond = min((d for d in distances if d > here), default=None)
        if not (signs[distances == here] == 1).any():
            continue
        if beyond is None or (signs[distances == beyond] == -1).any():
            found.append(here if beyond is None or not halfway else (here + beyond) / 2)
    return found


@given(labelled(), st.booleans())
def test_they_lie_between_a_normal_row_and_an_outlier_beyond_it(rows, halfway):
    found = candidates(*rows, halfway=halfway)
    assert found.tolist() == one_by_one(*rows, halfway)


@given(labelled())
def test_no_threshold_at_all_is_better_and_of_equals_it_is_the_lowest(rows):
    distances, signs = rows
    if (signs == -1).all():
        return

    def gmean(t):
        return gmean_score(signs, np.where(distances <= t, 1, -1))

    best = best_threshold(distances, signs, "gmean")
    assert gmean(best) == max(gmean(t) for t in np.arange(0.0, 10.5, 0.5))
    tried = candidates(distances, signs)
    assert best == min(t for t in tried if gmean(t) == gmean(best))


def test_between_neighbouring_doubles_it_is_the_normal_row():
    here = 1.0
    distances = np.array([here, np.nextafter(here, 2.0)])
    assert candidates(distances, np.array([1, -1])).tolist() == [here]


class Kept(DecisionMixin, BaseEstimator):
    """A model whose distances are its rows, with rows that it has kept."""

    def __init__(self, outliers=()):
        self.outliers = outliers

    def fit(self, X):
        self._decide_by(Calibration.of(X, None, "held-out"), 0.25)
        return self

    def _labelled(self):
        normal = self.calibration_.scores
        signs = np.repeat([1, -1], [len(normal), len(self.outliers)])
        weights = np.r_[self.calibration_.weights, np.ones(len(self.outliers))]
        return np.r_[normal, self.outliers], signs, weights


@pytest.mark.parametrize(("outlier", "threshold"), [(2.5, 2.0), (5.5, 5.0), (6.5, 5.0), (9.0, 5.0)])
def test_met_outliers_lower_the_threshold_or_leave_it_and_its_rate(outlier, threshold):
    model = Kept([outlier]).fit(np.arange(7.0))
    assert model.threshold_ == 5.0
    model.tune_threshold()
    lowered = threshold < 5.0
    assert (model.threshold_, model.alpha_) == (threshold, None if lowered else 0.25)


def test_a_row_that_counts_for_less_than_one_is_still_shown_to_a_metric_of_ones_own():
    assert _one_by_one(np.array([0.5, 2.0, 1.0])).tolist() == [0, 1, 1, 2]
    assert len(_one_by_one(np.array([100_000.0]))) == 100_000
    with pytest.raises(ValueError, match="100,001 rows, too many"):
        _one_by_one(np.array([100_001.0]))
