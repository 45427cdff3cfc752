"""Rows that follow each other are left out in stretches: which, and what rates they have."""

import numpy as np
import pytest

from refold.models.detector import stretches
from refold.models.detector.stretches import _apart, _some, rates_of_stretches


def test_the_rate_of_a_stretch_is_by_the_threshold_of_the_others(rng):
    distances = [rng.exponential(size=n) * (1.0 + n / 100.0) for n in (40, 90, 10, 200, 60)]
    for alpha in (0.01, 0.1, 0.5):
        expected = []
        for k in range(5):
            others = np.concatenate([distances[j] for j in range(5) if j != k])
            expected.append(np.mean(distances[k] > np.quantile(others, 1.0 - alpha)))
        assert rates_of_stretches(distances, alpha) == expected
    assert rates_of_stretches(distances[:1], 0.1) == [0.0]
    assert rates_of_stretches([np.ones(4), np.ones(5)], 0.1) == [0.0, 0.0]  # as far is not beyond


@pytest.mark.parametrize(
    ("first", "last", "left", "rest"),
    [
        # All of the window lies in the stretch, or nothing of it.
        ([1, 1, 1, 0, 2, 0], [1, 1, 1, 0, 2, 0], [0, 1, 2], [3, 4, 5]),
        # Of four rows that end there two began there: the others are left alone.
        ([1, 1, 0, 0, 2, 0], [1, 1, 1, 1, 2, 0], [0, 1], [4, 5]),
        # Of five only two did: all of them are judged.
        ([1, 1, 0, 0, 0, 2], [1, 1, 1, 1, 1, 2], [0, 1, 2, 3, 4], [5]),
        # Two of four that end elsewhere have none of it in their window, then one of four.
        ([1, 0, 2, 1, 1], [1, 0, 2, 2, 3], [0], [1, 2]),
        ([1, 0, 1, 1, 1], [1, 0, 2, 2, 3], [0], [1, 2, 3, 4]),
        # Rows without a group or time belong nowhere.
        ([1, -1, 2], [1, -1, 2], [0], [1, 2]),
    ],
)
def test_rows_whose_window_reaches_over_an_end_are_left_out_unless_most_do(first, last, left, rest):
    found = _apart(np.array(first), np.array(last), 1)
    assert [np.flatnonzero(each).tolist() for each in found] == [left, rest]


def test_all_stretches_together_are_no_more_than_a_sample(monkeypatch):
    monkeypatch.setattr(stretches, "SIZE", 50)
    rows = np.arange(1000) % 3 == 1
    some = _some(rows)
    assert len(some) == 10
    assert rows[some].all()
    assert (some[0], some[-1]) == (1, 1000 - 3)
    assert np.ptp(np.diff(some)) <= 3
    assert _some(rows[:20]).tolist() == np.flatnonzero(rows[:20]).tolist()
    assert _some(np.zeros(5, dtype=bool)).tolist() == []
