"""A metric of one's own on rows that a model has kept with weights, against counting them out."""

import numpy as np
import pytest

from refold.decisions.labelled import best_threshold

DISTANCES = np.array([1.0, 2.0, 3.0, 4.0])
SIGNS = np.array([1, 1, 1, -1])
WEIGHTS = np.array([5.0, 3.0, 1.0, 2.0])


def share_right(y_true, y_pred):
    return float(np.mean(np.asarray(y_true) == np.asarray(y_pred)))


def test_a_metric_that_knows_no_weights_sees_each_row_as_often_as_it_counts():
    seen = []

    def metric(y_true, y_pred):
        seen.append(len(y_true))
        return share_right(y_true, y_pred)

    often = WEIGHTS.astype(int)
    expected = best_threshold(np.repeat(DISTANCES, often), np.repeat(SIGNS, often), share_right)
    found = best_threshold(DISTANCES, SIGNS, metric, WEIGHTS)
    assert set(seen) == {11}
    for threshold in (found, expected):
        right = np.where(threshold >= DISTANCES, 1, -1) == SIGNS
        assert right.all()


def test_more_rows_than_can_be_counted_out_are_refused_with_what_to_do():
    with pytest.raises(ValueError, match=r"on 4,000,000 rows, too many .* Use metric='gmean'"):
        best_threshold(DISTANCES, SIGNS, share_right, np.full(4, 1e6))
