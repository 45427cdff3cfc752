"""The incidents among rows that were scored: those of Python, in bounded memory."""

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

import refold
from refold.judgement import Judgement
from refold.service import ModelStore, create
from refold.service.watching import RowWatch, StreamIncidents


@pytest.fixture(scope="module")
def timed(tmp_path_factory):
    """A model of machines over time, its file, and new rows of which some are wrong."""
    rng = np.random.default_rng(0)
    n = 2000
    at = pd.date_range("2026-01-01", periods=n + 200, freq="h")
    rows = pd.DataFrame({"at": at, "machine": np.where(np.arange(n + 200) % 2, "M1", "M2")})
    rows["heat"] = np.where(rows["machine"] == "M1", 5.0, 50.0) + rng.normal(0, 0.1, n + 200)
    model = refold.Detector(by="machine", over="at", alpha=0.01).fit(rows[:n])
    new = rows[n:].reset_index(drop=True)
    new.loc[[40, 42, 44, 46], "heat"] += 3.0
    file = tmp_path_factory.mktemp("timed") / "line4.json"
    refold.save(model, file)
    return model, file, new


def test_they_are_those_of_python_whatever_requests_rows_come_in(timed):
    model, file, new = timed
    expected = refold.incidents(model, new)
    sent = new.assign(at=new["at"].astype(str)).to_dict("records")
    with TestClient(create(ModelStore({"line4": file}), log=lambda entry: None)) as client:
        at = "/v1/models/line4"
        assert client.get(f"{at}/incidents").json()["incidents"] == []
        for begin in range(0, len(sent), 7):
            answer = client.post(f"{at}/score", json=sent[begin : begin + 7])
            assert answer.status_code == 200, answer.text
        told = client.get(f"{at}/incidents").json()
        assert (told["rows"], told["total"]) == (len(new), len(expected))
        assert {one["text"] for one in told["incidents"]} == {one.text for one in expected}
        worst = max(told["incidents"], key=lambda one: one["outliers"])
        assert worst["group"] == "machine M2"
        assert worst["begin"] == str(new["at"][40])
        assert worst["rows"] == [40, 42, 44, 46]
        last = client.get(f"{at}/incidents?last=1").json()["incidents"]
        assert last == told["incidents"][-1:]
        for bad in ("last=0", "last=1001", "last=x", "first=1"):
            refused = client.get(f"{at}/incidents?{bad}")
            assert (refused.status_code, "1 to 1000" in refused.text) == (400, True)
        assert client.post(f"{at}/drift/reset").status_code == 204
        assert client.get(f"{at}/incidents").json()["rows"] == 0


def test_an_incident_goes_on_until_rows_beyond_the_gap_are_normal(models):
    model = refold.load(models["ref"])
    watch, normal = RowWatch(model), np.zeros((1, 3))
    for row in (normal, normal + 9.0, normal + 9.0):
        watch.add(Judgement.of(model, row))
    ((one, going_on),) = watch.state().incidents.last(10)
    assert (one.rows, going_on) == ((1, 2), True)
    watch.add(Judgement.of(model, np.zeros((5, 3))))  # alpha is 5 %: the gap is 5 rows
    assert watch.state().incidents.last(10)[0][1]
    watch.add(Judgement.of(model, normal))
    assert not watch.state().incidents.last(10)[0][1]


def test_incidents_and_groups_are_kept_in_bounded_memory(timed, monkeypatch):
    monkeypatch.setattr("refold.service.watching._GROUPS", 20)
    model, _, new = timed
    stream = StreamIncidents(model)
    for begin in range(0, 400, 10):
        part = new[:10].assign(machine=[f"N{begin + k}" for k in range(10)])
        part.loc[3, "heat"] = 1e6
        found = Judgement.of(model, part)
        stream.add(found, np.arange(begin, begin + 10), None)
    assert stream.total >= 40
    assert len(stream._finder._positions) == 20
    assert len(stream._finder.going_on()) <= 20
    assert len(stream.last(1000)) == stream.total


def test_rows_that_come_too_quickly_to_be_compared_are_left_out_and_counted(models, monkeypatch):
    monkeypatch.setattr("refold.service.watching._MOST_NUMBERS", 3000)  # of 3 columns
    monkeypatch.setattr("refold.service.watching._TURN", 1800)
    model = refold.load(models["ref"])
    watch, rows = RowWatch(model), Judgement.of(model, np.zeros((900, 3)))
    watch.add(rows)
    watch.add(rows)  # 100 of them are kept
    assert (watch.rows, watch.left_out) == (1800, 800)
    assert watch.compare()  # 600 at a time: others have a turn
    watch.add(Judgement.of(model, np.full((1, 3), 9.0)))
    assert not watch.compare()
    assert watch.state().drift.rows == 1001
    assert [one.rows for one, _ in watch.state().incidents.last(10)] == [(1800,)]


def test_large_bodies_do_not_wait_together(models, monkeypatch):
    monkeypatch.setattr("refold.service.watching._MOST_BYTES", 9)
    model = refold.load(models["ref"])
    watch, row = RowWatch(model), Judgement.of(model, np.zeros((1, 3)))
    assert [watch.add(row, 5) for _ in range(3)] == [False, True, False]
    assert watch.left_out == 1
    assert not watch.compare()
    assert not watch.add(row, 5)
    assert watch.left_out == 1


def test_one_comparison_waits_at_a_time(models):
    model = refold.load(models["ref"])
    watch, rows = RowWatch(model), Judgement.of(model, np.zeros((500, 3)))
    assert [watch.add(rows) for _ in range(3)] == [True, False, False]
    watch.compare()
    assert watch.add(rows)


def test_a_batch_without_any_time_stays_where_the_rows_before_were(timed):
    model, _, new = timed
    stream = StreamIncidents(model)
    stream.add(Judgement.of(model, new[:40]), np.arange(40), None)
    late = new[40:43].assign(at=pd.NaT)
    late["heat"] = 1e6
    stream.add(Judgement.of(model, late), np.arange(40, 43), None)
    assert max(one.end for one, _ in stream.last(10)) == new["at"][39]


def test_without_watching_there_are_none(client_of):
    told = client_of(drift=False).get("/v1/models/ref/incidents").json()
    assert told == {"watched": False, "rows": 0, "left_out": 0, "total": 0, "incidents": []}
