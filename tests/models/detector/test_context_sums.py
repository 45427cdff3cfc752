"""Models of rows in their context learn on, merge and are saved: sums over rows add."""

import numpy as np
import pandas as pd
import pytest

from refold import Detector, load, merge, save
from refold.base.errors import UserError


def made(rows, machines=60, seed=0, first=0):
    """Return rows of machines of six sites, of which a load explains the power."""
    rng = np.random.default_rng([seed, first])
    level = 5.0 * np.random.default_rng(7).normal(size=(2, 1000))
    machine = rng.integers(first, first + machines, rows)
    site, load = machine % 6, rng.uniform(0.0, 1.0, rows)
    return pd.DataFrame(
        {
            "site": [f"S{k}" for k in site],
            "machine": [f"M{k}" for k in machine],
            "load": load,
            "power": level[0, machine] + 4.0 * load + rng.normal(size=rows),
            "heat": 50.0 + level[1, site] + rng.normal(size=rows) * np.exp(load),
            "product": rng.choice(["A", "B", "C"], rows),
        }
    )


KINDS = {
    "by": {"by": "machine"},
    "context": {"context": ["load"]},
    "both": {"by": ["site", "machine"], "context": ["load"]},
}


def scores_of(model, rows):
    return np.column_stack(
        [model.encoder_.read(rows, reset=False)[name].values for name in ("power", "heat")]
    )


@pytest.fixture(scope="module", params=["by", "context", "both"])
def begun(request):
    model = Detector(**KINDS[request.param], alpha=0.05)
    return model.partial_fit(made(12_000, seed=1))


def copy_of(model, tmp_path):
    save(model, tmp_path / "copy.json")
    return load(tmp_path / "copy.json")


def test_few_rows_that_come_in_parts_are_learned_as_at_once():
    rows, new = made(1500), made(200, seed=2)
    parts = Detector(by="machine").partial_fit(rows[:500]).partial_fit(rows[500:])
    whole = Detector(by="machine").fit(rows)
    np.testing.assert_allclose(parts.score_samples(new), whole.score_samples(new), rtol=1e-9)


def test_sums_do_not_depend_on_how_rows_are_divided(begun, tmp_path):
    more, new = made(6000, machines=90, seed=3), made(500, machines=90, seed=4)
    at_once = copy_of(begun, tmp_path).partial_fit(more)
    by_parts = copy_of(begun, tmp_path)
    for begin in (0, 1000, 1001, 4000):
        end = {0: 1000, 1000: 1001, 1001: 4000, 4000: 6000}[begin]
        by_parts.partial_fit(more[begin:end])
    np.testing.assert_allclose(scores_of(by_parts, new), scores_of(at_once, new), atol=1e-9)


def test_merged_models_expect_what_one_model_of_all_rows_does(begun, tmp_path):
    here, there = made(4000, machines=90, seed=5), made(5000, first=40, seed=6)
    new = made(500, machines=90, seed=4)
    whole = copy_of(begun, tmp_path).partial_fit(here).partial_fit(there)
    parts = [begun.empty_like().partial_fit(rows) for rows in (here, there)]
    merged = merge(begun, *parts)
    np.testing.assert_allclose(scores_of(merged, new), scores_of(whole, new), atol=1e-9)
    other_way = merge(parts[1], begun, parts[0])
    np.testing.assert_allclose(scores_of(other_way, new), scores_of(whole, new), atol=1e-7)
    assert (merged.predict(made(4000, machines=90, seed=8)) == -1).mean() == pytest.approx(
        0.05, abs=0.02
    )


def test_learning_on_expects_what_learning_all_at_once_does(begun, tmp_path):
    more, new = made(12_000, seed=3), made(1000, seed=4)
    on = copy_of(begun, tmp_path).partial_fit(more)
    whole = Detector(**{name: getattr(begun, name) for name in ("by", "context")}, alpha=0.05)
    whole.fit(pd.concat([made(12_000, seed=1), more]))
    np.testing.assert_allclose(scores_of(on, new), scores_of(whole, new), atol=0.05)
    assert np.mean(on.predict(new) == whole.predict(new)) > 0.98


def test_a_group_that_comes_later_is_known_then(tmp_path):
    model = Detector(by="machine", alpha=0.05).fit(made(11_000))
    late = made(600, machines=2, first=500)
    assert np.abs(scores_of(model, late)).mean() < 2.0
    faulty = late.assign(power=late["power"] + 8.0).head(100)
    assert (model.predict(faulty) == -1).mean() < 0.6
    model.partial_fit(late)
    assert (model.predict(faulty) == -1).mean() == 1.0
    assert (model.predict(late) == -1).mean() < 0.1


def test_a_saved_model_goes_on_learning_and_knows_its_rows(begun, tmp_path):
    again = copy_of(begun, tmp_path)
    new, more = made(300, seed=9), made(700, seed=10)
    np.testing.assert_array_equal(again.score_samples(new), begun.score_samples(new))
    kept, known = again.kept_rows()["power"], begun.kept_rows()["power"]
    np.testing.assert_allclose(kept.values, known.values, atol=1e-9)
    here, there = again.partial_fit(more), copy_of(begun, tmp_path).partial_fit(more)
    np.testing.assert_allclose(here.score_samples(new), there.score_samples(new), rtol=1e-9)


def test_what_was_accepted_is_accepted_by_the_saved_model(tmp_path):
    model = Detector(by="machine", alpha=0.05).fit(made(3000))
    odd = made(40, seed=11).assign(power=77.0)
    model.accept(odd, times=50)
    assert (model.predict(odd) == 1).mean() > 0.5
    again = copy_of(model, tmp_path)
    np.testing.assert_allclose(again.score_samples(odd), model.score_samples(odd), rtol=1e-9)


def test_models_that_decided_apart_are_not_merged():
    apart = [Detector(by="machine").fit(made(2000, seed=seed)) for seed in (1, 2)]
    with pytest.raises(ValueError, match="empty_like"):
        merge(*apart)
    contexts = [model.encoder_.context for model in apart]
    with pytest.raises(UserError, match="empty_like"):
        contexts[0].plus(contexts[1])


def series(days, first=0, seed=0, slope=0.05):
    rng = np.random.default_rng([seed, first])
    time = pd.date_range("2025-01-01", periods=24 * days, freq="h") + pd.Timedelta(days=first)
    day = first + np.arange(len(time)) / 24.0
    level = 20.0 + slope * day + 3.0 * (time.hour > 12)
    other = rng.normal(size=len(time))
    return pd.DataFrame({"time": time, "y": level + rng.normal(size=len(time)), "z": other})


def test_the_end_of_time_moves_on():
    model = Detector(over="time", alpha=0.05).partial_fit(series(450))
    assert model.encoder_.context.columns["y"].form == "line"
    alarms = []
    for first in range(450, 1800, 90):
        month = series(90, first)
        alarms.append((model.predict(month) == -1).mean())
        model.partial_fit(month)
    assert np.mean(alarms) < 0.075
    axis = model.encoder_.context.axis
    assert np.datetime64(int(axis.end), "s") == series(90, 1710)["time"].max().to_datetime64()
    late = series(30, 1800)
    assert (model.predict(late) == -1).mean() < 0.1
    assert (model.predict(late.assign(y=late["y"] - 9.0)) == -1).mean() > 0.95


def test_a_level_that_wanders_is_followed_however_long(tmp_path):
    rng = np.random.default_rng(0)
    steps = np.cumsum(0.1 * rng.normal(size=38_400))
    time = pd.date_range("2025-01-01", periods=len(steps), freq="h")
    frame = pd.DataFrame({"time": time, "y": steps + rng.normal(size=len(steps))})
    model = Detector(over="time", alpha=0.05).fit(frame[:12_000])
    assert model.encoder_.context.columns["y"].form == "level"
    sizes = []
    for begin in range(12_000, 38_000, 2000):
        model.partial_fit(frame[begin : begin + 2000])
        sizes.append(sum(model.encoder_.context.design.blocks))
    assert max(sizes) <= 1 + 57 + 61
    column = model.encoder_.context.columns["y"]
    expected = model.encoder_.context.units(
        model.encoder_.inputs.parse(model.encoder_.read(frame[-24:], reset=False).inputs)
    )["y"]
    assert expected.number(0, 0.0) == pytest.approx(steps[-24], abs=4.0)
    assert np.abs(steps - steps[-24]).max() > 15.0
    assert column.spread.prior * column.scale**2 < 6.0
    again = copy_of(model, tmp_path)
    np.testing.assert_array_equal(again.predict(frame[-500:]), model.predict(frame[-500:]))
