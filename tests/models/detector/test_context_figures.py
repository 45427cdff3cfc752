"""Rates by group and over time, and what is caught: the tables of ``docs/context.md``.

``pytest -m slow -s tests/models/detector/test_context_figures.py`` prints them.
"""

import numpy as np
import pandas as pd
import pytest

from refold import Detector

SEEDS = range(5)
ALPHA = 0.05
YEAR, MONTH = 365, 30


def days(n, freq="3h"):
    per_day = {"3h": 8, "h": 24}[freq]
    time = pd.date_range("2025-01-01", periods=n * per_day, freq=freq)
    return time, np.arange(len(time)) / (YEAR * per_day), per_day


def doubling(rng, exponential):
    time, years, per_day = days(YEAR + 180)
    noise = rng.normal(size=len(time))
    if exponential:
        y, sd = 50.0 * 2.0**years * np.exp(0.04 * noise), 0.04 * 50.0 * 2.0**years
    else:
        y, sd = 50.0 * (1.0 + years) + 2.0 * noise, np.full(len(time), 2.0)
    frame = pd.DataFrame({"time": time, "y": y, "other": rng.normal(size=len(time))})
    return frame, -6.0 * sd, per_day, {"over": "time"}


def changed_level(rng):
    time, years, per_day = days(YEAR + 180)
    level = np.where(years < rng.uniform(0.4, 0.7), 50.0, 58.0)
    frame = pd.DataFrame({"time": time, "y": level + rng.normal(size=len(time))})
    return frame.assign(other=rng.normal(size=len(time))), -6.0, per_day, {"over": "time"}


def day_and_night(rng):
    time, _, per_day = days(150 + 180, "h")
    day = (time.hour >= 7) & (time.hour < 19)
    y = 40.0 + 20.0 * day + 2.0 * rng.normal(size=len(time))
    frame = pd.DataFrame({"time": time, "y": y, "other": rng.normal(size=len(time))})
    return frame, np.where(day, -20.0, 20.0), per_day, {"over": "time"}


def machines(rng):
    time, years, _ = days(YEAR + 180, "3h")
    n = len(time)
    machine = rng.integers(0, 20, n)
    load = rng.uniform(0.0, 10.0, n)
    level, spread = 5.0 * rng.normal(size=20), np.exp(0.3 * rng.normal(size=20))
    hour = 4.0 * np.sin(2.0 * np.pi * time.hour / 24.0)
    y = 30.0 + level[machine] + 0.1 * load**2 + hour + 10.0 * years
    frame = pd.DataFrame(
        {
            "time": time,
            "machine": [f"M{k}" for k in machine],
            "load": load,
            "y": y + spread[machine] * rng.normal(size=n),
            "other": rng.normal(size=n),
        }
    )
    given = {"over": "time", "by": "machine", "context": "load"}
    return frame, 6.0 * spread[machine], 8, given


def wandering(rng):
    time, _, per_day = days(YEAR + 180)
    steps = rng.normal(size=(2, len(time)))
    y = np.zeros(len(time))
    for k in range(1, len(time)):
        y[k] = 0.9 * y[k - 1] + steps[0, k]
    y += np.cumsum(0.05 * steps[1])
    frame = pd.DataFrame({"time": time, "y": y, "other": rng.normal(size=len(time))})
    return frame, 6.0 / np.sqrt(1.0 - 0.81), per_day, {"over": "time"}


# The figures of the prototype: month after, half a year on, caught; NaN where none is given.
CASES = {
    "doubles, linear": (lambda rng: doubling(rng, exponential=False), (0.049, 0.047, 1.0)),
    "doubles, exponential": (lambda rng: doubling(rng, exponential=True), (0.051, 0.051, 1.0)),
    "level changed": (changed_level, (0.039, 0.039, 0.88)),
    "day values at night": (day_and_night, (0.051, np.nan, 1.0)),
    "machines, load, hour, trend": (machines, (0.047, np.nan, 0.999)),
    "AR(.9), wandering level": (wandering, (0.15, np.nan, 0.97)),
}


def figures(make, seed):
    """Return the false alarms of the month after, of half a year on, and the share caught."""
    frame, shift, per_day, given = make(np.random.default_rng(seed))
    end = len(frame) - 180 * per_day
    model = Detector(alpha=ALPHA, **given).fit(frame.iloc[:end])
    month = frame.iloc[end : end + MONTH * per_day]
    faulty = frame.assign(y=frame["y"] + shift).iloc[end : end + MONTH * per_day]
    rows = (month, frame.iloc[-MONTH * per_day :], faulty)
    return [float((model.predict(part) == -1).mean()) for part in rows]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_rates_over_time_are_those_of_the_prototype(name):
    make, expected = CASES[name]
    found = np.mean([figures(make, seed) for seed in SEEDS], axis=0)
    print(f"{name}: " + " / ".join(f"{value:.3f}" for value in found))
    after, later, caught = found - np.array(expected)
    assert after <= 0.03
    assert np.isnan(later) or later <= 0.03
    assert caught >= -0.03


# Machines, rows of each; what the prototype caught, its false alarms, those of the worst tenth.
FLEETS = {
    (20, 200): (1.0, 0.047, 0.090),
    (100, 100): (1.0, 0.045, 0.096),
    (300, 60): (1.0, 0.048, 0.113),
    (600, 12): (0.98, 0.033, 0.115),
}


def fleet_figures(machines, each, seed):
    """Return the share caught inside the fleet's range, false alarms, those of the worst tenth."""
    rng = np.random.default_rng(seed)
    level = 5.0 * rng.normal(size=(machines, 4))
    spread = np.exp(0.3 * rng.normal(size=(machines, 4)))

    def made(each):
        machine = np.repeat(np.arange(machines), each)
        values = level[machine] + spread[machine] * rng.normal(size=(len(machine), 4))
        frame = pd.DataFrame(values, columns=list("abcd"))
        return frame.assign(machine=[f"M{k}" for k in machine])

    training, new = made(each), made(100)
    model = Detector(by="machine", alpha=ALPHA).fit(training)
    rates = (model.predict(new) == -1).reshape(machines, 100).mean(axis=1)
    moved = new["a"] - np.sign(new["a"]) * 6.0 * np.repeat(spread[:, 0], 100)
    inside = moved.between(training["a"].min(), training["a"].max())
    caught = (model.predict(new.assign(a=moved)[inside]) == -1).mean()
    return caught, rates.mean(), np.sort(rates)[-machines // 10 :].mean()


@pytest.mark.slow
@pytest.mark.parametrize("sizes", FLEETS)
def test_rates_by_group_are_those_of_the_prototype(sizes):
    found = np.mean([fleet_figures(*sizes, seed) for seed in SEEDS], axis=0)
    print(f"{sizes}: " + " / ".join(f"{value:.3f}" for value in found))
    caught, alarms, worst = found - np.array(FLEETS[sizes])
    assert caught >= -0.03
    assert alarms <= 0.03
    assert worst <= 0.03
