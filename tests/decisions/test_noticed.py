"""What is said of a threshold when it is set, and from which count on."""

import numpy as np
import pytest

from refold.decisions.threshold_findings import false_alarms, ties, too_few_rows, with_faults
from refold.decisions.thresholds import Calibration


def calibration_with(above, at, below):
    """Left-out rows around the threshold 1."""
    scores = np.repeat([2.0, 1.0, 0.5], [above, at, below])
    return Calibration.of(scores, None, "leave-one-out")


class TestFaults:
    def test_each_column_that_varies_has_one_a_quarter_of_its_range_beyond_the_largest(self):
        usual, low = np.array([1.0, 2.0, 3.0]), np.array([0.0, 2.0, -4.0])
        rows = with_faults(usual, low, high=np.array([4.0, 2.0, 4.0]))
        np.testing.assert_array_equal(rows, [[5.0, 2.0, 3.0], [1.0, 2.0, 6.0]])

    @pytest.mark.parametrize(("columns", "apart"), [(399, 1), (400, 2), (1000, 5)])
    def test_of_very_many_columns_some_are_tried(self, columns, apart):
        zeros = np.zeros(columns)
        rows = with_faults(zeros, zeros, zeros + 4.0)
        faulty = np.arange(0, columns, apart)
        assert rows.shape == (len(faulty), columns)
        np.testing.assert_array_equal(np.nonzero(rows)[1], faulty)
        assert (rows[rows != 0.0] == 5.0).all()

    def test_a_value_beyond_all_doubles_is_the_largest(self):
        rows = with_faults(np.zeros(1), np.array([-1.7e308]), np.array([1.7e308]))
        assert rows.item() == np.finfo(float).max


class TestTooFewRows:
    def test_half_of_the_columns_is_enough(self):
        gained, calibration = np.array([0.0, 1.0, 2.0, 3.0]), calibration_with(2, 3, 20)
        assert too_few_rows(gained, 1.0, 2.9, calibration) is None
        found = too_few_rows(gained, 1.0, 3.0, calibration)  # at the threshold is not beyond it
        assert found.kind == "too-few-rows"
        assert "the threshold rests on the largest of 25" in found.message.lower()
        assert "an outlier in 1 of 4 columns" in found.message
        fewer = too_few_rows(np.append(gained, 0.0), 1.0, 2.9, calibration)
        assert "an outlier in 2 of 5 columns" in fewer.message

    def test_it_says_on_how_many_rows_the_threshold_rests(self):
        nothing, calibration = np.zeros(3), calibration_with(2, 3, 20)
        assert "the 5 largest of 25 " in too_few_rows(nothing, 0.0, 1.0, calibration).message
        assert "the 3 largest of 25 " in too_few_rows(nothing, 0.0, 1.5, calibration).message


@pytest.mark.parametrize(
    ("alpha", "total", "most"), [(0.25, 80, 12), (0.5, 10, 3), (0.25, 8, 0), (0.125, 400, 30)]
)
def test_ties_are_said_when_two_fifths_of_the_rate_and_two_rows_are_missing(alpha, total, most):
    found = ties(calibration_with(most, 4, total - most - 4), 1.0, alpha)
    assert (found.kind, found.values) == ("ties", (most / total,))
    assert found.message.startswith(f"4 of {total} left-out rows")
    assert found.advice.value == float(f"{(most + 4) / total:.2g}")
    assert ties(calibration_with(most + 1, 4, total - most - 5), 1.0, alpha) is None


def test_false_alarms_are_said_of_more_than_a_tenth():
    assert false_alarms(calibration_with(1, 1, 8), 1.0) is None
    found = false_alarms(calibration_with(2, 1, 7), 1.0)
    assert (found.kind, found.values, found.advice.value) == ("false-alarms", (0.2,), 0.05)
    assert "about 20 % of new normal rows" in found.message
