"""Stuck sensors, drifts and changed dynamics are seen by what the last rows came to."""

import pickle
import re
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from refold import Detector, limits, load
from refold.base.errors import UserError
from refold.columns.context.window import Window
from refold.export import to_onnx
from tests.command import run_in_process


def wandering(n, rng, memory):
    values = np.zeros(n)
    for k, step in enumerate(rng.normal(size=n)):
        values[k] = memory * values[k - 1] + step
    return values


def pump(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "pressure": (5.0 + 0.3 * wandering(n, rng, 0.5)).round(2),
            "flow": (10.0 + wandering(n, rng, 0.8)).round(1),
        }
    )


def fleet(n, seed):
    hours = pd.date_range("2026-01-01", periods=n, freq="h")
    machines = [pump(n, 100 * seed + k).assign(machine=f"M{k}", time=hours) for k in range(6)]
    rows = pd.concat(machines, ignore_index=True)
    return rows.assign(pressure=rows["pressure"] + np.repeat(np.arange(6), n))


@pytest.fixture(scope="module")
def learned():
    return Detector(window=30, alpha=0.02).fit(pump(3000, 0))


@pytest.fixture(scope="module")
def new():
    return pump(2000, 1)


def rate(model, rows, last):
    return (model.predict(rows)[-last:] == -1).mean()


def test_the_rate_is_kept_on_rows_that_follow_each_other(learned, new):
    assert rate(learned, new, 1900) < 0.04


@pytest.mark.parametrize("by", [None, "machine"])
def test_a_level_that_wanders_beyond_the_window_is_named_with_the_rates_of_stretches(by):
    rng = np.random.default_rng(0)
    rows = pump(400, 0).assign(heat=np.cumsum(rng.normal(size=400)).round(2))
    other = pump(400, 1).assign(heat=200.0 + np.cumsum(rng.normal(size=400)).round(2))
    rows.loc[200, "heat"] = np.nan
    fleet = pd.concat([rows.assign(machine="A"), other.assign(machine="B")], ignore_index=True)
    with pytest.warns(UserWarning, match="heat: its level wanders"):
        model = Detector(window=30, by=by, alpha=0.05).fit(fleet if by else rows)
    found = [each for each in model.noticed_ if each.kind == "wandering"]
    assert [each.column for each in found] == ["heat"]
    low, high = re.findall(r"([0-9.]+) %", found[0].message)
    assert float(low) < 5.0 < float(high)


def test_a_sensor_that_stands_still_at_a_usual_value_is_seen_and_said(learned, new):
    stuck = new.copy()
    stuck.loc[1960:, "pressure"] = 5.0
    assert rate(learned, stuck, 30) == 1.0
    assert rate(Detector(alpha=0.02).fit(pump(3000, 0)), stuck, 30) < 0.2
    found = learned.explain(stuck)[-1]
    assert found.sentence() == "pressure has not changed for 40 rows (normal: at most 2)"
    assert found.changes == ()


def test_a_slow_drift_and_changed_dynamics_are_seen(learned, new):
    drifted = new.assign(pressure=new["pressure"] + np.linspace(0.0, 1.0, len(new)))
    assert rate(learned, drifted, 200) > 0.8
    flat = new.assign(flow=(10.0 + 0.2 * (new["flow"] - 10.0)).round(1))
    assert rate(learned, flat, 1900) > 0.8
    reasons = {found.reasons[0].measure for found in learned.explain(flat.tail(100)).worst(20)}
    assert "sd" in reasons


def test_a_jump_is_said_in_the_unit_of_the_column(learned, new):
    jumped = new.copy()
    jumped.loc[1999, "pressure"] = jumped.loc[1998, "pressure"] + 4.0
    told = {r.feature: r.sentence() for r in learned.explain(jumped)[-1].reasons}
    assert told["pressure: step"].startswith(
        "pressure changed by 4 from the row before (normal: −1."
    )


def test_rows_without_a_history_are_judged_by_themselves(learned, new):
    alone = [learned.predict(new.iloc[[k]])[0] for k in range(40)]
    assert alone.count(-1) <= 3
    assert learned.predict(new.iloc[[7]].assign(pressure=50.0)) == [-1]


@pytest.mark.parametrize("given", [{"window": 20}, {"window": "36h", "over": "time"}])
def test_a_stream_answers_as_predict_does_with_the_rows_before(given):
    rows = fleet(150, 1).sort_values("time", kind="stable", ignore_index=True)
    rows["time"] += pd.Timedelta(days=10)
    rows.loc[400, "pressure"] += 5.0
    model = Detector(by="machine", alpha=0.05, **given).fit(fleet(200, 0))
    stream = model.stream()
    one_by_one = [stream.judge(row) for row in rows.head(300).to_dict("records")]
    together = stream.judge(rows.iloc[300:])
    answers = [*one_by_one, *together]
    distances = [-found.distance for found in answers]
    np.testing.assert_allclose(distances, model.score_samples(rows), rtol=1e-12)
    np.testing.assert_array_equal([found.label for found in answers], model.predict(rows))
    assert [found.row for found in answers] == list(range(len(rows)))
    outlier = next(found for found in answers if found.label == -1)
    assert outlier.sentence() == model.explain(rows)[outlier.row].sentence()
    assert 0.0 < outlier.p_value <= 0.06


def test_a_stream_begins_with_the_rows_that_it_is_given(learned, new):
    stream = learned.stream(history=new.iloc[:100])
    found = stream.judge(new.iloc[100])
    assert found.distance == -learned.score_samples(new.iloc[:101])[-1]


def test_a_stream_refuses_a_row_from_before_and_stays_as_it_was():
    rows = fleet(100, 0)
    model = Detector(by="machine", over="time", window=10).fit(rows)
    last = (
        rows[rows["machine"] == "M2"].tail(20).assign(time=lambda d: d["time"] + timedelta(days=9))
    )
    stream, other = (model.stream(history=last.head(19)) for _ in range(2))
    with pytest.raises(UserError, match="over='time' runs backwards: a row of M2 is earlier"):
        stream.judge(last.iloc[3].to_dict())
    row = last.iloc[19].to_dict()
    assert stream.judge(row) == other.judge(row)


def test_the_order_of_rows_does_not_matter_where_there_is_a_time():
    rows = fleet(80, 0)
    model = Detector(by="machine", over="time", window=10).fit(rows)
    mixed = rows.sample(frac=1.0, random_state=0)
    expected = model.score_samples(rows)[mixed.index.to_numpy()]
    np.testing.assert_allclose(model.score_samples(mixed), expected, rtol=1e-12)


@pytest.mark.parametrize("given", [{"window": 30}, {"window": timedelta(hours=12), "over": "time"}])
def test_a_model_with_a_window_is_saved_cloned_and_pickled(given, tmp_path):
    rows = fleet(40, 0)
    model = clone(Detector(by="machine", **given)).fit(rows)
    model.save(tmp_path / "model.json")
    for again in (load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.score_samples(rows), model.score_samples(rows))
        assert again.threshold_ == model.threshold_
        assert Window.of(again.window) == Window.of(model.window)


def test_an_array_and_a_pipeline_take_a_window():
    rows = pump(300, 0).to_numpy()
    model = Detector(window=10).fit(rows)
    stuck = rows.copy()
    stuck[-15:, 0] = 5.0
    assert (model.predict(stuck)[-5:] == -1).all()
    found = make_pipeline(Detector(window=10)).fit(rows).predict(stuck)
    np.testing.assert_array_equal(found, model.predict(stuck))


def test_rows_that_were_called_outliers_are_not_learned(new):
    labels = np.where(np.arange(len(new)) < 1500, 1, -1)
    wrong = new.assign(pressure=np.where(labels == 1, new["pressure"], 90.0))
    with pytest.warns(UserWarning, match="500"):
        model = Detector(window=10).fit(wrong, labels)
    assert model.predict(wrong.tail(5)).tolist() == [-1] * 5


@pytest.mark.parametrize("rows", [8, 25, 60])
@pytest.mark.parametrize("by", [None, "machine"])
def test_short_histories_are_learned_from_as_far_as_they_go(rows, by):
    frame = fleet(rows, 0).drop(columns="time")
    model = Detector(by=by, window=10).fit(frame)
    assert np.isfinite(model.score_samples(frame)).all()


def test_what_takes_no_window_says_so(learned, new):
    asked = [
        lambda: clone(learned).partial_fit(new),
        lambda: learned.empty_like(),
        lambda: learned.merge(learned),
        lambda: limits(learned),
        lambda: to_onnx(learned),
    ]
    for ask in asked:
        with pytest.raises(UserError, match=r"does not take a model with .*window="):
            ask()


def test_a_file_is_judged_block_by_block_as_one_table(learned, tmp_path, monkeypatch):
    rows = pump(40_000, 2)
    rows.loc[32_760:32_800, "pressure"] = 5.0  # over the end of a block
    rows.to_csv(tmp_path / "rows.csv", index=False)
    learned.save(tmp_path / "model.json")
    monkeypatch.chdir(tmp_path)
    run_in_process(monkeypatch, "score", "model.json", "rows.csv", "-o", "scored.csv")
    scored = pd.read_csv(tmp_path / "scored.csv")
    np.testing.assert_array_equal(scored["label"], learned.predict(rows))


def test_a_few_rows_of_the_same_time_are_said():
    frame = fleet(400, 0)
    frame.loc[[7, 500], "time"] = frame.loc[[8, 501], "time"].to_numpy()
    model = Detector(by="machine", over="time", window=10).fit(frame)
    (said,) = (str(found) for found in model.noticed_ if found.kind == "same-time")
    assert said.startswith("time: 2 of 2,400 rows have the same time and machine as another")


def test_rows_that_run_backwards_are_refused_with_the_column():
    frame = fleet(60, 0).iloc[::-1]
    with pytest.raises(UserError, match=r"time runs backwards .* over='time'"):
        Detector(by="machine", window=10).fit(frame)
    Detector(by="machine", over="time", window=10).fit(frame)


def test_that_values_never_stand_still_is_no_finding():
    frame = pump(400, 0).assign(pressure=np.random.default_rng(0).normal(size=400))
    model = Detector(window=10).fit(frame)
    assert not [found for found in model.noticed_ if "rows unchanged" in str(found)]
