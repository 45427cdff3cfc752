"""How sure a number of rejected rows is, against SciPy's and by simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from refold.decisions.intervals import interval_of_rate
from refold.decisions.thresholds import Calibration
from refold.judgement import Judge
from refold.report._report_counts import expected_of


@pytest.mark.parametrize(("rejected", "rows"), [(0, 1), (1, 1), (0, 50), (7, 50), (50, 50)])
def test_the_interval_of_a_rate_is_the_exact_one(rejected, rows):
    low, high = interval_of_rate(rejected, rows)
    # Were the rate at an end, so many rejected rows, or more (fewer), would be a chance of 2.5 %.
    assert stats.binom.sf(rejected - 1, rows, low) == pytest.approx(0.025 if rejected else 1.0)
    assert stats.binom.cdf(rejected, rows, high) == pytest.approx(0.025 if rejected < rows else 1.0)


def judge(scores, alpha):
    calibration = Calibration.of(scores, None, "held-out")
    return Judge(None, (), calibration.threshold(alpha), alpha, calibration)


@pytest.mark.parametrize(("calibrated_on", "rows"), [(99, 1), (199, 1000), (5000, 37)])
def test_the_expected_number_is_beta_binomial(calibrated_on, rows):
    expected = expected_of(judge(np.arange(calibrated_on) + 0.5, 0.05), rows)
    above = int((calibrated_on + 1) * 0.05) - 1
    # A rate that is Beta(above + 1, ...) behind a binomial count.
    rates = stats.beta(above + 1, calibrated_on - above).ppf((np.arange(20_000) + 0.5) / 20_000)
    assert expected.rate == pytest.approx((above + 1) / (calibrated_on + 1))
    low, high = expected.interval
    up_to = [stats.binom.cdf(k, rows, rates).mean() for k in (low - 1, low, high - 1, high)]
    assert up_to[0] < 0.025 <= up_to[1] + 1e-4
    assert up_to[2] < 0.975 <= up_to[3] + 1e-4


@pytest.mark.parametrize("rows", [100_001, 20_000_000])
@pytest.mark.parametrize(("calibrated_on", "alpha"), [(199, 0.05), (20_000, 0.001)])
def test_the_expected_number_of_very_many_rows_is_nearly_beta_binomial(calibrated_on, alpha, rows):
    expected = expected_of(judge(np.arange(calibrated_on) + 0.5, alpha), rows)
    above = int((calibrated_on + 1) * alpha) - 1
    rates = stats.beta(above + 1, calibrated_on - above).ppf((np.arange(20_000) + 0.5) / 20_000)
    up_to = [stats.binom.cdf(k, rows, rates).mean() for k in expected.interval]
    assert up_to == pytest.approx([0.025, 0.975], abs=0.002)


@pytest.mark.parametrize("rows", [20, 35, 300, 500])
@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.234])
@pytest.mark.parametrize("zeros", [0.0, 0.8])
def test_a_rate_that_was_interpolated_is_the_one_asked_for(rows, alpha, zeros):
    rng = np.random.default_rng(rows)
    scores = rng.lognormal(size=rows)
    scores[: int(zeros * rows)] = 0.0
    calibration = Calibration.of(scores, None, "leave-one-out")
    threshold = calibration.threshold(alpha)
    expected = expected_of(Judge(None, (), threshold, alpha, calibration), 1000)
    assert threshold > 0.0 or zeros
    if threshold > 0.0:  # else all zeros are rejected, or none
        assert expected.rate == pytest.approx(alpha, rel=1e-9)


def test_nineteen_in_twenty_tables_of_normal_rows_are_inside():
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(1000):
        model = judge(rng.normal(size=199), 0.1)
        low, high = expected_of(model, 300).interval
        inside += low <= np.count_nonzero(rng.normal(size=300) > model.threshold) <= high
    assert 0.935 <= inside / 1000 <= 0.985


def test_a_tuned_threshold_below_all_distances_rejects_everything():
    model = replace(judge(np.arange(1.0, 100.0), 0.05), threshold=0.0)
    assert expected_of(model, 40).interval == (40, 40)


def test_nothing_is_expected_without_calibration():
    assert expected_of(Judge(None, (), 1.0, None, None), 40) is None
