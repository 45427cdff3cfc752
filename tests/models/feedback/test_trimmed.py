"""Feedback on models that were learned without some rows."""

import numpy as np
import pandas as pd
import pytest

import refold
from refold import CreasedREF, Detector
from tests.models.feedback.makes import odd_parts, parts


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


@pytest.mark.parametrize("context", [{"by": "machine"}, {"by": "machine", "window": 4}])
@pytest.mark.parametrize("method", ["creased", "ref"])
def test_in_a_context_rows_are_accepted_beside_those_that_were_learned(method, context):
    table = parts(260, seed=0)
    table.loc[::20, "torque"] += 60.0
    model = Detector(method=method, trim=0.1, **context).fit(table)
    if "window" not in context:
        model.partial_fit(parts(27, seed=27))
    before = model.score_samples(table)
    model.accept(parts(3, seed=13)).accept(odd_parts())
    assert 0.0 < model.threshold_ < np.inf
    model.undo_feedback().undo_feedback()
    np.testing.assert_array_equal(model.score_samples(table), before)


@pytest.mark.parametrize("trim", [0.0, 0.1])
@pytest.mark.parametrize("kinds", [[], ["kind"]])
def test_more_rows_than_are_kept_are_learned_in_a_context(kinds, trim):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"machine": rng.choice(list("ABC"), 10_800), "x": rng.normal(size=10_800)})
    table[kinds] = rng.choice(["red", "green"], (10_800, len(kinds)))
    model = Detector(by="machine", method="ref", trim=trim).fit(table[:6_000])
    model.partial_fit(table[6_000:])
    assert abs((model.predict(table) == -1).mean() - model.alpha_) < 0.005
    model.accept(table.head(3))
    assert abs((model.predict(table) == -1).mean() - model.alpha_) < 0.005


@pytest.mark.parametrize("method", ["creased", "ref"])
def test_which_rows_are_left_out_in_a_context_comes_back_from_a_file(method, tmp_path):
    table = parts(210, seed=0)
    table.loc[::20, "torque"] += 60.0
    model = Detector(by="machine", method=method, trim=0.1).fit(table)
    model.partial_fit(parts(30, seed=14))
    model.save(tmp_path / "model.json")
    loaded = refold.load(tmp_path / "model.json")
    for one in (model, loaded):
        one.accept(parts(2, seed=12))
    assert loaded.threshold_ == model.threshold_
    np.testing.assert_array_equal(loaded.score_samples(table), model.score_samples(table))
