"""The loops of the creases do, to the bit, what NumPy does in many steps."""

import numpy as np
import pytest

from refold.algorithm import kernels


def standardized(X, center, scale, largest):
    with np.errstate(all="ignore"):
        z = (X - center) / scale
        z = np.where(np.isinf(z), (X / 2.0 - center / 2.0) / (scale / 2.0), z)
    return np.clip(z, -largest, largest)


@pytest.mark.parametrize("gaps", [False, True])
def test_standardizing_divides_clips_and_sees_gaps(gaps, rng):
    X = rng.normal(size=(50, 5)) * 10.0 ** rng.integers(-3, 4, size=(50, 5))
    X[3, 2], X[4, 2] = 1.7e308, -1.7e308
    if gaps:
        X[7, 1] = np.nan
    center, scale = rng.normal(size=5), rng.uniform(0.1, 3.0, size=5)
    center[2], scale[2] = -1e308, 1e308
    out = np.empty_like(X)
    assert kernels.standardized(X, center, scale, 1e3, out) == gaps
    np.testing.assert_array_equal(out, standardized(X, center, scale, 1e3))


def test_bending_is_interpolation_that_goes_on_beyond_the_ends(rng):
    lengths = [2, 3, 65, 1]
    starts = np.cumsum([0, *lengths])
    knots = np.concatenate([np.sort(rng.normal(size=n)) for n in lengths])
    heights = np.concatenate([np.sort(rng.normal(size=n)) for n in lengths])
    slopes = rng.uniform(0.5, 2.0, size=4)
    Z = rng.normal(size=(300, 4)) * 2.0
    for column, start in enumerate(starts[:-1]):  # on the knots themselves
        Z[: lengths[column], column] = knots[start : start + lengths[column]]
    bent = kernels.bent(Z, knots, heights, starts, slopes)
    for column in range(4):
        part = slice(starts[column], starts[column + 1])
        z, own = Z[:, column], knots[part]
        expected = np.interp(z, own, heights[part])
        expected += slopes[column] * (z - np.clip(z, own[0], own[-1]))
        np.testing.assert_array_equal(bent[:, column], expected)


def test_neighbouring_doubles_may_be_knots():
    tiny = np.nextafter(0.0, 1.0)
    bent = kernels.bent(
        np.array([[0.0], [tiny]]),
        np.array([0.0, tiny]),
        np.array([-1e9, 1e9]),
        np.array([0, 2]),
        np.ones(1),
    )
    np.testing.assert_array_equal(bent[:, 0], [-1e9, 1e9])


@pytest.mark.parametrize("creases", [0, 1, 6, 64])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_folding_takes_magnitudes_level_by_level(creases, levels, rng):
    y, offsets = rng.normal(size=(9, creases)), rng.normal(size=creases)
    shifts, slopes = rng.uniform(size=(2, levels, creases))
    out = np.full((9, levels * creases + 1), 7.0)
    kernels.folded(y, offsets, shifts, slopes, out)
    v = y - offsets
    for j in range(levels):
        v = (np.abs(v) - shifts[j]) * slopes[j]
        np.testing.assert_array_equal(out[:, j * creases : (j + 1) * creases], v)
    np.testing.assert_array_equal(out[:, -1], 7.0)


def test_arrays_that_do_not_fit_together_are_refused(rng):
    Z, out = rng.normal(size=(4, 3)), np.empty((4, 3))
    with pytest.raises(ValueError, match="fit together"):
        kernels.standardized(Z, np.zeros(2), np.ones(3), 1.0, out)
    with pytest.raises(ValueError, match="span all knots"):
        kernels.bent(Z, np.arange(6.0), np.arange(6.0), np.array([0, 2, 4, 5]), np.ones(3))
    with pytest.raises(ValueError, match="needs a knot"):
        kernels.bent(Z, np.arange(6.0), np.arange(6.0), np.array([0, 4, 2, 6]), np.ones(3))
    with pytest.raises(ValueError, match="fit together"):
        kernels.folded(Z, np.zeros(3), np.zeros((2, 3)), np.zeros((2, 3)), out)
