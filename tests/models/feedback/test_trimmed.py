"""Feedback on models that were learned without some rows."""

import numpy as np
import pytest

from refold import CreasedREF, Detector


def numbers(n=400):
    rng = np.random.default_rng(11)
    X = rng.normal(size=(n, 3))
    X[:20] += 6.0  # a few that do not belong here
    return X


def mixed(n=400):
    rows = [
        {"machine": "ABC"[k % 3], "torque": float(x), "speed": float(y)}
        for k, (x, y) in enumerate(np.random.default_rng(12).normal([75, 300], 2, size=(n, 2)))
    ]
    for row in rows[:10]:
        row["torque"] += 40.0
    return rows


@pytest.mark.parametrize(
    ("model", "X"),
    [
        (CreasedREF(trim=0.1, n_creases=32), numbers()),
        (Detector(trim=0.1), numbers()),
        (Detector(trim=0.1, method="ref"), numbers()),
        (Detector(trim=0.1), mixed()),
        (Detector(trim=0.1, method="ref"), mixed()),
    ],
)
def test_a_row_beyond_the_cut_can_be_accepted_and_taken_back(model, X):
    model.fit(X)
    odd = [X[int(model.dropped_[0])]]
    before, total = model.score_samples(X), model.calibration_.total
    model.accept(odd)
    assert model.score_samples(odd)[0] > before[int(model.dropped_[0])]
    assert model.calibration_.total == total  # the same rows calibrate, those left out included
    assert abs(np.mean(model.predict(X) == -1) - model.alpha_) < 0.08
    model.undo_feedback()
    np.testing.assert_array_equal(model.score_samples(X), before)
