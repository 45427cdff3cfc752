"""What the first screen of a report says to do."""

import numpy as np
import pandas as pd
import pytest

from refold import REF
from refold.report import describe
from refold.report._actions import actions_of


@pytest.fixture(scope="module")
def model():
    return REF(alpha=0.01).fit(rows(1000))


def rows(n, seed=0):
    values = np.random.default_rng(seed).normal(size=(n, 3))
    return pd.DataFrame(values, columns=["heat", "torque", "noise"])


def said(model, table):
    return " ".join(actions_of(describe(model, table)))


def test_nothing_is_to_be_done_where_all_is_normal(model):
    assert said(model, rows(50) * 0.1).startswith("Nothing to do about these rows")


def test_what_chance_explains_is_not_to_be_acted_on(model):
    report = describe(model, rows(400, seed=1))
    assert 0 < report.rejected <= report.expected.interval[1]
    assert "so many come by chance" in actions_of(report)[0]


def test_the_farthest_rows_and_their_column_are_named(model):
    new = rows(300, seed=1)
    new.loc[[7, 8, 9, 40, 41], "torque"] = [90.0, 80.0, 70.0, 60.0, 50.0]
    report = describe(model, new)
    first, second = actions_of(report)[:2]
    assert first.startswith("Look at rows 7, 8, 9 first")
    assert f"{report.rejected - 3} others" in first
    assert second.startswith("Ask what happened to torque")


def test_data_that_has_changed_asks_for_a_new_model(model):
    text = said(model, rows(400, seed=2).assign(heat=lambda t: t["heat"] + 1.0))
    assert "has changed since training (heat)" in text


def test_without_a_rate_one_is_asked_for():
    model = REF().fit(rows(300))
    assert "rate of false alarms (alpha)" in said(model, rows(300, seed=1) * 3)
