"""Recorded streams: where learning ends, and which rows are in which incident."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import numpy as np
import pytest

from refold.studies.download import DataError
from refold.studies.novelty.cells import run_cell
from refold.studies.novelty.methods import METHODS
from refold.studies.novelty.streams import streams


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("REFOLD_DATA", str(tmp_path))
    return tmp_path / "streams"


def write_skab(folder, rng, n=600, incidents=((450, 480), (550, 600))):
    (folder / "skab").mkdir(parents=True, exist_ok=True)
    rows = rng.normal(size=(n, 2))
    anomaly = np.zeros(n)
    for begin, end in incidents:
        anomaly[begin:end] = 1
        rows[begin:end] += 9.0
    lines = [
        f"2020-03-09 10:14:33;{a};{b};{is_one};0.0"
        for (a, b), is_one in zip(rows, anomaly, strict=True)
    ]
    text = "\n".join(["datetime;Current;Pressure;anomaly;changepoint", *lines])
    (folder / "skab" / "valve1-0.csv").write_text(text)
    return rows


def write_nab(folder, values, windows):
    (folder / "nab").mkdir(parents=True, exist_ok=True)
    start = datetime(2014, 1, 1)
    moments = [start + timedelta(hours=i) for i in range(len(values))]
    lines = [f"{moment},{value}" for moment, value in zip(moments, values, strict=True)]
    (folder / "nab" / "taxi.csv").write_text("\n".join(["timestamp,value", *lines]))
    named = [[f"{moments[a]}.000000", f"{moments[b]}.000000"] for a, b in windows]
    known = {"other/taxi2.csv": [], "realKnownCause/taxi.csv": named}
    (folder / "nab" / "combined_windows.json").write_text(json.dumps(known))


def test_skab_learns_from_the_first_400_rows(folder, rng):
    rows = write_skab(folder, rng)
    suite = streams()
    assert list(suite.files) == ["skab/valve1-0"]
    division = suite.divide(suite.load("skab/valve1-0"), 0)
    np.testing.assert_allclose(division.train, rows[:400])
    np.testing.assert_allclose(division.test, rows[400:])
    expected = np.full(200, -1)
    expected[50:80], expected[150:] = 0, 1
    np.testing.assert_array_equal(division.incident, expected)
    np.testing.assert_array_equal(division.is_anomaly, expected >= 0)


def test_a_row_of_nab_is_the_last_ten_values(folder):
    write_nab(folder, np.arange(1_000.0), [(500, 519), (700, 700)])
    suite = streams()
    division = suite.divide(suite.load("nab/taxi"), 0)
    assert division.train.shape == (150 - 9, 10)
    np.testing.assert_array_equal(division.train[-1], np.arange(140.0, 150.0))
    np.testing.assert_array_equal(division.test[0], np.arange(141.0, 151.0))
    last = division.test[:, -1]  # the present value, which is also the row's number in the file
    np.testing.assert_array_equal(last[division.incident == 0], np.arange(500.0, 520.0))
    np.testing.assert_array_equal(last[division.incident == 1], [700.0])


def test_a_server_is_three_files(folder, rng):
    train, rows, labels = rng.normal(size=(50, 3)), rng.normal(size=(40, 3)), np.zeros(40)
    labels[[5, 6, 30]] = 1
    for part, array in (("train", train), ("test", rows), ("test_label", labels)):
        (folder / "smd" / part).mkdir(parents=True)
        np.savetxt(folder / "smd" / part / "machine-1-1.txt", array, delimiter=",")
    suite = streams()
    division = suite.divide(suite.load("smd/machine-1-1"), 0)
    np.testing.assert_allclose(division.train, train)
    assert [np.flatnonzero(division.incident == i).tolist() for i in (0, 1)] == [[5, 6], [30]]
    before = suite.fingerprint("smd/machine-1-1")
    np.savetxt(folder / "smd" / "test_label" / "machine-1-1.txt", labels[::-1])
    assert streams().fingerprint("smd/machine-1-1") != before


def test_a_method_is_judged_by_incidents(folder, rng):
    write_skab(folder, rng)
    write_nab(folder, rng.normal(size=1_000), [(500, 510)])
    suite = streams()
    cell = run_cell(METHODS["CreasedREF"], suite, suite.load("skab/valve1-0"), 0)
    assert cell.measures["incidents"] > 0.0  # two rows may raise an alarm
    assert cell.measures["auroc"] > 0.99
    assert suite.groupings(list(suite.files)) == {
        "Collection": {"SKAB": ["skab/valve1-0"], "NAB": ["nab/taxi"]}
    }


def test_a_stream_without_an_incident_is_told(folder, rng):
    write_skab(folder, rng, incidents=((10, 20),))
    with pytest.raises(DataError, match=r"valve1-0\.csv has no rows to learn from, or no incident"):
        streams().load("skab/valve1-0")


def test_no_streams_are_told(folder):
    with pytest.raises(DataError, match=r"no streams: name in REFOLD_DATA or --data a folder"):
        streams()
