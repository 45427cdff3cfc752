"""What a distance is made of: the leverage, the box, and what lies beyond zero."""

import numpy as np
import pytest

from refold import CreasedREF
from refold.algorithm import kernels
from refold.models.creased.scoring import _median
from tests.models.creased import oracle


@pytest.fixture
def rows(rng):
    """Columns of both signs and of one: positive, negative."""
    return np.column_stack(
        [rng.normal(size=300), rng.exponential(size=300), -rng.lognormal(size=300)]
    )


def test_the_median_of_weighted_values_is_that_of_repeated_ones(rng):
    for n in range(1, 40):
        values = rng.integers(0, 9, n).astype(float)
        weights = rng.integers(1, 4, n)
        whole = np.repeat(values, weights)
        expected = np.quantile(whole, 0.5, method="inverted_cdf")
        assert _median(values, weights.astype(float)) == expected
        assert _median(values, weights * 0.1) == expected  # also if sums round


@pytest.mark.parametrize("gain", [0.0, 0.5, 10.0])
def test_a_distance_is_the_leverage_and_what_lies_outside(gain, rows, rng):
    model = CreasedREF(n_creases=20, box=gain).fit(rows)
    scoring, new = model.scoring_, rng.normal(size=(200, 3)) * 3.0
    assert (scoring.box is None) == (gain == 0.0)
    form = scoring.leverage.form(scoring.creases)
    leverage = kernels.leverages(scoring.creases.map, form, new, 1)
    outside = scoring.outside(new)
    whole = (leverage / scoring.typical + outside.sum(axis=1)) / scoring.unit
    np.testing.assert_allclose(scoring.distances(new), whole, rtol=1e-9)
    np.testing.assert_allclose(-model.score_samples(new), whole, rtol=1e-9)
    if gain == 0.0:
        assert scoring.typical == 1.0
        assert scoring.most_outside == outside.sum() == 0.0
        return
    beyond = (new > 0.0) * [0, 0, 1] + (new < 0.0) * [0, 1, 0]
    assert beyond.any(axis=0).tolist() == [False, True, True]
    expected = oracle.outside(rows, new, gain) + 10.0 * scoring.unit * beyond.sum(axis=1)
    np.testing.assert_allclose(outside.sum(axis=1), expected, rtol=1e-9)
    np.testing.assert_allclose(outside[:, 0] > 0.0, np.abs(new[:, 0]) > 2.0, atol=1.0)


def test_all_columns_together_add_no_more_than_is_said_and_may_add_as_much(rows):
    ends = np.abs(rows)  # all of one sign
    scoring = CreasedREF(n_creases=20).fit(ends).scoring_
    found = scoring.outside(np.array([[-1e6] * 3, [1e6] * 3])).sum(axis=1)
    np.testing.assert_allclose(found[0], scoring.most_outside)
    assert found[1] < scoring.most_outside


def test_rows_that_calibrate_have_a_median_of_one_in_units_of_the_typical_score(rows):
    model = CreasedREF(n_creases=20).fit(rows)
    scoring = model.scoring_
    leverage = kernels.leverages(
        scoring.creases.map, scoring.leverage.form(scoring.creases), rows, 1
    )
    left_out = leverage / (1.0 - leverage)
    assert scoring.typical == pytest.approx(np.quantile(left_out, 0.5, method="inverted_cdf"))
    assert model.calibration_.scores.tolist() == np.sort(scoring.left_out).tolist()
