"""Means, deviations and constants of columns, as creases take them."""

import numpy as np
import pytest

from refold.base.errors import TableError
from refold.models.creased import LARGEST
from refold.models.creased.creases import Creases, _column_moments, standardized
from refold.models.creased.state import enough_creases


def creases_of(X, weights=None, **options):
    options = {"n_creases": 10, "n_levels": 2, "ridge": 0.01, "seed": 0, "blind": False} | options
    return Creases.of(X, np.ones(len(X)) if weights is None else weights, **options)


@pytest.mark.parametrize("size", [1.0, 1e300, 1e-300, -1e150])
def test_means_and_deviations_are_those_of_repeated_rows(size, rng):
    X = size * np.column_stack([rng.normal(size=50), 1e6 + rng.normal(size=50), rng.random(50)])
    X[::7, 2] = np.nan
    weights = rng.integers(1, 4, 50).astype(float)
    mean, scale, varying = _column_moments(X, weights)
    whole = np.repeat(X / size, weights.astype(int), axis=0)
    np.testing.assert_allclose(mean / size, np.nanmean(whole, axis=0), rtol=1e-13)
    np.testing.assert_allclose(scale / abs(size), np.nanstd(whole, axis=0, ddof=1), rtol=1e-9)
    assert varying.all()


@pytest.mark.parametrize(
    ("rows", "creases"), [(2, 256), (4_999, 256), (5_000, 512), (19_999, 512), (20_000, 1024)]
)
def test_more_rows_carry_more_creases(rows, creases):
    assert enough_creases(rows) == creases


def test_a_mean_far_from_zero_keeps_its_digits():
    X = 1e12 + np.resize([0.0, 1.0, 2.0], 3001)[:, None]
    mean, scale, _ = _column_moments(X, np.ones(3001))
    exact = np.mean(np.resize([0.0, 1.0, 2.0], 3001))
    assert mean[0] - 1e12 == pytest.approx(exact, abs=2e-4)
    assert scale[0] == pytest.approx(np.std(np.resize([0.0, 1.0, 2.0], 3001), ddof=1), rel=1e-6)


@pytest.mark.parametrize(
    ("value", "unit"), [(5.0, 5e-3), (-2.0, 2e-3), (0.0, 1e-3), (1e-299, 1e-300), (-1e-290, 1e-293)]
)
def test_a_constant_has_a_thousandth_of_itself_as_its_unit(value, unit):
    center, scale, varying = _column_moments(np.full((4, 1), value), np.ones(4))
    assert (center[0], varying[0]) == (value, False)
    assert scale[0] == pytest.approx(unit)


def test_of_one_value_alone_nothing_is_far():
    X = np.array([[3.0, 1.0], [np.nan, 2.0], [np.nan, 4.0]])
    for weight in (0.3, 1.0):
        center, scale, varying = _column_moments(X, np.array([weight, 1.0, 1.0]))
        assert (center[0], scale[0], varying.tolist()) == (3.0, 1e300, [False, True])
    _, scale, _ = _column_moments(X, np.array([2.0, 1.0, 1.0]))
    assert scale[0] == 3e-3  # it came twice


@pytest.mark.parametrize(
    ("weights", "said"), [([0.5, 0.5, 1.0], True), ([0.5, 0.51, 1.0], False), ([0.2] * 3, True)]
)
def test_two_values_must_weigh_more_than_one_row(weights, said):
    X = np.array([[3.0, 1.0], [4.0, 2.0], [np.nan, 4.0]])
    if not said:
        assert _column_moments(X, np.array(weights))[2].all()
        return
    with pytest.raises(TableError) as error:
        _column_moments(X, np.array(weights))
    assert error.value.column == 0


def test_a_column_without_any_value_is_named():
    with pytest.raises(TableError) as error:
        _column_moments(np.array([[1.0, 2.0, np.nan], [2.0, 3.0, np.nan]]), np.ones(2))
    assert error.value.column == 2


@pytest.mark.parametrize("blind", [False, True])
@pytest.mark.parametrize("constants", [0, 1, 3])
def test_constants_have_a_feature_unless_the_box_has_them(blind, constants, rng):
    X = np.column_stack([rng.normal(size=(40, 2)), np.full((40, constants), 4.0)])
    creases = creases_of(X, blind=blind)
    extra = constants > 0 and not blind
    assert (creases.has_constants, creases.n_outputs) == (extra, 20 + extra)
    changed = X[:5].copy()
    changed[1, 2:] += 0.004  # their unit
    Z, far = creases.standardized(changed)
    np.testing.assert_allclose(far, [0.0, constants / (2 + constants), 0.0, 0.0, 0.0])
    assert Z.shape == (5, 2)
    np.testing.assert_allclose(Z, (X[:5, :2] - X[:, :2].mean(axis=0)) / X[:, :2].std(0, ddof=1))


def test_of_constants_alone_there_are_no_creases():
    creases = creases_of(np.full((10, 2), 3.0), blind=True)
    assert (len(creases.offsets), creases.has_constants, creases.n_outputs) == (0, True, 1)


def test_standardized_values_are_bounded():
    rows = np.array([[1e30, -1e30, np.nan, 2.0]])
    found = standardized(rows, np.zeros(4), np.ones(4))
    np.testing.assert_array_equal(found, [[LARGEST, -LARGEST, np.nan, 2.0]])


def test_creases_are_the_same_only_bit_by_bit(rng):
    X = rng.normal(size=(60, 3))
    one = creases_of(X)
    assert one.same_as(one)
    assert one.same_as(creases_of(X.copy()))
    assert not one.same_as(creases_of(X, seed=1))
    assert not one.same_as(creases_of(X + 1e-9))
    assert not one.same_as(creases_of(X, n_levels=1))


def test_a_crease_whose_folded_values_hardly_differ_is_blind():
    X = np.where(np.arange(50)[:, None] < 25, -1.0, 1.0)  # folded at 0 all are the same
    creases = creases_of(X, n_creases=40)
    blind = np.abs(creases.offsets[:20]) < 1e-9
    assert blind.any()
    assert (creases.spreads[0, :20][blind] == 0.0).all()
    assert (creases.slopes[0, :20][blind] == 0.0).all()
    np.testing.assert_allclose((creases.slopes * creases.spreads)[creases.spreads > 0.0], 1.0)
