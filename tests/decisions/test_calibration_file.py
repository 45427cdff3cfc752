"""Rates, thresholds and calibrations of a file are taken up to their bounds, and not beyond."""

import numpy as np
import pytest

from refold import ModelFileError
from refold.decisions.calibration_file import read_calibration, read_rate, read_threshold
from refold.decisions.gate import parse_max_outliers
from refold.modelfile.arrays import pack_array
from refold.modelfile.fields import Field
from refold.modelfile.json_text import Budget


def field(value):
    return Field(value, "here", Budget())


def test_thresholds_and_rates():
    assert [read_threshold(field(value)) for value in (0.0, 0.5)] == [0.0, 0.5]
    assert [read_rate(field(value)) for value in (None, 0.5)] == [None, 0.5]
    for read, value in ((read_threshold, -0.5), (read_rate, 0.0), (read_rate, 1.0)):
        with pytest.raises(ModelFileError, match="here"):
            read(field(value))


def test_a_score_may_come_twice_only_where_ties_are_kept():
    scores, weights = (pack_array(np.array(each)) for each in ([0.25, 0.25, 2.0], [1.0, 0.0, 3.0]))
    document = {"source": "held-out", "scores": scores, "weights": weights}
    found = read_calibration(field(document), ties=True)
    np.testing.assert_array_equal(found.scores, [0.25, 0.25, 2.0])
    assert found.total == 4.0
    with pytest.raises(ModelFileError, match="scores"):
        read_calibration(field(document))
    falling = document | {"scores": pack_array(np.array([0.5, 0.25, 2.0]))}
    with pytest.raises(ModelFileError, match="must not be below the one before it"):
        read_calibration(field(falling), ties=True)
    with pytest.raises(ModelFileError, match="add up to a finite number above 0"):
        read_calibration(field(document | {"weights": pack_array(np.zeros(3))}), ties=True)


@pytest.mark.parametrize(("text", "value"), [("0", 0), ("0%", 0.0), ("100%", 1.0), (" 7 ", 7)])
def test_most_outliers_are_a_number_or_a_share(text, value):
    assert parse_max_outliers(text) == value


@pytest.mark.parametrize("text", ["-1", "101%", "-1%", "some", "0.5"])
def test_what_is_no_number_of_outliers_is_refused(text):
    with pytest.raises(ValueError, match="is neither a number of rows"):
        parse_max_outliers(text)
