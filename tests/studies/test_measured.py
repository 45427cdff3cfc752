"""Stored cells that are to be computed again, and those that stand."""

from dataclasses import asdict

import pytest

from refold.studies.measured import MeasuredCell, MeasuredStudy


class Reading(MeasuredStudy):
    """A study that only reads what others have stored."""

    def settings(self, job):
        return [job]

    def compute(self, job):
        return MeasuredCell("done", {})


@pytest.fixture
def study():
    return Reading(time_limit=60.0)


def test_a_method_that_was_stopped_earlier_gets_another_chance(study):
    with pytest.raises(ValueError, match="There is more time now"):
        study.read(**asdict(MeasuredCell.too_long(30.0)))
    assert study.read(**asdict(MeasuredCell.too_long(60.0))).outcome == "too long"


@pytest.mark.parametrize(("outcome", "measures"), [("done", {}), ("failed", {"auc": 0.5})])
def test_there_are_measures_if_and_only_if_it_was_done(study, outcome, measures):
    with pytest.raises(ValueError, match="if and only if it was done"):
        study.read(outcome=outcome, measures=measures, note="", time_limit=None)


def test_what_stopped_a_method_is_told_from_what_crashed_it(study):
    assert study.stopped(TimeoutError()).outcome == "too long"
    assert study.stopped(RuntimeError("broke")).outcome == "failed"
