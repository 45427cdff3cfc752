"""Outliers that belong together are one incident."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from refold import REF, CreasedREF, Detector, incidents
from refold.base.errors import UserError
from refold.judgement import Judgement
from refold.monitoring.incident_finder import IncidentFinder


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    good = pd.DataFrame({"p": rng.normal(5, 0.1, 500), "q": rng.normal(2, 0.1, 500)})
    return Detector(alpha=0.01).fit(good)


def rows(n, **at):
    """Rows in the middle of normal, but for values of p or q at some numbers."""
    table = pd.DataFrame({"p": np.full(n, 5.0), "q": np.full(n, 2.0)})
    for column, numbers in at.items():
        table.loc[numbers, column] += 3.0
    return table


def spans(found):
    return [one.rows for one in found]


def test_outliers_without_a_normal_row_between_them_are_one(model):
    found = incidents(model, rows(60, p=[3, 4, 5], q=[6, 40]))
    assert spans(found) == [(3, 4, 5, 6), (40,)]
    assert [one.columns for one in found] == [("p", "q"), ("q",)]
    assert (found[0].begin, found[0].end, found[0].total) == (3, 6, 4)
    assert found[0].text.startswith("rows 3–6: p, q ")
    assert found[1].text.startswith("row 40: q ")


def test_a_common_reason_joins_what_a_gap_parts(model):
    table = rows(60, p=[3, 10], q=[13])
    assert spans(incidents(model, table)) == [(3, 10), (13,)]
    assert spans(incidents(model, table, gap=6)) == [(3,), (10,), (13,)]
    assert spans(incidents(model, table, gap=7)) == [(3, 10), (13,)]
    assert spans(incidents(model, table, gap="7")) == [(3, 10), (13,)]


def test_the_default_gap_follows_the_rate(model):
    assert spans(incidents(model, rows(60, p=[3, 28]))) == [(3, 28)]
    assert spans(incidents(model, rows(60, p=[3, 29]))) == [(3,), (29,)]


def test_time_orders_rows_and_parts_them(model):
    table = rows(6, p=[0, 2, 4])
    table["at"] = pd.to_datetime(
        [f"2026-03-{at}:00" for at in ("04 05:00", "04 01:00", "04 02:10")]
        + [f"2026-03-05 0{hour}:00:00" for hour in (1, 2, 3)]
    )
    found = incidents(model, table, time="at", gap="3h")
    assert spans(found) == [(2, 0), (4,)]
    assert found[0].begin == dt.datetime(2026, 3, 4, 2, 10)
    assert found[0].end == dt.datetime(2026, 3, 4, 5, 0)
    assert found[0].text.startswith("2026-03-04 02:10–05:00: p ")
    by_text = incidents(model, table.assign(at=table["at"].astype(str)), time="at", gap="3h")
    times = table["at"].to_numpy()
    given = incidents(model, table[["p", "q"]], time=times, gap=dt.timedelta(hours=3))
    assert spans(by_text) == spans(given) == spans(found)
    assert spans(incidents(model, table, time="at", gap="30min")) == [(2,), (0,), (4,)]


def test_a_time_of_numbers_has_a_gap_in_its_own_units(model):
    table = rows(4, p=[0, 1, 3]).assign(cycle=[10, 20, 30, 41])
    assert spans(incidents(model, table, time="cycle", gap=10.0)) == [(0, 1), (3,)]
    assert incidents(model, table, time="cycle", gap=10.0)[0].text.startswith("10–20: p ")


def test_an_incident_is_of_one_group(model):
    table = rows(8, p=[0, 1, 2, 3, 6]).assign(machine=["A", "B"] * 4)
    found = incidents(model, table, by="machine")
    assert spans(found) == [(0, 2, 6), (1, 3)]
    assert (found[0].group, found[0].total) == ("machine A", 4)
    assert found[0].text.startswith("rows 0–6, machine A: p ")
    nested = incidents(model, table.assign(site="S1"), by=["site", "machine"])
    assert [one.group for one in nested] == ["site S1, machine A", "site S1, machine B"]
    assert spans(incidents(model, table, by=table["machine"].to_numpy())) == spans(found)


def test_a_detector_with_context_says_time_and_group_itself():
    rng = np.random.default_rng(0)
    n = 2_000
    good = pd.DataFrame(
        {
            "at": pd.date_range("2026-01-01", periods=n, freq="h"),
            "machine": np.where(np.arange(n) % 2, "M1", "M2"),
        }
    )
    good["p"] = np.where(good["machine"] == "M1", 5.0, 50.0) + rng.normal(0, 0.1, n)
    model = Detector(by="machine", over="at", alpha=0.01).fit(good)
    new = good[-100:].assign(at=pd.date_range("2026-03-26", periods=100, freq="h"))
    new.loc[new.index[20:26:2], "p"] += 3.0
    found = max(incidents(model, new), key=lambda one: len(one.rows))
    assert found.group == "machine M2"
    assert found.rows == (20, 22, 24)
    assert found.text.startswith("2026-03-26 20:00 – 2026-03-27 00:00, machine M2: p ")


@pytest.mark.parametrize("estimator", [REF(alpha=0.05), CreasedREF(alpha=0.05)])
def test_blocks_give_what_the_whole_gives(estimator):
    rng = np.random.default_rng(1)
    model = estimator.fit(rng.normal(size=(400, 3)))
    new = rng.normal(size=(300, 3)) * np.where(rng.random((300, 1)) < 0.2, 4.0, 1.0)
    groups = rng.choice(["a", "b"], 300)
    whole = incidents(model, new, by=groups, gap=4)
    finder = None
    for begin in range(0, 300, 37):
        found = Judgement.of(model, new[begin : begin + 37])
        finder = finder or IncidentFinder(model, 4, timed=False)
        finder.add(found, begin + np.arange(len(found)), None, groups[begin : begin + 37].tolist())
    assert list(finder.incidents()) == list(whole)
    outliers = np.flatnonzero(model.predict(new) == -1)
    assert sorted(row for one in whole for row in one.rows) == outliers.tolist()


def test_frames_and_plain_values(model):
    table = rows(8, p=[1, 2]).assign(at=pd.date_range("2026-03-04", periods=8))
    found = incidents(model, table, time="at")
    frame = found.to_frame()
    assert frame.loc[0, ["outliers", "total", "columns", "first"]].tolist() == [2, 2, "p", 1]
    assert frame.loc[0, "begin"] == pd.Timestamp("2026-03-05")
    for backend in ("polars", "pyarrow"):
        assert len(found.to_frame(backend)) == 1
    assert len(incidents(model, rows(3)).to_frame()) == 0
    assert found.to_dict()["incidents"][0]["begin"] == "2026-03-05 00:00:00"
    assert str(incidents(model, rows(3))) == "No incidents."
    assert found[0].text.startswith("2026-03-05 – 2026-03-06: p ")


def test_severity_is_bounded_where_a_distance_is_no_measure(model):
    found = incidents(model, pd.DataFrame({"p": [1e12], "q": [2.0]}))
    assert found[0].severity == 1000.0
    assert "more than 1,000 × the limit" in found[0].text


def test_a_row_without_a_time_counts_as_being_when_the_row_before_was(model):
    table = rows(4, p=[1, 2]).assign(at=pd.date_range("2026-03-04", periods=4, freq="h"))
    table.loc[2, "at"] = pd.NaT
    assert spans(incidents(model, table, time="at", gap="1h")) == [(1, 2)]


@pytest.mark.parametrize(
    ("keywords", "sentence"),
    [
        ({"time": "when"}, r"time='when' is not in the table, which has the columns p, q, word"),
        ({"by": "machine"}, r"by='machine' is not in the table"),
        ({"time": "word"}, r"'word' holds no dates or numbers"),
        ({"time": [1, 2]}, r"time= has the shape \(2,\); 3 rows need \(3,\)"),
        ({"gap": 0}, r"gap=0: at least 1 row"),
        ({"gap": "90min"}, r"rows have no time: name the time column"),
        ({"gap": "soon", "time": [1, 2, 3]}, r"gap='soon' is no duration"),
        ({"gap": -1.0, "time": [1, 2, 3]}, r"a duration must be above 0"),
        ({"gap": True}, r"gap=True is neither a number of rows"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(model, keywords, sentence):
    with pytest.raises(UserError, match=sentence):
        incidents(model, rows(3).assign(word=["x", "y", "z"]), **keywords)


def test_of_very_many_those_with_most_outliers_are_kept(model):
    numbers = [k for begin in range(0, 300, 30) for k in range(begin, begin + 1 + begin // 100)]
    found = Judgement.of(model, rows(330, p=numbers))
    finder = IncidentFinder(model, 1, timed=False, most=2, most_rows=2)
    finder.add(found, np.arange(330))
    assert finder.total == 10
    assert [(one.outliers, len(one.rows)) for one in finder.incidents()] == [(3, 2), (3, 2)]


def test_what_lasts_less_than_is_written_has_one_time(model):
    table = rows(4, p=[1, 2]).assign(at=pd.date_range("2026-03-04 02:10:07", periods=4, freq="9ms"))
    (found,) = incidents(model, table, time="at")
    assert found.begin < found.end
    assert found.text.startswith("2026-03-04 02:10:07: p ")
