"""Suspects that only their group, or their time, makes odd."""

import numpy as np
import pandas as pd
import pytest

import refold
from refold.base.errors import UserError


def fleet(seed=0):
    rng = np.random.default_rng(seed)
    machine = np.repeat(np.arange(30), 40)
    level = np.linspace(0.0, 300.0, 30)
    frame = pd.DataFrame(
        {
            "machine": [f"M{k}" for k in machine],
            "heat": level[machine] + rng.normal(size=1200),
            "flow": rng.normal(size=1200),
        }
    )
    bad = np.sort(rng.choice(np.arange(400, 800), 10, replace=False))
    frame.loc[bad, "heat"] += 25.0  # well inside the range of the fleet
    return frame, bad


def test_a_row_that_is_odd_for_its_machine_is_listed():
    frame, bad = fleet()
    found = refold.suspects(frame, 10, by="machine")
    assert sorted(found.rows) == bad.tolist()
    assert "for machine " in str(found[0].reasons[0])
    assert found[0].reasons[0].feature == "heat"
    assert len(set(refold.suspects(frame, 10).rows) & set(bad)) <= 3


def test_a_row_that_is_odd_for_its_time_is_listed():
    rng = np.random.default_rng(1)
    time = pd.date_range("2026-01-01", periods=24 * 60, freq="h")
    day = (time.hour >= 7) & (time.hour < 19)
    frame = pd.DataFrame({"time": time, "load": 40.0 + 20.0 * day + rng.normal(size=len(time))})
    frame.loc[[2, 1202], "load"] = 60.0  # at night, the first before anything is foreseen
    assert sorted(refold.suspects(frame, 2, over="time").rows) == [2, 1202]


def test_beside_trusted_rows_of_the_same_machines():
    frame, bad = fleet()
    good, _ = fleet(seed=0)
    good = good.drop(index=bad)
    found = refold.suspects(frame.iloc[bad], 10, trusted=good, fdr=0.2, by="machine")
    assert len(found) == 10


def test_a_group_that_is_not_there_is_refused_by_name():
    with pytest.raises(UserError, match="by= names 'site', which the table does not have"):
        refold.suspects(fleet()[0], by="site")
