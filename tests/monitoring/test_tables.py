"""Drift of tables as people have them: texts, dates, gaps and cells that cannot be read."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from refold import Detector, drift
from refold.columns.conversion import remembered
from refold.monitoring import DriftMonitor
from tests.tables import real_table

YEAR = 365 * 86_400


def rows_of(rng, rows):
    seconds = rng.integers(0, YEAR, rows)
    return pd.DataFrame(
        {
            "carrier": rng.choice(["AA", "UA", "DL", "B6"], rows, p=[0.5, 0.3, 0.15, 0.05]),
            "torque": rng.normal(75.0, 2.0, rows),
            "at": pd.Timestamp("2025-01-01") + pd.to_timedelta(seconds, unit="s"),
            "tail": [f"N{number:05d}" for number in rng.integers(0, 10**5, rows)],
            "note": rng.choice(["ok", "repaired", ""], rows, p=[0.8, 0.1, 0.1]),
        }
    )


@pytest.fixture(scope="module")
def model():
    return Detector(method="ref").fit(rows_of(np.random.default_rng(1), 3_000))


@pytest.fixture
def new():
    return rows_of(np.random.default_rng(2), 1_500)


def of(found, name):
    return next(feature for feature in found.features if feature.name == name)


def changed(found):
    return [feature.name for feature in found.features if feature.changed]


def test_rows_like_those_of_training_are_the_same(model, new):
    found = drift(model, new)
    assert found.verdict == "same"
    assert [feature.kind for feature in found.features] == [
        *("category", "number", "date", "text", "category")
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "new_rows"), [(60, 60), (400, 1_000), (2_000, 100)])
def test_a_column_seems_to_differ_more_rarely_than_asked_for(rows, new_rows):
    runs, alpha = 100, 0.05
    alarms = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        fitted = Detector(method="ref", alpha=0.1).fit(rows_of(rng, rows))
        found = drift(fitted, rows_of(rng, new_rows), alpha=alpha)
        alarms += any(feature.differs for feature in found.features)
    assert alarms <= alpha * runs


@pytest.mark.slow
@pytest.mark.parametrize("name", ["clean-flights.csv.gz", "clean-airports.csv.gz", "penguins.csv"])
@pytest.mark.parametrize("method", ["ref", "creased"])
def test_one_half_of_a_real_table_is_like_the_other(name, method):
    table = pd.read_csv(real_table(name)).sample(frac=1.0, random_state=0)
    half = len(table) // 2
    found = drift(Detector(method=method).fit(table[:half]), table[half:])
    assert found.verdict == "same"


def test_a_share_that_has_moved_is_named_with_its_figures(model, new):
    new.loc[(new["carrier"] == "AA") & (new.index % 3 == 0), "carrier"] = "UA"
    found = drift(model, new)
    assert changed(found) == ["carrier"]
    carrier = of(found, "carrier")
    assert {share.value for share in carrier.moved[:2]} == {"AA", "UA"}
    now = dict(zip(*np.unique(new["carrier"], return_counts=True), strict=True))
    for share in carrier.moved:
        assert share.now == now[share.value] / 1_500
    assert carrier.distance == max(abs(s.now - s.before) for s in carrier.moved)
    assert carrier.median is carrier.median_before is carrier.shift is None
    (line,) = str(found).splitlines()[2:]
    assert line.startswith("  carrier: 'AA' 50.3 % → 33.9 %, 'UA' 29.8 % → 45.9 %, ")


def test_a_few_new_values_are_outliers_and_many_are_a_change(model, new):
    new.loc[:59, "carrier"] = "ZZ"
    found = drift(model, new)
    assert found.verdict == "more outliers"
    carrier = of(found, "carrier")
    assert (carrier.differs, carrier.changed) == (True, False)
    assert carrier.new_values == ("ZZ",)
    assert (carrier.unseen, carrier.unseen_expected) == (60 / 1_500, 0.0)
    assert "new values such as 'ZZ' (4 %, 0 % expected)" in str(carrier)
    new.loc[:1_200, "carrier"] = "ZZ"
    assert changed(drift(model, new)) == ["carrier"]


def test_new_identifiers_are_none_of_a_change_but_another_shape_is(model, new):
    tail = of(drift(model, new), "tail")
    assert tail.unseen > 0.9
    assert not tail.differs
    assert "new values" not in str(tail)
    new.loc[::2, "tail"] = [f"{number}-X" for number in range(750)]
    tail = of(drift(model, new), "tail")
    assert tail.differs
    assert ("shape", "9+-A") in [(share.of, share.value) for share in tail.moved]
    assert "like '123-A'" in str(tail)


def test_values_that_all_come_once_where_they_came_often_are_a_change(model, new):
    new["note"] = [f"see {number}" for number in range(1_500)]
    note = of(drift(model, new), "note")
    assert note.differs
    assert note.unseen == 1.0


def test_hours_days_and_what_lies_beyond_the_range_are_seen(model, new):
    night, sundays, later = new.copy(), new.copy(), new.copy()
    night.loc[:150, "at"] = night["at"].dt.normalize() + pd.Timedelta(hours=3, minutes=12)
    sundays["at"] += pd.to_timedelta(
        (6 - sundays["at"].dt.day_of_week) % 7 * (sundays.index % 2), "D"
    )
    later.loc[:20, "at"] += pd.Timedelta(days=500)
    assert of(drift(model, night), "at").moved[0].value == "3 o'clock"
    assert of(drift(model, sundays), "at").moved[0].value == "Sunday"
    found = of(drift(model, later), "at")
    assert found.differs
    assert any(share.value.startswith("after 2025-12-31 ") for share in found.moved)
    assert not of(drift(model, new), "at").differs


def test_a_clock_that_runs_on_is_no_change(rng):
    table = rows_of(rng, 2_000)
    table["at"] = pd.Timestamp("2025-01-01") + pd.to_timedelta(np.arange(2_000) * 7, unit="min")
    model = Detector(method="ref").fit(table[:1_900])
    found = drift(model, table[1_900:])
    assert not of(found, "at").differs  # half a day, later than all of training


def test_gaps_and_unreadable_cells_are_told_apart(model, new):
    cells = new.astype({"torque": object})
    cells.loc[:99, "torque"] = "<0.05"
    cells.loc[100:129, "torque"] = None
    cells.loc[200:299, "carrier"] = None
    found = drift(model, cells)
    assert changed(found) == ["carrier", "torque"]
    torque = of(found, "torque")
    assert (torque.unreadable_before, torque.unreadable) == (0.0, 100 / 1_500)
    assert (torque.missing_before, torque.missing) == (0.0, 30 / 1_500)
    assert max(torque.unreadable_adjusted_p_value, torque.missing_adjusted_p_value) < 1e-6
    assert "unreadable 0 % → 6.67 % (p < 0.000001)" in str(torque)
    assert of(found, "carrier").missing == 100 / 1_500


def test_no_result_depends_on_how_rows_come_in_chunks(model, new):
    new.loc[::7, "carrier"] = "ZZ"
    new.loc[::5, "note"] = None
    whole = drift(model, new)
    order = np.random.default_rng(0).permutation(len(new))
    monitor = DriftMonitor(model)
    for chunk in np.split(order, [0, 10, 700, 1_499]):
        monitor.update(new.iloc[chunk])
    assert monitor.result() == whole
    again = pickle.loads(pickle.dumps(DriftMonitor(model).update(new[:700])))
    assert again.update(new[700:]).result() == whole


@pytest.mark.parametrize("kind", [pl.from_pandas, pa.Table.from_pandas])
def test_any_kind_of_table_is_compared_alike(model, new, kind):
    assert drift(model, kind(new[new.columns[::-1]])) == drift(model, new)


def test_a_chunk_that_fails_changes_nothing(model, new):
    monitor = DriftMonitor(model).update(new)
    before = monitor.result()
    for bad, message in [
        (new.drop(columns="note"), "no column 'note'"),
        (new.assign(torque=np.inf), "infinity: row 0, column 'torque'"),
        (new.assign(carrier=[[1]] * len(new)), "lists or records"),
    ]:
        with pytest.raises(ValueError, match=message):
            monitor.update(bad)
    assert monitor.result() == before


def test_tables_without_a_number_or_with_numbers_alone_are_compared(new):
    rng = np.random.default_rng(3)
    words = Detector(method="ref").fit(rows_of(rng, 500)[["carrier", "note"]])
    assert drift(words, new).verdict == "same"
    numbers = Detector().fit(rng.normal(size=(500, 3)))
    Y = rng.normal(size=(400, 3))
    assert drift(numbers, Y).verdict == "same"
    Y[:, 2] += 1.0
    assert changed(drift(numbers, Y)) == ["x2"]
    Y[:30, 1] = np.nan
    assert of(drift(numbers, Y), "x1").missing == 30 / 400


def test_rows_without_any_value_count_as_missing(model, new):
    new.loc[:9, :] = None
    found = drift(model, new)
    assert (found.rows, found.empty) == (1_500, 0)  # a Detector judges them
    assert of(found, "at").missing == of(found, "tail").missing == 10 / 1_500


def test_hostile_values_are_shown_as_text_and_results_are_plain(model, new):
    wild = "\x1b[2J'; drop table\n" + "x" * 10_000
    new.loc[:700, "carrier"] = wild
    found = drift(model, new)
    assert len(str(found)) < 2_000
    assert "\x1b" not in str(found)
    data = found.to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["features"][0]["new_values"] == [remembered(wild)]


def test_memory_does_not_grow_with_different_values():
    def rows(begin):
        number = np.arange(begin, begin + 50_000)
        return pd.DataFrame({"x": number % 7, "key": [f"key {k}" for k in number]})

    model = Detector(method="ref", roles={"key": "text"}).fit(rows(0)[:2_000])
    monitor = DriftMonitor(model)
    sizes = [len(pickle.dumps(monitor.update(rows(k * 50_000)))) for k in range(1, 9)]
    assert max(sizes) < 2 * max(sizes[:2])
    assert monitor.result().features[1].unseen == pytest.approx(1.0, abs=0.1)
