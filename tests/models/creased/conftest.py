import numpy as np
import pytest


@pytest.fixture
def table(rng):
    """300 rows of 4 columns that depend on each other."""
    mixing = np.array([[1, 0.9, 0.3, 0], [0, 0.4, 0, 0.2], [0, 0, 1, 0.8], [0, 0, 0, 0.5]])
    return rng.normal(size=(300, 4)) @ mixing + [5.0, 0.0, -3.0, 100.0]


@pytest.fixture
def new(table, rng):
    """Rows like those of the table, and others."""
    return np.vstack([table[:30] + 0.1 * rng.normal(size=(30, 4)), rng.normal(size=(30, 4)) * 3])
