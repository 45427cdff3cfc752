"""The counts behind the pictures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.columns.summary import Summary
from refold.judgement.normal import normal_ranges
from refold.report._drawing import distance_picture, feature_picture
from refold.report._report_counts import distances_of, histogram_of


def of(training, new):
    summary = Summary.of(np.asarray(training, dtype=float)[:, None], None)
    return histogram_of(summary.quantiles[:, 0], normal_ranges(summary)[0], np.asarray(new, float))


def test_new_rows_are_counted_and_training_rows_known_to_the_quantiles():
    rng = np.random.default_rng(0)
    training, new = rng.gamma(3.0, size=4000), rng.gamma(4.0, size=700)
    found = of(training, new)
    inside = (new >= found.edges[0]) & (new <= found.edges[-1])
    assert found.new * 700 == pytest.approx(np.histogram(new[inside], found.edges)[0])
    assert found.below + found.above == np.count_nonzero(~inside)
    exact = np.histogram(training, found.edges)[0] / 4000
    assert np.abs(found.training - exact).max() <= 2.0 / 256


def test_whole_numbers_are_in_the_same_bins_before_and_after():
    values = np.tile(np.arange(49.0), 40)
    found = of(values, values)
    assert found.training == pytest.approx(found.new, abs=2.0 / 256)


def test_one_value_far_out_does_not_squeeze_the_others():
    rng = np.random.default_rng(0)
    found = of(rng.normal(size=1000), [0.0, 1e9, -1e12])
    assert (found.below, found.above) == (1, 1)
    assert found.edges[-1] - found.edges[0] < 30.0


def test_a_constant_and_its_change_are_both_seen():
    found = of(np.full(100, 3.0), [3.0, 3.0, 4.0])
    assert found.new[[0, -1]] == pytest.approx([2 / 3, 1 / 3])
    assert found.training[0] == 1.0
    assert of(np.full(100, 3.0), [3.0]).new.sum() == 1.0


def test_no_value_is_no_bar():
    assert of([1.0, 2.0, 3.0], [np.nan, np.nan]).new.sum() == 0.0


numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(numbers, min_size=2, max_size=40), st.lists(numbers, min_size=1, max_size=40))
def test_any_numbers_can_be_drawn(training, new):
    summary = Summary.of(np.array(training)[:, None], None)
    normal = normal_ranges(summary)[0]
    found = histogram_of(summary.quantiles[:, 0], normal, np.array(new))
    assert np.isfinite(found.edges).all()
    assert (np.diff(found.edges) >= 0.0).all()
    assert round(found.new.sum() * len(new)) + found.below + found.above == len(new)
    assert found.training.min() >= 0.0
    assert found.training.sum() <= 1.0 + 1e-9
    picture = feature_picture(found, normal)
    drawn = picture.training + picture.new + str(picture.bands)
    assert "nan" not in drawn
    assert "inf" not in drawn


@given(st.lists(st.floats(0.0, 1e300), min_size=1, max_size=60), st.floats(0.0, 1e300))
def test_no_bar_is_half_normal_and_no_row_is_left_out(distances, threshold):
    distances = np.array(distances)
    found = distances_of(distances, threshold)
    assert found.counts.sum() == len(distances)
    assert found.counts[found.edges[1:] <= threshold].sum() == np.sum(distances <= threshold)
    picture = distance_picture(found, threshold)
    assert "nan" not in str(picture)
    assert sum(bar.normal for bar in picture.bars) == np.count_nonzero(
        found.counts[found.edges[1:] <= threshold]
    )
    places = [place for place, _ in picture.across]
    assert places == sorted(places)
    assert all(0.0 <= place <= 100.0 for place in [*places, picture.threshold])
    assert sum(len(label) for _, label in picture.across) <= 36


def test_the_axis_is_logarithmic_with_round_numbers():
    picture = distance_picture(distances_of(np.geomspace(0.02, 2000.0, 300), 1.0), 1.0)
    labels = {label: place for place, label in picture.across}
    assert set(labels) == {"0.1", "1", "10", "100", "1000"}
    assert labels["1"] == picture.threshold
    steps = np.diff(list(labels.values()))
    assert steps == pytest.approx(steps[0], abs=0.02)


@pytest.mark.parametrize(
    ("highest", "labels"),
    [(1, ["1"]), (9, ["2", "4", "6", "8"]), (147, ["50", "100"]), (2345, ["1,000", "2,000"])],
)
def test_numbers_of_rows_are_round_too(highest, labels):
    picture = distance_picture(distances_of(np.full(highest, 3.0), 1.0), 1.0)
    assert [label for _, label in picture.up] == labels
