"""Rows that follow each other are left out in stretches: which, and what rates they have."""

import numpy as np
import pandas as pd
import pytest

from refold import CreasedREF, Detector
from refold.models.detector import stretches
from refold.models.detector.stretches import (
    _apart,
    _some,
    left_out_in_stretches,
    rates_of_stretches,
    threshold_of_tenths,
)

ALPHA = 0.05


def creased(rows):
    return CreasedREF(alpha=ALPHA, n_jobs=1).fit(rows)


def in_context(model, frame):
    """Return what a model learns from, and its rows as numbers."""
    found = model._nothing()[0].learn_context(model._begin(frame))
    return found, np.column_stack([column.values for column in found.learned.columns])


def over_time(rng, *, wandering):
    time, values = np.sort(rng.uniform(0.0, 1e3, 500)), rng.normal(size=(500, 3))
    if wandering:
        values = 0.3 * values + 0.1 * np.cumsum(rng.normal(size=(500, 3)), axis=0)
    return pd.DataFrame(values, columns=list("abc")).assign(time=time)


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


def thresholds_of_tenths(frame, found, rows):
    """Return the threshold that each tenth sets which was left out; of the first 30 % none."""
    time = frame["time"].to_numpy()
    share = (time - time[0]) / (time[-1] - time[0])
    tenth = np.digitize(share[found.places], np.arange(4, 10) / 10.0, right=True)
    left_out = [
        -creased(rows[tenth != k]).score_samples(rows[tenth == k])
        for k in range(7)
        if (tenth == k).sum() > 1
    ]
    return [np.quantile(distances, 1.0 - ALPHA) for distances in left_out]


@pytest.mark.filterwarnings("ignore::refold.RateWarning")
@pytest.mark.parametrize("wandering", [False, True])
def test_over_time_the_threshold_holds_in_the_median_tenth_that_was_left_out(wandering, rng):
    frame = over_time(rng, wandering=wandering)
    model = Detector(over="time", alpha=ALPHA, n_jobs=1)
    found, rows = in_context(model, frame)
    own = thresholds_of_tenths(frame, found, rows)
    assert len(own) == 7
    assert threshold_of_tenths(model, found, ALPHA) == np.median(own)
    model.fit(frame)
    alone = creased(rows)
    assert (np.median(own) > alone.threshold_) == wandering
    assert model.threshold_ == max(np.median(own), alone.threshold_)
    np.testing.assert_allclose(
        model.calibration_.scores, alone.calibration_.scores * (model.threshold_ / alone.threshold_)
    )


@pytest.mark.parametrize("few", [1, 2])
def test_a_tenth_of_one_row_has_no_threshold(few, rng):
    frame = over_time(rng, wandering=False)
    share = (frame["time"] - frame["time"].min()) / np.ptp(frame["time"])
    sixth = np.flatnonzero((share > 0.6) & (share <= 0.7))
    frame = frame.drop(index=sixth[few:])
    model = Detector(over="time", alpha=ALPHA, n_jobs=1)
    found, rows = in_context(model, frame)
    own = thresholds_of_tenths(frame, found, rows)
    assert len(own) == 5 + few
    assert threshold_of_tenths(model, found, ALPHA) == np.median(own)


def test_without_a_time_no_threshold_is_set_by_tenths(rng):
    frame = over_time(rng, wandering=False).drop(columns="time")
    for model, rows in (
        (Detector(window=8), frame),
        (Detector(by="machine"), frame.assign(machine=np.resize(["A", "B"], 500))),
    ):
        found, _ = in_context(model, rows)
        assert threshold_of_tenths(model, found, ALPHA) == 0.0


def test_windows_are_left_out_in_five_stretches_of_the_rows(rng):
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=list("ab"))
    model = Detector(window=8, alpha=ALPHA, n_jobs=1)
    found, rows = in_context(model, frame)
    place = np.arange(300)
    begins, ends = (np.maximum(each, 0) // 60 for each in (place - 7, place))
    distances, left = left_out_in_stretches(model, found)
    for k in range(5):
        inside, apart = (begins == k) & (ends == k), (begins > k) | (ends < k)
        inside, apart = inside[found.kept], apart[found.kept]
        np.testing.assert_array_equal(
            distances[k], -creased(rows[apart]).score_samples(rows[inside])
        )
        np.testing.assert_array_equal(left[k]["a"].values, rows[inside, 0])
    every = np.sort(np.concatenate(distances))
    model.fit(frame)
    np.testing.assert_array_equal(model.calibration_.scores, every)
    assert model.threshold_ == model.calibration_.threshold(ALPHA)
