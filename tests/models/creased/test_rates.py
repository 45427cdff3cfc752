"""The rate that nobody has set."""

import numpy as np
import pytest

from refold import CreasedREF, Detector


@pytest.mark.parametrize(("rows", "rate"), [(49, 0.1), (499, 0.01), (2_000, 0.01)])
def test_without_a_rate_it_is_what_so_many_rows_allow(rows, rate, rng):
    X = rng.normal(size=(rows, 3))
    whole, parts = CreasedREF(n_creases=20).fit(X), CreasedREF(n_creases=20, trim=0.1)
    for part in np.array_split(X, 3):
        parts.partial_fit(part)
    assert whole.alpha_ == parts.alpha_ == Detector().fit(X).alpha_ == pytest.approx(rate)
    assert CreasedREF().alpha == Detector().alpha
