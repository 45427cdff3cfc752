"""A model in other units is the model that was learned in these."""

import numpy as np
import pytest

from refold import REF, CreasedREF
from refold.models.rescaled import Rescaling, rescale_model

MODELS = {
    "REF": lambda: REF(alpha=0.05, n_iter=11),
    "path": lambda: REF(levels="all", n_iter=11),
    "creased": lambda: CreasedREF(n_creases=16),
}
UNITS = Rescaling(np.array([0.0, 250.0, -3.0, 0.0]), np.array([1.0, 40.0, 0.01, 7.0]))


@pytest.fixture
def rows(rng):
    """A number, one with an absurd cell, levels, and a gap here and there."""
    X = np.round(rng.normal(size=(400, 4)), 2)
    X[:, 2] = rng.integers(0, 4, 400)
    X[7, 1] = 999.0
    X[::19, 3] = np.nan
    return X


def in_units(X):
    return UNITS.center + UNITS.scale * X


def test_values_come_back_from_other_units_to_the_bit(rng):
    for digits in (0, 2, 5):
        for size in (1e-9, 1.0, 1e7):
            own = np.round(rng.normal(size=(200, 3)), digits) * size
            units = Rescaling(size * np.array([0.0, 30.0, -0.5]), size * np.array([3.0, 0.2, 7.0]))
            known = np.array([[float(f"{v:.12g}") for v in row] for row in own])
            back = units.of((known - units.center) / units.scale)
            np.testing.assert_array_equal(back, known)


def test_columns_that_were_not_scaled_stay_as_they_are(rng):
    values = rng.normal(size=(50, 3))
    units = Rescaling(np.array([0.0, 1.0, 0.0]), np.array([1.0, 1.0, 2.0]))
    assert units.own.tolist() == [True, False, False]
    np.testing.assert_array_equal(units.of(values)[:, 0], values[:, 0])
    model = REF(n_iter=5).fit(values)
    assert rescale_model(model, Rescaling(np.zeros(3), np.ones(3))) is model


@pytest.mark.parametrize("make", MODELS)
def test_what_it_knows_and_says_is_what_was_learned_in_other_units(make, rows):
    model = MODELS[make]().fit(rows)
    again = rescale_model(model, UNITS)
    new = np.concatenate([rows[:50] + 0.001, 3.0 * rows[:50]])
    np.testing.assert_allclose(again.score_samples(in_units(new)), model.score_samples(new))
    ours, theirs = again.summary_, model.summary_
    for name in ("low", "high", "quantiles"):
        np.testing.assert_allclose(getattr(ours, name), in_units(getattr(theirs, name)))
    np.testing.assert_allclose(ours.resolution, theirs.resolution * UNITS.scale)
    for name in ("low", "high", "floor", "ceiling"):
        value, moved = (getattr(each.box, name) for each in (theirs, ours))
        assert (value is None) == (moved is None)
        if value is not None:
            np.testing.assert_allclose(moved, in_units(value), err_msg=name)
    for name in ("unit", "middle"):
        value = getattr(theirs.box, name)
        np.testing.assert_allclose(getattr(ours.box, name), UNITS.scale * value, err_msg=name)
    for j, (apart, levels) in enumerate(zip(theirs.box.apart, theirs.box.levels, strict=True)):
        moved = UNITS.center[j] + UNITS.scale[j] * apart.values
        np.testing.assert_allclose(ours.box.apart[j].values, moved)
        assert (ours.box.levels[j] is None) == (levels is None)
        if levels is not None:
            moved = UNITS.center[j] + UNITS.scale[j] * levels
            np.testing.assert_allclose(ours.box.levels[j], moved)
    assert any(len(apart.values) for apart in ours.box.apart)


@pytest.mark.parametrize("box", [0.0, 10.0])
def test_creases_in_other_units_explain_the_same(box, rows):
    model = CreasedREF(n_creases=16, box=box).fit(rows)
    again = rescale_model(model, UNITS)
    new = 2.0 * rows[:50]
    ours, theirs = again._reasons(in_units(new)), model._reasons(new)
    np.testing.assert_allclose(ours.expected, in_units(theirs.expected), rtol=1e-6)
    for name in ("drop", "alone", "distance"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(again.training_sample(), in_units(model.training_sample()))
