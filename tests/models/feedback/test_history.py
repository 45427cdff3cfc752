"""Feedback, tuning and calibration are one history: undoing ends at the bits of before."""

import pickle
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

import refold
from refold import REF, CreasedREF, Detector
from tests.models.feedback.makes import numbers, odd_parts, parts, whole

NEW, HELD_OUT = parts(40, seed=1), parts(80, seed=2)
ODD = odd_parts()
SPOKEN_OF = pd.concat([NEW, ODD], ignore_index=True)
# More than 200 rows: fewer are learned again once for each part that is left out.
ROWS = 210
MAKES = {
    "REF": (lambda: REF(engine="sketch", n_bins=64, n_iter=5), numbers),
    "CreasedREF": (lambda: CreasedREF(n_creases=8), numbers),
    "Detector of numbers": (lambda: Detector(), numbers),
    "Detector": (lambda: Detector(), whole),
    "Detector, ref": (lambda: Detector(method="ref"), whole),
    "Detector of groups": (lambda: Detector(by="machine", trim=0.1), whole),
    "Detector of groups, ref": (lambda: Detector(by="machine", method="ref", trim=0.1), whole),
}


def fitted(name):
    make, of = MAKES[name]
    return make().fit(of(parts(ROWS, seed=0))), of


def copied(model):
    return pickle.loads(pickle.dumps(model))


def assert_same(one, other, rows):
    """Two models decide alike, to the bit."""
    np.testing.assert_array_equal(one.score_samples(rows), other.score_samples(rows))
    assert (one.threshold_, one.alpha_) == (other.threshold_, other.alpha_)
    assert hasattr(one, "calibration_") == hasattr(other, "calibration_")
    if hasattr(one, "calibration_"):
        for array in ("scores", "weights"):
            np.testing.assert_array_equal(
                getattr(one.calibration_, array), getattr(other.calibration_, array)
            )
        assert one.calibration_.source == other.calibration_.source


@pytest.mark.parametrize("name", MAKES)
def test_what_was_tuned_or_calibrated_since_goes_with_the_feedback(name):
    model, of = fitted(name)
    if not hasattr(model, "calibration_"):
        model.calibrate(of(HELD_OUT), alpha=0.05)
    near = of(NEW).iloc[np.argsort(-model.score_samples(of(NEW)))[25:35]]
    before = copied(model)
    model.reject(near).tune_threshold()
    assert model.threshold_ < before.threshold_
    assert model.alpha_ is None
    assert_same(model.undo_feedback(), before, of(NEW))
    model.accept(of(ODD)).calibrate(of(HELD_OUT), alpha=0.2).reject(near)
    assert_same(model.undo_feedback(1).undo_feedback(), before, of(NEW))


@pytest.mark.parametrize("method", ["creased", "ref"])
def test_accepted_rows_are_seen_in_the_context_of_all_rows_learned_since(method, tmp_path):
    model = Detector(by="machine", over="day", method=method).fit(parts(ROWS, seed=0))
    model.accept(ODD[:2]).partial_fit(parts(60, seed=10))
    model.save(tmp_path / "model.json")
    assert_same(refold.load(tmp_path / "model.json"), model, NEW)


@pytest.mark.parametrize("seed", range(10, 16))
def test_rows_learned_later_change_the_context_of_those_before(seed):
    model = Detector(by="machine", method="ref").fit(parts(ROWS, seed=0))
    model.partial_fit(parts(30, seed))
    assert 0.0 < model.threshold_ < np.inf
    assert (model.predict(NEW) == 1).mean() > 0.8
    before = model.score_samples(NEW)
    model.accept(NEW.head(2)).undo_feedback()
    np.testing.assert_array_equal(model.score_samples(NEW), before)


@pytest.mark.parametrize("context", [{"by": "machine"}, {"context": ["speed"]}])
@pytest.mark.parametrize("method", ["creased", "ref"])
def test_rows_that_wait_do_not_lose_their_context_by_feedback(method, context, tmp_path):
    table = parts(ROWS, seed=0)
    whole, waits = Detector(method=method, **context), Detector(method=method, **context)
    whole.fit(table).accept(ODD).reject(NEW[:2])
    waits.partial_fit(table[:100]).partial_fit(table[100:]).accept(ODD).reject(NEW[:2])
    assert_same(waits, whole, NEW)
    for one, other in zip(waits.feedback_, whole.feedback_, strict=True):
        np.testing.assert_array_equal(one.before.distances, other.before.distances)
        np.testing.assert_array_equal(one.after.distances, other.after.distances)
    waits.save(tmp_path / "model.json")
    assert_same(refold.load(tmp_path / "model.json"), waits, NEW)


def test_rows_that_wait_do_not_lose_their_time_by_feedback():
    model = Detector(over="day", method="ref").partial_fit(parts(80, seed=0))
    before = copied(model)
    model.accept(ODD)
    entry = model.feedback_[-1]
    np.testing.assert_array_equal(entry.before.distances, -before.score_samples(ODD))
    np.testing.assert_array_equal(entry.after.distances, -model.score_samples(ODD))
    assert (model.predict(NEW) == 1).mean() > 0.8
    assert_same(model.undo_feedback(), before, NEW)


def test_feedback_on_rows_that_waited_is_seen_in_the_context_that_was_decided():
    table = parts(10_100, seed=0)
    early, late = (Detector(by="machine", method="ref").partial_fit(table[:9_900]) for _ in "ab")
    early.accept(ODD).partial_fit(table[9_900:])
    late.partial_fit(table[9_900:]).accept(ODD)
    assert_same(early, late, NEW)


class History(RuleBasedStateMachine):
    """One model, and a copy of it from before each word that stands."""

    @initialize(name=st.sampled_from(sorted(MAKES)), waits=st.booleans())
    def begin(self, name, waits):
        self.model, self.of = fitted(name)
        if waits and name.startswith("Detector"):  # for more rows, to decide what columns are
            self.model = MAKES[name][0]().partial_fit(self.of(parts(ROWS, seed=0)))
        self.new = self.of(NEW)
        self.words, self.before = [], []

    @rule(kind=st.sampled_from(["accept", "reject"]), data=st.data())
    def say(self, kind, data):
        rows = data.draw(st.sets(st.integers(0, len(SPOKEN_OF) - 1), min_size=1, max_size=3))
        given = self.of(SPOKEN_OF).iloc[sorted(rows)]
        self.before.append(copied(self.model))
        self.words.append((kind, given))
        getattr(self.model, kind)(given)

    @precondition(lambda self: hasattr(self.model, "calibration_") and self.rejected())
    @rule()
    def tune(self):
        self.model.tune_threshold()

    @rule(alpha=st.sampled_from([0.05, 0.1, 0.3]))
    def calibrate_on_rows(self, alpha):
        self.model.calibrate(self.of(HELD_OUT), alpha=alpha)

    @precondition(lambda self: hasattr(self.model, "calibration_"))
    @rule(alpha=st.sampled_from([0.05, 0.1, 0.3, None]))
    def calibrate_again(self, alpha):
        self.model.calibrate(alpha=alpha or self.model.alpha_ or 0.1)

    @rule(seed=st.integers(10, 12))
    def learn_more(self, seed):
        more = self.of(parts(30, seed))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The model has changed")
            for model in (self.model, *self.before):
                model.partial_fit(more)

    @precondition(lambda self: self.words)
    @rule(data=st.data())
    def undo(self, data):
        number = data.draw(st.integers(-1, len(self.words) - 1))
        place = range(len(self.words))[number]
        expected = self.before[place]
        later = self.words[place + 1 :]
        del self.words[place:], self.before[place:]
        for kind, given in later:
            self.before.append(copied(expected))
            self.words.append((kind, given))
            getattr(expected, kind)(given)
        assert_same(
            self.model.undo_feedback(number if number < 0 else number + 1), expected, self.new
        )

    @rule()
    def save_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            self.model.save(path)
            again = refold.load(path)
        assert_same(again, self.model, self.new)
        self.model = again

    def rejected(self):
        return any(e.kind == "rejected" and e.standing.any() for e in self.model.feedback_)

    def teardown(self):
        if hasattr(self, "words") and self.words:
            for _ in self.words:
                self.model.undo_feedback()
            assert_same(self.model, self.before[0], self.new)
            assert self.model.feedback_ == ()


TestHistory = History.TestCase
TestHistory.settings = settings(
    max_examples=25,
    stateful_step_count=10,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
