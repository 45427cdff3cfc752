"""A model without a context says when groups or a trend matter, and which column says it."""

import numpy as np
import pandas as pd
import pytest

from refold import Detector, check
from refold.models.detector.context_findings import _within
from tests.models.detector.test_context import fleet, trending

KINDS = {"groups", "trend"}


def noticed(frame, **given):
    return [found for found in Detector(**given).fit(frame).noticed_ if found.kind in KINDS]


@pytest.mark.parametrize("machines", [100, 300])
def test_groups_that_hide_faults_are_said_with_their_column(machines):
    made, _ = fleet(machines)
    frame = made(40).sample(frac=1.0, random_state=0)
    (found,) = noticed(frame)
    assert (found.kind, found.column) == ("groups", "machine")
    assert str(found).endswith('by="machine".')
    assert noticed(frame, by="machine") == []
    (checked,) = check(frame).of("groups")
    assert checked.column == "machine"


def test_a_trend_is_said_with_the_column_of_the_time():
    frame = trending(365)
    (found,) = noticed(frame)
    assert (found.kind, found.column, found.values) == ("trend", "time", ("y",))
    assert str(found).endswith('over="time".')
    (changed,) = check(frame).of("drift")
    assert (changed.advice.kind, changed.advice.value) == ("over", "time")


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_said_of_groups_that_are_alike_and_of_a_time_without_a_trend(seed):
    rng = np.random.default_rng(seed)
    n = 1000
    frame = pd.DataFrame(
        {
            "machine": rng.choice([f"M{k}" for k in range(20)], n),
            "time": pd.date_range("2026-01-01", periods=n, freq="h"),
            "y": rng.normal(size=n),
            "z": rng.lognormal(size=n),
        }
    )
    assert noticed(frame) == []
    assert {"groups", "drift"}.isdisjoint(check(frame).kinds)


def test_the_spread_within_groups_is_pooled_over_them(rng):
    codes = np.repeat(np.arange(30), 10)
    values = 3.0 * rng.normal(size=30)[codes] + rng.normal(size=300)
    spread, share = _within(np.append(values, [np.nan, 9.0]), np.append(codes, [0, -1]))
    own = np.array([values[codes == group].std(ddof=1) for group in range(30)])
    np.testing.assert_allclose(spread[:300], own[codes])
    assert np.isnan(spread[300:]).all()
    assert share == pytest.approx(np.sqrt(np.mean(own**2)) / values.std())


def test_a_number_that_its_group_fixes_says_nothing_of_groups():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 20, 1000)
    frame = pd.DataFrame({"site": [f"S{k}" for k in group], "altitude": 10.0 * group})
    assert noticed(frame.assign(y=rng.normal(size=1000))) == []


def people(seed=0):
    """Records over eight years of people whose dates of birth go with what is measured."""
    rng = np.random.default_rng(seed)
    n = 1_500
    born = pd.Timestamp("1960-01-01") + pd.to_timedelta(rng.normal(0, 3_500, n).round(), unit="D")
    seen = pd.Timestamp("2018-01-01") + pd.to_timedelta(rng.uniform(0, 3_000, n), unit="D")
    years = (seen - seen.min()).days / 365.0
    age = (pd.Timestamp("2018-01-01") - born).days / 365.0
    frame = {"born": born, "seen": seen, "age": age + rng.normal(size=n)}
    return pd.DataFrame(frame | {"level": 5.0 * years + rng.normal(size=n)})


def test_a_date_of_birth_is_not_the_time_of_a_row():
    (found,) = noticed(people())
    assert (found.kind, found.column) == ("trend", "seen")
    assert noticed(people().drop(columns="seen")) == []
    (changed,) = check(people()).of("drift")
    assert changed.advice.value == "seen"


def test_rows_in_the_order_of_a_date_say_that_it_is_the_time():
    frame = people().sort_values("born").drop(columns="level")
    (found,) = noticed(frame)
    assert found.column == "born"
