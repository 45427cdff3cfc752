"""Of what is reported, few are false alarms."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from refold import REF, select


@given(st.lists(st.integers(1, 200), min_size=1, max_size=80), st.floats(0.01, 0.99))
def test_is_the_benjamini_hochberg_procedure(hundredths, fdr):
    p = np.array(hundredths) / 200.0
    adjusted = false_discovery_control(p, method="bh")
    clear = np.abs(adjusted - fdr) > 1e-9
    np.testing.assert_array_equal(select(p, fdr)[clear], (adjusted <= fdr)[clear])


def test_a_share_that_is_just_met_counts_in_spite_of_rounding():
    for tests in range(1, 200):
        for rank in range(1, tests + 1, 7):
            p = np.ones(tests)
            p[:rank] = (rank * 1.0) / (tests * 10.0)
            assert select(p, 0.1).sum() == rank


@pytest.mark.slow
@pytest.mark.parametrize("levels", ["last", "all"])
@pytest.mark.parametrize("fdr", [0.1, 0.3])
def test_the_share_of_false_alarms_is_at_most_the_nominal_one(fdr, levels):
    rng = np.random.default_rng(7)
    false, power = [], []
    for _ in range(200):
        X = rng.exponential(size=(1200, 4))
        model = REF(n_jobs=1, levels=levels).fit(X[:600]).calibrate(X[600:], alpha=0.1)
        new = np.r_[rng.exponential(size=(180, 4)), 6.0 + 3.0 * rng.exponential(size=(20, 4))]
        reported = select(model.p_values(new), fdr)
        false.append(reported[:180].sum() / max(reported.sum(), 1))
        power.append(reported[180:].mean())
    assert np.mean(false) <= fdr + 2 * np.std(false, ddof=1) / np.sqrt(200)
    assert np.mean(power) > 0.5  # otherwise nothing is shown


def test_nothing_in_nothing_out():
    assert select([]).shape == (0,)
    assert select([]).dtype == bool
    np.testing.assert_array_equal(select([0.5, 0.9, 1.0]), [False] * 3)


def test_takes_what_holds_numbers():
    for p in ([1, 0, 1], pd.Series([0.9, 0.001, 0.8], index=[5, 6, 7]), np.float32([1, 0.01, 1])):
        np.testing.assert_array_equal(select(p), [False, True, False])


@pytest.mark.parametrize(
    ("p", "problem"),
    [
        ([0.1, np.nan], r"p\[1\] is nan, not a p-value"),
        ([0.1, 0.2, 1.5], r"p\[2\] is 1.5"),
        ([-0.1], r"p\[0\] is -0.1"),
        ([[0.1, 0.2]], r"shape is \(1, 2\)"),
        (0.1, r"shape is \(\)"),
        (["0.1"], "holds <U3"),
        ([True, False], "holds bool"),
    ],
)
def test_refuses_what_is_no_p_value(p, problem):
    with pytest.raises(ValueError, match=problem):
        select(p)


@pytest.mark.parametrize("fdr", [0, 1, -0.2, 2, np.nan, True, "0.1", None])
def test_refuses_what_is_no_rate(fdr):
    with pytest.raises(ValueError, match=r"fdr=.* is not a rate"):
        select([0.1], fdr)
