"""The Gaussian kernel."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from refold._typing import Floats


def exponent(X: Floats, Y: Floats, gamma: float) -> Floats:
    """Return -gamma ||x - y||² for all pairs of rows."""
    # From differences, not from inner products: equal rows have distance 0 to the last bit, and a
    # large offset costs no digits.
    squares = cdist(X, Y, "sqeuclidean")
    squares *= -gamma
    return np.asarray(squares)


def rbf(X: Floats, Y: Floats, gamma: float) -> Floats:
    """Return k(x, y) = exp(-gamma ||x - y||²) for all pairs of rows."""
    K = exponent(X, Y, gamma)
    return np.exp(K, out=K)
