"""Columns of times without a date drift by their hour alone."""

import datetime as dt

import pandas as pd
import pytest

from refold import Detector, drift


def table(rng, hours, rows=600):
    at = [
        dt.time(int(hour), int(minute))
        for hour, minute in zip(rng.choice(hours, rows), rng.integers(0, 60, rows), strict=True)
    ]
    return pd.DataFrame({"at": at, "torque": rng.normal(75, 2, rows)})


@pytest.fixture
def model(rng):
    return Detector().fit(table(rng, range(8, 17)))


def of_column(found, name):
    (column,) = [each for each in found.features if each.name == name]
    return column


def test_times_at_the_same_hours_are_the_same(model, rng):
    found = drift(model, table(rng, range(8, 17)))
    assert not of_column(found, "at").changed


def test_times_at_other_hours_have_changed_and_torque_has_not(model, rng):
    found = drift(model, table(rng, [8, 9]))
    assert of_column(found, "at").changed
    assert {share.of for share in of_column(found, "at").moved} == {"hour"}
    assert not of_column(found, "torque").changed
