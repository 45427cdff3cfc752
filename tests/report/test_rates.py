"""How sure a number of rejected rows is, against SciPy's and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from refold.decisions.thresholds import Calibration
from refold.report._rates import expected_of, interval_of_rate


@pytest.mark.parametrize(("rejected", "rows"), [(0, 1), (1, 1), (0, 50), (7, 50), (50, 50)])
def test_the_interval_of_a_rate_is_the_exact_one(rejected, rows):
    theirs = stats.binomtest(rejected, rows).proportion_ci(0.95, method="exact")
    assert interval_of_rate(rejected, rows) == pytest.approx((theirs.low, theirs.high))


class Model:
    def __init__(self, scores, alpha):
        self.calibration_ = Calibration.of(scores, None, "held-out")
        self.threshold_ = self.calibration_.threshold(alpha)


@pytest.mark.parametrize(("calibrated_on", "rows"), [(99, 1), (199, 1000), (5000, 37)])
def test_the_expected_number_is_beta_binomial(calibrated_on, rows):
    expected = expected_of(Model(np.arange(calibrated_on) + 0.5, 0.05), rows)
    above = int((calibrated_on + 1) * 0.05) - 1
    law = stats.betabinom(rows, above + 1, calibrated_on - above)
    assert expected.rate == pytest.approx((above + 1) / (calibrated_on + 1))
    assert expected.rows == pytest.approx(law.mean())
    assert expected.interval == (law.ppf(0.025), law.ppf(0.975))


def test_nineteen_in_twenty_tables_of_normal_rows_are_inside():
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(1000):
        model = Model(rng.normal(size=199), 0.1)
        low, high = expected_of(model, 300).interval
        inside += low <= np.count_nonzero(rng.normal(size=300) > model.threshold_) <= high
    assert 0.935 <= inside / 1000 <= 0.985


def test_a_tuned_threshold_below_all_distances_rejects_everything():
    model = Model(np.arange(1.0, 100.0), 0.05)
    model.threshold_ = 0.0
    assert expected_of(model, 40).interval == (40, 40)


def test_nothing_is_expected_without_calibration():
    assert expected_of(object(), 40) is None
