"""What may be said of rows, how often, and what is taken back."""

import numpy as np
import pandas as pd
import pytest

from refold import REF, Detector
from refold.base.errors import UserError


@pytest.fixture
def model(rng):
    return REF(engine="sketch", n_bins=64, n_iter=3).fit(rng.normal(size=(60, 2)))


FAR = [[5.0, 0.0]]


@pytest.mark.parametrize("times", [0, -1, 1.5, True, "2", None])
def test_a_row_counts_as_a_whole_number_of_rows(model, times):
    with pytest.raises(UserError, match="must be a whole number, at least 1"):
        model.accept(FAR, times=times)
    assert model.accept(FAR, times=np.int64(1)).feedback_[0].times == 1


def test_a_note_has_up_to_a_thousand_characters(model):
    model.accept(FAR, note="x" * 1000)
    for note in ("x" * 1001, 5, None):
        with pytest.raises(UserError, match="A note is a text of at most 1,000 characters"):
            model.accept(FAR, note=note)
    with pytest.raises(UserError, match="half a surrogate pair"):
        model.accept(FAR, note="\ud800")


def test_no_row_at_all_cannot_be_judged():
    model = Detector(method="ref", n_jobs=1).fit([{"a": k % 7} for k in range(60)])
    with pytest.raises(UserError, match="There are no rows to be rejected"):
        model.reject(pd.DataFrame({"a": []}))


def test_a_model_takes_ten_thousand_rows_of_feedback(model):
    model.accept(FAR, times=9_999)
    model.reject([[0.0, 0.0]])
    with pytest.raises(UserError, match="there would be 10,001 rows"):
        model.reject([[0.0, 1.0]])
    assert model.sketch_.rows == 61
    assert model.sketch_.weight == 60 + 9_999


@pytest.mark.parametrize(
    ("number", "left"), [(1, [2, 3]), (2, [1, 3]), (3, [1, 2]), (-1, [1, 2]), (-3, [2, 3])]
)
def test_what_was_said_is_taken_back_by_its_number(model, number, left):
    before = model.score_samples([[0.1, 0.2], [3.0, 3.0]])
    for x in (1.0, 2.0, 3.0):
        model.accept([[x, 5.0]])
    model.undo_feedback(number)
    assert [entry.rows[0, 0] for entry in model.feedback_] == left
    for wrong in (0, 3, -3, 1.0, True, None, "1"):
        with pytest.raises(UserError, match="the numbers are 1 to 2, -1 is the last"):
            model.undo_feedback(wrong)
    model.undo_feedback().undo_feedback()
    np.testing.assert_array_equal(model.score_samples([[0.1, 0.2], [3.0, 3.0]]), before)
    with pytest.raises(UserError, match="There is no feedback to undo"):
        model.undo_feedback()


def test_what_is_known_of_rows_is_what_a_threshold_is_tuned_by(model, rng):
    model.calibrate(rng.normal(size=(50, 2)), alpha=0.1)
    with pytest.raises(UserError, match="No row was rejected yet"):
        model.tune_threshold()
    model.accept([[0.0, 4.0], [4.0, 0.0]], times=3)
    model.calibrate(rng.normal(size=(50, 2)), alpha=0.1).reject([[3.0, 3.0]])
    distances, labels, weights = model._labelled()
    own = model.calibration_
    assert labels.tolist() == [1] * len(own.scores) + [1, 1, -1]
    assert weights.tolist() == [*own.weights.tolist(), 3.0, 3.0, 1.0]
    said = -model.score_samples([[0.0, 4.0], [4.0, 0.0], [3.0, 3.0]])
    np.testing.assert_array_equal(distances, [*own.scores, *said])
