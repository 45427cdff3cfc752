"""The folding operations against their definitions and difference quotients."""

import numpy as np
import pytest

from refold.algorithm.folds import FOLDS, resolve
from tests.algorithm_1 import PLAIN_FOLDS

Y = np.array([-1e8, -40.0, -2.5, -1.5, -1.0, -0.7, -0.1, 0.1, 0.3, 1.0, 1.2, 9.0, 1e8])


@pytest.mark.parametrize("name", FOLDS)
def test_values_are_those_of_the_definition_at_the_seams_too(name):
    for y in (Y, np.zeros(1)):
        np.testing.assert_array_equal(FOLDS[name].value(np, y), PLAIN_FOLDS[name](y))


@pytest.mark.parametrize("name", FOLDS)
def test_a_slope_is_how_fast_the_value_changes(name):
    smooth = Y[(np.abs(Y) != 1.0) & (np.abs(Y) < 100.0)]
    step = 1e-6
    change = PLAIN_FOLDS[name](smooth + step) - PLAIN_FOLDS[name](smooth - step)
    slope = np.abs(change) / (2.0 * step)
    np.testing.assert_allclose(FOLDS[name].slope(np, smooth), slope, rtol=1e-6, atol=1e-8)
    own = resolve(PLAIN_FOLDS[name])
    np.testing.assert_allclose(own.slope(np, smooth), slope, rtol=1e-4, atol=2e-6)


def test_the_slope_of_a_fold_of_ones_own_is_that_of_its_steeper_side():
    bent = resolve(lambda y: np.where(y < 2.0, 3.0 * (y - 2.0), 0.5 * (y - 2.0)))
    assert bent.slope(np, np.array([1.0, 2.0, 5.0])) == pytest.approx([3.0, 3.0, 0.5])
    other = resolve(lambda y: np.where(y < 2.0, 0.5 * (y - 2.0), 3.0 * (y - 2.0)))
    assert other.slope(np, np.array([1.0, 2.0, 5.0])) == pytest.approx([0.5, 3.0, 3.0])
    assert resolve(np.abs).slope(np, np.array([-1e8, 0.0, 1e8])) == pytest.approx([1.0] * 3)


def test_a_fold_that_is_not_defined_for_every_number_is_refused():
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match="NaN or infinity"):
        resolve(np.sqrt).value(np, np.array([1.0, -1.0]))
