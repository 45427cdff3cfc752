"""What a model file says of creases is checked for any row that may come."""

import numpy as np
import pytest

from refold import CreasedREF
from refold.algorithm import kernels
from refold.models.creased import LARGEST
from refold.models.creased.creases_file import largest_features


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("size", [1e-3, 1e2, 1e5, 1e300])
def test_no_row_has_larger_features_than_a_file_is_checked_for(rng, size, constant):
    X = np.column_stack([rng.normal(size=(300, 3)), rng.exponential(size=300)])
    if constant:
        X = np.column_stack([X, np.full(300, 2.0)])
    creases = CreasedREF(n_creases=32, random_state=0).fit(X).creases_
    rows = size * rng.choice([-1.0, 0.0, 1.0], size=(500, X.shape[1]))
    features = np.abs(kernels.crease_features(creases.map, rows, 1)).max(axis=0)
    most = largest_features(creases)
    assert most.shape == features.shape
    assert (features <= most).all()
    assert (most < 1e40).all()


def test_no_row_is_farther_along_a_crease_than_the_file_is_checked_for_and_some_are_as_far(rng):
    X = rng.normal(size=(300, 3)) + 5.0
    creases = CreasedREF(n_creases=32, random_state=0).fit(X).creases_
    most = largest_features(creases)
    # As far as a standardized value may be, on the side of the crease that is farther off.
    farthest = LARGEST * np.sign(creases.directions) * -np.sign(creases.offsets)[:, None]
    features = kernels.crease_features(creases.map, creases.center + creases.scale * farthest, 1)
    own = np.tile(np.arange(32), 2)
    reached = np.abs(features[own, np.arange(64)]) / most
    assert (reached <= 1.0 + 1e-12).all()
    plain, bent = own < 16, own >= 16
    assert (reached[plain] > 0.99).all()
    assert (reached[bent] > 0.1).all()
