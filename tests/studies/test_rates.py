"""Thresholds of methods that cannot be asked for a rate."""

from __future__ import annotations

import numpy as np
import pytest

from refold.studies.measured import left_out_threshold


@pytest.mark.parametrize("shift", [0.0, -1e3, 1e3])
@pytest.mark.parametrize("alpha", [0.05, 0.1])
def test_new_rows_are_rejected_at_the_rate_whatever_the_sign_of_the_scores(rng, shift, alpha):
    train, new = rng.normal(size=999) + shift, rng.normal(size=100_000) + shift
    threshold = left_out_threshold(len(train), alpha, 0, lambda others, part: train[part])
    assert np.mean(new > threshold) == pytest.approx(alpha, abs=0.02)
    assert np.sum(train > threshold) == pytest.approx(1000 * alpha, abs=1)


def test_every_row_is_scored_once_by_what_has_not_learned_from_it():
    scored = []

    def score(others, part):
        assert not set(others) & set(part)
        assert len(others) + len(part) == 23
        scored.extend(part)
        return np.zeros(len(part))

    left_out_threshold(23, 0.1, 3, score)
    assert sorted(scored) == list(range(23))
